"""The next heartbeat of a member at rest: from when on it is the only one that is not over."""

from __future__ import annotations

from assignors.simulation.timed.heartbeats import Heartbeats
from assignors.simulation.timed.plain_heartbeats import Rest
from assignors.simulation.timed.protocols.consumer.member_state import ConsumerClient
from assignors.simulation.timed.queue import Rank

ARRIVAL = Rank.ARRIVAL


def until_next(heartbeats: Heartbeats, number: int, client: ConsumerClient) -> Rest | None:
    """Return a member's rest as its next heartbeat is due or on its way; count those before.

    `None`: the answer to the last one is on its way, or the member is not `_is_there`. Cost: O(1).
    """
    if not _is_there(client):
        return None
    queue, network, broker = heartbeats.queue, heartbeats.network, heartbeats.broker
    due, every, session_over, timeout, member_id = heartbeats.resting[number]
    sent = heartbeats.sent_by_now(number, due, every)
    if sent:
        last = due + (sent - 1) * every
        arrives = network.arrives(number, last)
        if queue.is_past(arrives, ARRIVAL, number):
            handled = arrives + broker.service_us + broker.append_us
            if handled + network.longest_us >= queue.now:
                return None
            due, session_over = last + every, arrives + timeout
        else:
            if sent > 1:
                session_over = network.arrives(number, last - every) + timeout
            due, sent = last, sent - 1
        network.count(heartbeats.plain.request, sent)
    return Rest(due, every, session_over, timeout, member_id)


def has_its_target(client: ConsumerClient) -> bool:
    """Return whether a member has nothing to do, and all that it was told to have."""
    return _is_there(client) and client.is_at_rest and not client.is_busy


def _is_there(client: ConsumerClient) -> bool:
    """Return whether a member has what it was told to have, and would set out for another target.

    One that stops does not: its heartbeats go on until its callback is over.
    """
    return client.target_number == client.confirmed_number > 0 and not client.is_stopping
