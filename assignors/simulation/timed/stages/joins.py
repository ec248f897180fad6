"""When members at rest join again: their next heartbeats, what these report, a poll, a JoinGroup.

A member learns of the rebalance from the answer to its next heartbeat, and joins again at the next
poll after it. Heartbeats that are due before that poll go on, and change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.simulation.dice import mixed_array
from assignors.simulation.timed.heartbeats import Heartbeats
from assignors.simulation.timed.network import Network
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember
from assignors.simulation.timed.stages.flight import Int64
from assignors.simulation.timed.stages.plain import PlainMembers

HALF = np.uint64(32)
LOW = np.uint64(0xFFFF_FFFF)


@dataclass(slots=True, kw_only=True)
class Joins:
    """What members do until their JoinGroups arrive, int64[N] each; times are microseconds."""

    numbers: Int64
    heartbeats: Int64
    """How many each has sent."""
    session_over: Int64
    """When its session would run out."""
    sent: Int64
    """When its JoinGroup leaves."""
    arrives: Int64
    """When that arrives."""
    returned: Int64
    """When the last answer reached the member."""

    @property
    def are_regular(self) -> NDArray[np.bool_]:
        """Which of them have every answer before they join, and a session until then, bool[N]."""
        is_answered = self.returned <= self.sent
        regular: NDArray[np.bool_] = is_answered & (self.session_over > self.arrives)
        return regular

    def chosen(self, rows: NDArray[np.bool_] | Int64) -> Joins:
        """Return some of them."""
        return Joins(
            numbers=self.numbers[rows],
            heartbeats=self.heartbeats[rows],
            session_over=self.session_over[rows],
            sent=self.sent[rows],
            arrives=self.arrives[rows],
            returned=self.returned[rows],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NextHeartbeats:
    """The next heartbeats of members at rest, int64[N] each; times are microseconds."""

    numbers: Int64
    sent_before: Int64
    """How many each has sent before it since it rests."""
    due: Int64
    arrives: Int64
    every: Int64
    session_timeout: Int64
    polls: NDArray[np.uint64]
    """The states of their streams of random polls."""
    poll_limits: Int64
    """One more than the longest time to a poll."""


def next_heartbeats(
    heartbeats: Heartbeats, members: Sequence[ClassicMember], plain: PlainMembers
) -> NextHeartbeats:
    """Return the next heartbeats of the plain members at rest. Cost: O(members at rest)."""
    numbers, due, arrives, every = heartbeats.next_arrivals(heartbeats.queue.now)
    is_free = [_is_free(members[number]) for number in numbers.tolist()]
    rows = np.flatnonzero(plain.are_plain[numbers] & np.array(is_free, dtype=np.bool_))
    numbers, due, every = numbers[rows], due[rows], every[rows]
    rests = [heartbeats.resting[number] for number in numbers.tolist()]
    first_due = np.fromiter((each.due for each in rests), np.int64, len(rests))
    timeouts = np.fromiter((each.session_timeout for each in rests), np.int64, len(rests))
    polls = [plain.polls[number].state for number in numbers.tolist()]
    return NextHeartbeats(
        numbers=numbers,
        sent_before=(due - first_due) // every,
        due=due,
        arrives=arrives[rows],
        every=every,
        session_timeout=timeouts,
        polls=np.array(polls, dtype=np.uint64),
        poll_limits=plain.poll_limits[numbers],
    )


def _is_free(member: ClassicMember) -> bool:
    """Return whether a member at rest joins again with all that it has, at its next poll."""
    application = member.application
    subscribes = all(topic in member.topics for topic in member.owned)
    return subscribes and not (application.is_busy or application.long_poll_us)


def joins_after(network: Network, service_us: int, next_of: NextHeartbeats) -> Joins:
    """Return when members join again of which the next heartbeats report a rebalance.

    Cost: O(n), in arrays, for each heartbeat until the poll.
    """
    numbers, due, arrives = next_of.numbers, next_of.due, next_of.arrives.copy()
    links = [network.links[number] for number in numbers.tolist()]
    returned = np.fromiter((each.returns for each in links), np.int64, len(links))
    returned = np.maximum(network.delays.come_back(numbers, arrives + service_us), returned)
    sent = returned + below(next_of.polls, next_of.poll_limits)
    count = next_of.sent_before + 1
    due = due + next_of.every
    while (is_due := due < sent).any():
        rows = np.flatnonzero(is_due)
        came = np.maximum(network.delays.arrive(numbers[rows], due[rows]), arrives[rows])
        back = network.delays.come_back(numbers[rows], came + service_us)
        arrives[rows], returned[rows] = came, np.maximum(back, returned[rows])
        count[rows] += 1
        due[rows] += next_of.every[rows]
    return Joins(
        numbers=numbers,
        heartbeats=count,
        session_over=arrives + next_of.session_timeout,
        sent=sent,
        arrives=np.maximum(network.delays.arrive(numbers, sent), arrives),
        returned=returned,
    )


def below(states: NDArray[np.uint64], limits: Int64) -> Int64:
    """Return `Dice.below` of each stream with its limit, up to 2**32; nothing is drawn. Cost: O(n).

    >>> from assignors.simulation.dice import Dice
    >>> below(np.array([7, 8], dtype=np.uint64), np.array([6, 100])).tolist()
    [2, 66]
    >>> Dice(7).below(6), Dice(8).below(100)
    (2, 66)
    """
    bits = mixed_array(states, np.zeros(len(states), dtype=np.int64))
    limit = limits.astype(np.uint64)
    high = (bits >> HALF) * limit + ((bits & LOW) * limit >> HALF)
    return (high >> HALF).astype(np.int64)
