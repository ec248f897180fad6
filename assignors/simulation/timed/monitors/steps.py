"""What must hold of one step of a member or the coordinator: (monitor, what is wrong) if not.

Like the steps themselves these look at one event, its effects, and the state before and after.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from assignors.ownership.monitors import started_while_owned
from assignors.simulation.timed.monitors.coordinators import CoordinatorView, Folded
from assignors.simulation.timed.monitors.rules import (
    CALLBACKS,
    Consumption,
    MemberMoment,
    named,
)
from assignors.simulation.timed.protocols.effects import (
    Effect,
    Fired,
    MemberEvent,
    Reply,
    Schedule,
)
from assignors.simulation.timed.protocols.kafka.messages import ErrorCode, SyncGroupResponse

Found = Iterator[tuple[str, str]]
"""(monitor, what is wrong)."""


def generation_found(name: str, before: int, after: int) -> Found:
    """Yield that a member's generation or epoch fell, but to what stands for none."""
    if 0 < after < before:
        yield "epoch-went-back", f"{name} went from {before} back to {after}"


def callbacks_found(
    name: str, before: Consumption, event: MemberEvent, effects: Iterable[Effect]
) -> Found:
    """Yield that a callback began while another one of the member ran. Cost: O(effects)."""
    running = set(before.callbacks)
    if isinstance(event, Fired):
        running.discard(event.key)
    for effect in effects:
        if isinstance(effect, Schedule) and effect.key in CALLBACKS:
            if running:
                one, other = effect.key[0], ", ".join(key[0] for key in sorted(running))
                text = f"the callback for {one} partitions began while that for {other} ran"
                yield "callbacks-overlap", f"{name}: {text}"
            running.add(effect.key)


def epochs_found(before: CoordinatorView, after: CoordinatorView) -> Found:
    """Yield whose epoch the coordinator took back in a step. Cost: O(members)."""
    # A group that has lost all members may be made anew, as one of the other kind for example.
    if after.generation < before.generation and before.known:
        text = f"the group went from {before.generation} back to {after.generation}"
        yield "epoch-went-back", text
    for member_id, epoch in after.known.items():
        was = before.known.get(member_id, epoch)
        if 0 < epoch < was:
            yield "epoch-went-back", f"the coordinator took {member_id} from {was} back to {epoch}"


def state_found(
    log: Folded, effects: Iterable[Effect], after: CoordinatorView, members: Iterable[MemberMoment]
) -> Found:
    """Yield what is wrong with the coordinator's state after a step.

    `log` is what the records say after it. Cost: O(partitions of the group).
    """
    if after.logged is not None:
        yield from _log_found(log, after.logged)
    if any(gives_plan(effect) for effect in effects):
        yield from _given_found(after, members)


def _log_found(said: Mapping[tuple[str, ...], object], state: Folded) -> Found:
    for key in sorted(said.keys() | state.keys()):
        if said.get(key) != state.get(key):
            text = f"{said.get(key)} in the records, {state.get(key)} in the state"
            yield "log-differs-from-state", f"{' of '.join(key)} is {text}"


def generation_given_found(before: Any, after: Any) -> Found:  # noqa: ANN401 - folded values
    """Yield that a generation was written with other assignments than before.

    A static member that comes back gets another id and the same assignment.
    """
    if before is None or after is None or before is after:
        return
    (generation, *_, given), (same, *_, now) = before, after
    if generation == same and given and sorted(given.values()) != sorted(now.values()):
        yield "generation-given-twice", f"generation {generation} was written with another plan"


def gives_plan(effect: Effect) -> bool:
    """Return whether an effect gives its part of a plan to a member: then all that own count."""
    return (
        isinstance(effect, Reply)
        and isinstance(effect.response, SyncGroupResponse)
        and effect.response.error is ErrorCode.NONE
    )


def _given_found(after: CoordinatorView, members: Iterable[MemberMoment]) -> Found:
    """Yield what a plan gives to a member while another one owns it.

    The target of a consumer group is no plan yet: its members get what has become free.
    """
    if after.target_epoch is not None:
        return
    owned = {each.member_id: each.owned for each in members if each.member_id in after.known}
    given = started_while_owned(owned, after.target)
    if given:
        yield "given-while-owned", f"{named(given)} is given away while its owner has it"
