"""When the members of a classic group that start together join, sync, and have their assignments.

Each sends JoinGroup twice, as the answer to the first one brings its member id (KIP-394). The first
rebalance waits for the initial delay, and for as long again while members come. Then all are
answered, send SyncGroup, and wait for the leader's. When each of these messages arrives is
arithmetic.

Arrays have a row for each member, in the order of the scenario; times are microseconds. Of one
moment requests and answers come in the order in which they were sent, as in a run by events.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

import numpy as np

from assignors.simulation.timed.network import Network
from assignors.simulation.timed.protocols.classic.joining import NEW_MEMBER_JOIN_TIMEOUT_MS
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.stages.flight import Int64
from assignors.simulation.timed.stages.starts.start import Bools, NotTogether, require, served

START, FIRST, ANSWER, SECOND = range(4)


@dataclass(frozen=True, slots=True, kw_only=True)
class Newcomers:
    """Members that start together, int64[N] each, and what the coordinator takes."""

    numbers: Int64
    at: Int64
    """When each starts."""
    every: Int64
    """From one heartbeat to the next."""
    session: Int64
    """Its session timeout."""
    rebalance: Int64
    """Its rebalance timeout."""
    join_limit: Int64
    """How long it waits for the answer to a JoinGroup."""
    sync_limit: Int64
    """The same of a SyncGroup."""
    assign: Int64
    """How long its callback for assigned partitions takes."""
    network: Network
    before: int
    """All must be over by then."""
    initial_delay: int
    service_us: int
    append_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    """Everybody waits for the first generation."""

    order: list[int]
    """Rows in the order in which the members came into the group."""
    began: int
    """When the first member came into the group."""
    opens: int
    """When the join phase ends."""
    has_new_member: bool
    """Whether somebody came since the last delay began, and the rebalance may wait no longer."""
    answered: Int64
    """When the answer to the first JoinGroup of each came."""
    arrived: Int64
    """When the second one arrived."""
    busy_until: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Synced:
    """Everybody has its assignment."""

    joined: Int64
    """When the answer to the second JoinGroup of each came."""
    arrived: Int64
    """When its SyncGroup did."""
    is_late: Bools
    """Whether that came after the assignments were given."""
    given: int
    """When they were."""
    returned: Int64
    """When its assignment came."""
    takes: Int64
    """When it begins to consume, if it has anything."""
    order: Int64
    """Rows in that order."""
    session_over: Int64
    """When its session would run out."""
    busy_until: int


def joined(own: Newcomers) -> Joined:
    """Return when everybody joins. Raises `NotTogether`. Cost: O(n log n)."""
    order, asked, answered, arrived, busy_until = _ask_twice(own)
    came = arrived[order].tolist()
    opens, has_new_member = _opens(came, own.initial_delay, int(own.rebalance[order[0]]))
    require(arrived < opens)
    require(arrived < asked + own.session)
    require(answered < own.at + own.join_limit)
    require(opens < arrived + NEW_MEMBER_JOIN_TIMEOUT_MS * MILLISECOND)
    return Joined(
        order=order,
        began=came[0],
        opens=opens,
        has_new_member=has_new_member,
        answered=answered,
        arrived=arrived,
        busy_until=busy_until,
    )


def _opens(came: Sequence[int], delay: int, longest: int) -> tuple[int, bool]:
    """Return when the first join phase ends, and whether somebody came since its last delay began.

    `came` is when each came into the group, in order: as long as members come the phase goes on
    for another `delay`, up to the rebalance timeout of the first one, `longest`. Raises
    `NotTogether` where one comes just as a delay ends. Cost: O(members log members).

    >>> _opens([10, 20, 115, 270], delay=100, longest=1000)
    (410, False)
    >>> _opens([10, 20, 115, 170], delay=100, longest=170)
    (180, True)
    """
    ends, left = came[0] + delay, max(longest - delay, 0)
    seen, known = 1, bisect_left(came, ends)
    while known > seen and left > 0:
        if known < len(came) and came[known] == ends:
            raise NotTogether
        ends, left = ends + min(delay, left), max(left - delay, 0)
        seen, known = known, bisect_left(came, ends)
    return ends, known > seen


def _ask_twice(own: Newcomers) -> tuple[list[int], Int64, Int64, Int64, int]:
    """Return the rows in the order in which their second JoinGroups came, and the times of each.

    When the first one arrived, when its answer came, and when the second one arrived; and until
    when the coordinator is busy then.
    """
    network, numbers, service_us = own.network, own.numbers.tolist(), own.service_us
    asked = network.delays.arrive(own.numbers, own.at)
    sent = asked.tolist()
    answered, arrived = [0] * len(sent), [0] * len(sent)
    order: list[int] = []
    busy_until, count = 0, len(sent)
    heap = [(at, row, START, row) for row, at in enumerate(own.at.tolist())]
    heapify(heap)
    while heap:
        now, _, kind, row = heappop(heap)
        if kind is START:
            then, following = sent[row], FIRST
        elif kind is ANSWER:
            answered[row] = now
            then, following = network.arrives(numbers[row], now), SECOND
        else:
            busy_until = max(now, busy_until) + service_us
            if kind is SECOND:
                arrived[row] = now
                order.append(row)
                continue
            then, following = network.returns(numbers[row], busy_until), ANSWER
        count += 1
        heappush(heap, (then, count, following, row))
    return order, asked, np.array(answered), np.array(arrived), busy_until


def synced(own: Newcomers, before: Joined, place: Int64, leader: int, computes: int) -> Synced:
    """Return when everybody gets its assignment. Raises `NotTogether`. Cost: O(n log n).

    `place`, int64[N], is the place of each in the coordinator's map, `leader` the leader's row,
    and `computes` how long it takes for the assignment. A message never overtakes another one of
    its member: each follows the answer to the one before.
    """
    delays, numbers, service_us = own.network.delays, own.numbers, own.service_us
    leaves = np.full(len(numbers), max(before.opens, before.busy_until), dtype=np.int64)
    heard = delays.come_back(numbers, leaves)
    sent = heard.copy()
    sent[leader] += computes
    is_leader = np.arange(len(numbers)) == leader
    arrived = delays.arrive(numbers, sent)
    in_turn = np.lexsort((place, is_leader, sent, arrived))
    done = np.empty_like(arrived)
    done[in_turn] = served(arrived[in_turn], before.busy_until, service_us)
    given = int(done[leader]) + own.append_us
    # What comes when they are given was sent before they were asked for, or comes too late.
    is_late = (arrived > given) | ((arrived == given) & (sent > arrived[leader]))
    returned = delays.come_back(numbers, np.where(is_late, done, given))
    turn = np.empty_like(in_turn)
    turn[in_turn] = np.arange(len(in_turn))
    takes = returned + own.assign
    due = heard + own.every
    session_over = np.where(is_late, before.opens, given) + own.session
    require(heard < before.answered + own.join_limit)
    require(takes < before.opens + own.rebalance.max())  # then the wait for SyncGroups ends
    require(returned < sent + own.sync_limit)
    require(takes < due)
    require(np.maximum(arrived, given) < before.opens + own.session)
    require(session_over > due + own.network.longest_us)
    require(takes < own.before)
    return Synced(
        joined=heard,
        arrived=arrived,
        is_late=is_late,
        given=given,
        returned=returned,
        takes=takes,
        order=np.lexsort((np.where(is_late, turn, place), is_late, returned, takes)),
        session_over=session_over,
        busy_until=int(done.max()),
    )
