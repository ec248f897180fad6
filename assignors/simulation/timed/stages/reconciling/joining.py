"""A member that joins: the answer that it waits for, where nothing else is on with it.

The coordinator has written that the member has joined, and answers once that is replicated. What
comes of the answer is the member's way to its first target, most often one of nothing. Where its
request brings no target the member is put into the group as that arrives, and nothing is written
(`protocols/consumer/assignment/joined`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from assignors.simulation.timed.heartbeats import HEARTBEAT
from assignors.simulation.timed.plain_heartbeats import Rest
from assignors.simulation.timed.protocols.consumer.member_state import ConsumerClient
from assignors.simulation.timed.protocols.consumer.messages import (
    ConsumerError,
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
)
from assignors.simulation.timed.protocols.consumer.step import committed
from assignors.simulation.timed.protocols.effects import (
    COORDINATOR,
    Arrived,
    CoordinatorEvent,
    Reply,
)
from assignors.simulation.timed.stages.reconciling.asking import Asking
from assignors.simulation.timed.stages.reconciling.member import Answer
from assignors.simulation.timed.stages.reconciling.steps import MemberSteps

NONE = ConsumerError.NONE


class Joined(NamedTuple):
    """A member that joins, and of which nothing is in the queue any more."""

    number: int
    rest: Rest
    answer: Answer


@dataclass(slots=True, kw_only=True)
class Joining:
    """Members that join and do nothing else but wait for the answer to that."""

    asking: Asking
    steps: MemberSteps
    clients: Sequence[ConsumerClient]

    def arrived(self, event: CoordinatorEvent, replicated: int) -> Joined | None:
        """Return the member whose request arrives, if that only lets it join.

        Then the coordinator has handled it; `replicated` is when its records are. `None`: all is
        as it was. Cost: O(1).
        """
        if type(event) is not Arrived or type(event.request) is not ConsumerHeartbeat:
            return None
        if event.request.epoch:
            return None
        now = self.asking.heartbeats.queue.now
        found = self._expected(event.number, replicated, session_began=now)
        if found is None:
            return None
        response = self.asking.join(event.request)
        return None if response is None else self._taken_out(event.number, found, response)

    def written(self, token: int, replicated: int) -> Joined | None:
        """Return the member whose answer alone waits for an append, if it joins.

        Then nothing else has to be done about the append; `replicated` is when its records are.
        `None`: all is as it was. Cost: O(1).
        """
        waits = self.asking.waiting.waiting[token]
        if len(waits) != 1 or type(waits[0]) is not Reply:
            return None
        request, response = waits[0]
        if not isinstance(response, ConsumerHeartbeatResponse) or response.error is not NONE:
            return None
        found = self._expected(request, replicated, session_began=None)
        if found is None:
            return None
        committed(self.asking.waiting, token)
        return self._taken_out(request, found, response)

    def _expected(
        self, request: int, replicated: int, *, session_began: int | None
    ) -> tuple[int, Rest, int] | None:
        """Return who waits for the answer to a request with nothing else to do.

        With it how it rests, and when the answer reaches it. `None`: it has to be queued. Its
        session began then; `None`: that is in the queue. Cost: O(1).
        """
        heartbeats = self.asking.heartbeats
        queue, network = heartbeats.queue, heartbeats.network
        sent = network.in_flight.get(request)
        if sent is None or self.steps.is_judged:
            return None
        number, _, life, _, _ = sent
        link, client = network.links[number], self.clients[number]
        is_only_one = life == link.life and link.unanswered == 1 and network.is_well(number)
        if not (is_only_one and _is_joining(client) and self.steps.are_plain(number, client)):
            return None
        member_id, every, timeout = heartbeats.plain.timing(number)
        due = queue.due((number, HEARTBEAT.key))
        over = None if session_began is None else session_began + timeout
        if over is None:
            over = queue.due((COORDINATOR, ("session", member_id)))
        if due is None or over is None or not heartbeats.is_regular(link, every, timeout):
            return None
        returns = network.returns(number, replicated)
        return (
            None
            if returns >= due
            else (number, Rest(due, every, over, timeout, member_id), returns)
        )

    def _taken_out(
        self, request: int, found: tuple[int, Rest, int], response: ConsumerHeartbeatResponse
    ) -> Joined:
        """Take out of the queue what stands there for a member that joins. Cost: O(1)."""
        number, rest, returns = found
        queue, network = self.asking.heartbeats.queue, self.asking.heartbeats.network
        queue.stop((number, HEARTBEAT.key))
        queue.stop((COORDINATOR, ("session", rest.member_id)))
        _, own_number, _, _, rank = network.in_flight.pop(request)
        link = network.links[number]
        link.unanswered -= 1
        link.returns = returns
        return Joined(number, rest, Answer(own_number, response, returns, rank, 0))


def _is_joining(client: ConsumerClient) -> bool:
    """Return whether a member waits for the answer to its join, with nothing else to do."""
    return (
        client.epoch == 0
        and client.is_up
        and client.in_flight is not None
        and not (client.is_stopping or client.is_out or client.application.is_busy)
        and not (client.must_send or client.has_new_topics or client.must_report)
    )
