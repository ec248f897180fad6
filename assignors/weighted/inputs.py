"""A group with its weighting as the arrays that `solve` and `bounds` take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from assignors.arrays import Int32, Int64
from assignors.model import member_ids_of
from assignors.problem import Problem
from assignors.weighted.ratios import EXACT
from assignors.weighting import Weighting

if TYPE_CHECKING:
    from assignors.weighted.solve import Search


@dataclass(frozen=True, slots=True, kw_only=True)
class Loads:
    """Weights of partitions and capacities of members."""

    weight: Int64
    """int64[P]."""
    capacity: Int64
    """int64[M]."""


def loads_of(problem: Problem, weighting: Weighting) -> Loads:
    """Return the weights and capacities of a problem. Cost: O(P + M).

    A topic without weights has the median of all known weights, or as much as keeps the sum below
    2**53, where arithmetic is exact: what is only assumed never fails a group. A member without a
    capacity has 1, and where that is too much for the sum the largest capacity is less by as much.
    """
    here = [weighting.weights[topic] for topic in problem.topics if topic in weighting.weights]
    unknown_count = problem.partition_count - sum(map(len, here))
    usual = 1
    if unknown_count:
        known = sorted(chain.from_iterable(weighting.weights.values()))
        usual = known[(len(known) - 1) // 2] if known else 1
        usual = min(usual, (EXACT - 1 - sum(map(sum, here))) // unknown_count)
    ids = member_ids_of(problem.members)
    capacity = [weighting.capacities.get(member_id, 1) for member_id in ids]
    if weighting.capacities and (above := sum(capacity) - (EXACT - 1)) > 0:
        capacity[capacity.index(max(capacity))] -= above
    return Loads(
        weight=_by_partition(problem, weighting.weights, usual),
        capacity=np.array(capacity, dtype=np.int64),
    )


def search_of(problem: Problem, weighting: Weighting, favoured: Int32) -> Search:
    """Return what `solve` is asked for a group. `favoured` is int32[P]. Cost: O(P + M)."""
    from assignors.weighted.search.table import Places  # noqa: PLC0415 - only who has weights pays
    from assignors.weighted.solve import Search  # noqa: PLC0415 - as above

    loads = loads_of(problem, weighting)
    places = None
    if (
        problem.rack is not None
        and problem.replica_set is not None
        and problem.replica_racks is not None
    ):
        places = Places(
            rack=problem.rack,
            replica_set=problem.replica_set,
            replica_racks=problem.replica_racks,
        )
    costs = weighting.move_costs
    return Search(
        first=problem.first,
        takes=problem.takes,
        class_of=problem.class_of,
        owner=favoured,
        weight=loads.weight,
        capacity=loads.capacity,
        cost=_by_partition(problem, costs, 1) if costs else None,
        budget=weighting.budget,
        balance=weighting.balance,
        places=places,
    )


def _by_partition(problem: Problem, by_topic: Mapping[str, tuple[int, ...]], usual: int) -> Int64:
    """Return one number for each partition, int64[P]."""
    numbers = np.full(problem.partition_count, usual, dtype=np.int64)
    for number, topic in enumerate(problem.topics):
        values = by_topic.get(topic)
        if values is not None:
            numbers[problem.first[number] : problem.first[number + 1]] = values
    return numbers
