"""When the members of a consumer group that start together join, share out, and come to rest.

The first that joins gets every partition, as nobody else is there yet. The heartbeats of the others
come an interval later; the first of all brings the next target. From then on the first member gives
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
from assignors.simulation.timed.stages.starts.start import Bools, require, served


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
    answered: int
    takes: int
    """When it has them, and reports it."""
    reported: int
    """When the report arrives."""


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
    """Return when everybody joins. Raises `NotTogether`. Cost: O(n log n)."""
    rows = np.arange(len(starters.numbers), dtype=np.int64)
    arrived = starters.arrive(rows, np.full(len(rows), starters.at, dtype=np.int64))
    order = np.argsort(arrived, kind="stable")
    owner = _first_owner(starters, int(order[0]), int(arrived[order[0]]))
    requests = np.append(arrived[order], owner.reported)
    in_turn = np.argsort(requests, kind="stable")
    done = np.empty_like(requests)
    done[in_turn] = served(requests[in_turn], 0, starters.service_us)
    returned = np.empty_like(arrived)
    returned[order] = starters.come_back(order, done[:-1] + starters.append_us)
    sent = np.full(len(rows), starters.at, dtype=np.int64)
    require(returned < sent + starters.every)
    row = np.array([owner.row])
    joins = arrived.copy()
    arrived[owner.row], sent[owner.row] = owner.reported, owner.takes
    reported = starters.come_back(row, done[-1:])
    returned[row] = np.maximum(reported, owner.answered)
    due = sent + starters.every
    require(returned < due)
    arrives = np.maximum(starters.arrive(rows, due), arrived)
    require(arrives > owner.reported)
    return Joined(
        order=order,
        joins=joins,
        arrived=arrived,
        returned=returned,
        owner=owner,
        due=due,
        next=arrives,
        busy_until=int(done.max()),
    )


def _first_owner(starters: Starters, row: int, arrived: int) -> FirstOwner:
    rows = np.array([row], dtype=np.int64)
    leaves = np.array([arrived + starters.service_us + starters.append_us])
    answered = starters.come_back(rows, leaves)
    polls = below(starters.polls[rows], starters.poll_limits[rows])
    takes = answered + polls + starters.assign_us[rows]
    require(takes < starters.at + starters.every[rows])
    reported = np.maximum(starters.arrive(rows, takes), arrived)
    return FirstOwner(row, int(answered[0]), int(takes[0]), int(reported[0]))


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
    polls = answered + below(starters.polls[takers], starters.poll_limits[takers])
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
    require(heard > answered)  # of one moment the heartbeats of the others come before answers
    return int(gives_up[0]), int(reports[0]), int(heard[0])
