"""The assignor on a thread of its own: a target that is computed beside the requests (KIP-1263).

One computation of a group at a time. It starts from the group as it is, and when it is over the
group may have gone on: then its result is applied all the same, without those who have left, or
it is dropped. Either way the next heartbeat begins another one, as the target is older than the
group.

Kafka 4.4.0 has the switch for it and does not use it: this is what a later release may do.
"""

from __future__ import annotations

from assignors.simulation.timed.protocols.consumer.assignment.everybody import Everybody
from assignors.simulation.timed.protocols.consumer.assignment.targets import (
    compute_target,
    write_target,
)
from assignors.simulation.timed.protocols.consumer.coordinator_state import (
    Changes,
    ConsumerCoordinator,
    Offloaded,
    Work,
)
from assignors.simulation.timed.protocols.effects import MILLISECOND

OFFLOAD_KEY = ("offload", "")


def begin(work: Work, epoch: int, everybody: Everybody) -> None:
    """Begin to compute a target, unless one is being computed. Raises `Refused`."""
    state = work.state
    if state.offloaded is None:
        state.offloaded = Offloaded(epoch, compute_target(work, everybody))
        work.out.timers.append((OFFLOAD_KEY, state.config.offload_ms * MILLISECOND, 0))


def computed(state: ConsumerCoordinator, now_ms: int) -> Changes:
    """Take over the target that was computed, as far as it still fits the group."""
    out, group = Changes(), state.group
    offloaded, state.offloaded = state.offloaded, None
    if not state.exists or offloaded is None:
        return out
    target = {
        member_id: share
        for member_id, share in offloaded.target.items()
        if member_id in group.members
    }
    is_newer = group.target_epoch < offloaded.epoch <= group.epoch
    is_old = offloaded.epoch < group.epoch
    if target and is_newer and not (is_old and state.config.drops_old_targets):
        write_target(Work(state, group, now_ms, out), offloaded.epoch, target, group.target)
    return out
