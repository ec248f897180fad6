"""When the members of a consumer group that start together join, share out, and come to rest.

The first that joins gets every partition, as nobody else is there yet, and the others get nothing.
Everybody reports that after a poll. The next heartbeats come an interval later; the first of all
brings the next target. From then on the first member gives
up what is not for it, and the others get what is theirs with their next heartbeat after that: each
takes it in a callback and reports it. When each of these messages arrives is arithmetic.

Arrays have a row for each member, in the order of the scenario; times are microseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assignors.simulation.dice import STEP
from assignors.simulation.timed.random_streams import Delays
from assignors.simulation.timed.stages.flight import Int64
from assignors.simulation.timed.stages.joins import below
from assignors.simulation.timed.stages.starts.start import Bools, NotTogether, require, served

REPORTS_AMONG_JOINS_MAX = 5
"""Reports change when joins are answered, which changes the reports: how often that is followed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Starters:
    """Members that start at one moment, and how long what they do takes; N rows."""

    numbers: Int64
    at: int
    """When they start."""
    every: Int64
    """From one heartbeat to the next."""
    polls: NDArray[np.uint64]
    """The states of their streams of random polls."""
    poll_limits: Int64
    """One more than the longest time to a poll."""
    assign_us: Int64
    revoke_us: Int64
    rebalance_us: Int64
    """How long each may take to give something up before the coordinator removes it."""
    delays: Delays
    service_us: int
    append_us: int
    before: int
    """All must be over by then."""

    def arrive(self, rows: Int64, at: Int64) -> Int64:
        """Return when requests of these rows arrive that are sent then. Cost: O(n)."""
        return self.delays.arrive(self.numbers[rows], at)

    def come_back(self, rows: Int64, at: Int64) -> Int64:
        """Return when answers to these rows come that leave then. Cost: O(n)."""
        return self.delays.come_back(self.numbers[rows], at)


class FirstOwner(NamedTuple):
    """What the first member does with all partitions."""

    row: int
    takes: int
    """When it has them, and reports it."""


@dataclass(slots=True, kw_only=True)
class Joined:
    """Everybody has joined."""

    order: Int64
    """Rows in the order in which they did."""
    joins: Int64
    """When the first request of each arrived."""
    arrived: Int64
    """When the last request of each arrived."""
    returned: Int64
    """When the last answer to each came."""
    owner: FirstOwner
    due: Int64
    """When the next heartbeat of each is."""
    next: Int64
    """When that arrives."""
    busy_until: int

    @property
    def first(self) -> int:
        """The row of the first heartbeat, which brings the target."""
        return int(np.lexsort((np.arange(len(self.next)), self.next))[0])


@dataclass(slots=True, kw_only=True)
class Shared:
    """Everybody has its share, and rests."""

    waited: Int64
    """How many heartbeats of each brought nothing as the first member still had its share."""
    took: Int64
    """When each began to consume its share; where it has none, 0."""
    order: Int64
    """The rows with a share but for the first member's, in the order in which they took it."""
    gave_up: int
    """When the first member stopped to consume what is not for it."""
    stable: int
    """When the coordinator had brought the last one to the target."""
    due: Int64
    arrived: Int64
    returned: Int64
    busy_until: int


def joined(starters: Starters) -> Joined:
    """Return when everybody joins. Raises `NotTogether`. Cost: O(n log n), most times twice."""
    rows = np.arange(len(starters.numbers), dtype=np.int64)
    joins = starters.arrive(rows, np.full(len(rows), starters.at, dtype=np.int64))
    order = np.argsort(joins, kind="stable")
    done = served(joins[order], 0, starters.service_us)
    for _ in range(REPORTS_AMONG_JOINS_MAX):
        # A report that comes before the last join is handled lets others wait for their answers.
        first, supposed = _first_assignments(starters, joins, order, done), done
        done, heard = _handled(starters, joins, order, first)
        if np.array_equal(done, supposed):
            break
    else:
        raise NotTogether
    returned = np.maximum(starters.come_back(rows, heard), first.answered)
    due = first.taken + starters.every
    require(first.taken < starters.at + starters.every)
    require(returned < due)
    arrives = np.maximum(starters.arrive(rows, due), first.reported)
    require(arrives > first.reported.max())
    row = int(order[0])
    return Joined(
        order=order,
        joins=joins,
        arrived=first.reported,
        returned=returned,
        owner=FirstOwner(row, int(first.taken[row])),
        due=due,
        next=arrives,
        busy_until=int(max(done.max(), heard.max())),
    )


class FirstAssignments(NamedTuple):
    """What everybody does with its first assignment, which is empty but for the first member."""

    answered: Int64
    polled: Int64
    taken: Int64
    """When the callback is over, and the member reports it."""
    reported: Int64
    """When the report arrives."""


def _first_assignments(
    starters: Starters, joins: Int64, order: Int64, done: Int64
) -> FirstAssignments:
    """Return what happens if joins are handled at `done`, in this order."""
    rows, owner = np.arange(len(joins), dtype=np.int64), order[0]
    answered = np.empty_like(joins)
    answered[order] = starters.come_back(order, done + starters.append_us)
    polled = answered + below(starters.polls, starters.poll_limits)
    taken = polled.copy()
    taken[owner] += starters.assign_us[owner]
    reported = np.maximum(starters.arrive(rows, taken), joins)
    return FirstAssignments(answered, polled, taken, reported)


def _handled(
    starters: Starters, joins: Int64, order: Int64, first: FirstAssignments
) -> tuple[Int64, Int64]:
    """Return when joins are handled, in this order, and everybody's report, by row."""
    times = (first.answered, first.polled, first.taken, first.reported)
    reporting = order[np.lexsort([each[order] for each in times])]
    requests = np.append(joins[order], first.reported[reporting])
    in_turn = np.argsort(requests, kind="stable")
    done = np.empty_like(requests)
    done[in_turn] = served(requests[in_turn], 0, starters.service_us)
    heard = np.empty_like(joins)
    heard[reporting] = done[len(joins) :]
    return done[: len(joins)], heard


def shared(starters: Starters, before: Joined, has_share: Bools) -> Shared:
    """Return when everybody gets its share. Raises `NotTogether`.

    `has_share`, bool[N]: whether the target gives it anything. Cost: O(n log n), for each heartbeat
    that members wait.
    """
    owner, service_us = before.owner.row, starters.service_us
    gave_up, reports, released = _gives_up(starters, before)
    due, arrived, returned = before.due.copy(), before.next.copy(), before.returned.copy()
    waited = np.zeros(len(due), dtype=np.int64)
    wants = has_share.copy()
    wants[owner] = False
    rows = np.arange(len(due), dtype=np.int64)
    done = rows[~wants & (rows != owner)]
    leaves = arrived[done] + service_us + starters.append_us
    returned[done] = np.maximum(starters.come_back(done, leaves), returned[done])
    stable = max(int(arrived[done].max(initial=0)), released)
    waiting = rows[wants & (arrived < released)]
    while len(waiting):
        require(waited[waiting] < 2)  # of the third one that brings nothing nothing is written
        leaves = arrived[waiting] + service_us + starters.append_us
        returned[waiting] = np.maximum(starters.come_back(waiting, leaves), returned[waiting])
        due[waiting] += starters.every[waiting]
        require(returned[waiting] < due[waiting])
        require(due[waiting] < starters.before)
        arrived[waiting] = np.maximum(starters.arrive(waiting, due[waiting]), arrived[waiting])
        waited[waiting] += 1
        waiting = waiting[arrived[waiting] < released]
    takers = rows[wants]
    stable = max(int(arrived[takers].max(initial=0)), stable)
    answered = starters.come_back(takers, arrived[takers] + service_us + starters.append_us)
    answered = np.maximum(answered, returned[takers])
    second = starters.polls[takers] + np.uint64(STEP)
    polls = answered + below(second, starters.poll_limits[takers])
    takes = polls + starters.assign_us[takers]
    require(takes < due[takers] + starters.every[takers])
    reported = np.maximum(starters.arrive(takers, takes), arrived[takers])
    in_turn = np.lexsort((takers, answered, polls, takes, reported))
    busy_until = max(before.busy_until, released) + service_us
    ready = served(reported[in_turn], busy_until, service_us)
    took = np.zeros(len(due), dtype=np.int64)
    took[takers], due[takers], arrived[takers] = takes, takes, reported
    returned[takers[in_turn]] = starters.come_back(takers[in_turn], ready)
    returned[takers] = np.maximum(returned[takers], answered)
    due[owner], arrived[owner] = reports, released
    one = np.array([owner], dtype=np.int64)
    leaves = np.array([busy_until + starters.append_us])
    returned[one] = np.maximum(starters.come_back(one, leaves), before.returned[one])
    due += starters.every
    require(returned < due)
    require(returned < starters.before)
    return Shared(
        waited=waited,
        took=took,
        order=takers[np.lexsort((takers, answered, polls, takes))],
        gave_up=gave_up,
        stable=stable,
        due=due,
        arrived=arrived,
        returned=returned,
        busy_until=int(ready[-1]) if len(ready) else busy_until,
    )


def _gives_up(starters: Starters, before: Joined) -> tuple[int, int, int]:
    """Return when the first member gives up the others' shares, says so, and is heard."""
    row = np.array([before.owner.row], dtype=np.int64)
    arrived = before.next[row]
    leaves = arrived + starters.service_us + starters.append_us
    answered = np.maximum(starters.come_back(row, leaves), before.returned[row])
    second = starters.polls[row] + np.uint64(STEP)
    gives_up = answered + below(second, starters.poll_limits[row])
    reports = gives_up + starters.revoke_us[row] + starters.poll_limits[row] - 1
    require(reports < before.due[row] + starters.every[row])
    heard = np.maximum(starters.arrive(row, reports), arrived)
    require(heard < arrived + starters.rebalance_us[row])
    require(heard > answered)  # of one moment the heartbeats of the others come before answers
    return int(gives_up[0]), int(reports[0]), int(heard[0])
