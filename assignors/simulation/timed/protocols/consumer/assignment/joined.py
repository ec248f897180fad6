"""A request to join that brings no target, where nobody keeps what is written.

While members join one after the other most requests are so: the target was computed within the last
second, and the member asks for topics that others have asked for. `coordinator.heartbeat` writes
three records for such a one, and replays them. Here the member is put into the group at once: it,
its group and the answer are the same.
"""

from __future__ import annotations

from assignors.simulation.timed.protocols.consumer.assignment.targets import may_compute
from assignors.simulation.timed.protocols.consumer.coordinator_state import ConsumerCoordinator
from assignors.simulation.timed.protocols.consumer.group import ConsumerMember, in_java_order
from assignors.simulation.timed.protocols.consumer.messages import (
    ConsumerError,
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
)


def joined(
    state: ConsumerCoordinator, now_ms: int, request: ConsumerHeartbeat
) -> ConsumerHeartbeatResponse | None:
    """Return the answer to a member that joins, and has nothing to get yet.

    `None`: it leads to more than that, or is none of these, and nothing has changed. Else its
    session begins, and no other timer changes. Cost: O(its topics).
    """
    if not (_is_plain(state, request) and _waits(state, now_ms)):
        return None
    group, topics = state.group, in_java_order(request.topics or ())
    member = ConsumerMember(
        member_id=request.member_id,
        epoch=group.target_epoch,
        previous_epoch=0,
        rack_id=request.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        client_id=request.client_id,
        topics=in_java_order(tuple(sorted(topics))),  # as it is read from its record
        assigned={},
        revoking={},
    )
    group.put(member)
    group.order.put_again()  # there is a record more, of where it is
    group.epoch = group.refreshed_in = group.epoch + 1
    group.has_epoch_records = (True, group.has_epoch_records[1])
    return ConsumerHeartbeatResponse(ConsumerError.NONE, member.member_id, member.epoch, {})


def _is_plain(state: ConsumerCoordinator, request: ConsumerHeartbeat) -> bool:
    """Return whether a new member asks for nothing but topics that others ask for."""
    group, topics = state.group, request.topics
    return (
        state.exists
        and request.epoch == 0
        and bool(topics)
        and (request.instance_id, request.pattern, request.assignor) == (None, None, None)
        and request.member_id not in group.members
        and request.member_id not in group.target
        and len(group.members) < state.config.max_size
        and group.counts.topics.keys() >= set(topics or ())
    )


def _waits(state: ConsumerCoordinator, now_ms: int) -> bool:
    """Return whether a member that joins only lets the group's epoch grow."""
    group = state.group
    is_plain = group.counts.are_plain and not (group.resolved or state.still_watched)
    return is_plain and not (group.is_refresh_due or may_compute(state, group, now_ms))
