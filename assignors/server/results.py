"""From owners as numbers to an assignment by name, and the owners of the previous target."""

from __future__ import annotations

from functools import partial

import numpy as np

from assignors.arrays import bounds_of
from assignors.assignor import UserData
from assignors.claims import byte_notes, counted_owners
from assignors.jvm.many_tables import narrow
from assignors.jvm.ordered_assignment import OrderedAssignment, PairsByMember, assigned
from assignors.metrics import stats
from assignors.problem import NOBODY, Int32, Int64, problem_of
from assignors.rebalance import ComputedMapping, Rebalance
from assignors.server.spec import Spec


def previous_entries(spec: Spec) -> tuple[Int32, Int64]:
    """Return member and partition of every number of the previous target, each [C].

    -1 stands for what is no partition of `spec.problem`.
    """
    target = spec.target
    first = np.full(len(spec.topics), NOBODY, dtype=np.int64)
    first[: spec.topic_count] = spec.problem.first[:-1]
    size = np.zeros(len(spec.topics), dtype=np.uint64)
    size[: spec.topic_count] = np.diff(spec.problem.first)
    topic = target.by_number(target.run_topic)
    partition = first.take(topic)
    partition += target.number
    # As unsigned numbers, negative ones are beyond every size.
    is_real = target.number.view(np.uint64) < size.take(topic)
    if not is_real.all():
        partition[~is_real] = NOBODY
    return target.by_number(target.run_member).astype(np.int32), partition


def rebalance_of(
    spec: Spec,
    owner: Int32,
    *,
    load: Int64 | None = None,
    also: tuple[Int32, Int64] | None = None,
) -> Rebalance:
    """Return the assignment by name; lists are sorted, as the broker answers with sets.

    `owner` is int32[P], places in map order. `load`, int64[M], is how
    many partitions each member has, where that is known. `also` are further holders (member,
    partition) of partitions that somebody owns already. Cost: O(P log P + M).
    """
    problem = spec.problem
    load, by_member = _by_member(spec, owner, also, load)
    held = OrderedAssignment(
        members=spec.member_ids,
        topics=problem.topics,
        start=bounds_of(load),
        topic=problem.topic_of.take(by_member),
        number=problem.number_of.take(by_member),
    )
    place = np.append(spec.order, NOBODY).astype(np.int32)  # the last one maps NOBODY to NOBODY
    given = place.take(owner)
    return Rebalance(
        assignment=assigned(problem, given, held),
        notes=(*byte_notes(problem.members), *spec.notes),
        stats=ComputedMapping(partial(_figures, spec, given, held.start)),
        lists=PairsByMember(held),
        order=held.members,
    )


def _figures(spec: Spec, given: Int32, start: Int64) -> dict[str, int | float | bool]:
    problem = problem_of(spec.group)
    favoured = counted_owners(problem, spec.group, UserData.NONE)
    counted = stats(problem, favoured=favoured, given=given)
    return {**counted, **load_figures(np.diff(start))}


def load_figures(load: Int64) -> dict[str, int]:
    """Return the figures of how many partitions each member has, shared ones included.

    >>> load_figures(np.array([2, 0, 1]))
    {'load_max': 2, 'load_min': 0, 'load_square_sum': 5}
    """
    return {
        "load_max": int(load.max(initial=0)),
        "load_min": int(load.min()) if len(load) else 0,
        "load_square_sum": int(load @ load),
    }


def _by_member(
    spec: Spec, owner: Int32, also: tuple[Int32, Int64] | None, load: Int64 | None
) -> tuple[Int64, Int64]:
    """Return how many partitions each member has, int64[M], and these: see `rebalance_of`.

    Those of `also` are among them. Cost: O(P log P + M).
    """
    partition, member = None, owner
    if int(owner.min(initial=0)) == NOBODY:
        partition = np.flatnonzero(owner != NOBODY)
        member = owner[partition]
    if also is not None and len(also[0]):
        partition = np.arange(len(owner)) if partition is None else partition
        member, partition = np.concatenate([member, also[0]]), np.concatenate([partition, also[1]])
        order = np.argsort(partition, kind="stable")
        member, partition = member[order], partition[order]
    if load is None:
        load = np.bincount(member, minlength=spec.member_count)
    order = np.argsort(narrow(member), kind="stable")
    return load, order if partition is None else partition[order]
