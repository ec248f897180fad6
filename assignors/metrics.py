"""Figures of an assignment: loads, moves, spread over topics, racks.

All are arithmetic on the arrays of a `Problem`. Whether an assignment is allowed is judged in
`checks`, how good it could be is computed in `optimal.bounds`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from assignors.problem import NOBODY, Int32, Int64, Problem
from assignors.rebalance import ComputedMapping, Figure

TABLE_FACTOR = 8
"""Counts are made in a table of topics x members of up to so many cells for each partition."""


def loads(problem: Problem, owner: Int32) -> Int64:
    """Return how many partitions each member holds, int64[M].

    `owner` is int32[P], `NOBODY` where a partition has no owner. Cost: O(P + M).
    """
    held: Int64 = np.bincount(owner[owner != NOBODY], minlength=problem.member_count)
    return held.astype(np.int64, copy=False)


def moved_count(favoured: Int32, given: Int32) -> int:
    """Return how many partitions a round takes from members that own them by a valid claim.

    They go to another member in this round, or wait until they can. `favoured` (of
    `claims.counted_owners`) and `given` are int32[P]. Cost: O(P).
    """
    return int(np.count_nonzero((favoured != NOBODY) & (given != favoured)))


def topic_spread(problem: Problem, owner: Int32) -> tuple[int, int]:
    """Return the spread, and the widest gap between two subscribers of one topic.

    The spread is the sum, over topics and members, of how many partitions of the topic the member
    has, squared. The gap is in partitions; it is 0 or 1 where every topic is as even as can be.
    Cost: O(P + T M) for a table that is not much larger than P, else O(P log P).
    """
    topic, holder = problem.topic_of, owner
    if (owner == NOBODY).any():
        held = owner != NOBODY
        topic, holder = topic[held], holder[held]
    if not len(holder):
        return 0, 0
    member_count = problem.member_count
    key = topic * np.int64(member_count) + holder
    topic_count = len(problem.topics)
    if topic_count * member_count <= TABLE_FACTOR * len(key):
        table = np.bincount(key, minlength=topic_count * member_count)
        square_sum = int(table @ table)
        table = table.reshape(topic_count, member_count)
        most = table.max(axis=1)
        least = np.where(table > 0, table, most[:, np.newaxis]).min(axis=1)
        holder_count = np.count_nonzero(table, axis=1)
    else:
        pair, count = np.unique(key, return_counts=True)
        square_sum = int(count @ count)
        topic = pair // member_count
        most = np.zeros(topic_count, dtype=np.int64)
        np.maximum.at(most, topic, count)
        least = np.full(topic_count, np.iinfo(np.int64).max)
        np.minimum.at(least, topic, count)
        holder_count = np.bincount(topic, minlength=topic_count)
    class_size = np.bincount(problem.class_of, minlength=len(problem.takes))
    subscriber_count = class_size @ problem.takes
    least[holder_count < subscriber_count] = 0
    return square_sum, int((most - least)[holder_count > 0].max())


def rack_mismatch_count(problem: Problem, owner: Int32) -> int:
    """Return how many partitions have no replica in the rack of the member that holds them.

    Every partition is local to a member without a rack (KIP-881). Cost: O(P).
    """
    if problem.rack is None or problem.replica_set is None or problem.replica_racks is None:
        return 0
    held = np.flatnonzero(owner != NOBODY)
    rack = problem.rack[owner[held]]
    local = problem.replica_racks[problem.replica_set[held], rack]
    return int(np.count_nonzero((rack != NOBODY) & ~local))


def stats(
    problem: Problem, *, favoured: Int32, given: Int32, target: Int32 | None = None
) -> dict[str, int | float | bool]:
    """Return the figures that the command prints with an assignment.

    Arguments are int32[P]. Loads, moves and racks are of `given`, the assignment of this round.
    `target` is the assignment once nothing waits (`given` where it is `None`), and spread is of
    it. Cost: that of `topic_spread`.
    """
    goal = given if target is None else target
    held = loads(problem, given)
    spread, spread_max = topic_spread(problem, goal)
    return {
        "member_count": problem.member_count,
        "partition_count": problem.partition_count,
        "load_max": int(held.max(initial=0)),
        "load_min": int(held.min()) if len(held) else 0,
        "load_square_sum": int(held @ held),
        "moved": moved_count(favoured, given),
        "kept": int(np.count_nonzero((favoured != NOBODY) & (given == favoured))),
        "withheld": int(np.count_nonzero((goal != NOBODY) & (given == NOBODY))),
        "unassigned": int(np.count_nonzero(given == NOBODY)),
        "topic_spread": spread,
        "topic_spread_max": spread_max,
        "rack_mismatches": rack_mismatch_count(problem, given),
    }


def lazy_stats(
    problem: Problem,
    *,
    favoured: Int32 | Callable[[], Int32],
    given: Int32,
    target: Int32 | None = None,
    more: Mapping[str, Figure] | None = None,
) -> ComputedMapping[Figure]:
    """Return `stats`, with `more` behind them, computed when somebody reads one.

    Then `favoured` is called, if it is no array. The arrays must not change afterwards.
    """

    def compute() -> dict[str, Figure]:
        before = favoured() if callable(favoured) else favoured
        counted = stats(problem, favoured=before, given=given, target=target)
        return {**counted, **(more or {})}

    return ComputedMapping(compute)
