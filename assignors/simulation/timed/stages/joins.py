"""When members at rest join again: their next heartbeats, what these report, a poll, a JoinGroup.

A member learns of the rebalance from the answer to its next heartbeat, and joins again at the next
poll after it; an eager one gives up everything first. Heartbeats that are due before that go on,
and change nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assignors.simulation.dice import mixed_array
from assignors.simulation.timed.heartbeats import Heartbeats
from assignors.simulation.timed.plain_heartbeats import Resting
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember
from assignors.simulation.timed.stages.flight import Int64

HALF = np.uint64(32)
LOW = np.uint64(0xFFFF_FFFF)


@dataclass(slots=True, kw_only=True)
class Joins:
    """What members do until their JoinGroups arrive, int64[N] each; times are microseconds."""

    numbers: Int64
    every: Int64
    """From one heartbeat to the next."""
    session_timeout: Int64
    heartbeats: Int64
    """How many each has sent."""
    session_over: Int64
    """When its session would run out."""
    gives_up: Int64
    """When it polls: an eager member gives up everything, and joins after its callback."""
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
            every=self.every[rows],
            session_timeout=self.session_timeout[rows],
            heartbeats=self.heartbeats[rows],
            session_over=self.session_over[rows],
            gives_up=self.gives_up[rows],
            sent=self.sent[rows],
            arrives=self.arrives[rows],
            returned=self.returned[rows],
        )

    def and_also(self, others: Joins) -> Joins:
        """Return these and others. Cost: O(all)."""
        columns = {
            name: np.concatenate([getattr(self, name), getattr(others, name)])
            for name in self.__slots__
        }
        return Joins(**columns)


def joins_after(
    heartbeats: Heartbeats,
    resting: Resting,
    polls: NDArray[np.uint64],
    poll_limits: Int64,
    callbacks: Int64,
) -> Joins:
    """Return when members join again of which the next heartbeats report a rebalance.

    `polls`, uint64[N], are the states of their streams of random polls, `poll_limits`, int64[N],
    one more than the longest time to a poll, and `callbacks`, int64[N], how long each calls back
    before it joins. Cost: O(n), for each heartbeat until it joins.
    """
    numbers, every, delays = resting.numbers, resting.every, heartbeats.network.delays
    service_us = heartbeats.broker.service_us
    due, arrives = heartbeats.next.of(resting, heartbeats.queue.now)
    returned = np.maximum(delays.come_back(numbers, arrives + service_us), resting.returned)
    gives_up = returned + below(polls, poll_limits)
    sent = gives_up + callbacks
    count = (due - resting.due) // every + 1
    due += every
    while (is_due := due < sent).any():
        rows = np.flatnonzero(is_due)
        came = np.maximum(delays.arrive(numbers[rows], due[rows]), arrives[rows])
        back = delays.come_back(numbers[rows], came + service_us)
        arrives[rows], returned[rows] = came, np.maximum(back, returned[rows])
        count[rows] += 1
        due[rows] += every[rows]
    return Joins(
        numbers=numbers,
        every=every,
        session_timeout=resting.session_timeout,
        heartbeats=count,
        session_over=arrives + resting.session_timeout,
        gives_up=gives_up,
        sent=sent,
        arrives=np.maximum(delays.arrive(numbers, sent), arrives),
        returned=returned,
    )


def is_free(member: ClassicMember) -> bool:
    """Return whether a member at rest joins again with all that it has, at its next poll."""
    application = member.application
    subscribes = all(topic in member.topics for topic in member.owned)
    is_slow = application.long_poll_us or application.slow_callback_us
    return subscribes and not (application.is_busy or is_slow)


def below(states: NDArray[np.uint64], limits: Int64) -> Int64:
    """Return `Dice.below` of each stream with its limit, up to 2**32; nothing is drawn. Cost: O(n).

    >>> from assignors.simulation.dice import Dice
    >>> below(np.array([7, 8], dtype=np.uint64), np.array([6, 100])).tolist()
    [2, 61]
    >>> Dice(7).below(6), Dice(8).below(100)
    (2, 61)
    """
    bits = mixed_array(states, np.zeros(len(states), dtype=np.int64))
    limit = limits.astype(np.uint64)
    high = (bits >> HALF) * limit + ((bits & LOW) * limit >> HALF)
    return (high >> HALF).astype(np.int64)
