"""What stands in the queue for a member that is on its way, and goes on by events."""

from __future__ import annotations

from assignors.simulation.timed.heartbeats import HEARTBEAT, Heartbeats
from assignors.simulation.timed.monitors.watch import Watch
from assignors.simulation.timed.network import NEVER, Network
from assignors.simulation.timed.protocols.consumer.member_state import ConsumerClient
from assignors.simulation.timed.protocols.effects import (
    COORDINATOR,
    Answered,
    Arrived,
    Fired,
)
from assignors.simulation.timed.queue import Rank
from assignors.simulation.timed.stages.reconciling.member import Answer, Reconciling
from assignors.simulation.timed.stages.reconciling.way import report_of


def put_back(heartbeats: Heartbeats, one: Reconciling) -> None:
    """Put into the queue what would stand there for a member that is on its way. Cost: O(log n)."""
    number, network, queue = one.number, heartbeats.network, heartbeats.queue
    queue.start((number, HEARTBEAT.key), one.due, (number, HEARTBEAT), Rank.HEARTBEAT, number)
    key = ("session", one.member_id)
    session = (COORDINATOR, Fired(key, 0))
    queue.start((COORDINATOR, key), one.session_over, session, Rank.SESSION, one.member_id)
    if one.report is not None:
        own_number, known, arrives = one.report
        report = report_of(one.client) if known is None else known
        sent = _in_flight(network, number, own_number)
        network.links[number].arrives = arrives
        queue.put(arrives, (COORDINATOR, Arrived(sent, report)))
        return
    at, event = one.pending or (0, None)
    if isinstance(event, Fired):
        queue.start((number, event.key), at, (number, event))
    elif one.answer is not None:
        send_answer(heartbeats, number, one.answer)


def send_answer(heartbeats: Heartbeats, number: int, answer: Answer) -> None:
    """Put an answer into the queue. Cost: O(log n).

    Nothing can keep it back: where coordinators or connections may be lost nothing is computed. A
    process that has ended meanwhile does not listen to it.
    """
    event = Answered(answer.own_number, answer.response)
    heartbeats.queue.put(answer.returns, (number, event), answer.rank, number)


def unhear(watch: Watch | None, number: int, client: ConsumerClient, answer: Answer) -> None:
    """Let a member not know of an answer that it has heard of. Cost: O(1)."""
    client.in_flight, client.epoch = answer.own_number, answer.epoch
    if watch is not None:
        watch.generations[number] = answer.epoch


def _in_flight(network: Network, number: int, own_number: int) -> int:
    """Let a report of a member wait for its answer; return the request's number."""
    link = network.links[number]
    network.sent += 1
    link.unanswered += 1
    network.in_flight[network.sent] = (number, own_number, link.life, NEVER, None)
    return network.sent
