"""A member that joins: the answer that it waits for, where nothing else is on with it.

The coordinator has written that the member has joined, and answers once that is replicated. What
comes of the answer is the member's way to its first target, most often one of nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from assignors.simulation.timed.heartbeats import HEARTBEAT, Heartbeats
from assignors.simulation.timed.plain_heartbeats import Rest
from assignors.simulation.timed.protocols.consumer.member_state import ConsumerClient
from assignors.simulation.timed.protocols.consumer.messages import (
    ConsumerError,
    ConsumerHeartbeatResponse,
)
from assignors.simulation.timed.protocols.effects import COORDINATOR, Effect, Reply
from assignors.simulation.timed.stages.reconciling.member import Answer

NONE = ConsumerError.NONE


def asked_to_join(
    heartbeats: Heartbeats, clients: Sequence[ConsumerClient], waits: list[Effect]
) -> int | None:
    """Return who joins that has nothing else to do but wait for what waits for an append. O(1)."""
    if len(waits) != 1 or type(waits[0]) is not Reply:
        return None
    request, response = waits[0]
    sent = heartbeats.network.in_flight.get(request)
    if sent is None or not isinstance(response, ConsumerHeartbeatResponse):
        return None
    number, _, life, _, _ = sent
    link = heartbeats.network.links[number]
    is_only_one = life == link.life and link.unanswered == 1 and heartbeats.network.is_well(number)
    is_joining = response.error is NONE and _is_joining(clients[number])
    return number if is_only_one and is_joining else None


def _is_joining(client: ConsumerClient) -> bool:
    """Return whether a member waits for the answer to its join, with nothing else to do."""
    return (
        client.epoch == 0
        and client.is_up
        and client.in_flight is not None
        and not (client.is_stopping or client.is_out or client.application.is_busy)
        and not (client.must_send or client.has_new_topics or client.must_report)
    )


def taken_out(
    heartbeats: Heartbeats, number: int, waits: list[Effect], replicated: int
) -> tuple[Rest, Answer] | None:
    """Take out of the queue what stands there for a member that joins; return when that is due.

    With it the answer, which leaves once its records are replicated. `None`: it has to be queued,
    and all is as it was. Cost: O(1).
    """
    queue, network, reply = heartbeats.queue, heartbeats.network, waits[0]
    assert isinstance(reply, Reply)
    assert isinstance(reply.response, ConsumerHeartbeatResponse)
    link = network.links[number]
    member_id, every, timeout = heartbeats.plain.timing(number)
    beat, session = (number, HEARTBEAT.key), (COORDINATOR, ("session", member_id))
    due, session_over = queue.due(beat), queue.due(session)
    if due is None or session_over is None or not heartbeats.is_regular(link, every, timeout):
        return None
    back = replicated + network.delays.one(link.back, replicated)
    returns = max(back, link.returns)
    if returns >= due:
        return None
    queue.stop(beat)
    queue.stop(session)
    _, own_number, _, _, rank = network.in_flight.pop(reply.number)
    link.unanswered -= 1
    link.returns = returns
    rest = Rest(due, every, session_over, timeout, member_id)
    return rest, Answer(own_number, reply.response, returns, rank, 0)
