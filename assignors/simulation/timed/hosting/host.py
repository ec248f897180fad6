"""A coordinator of many groups: an execution model, and the groups that it executes.

Its events are those of the model. Its effects are those of the model, but for the answers: in their
place stand what clients get, and what groups want done at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from assignors.simulation.timed.execution.policy import Policy, Settings
from assignors.simulation.timed.execution.port import Answer, Appended, Event, Loaded, Lost
from assignors.simulation.timed.execution.port import Effect as ModelEffect
from assignors.simulation.timed.execution.state import Batch, Coordinator, Task
from assignors.simulation.timed.execution.step import step as model_step
from assignors.simulation.timed.hosting.groups import AtOnce, Groups
from assignors.simulation.timed.hosting.live_group import HostSettings
from assignors.simulation.timed.hosting.record_bytes import TopicNames
from assignors.simulation.timed.protocols.effects import Reply

HostEffect = ModelEffect | AtOnce | Reply


@dataclass(slots=True, kw_only=True)
class Host:
    """A coordinator of many groups."""

    model: Coordinator
    groups: Groups


def host_of(
    policy: Policy,
    settings: HostSettings,
    model: Settings | None = None,
    topics: TopicNames | None = None,
) -> Host:
    """Return a coordinator that executes its groups by a model; `topics` as in `Groups.of`."""
    model = model or Settings(partitions=1)
    groups = Groups.of(settings, model.partitions, topics)
    return Host(model=Coordinator.of(policy, groups.handle, model), groups=groups)


def step(host: Host, event: Event) -> list[HostEffect]:
    """Return what the coordinator does about an event; `host` changes in place.

    Cost: that of the model's step.
    """
    out: list[HostEffect] = []
    failed = None
    if isinstance(event, Appended) and event.end is None:
        failed = host.model.appends.get(event.token)
    for effect in model_step(host.model, event):
        if isinstance(effect, Answer):
            out += host.groups.settle(effect)
        else:
            out.append(effect)
    if failed is not None:
        _look_again(host, failed)
    if isinstance(event, Lost):
        host.groups.lose(event.partition)
    elif isinstance(event, Loaded):
        host.groups.load(event.partition, host.model.partitions[event.partition].state)
    return host.groups.taken() + out


def _look_again(host: Host, failed: Task | Batch) -> None:
    """Compare the groups with their records that an append may have taken back."""
    groups = host.groups
    of_append = groups.of_partition(failed.partition)
    if isinstance(failed, Task):
        of_append = [failed.request.group]
    groups.look_again(of_append, host.model.partitions[failed.partition].state)
