"""Second opinions on the best assignment: slow and obvious, or somebody else's code."""

from __future__ import annotations

import numpy as np
from ortools.graph.python import min_cost_flow

from tests.optimal.groups import Arrays


def best_by_trial(made: Arrays) -> tuple[int, int, int]:
    """Return (square sum, rack mismatches, kept) of the best assignment, all of them tried.

    Assignments with the same loads are one case as far as balance goes, so only the best of
    each is carried on from partition to partition.
    """
    allowed, remote = made.may_take().tolist(), made.is_remote().tolist()
    best: dict[tuple[int, ...], tuple[int, int]] = {(0,) * made.member_count: (0, 0)}
    for partition, owner in enumerate(made.owner.tolist()):
        takers = [member for member, may in enumerate(allowed[partition]) if may]
        if not takers:
            continue
        following: dict[tuple[int, ...], tuple[int, int]] = {}
        for loads, (mismatches, lost) in best.items():
            for member in takers:
                more = (*loads[:member], loads[member] + 1, *loads[member + 1 :])
                cost = (mismatches + remote[partition][member], lost - (owner == member))
                if cost < following.get(more, (1 << 30, 0)):
                    following[more] = cost
        best = following
    square, mismatches, lost = min(
        (sum(load * load for load in loads), *cost) for loads, cost in best.items()
    )
    return square, mismatches, -lost


def best_by_flow(made: Arrays, *, load_limit: int | None = None) -> tuple[int, int, int]:
    """Return the same by OR-tools' min-cost flow, on (topic, replica set) rows.

    The j-th partition of a member costs 2j - 1, so that its load costs the square. Moves and
    racks are smaller digits of the same number. Loads above `load_limit` are left out; that
    is checked to change nothing.
    """
    allowed, remote = made.may_take(), made.is_remote()
    wanted = np.flatnonzero(allowed.any(axis=1))
    count, members = len(wanted), made.member_count
    if not count:
        return 0, 0, 0
    sets = made.topic_of if made.replica_set is None else made.replica_set
    label = made.topic_of.astype(np.int64) * (int(sets.max()) + 1) + sets
    _, sample, row, size = np.unique(
        label[wanted], return_index=True, return_inverse=True, return_counts=True
    )
    may, far = allowed[wanted[sample]], remote[wanted[sample]]
    owned = np.zeros(may.shape, dtype=np.int64)
    owner = made.owner[wanted]
    held = owner >= 0
    np.add.at(owned, (row[held], owner[held]), 1)
    owned[~may] = 0
    rack_digit, square_digit = count + 1, (count + 1) ** 2
    rows, limit = len(size), count if load_limit is None else load_limit
    flow = min_cost_flow.SimpleMinCostFlow()
    row_of, member_of = np.nonzero(may)
    keepable, cost = owned[row_of, member_of], far[row_of, member_of] * rack_digit
    head = rows + member_of
    flow.add_arcs_with_capacity_and_unit_cost(row_of, head, keepable, cost - 1)
    flow.add_arcs_with_capacity_and_unit_cost(row_of, head, size[row_of], cost)
    step = np.tile(np.arange(1, limit + 1), members)
    tail = np.repeat(np.arange(members), limit) + rows
    last = flow.add_arcs_with_capacity_and_unit_cost(
        tail,
        np.full(len(tail), rows + members),
        np.ones(len(tail), dtype=np.int64),
        square_digit * (2 * step - 1),
    )
    supply = np.concatenate([size, np.zeros(members, dtype=np.int64), [-count]])
    flow.set_nodes_supplies(np.arange(len(supply)), supply)
    assert flow.solve() == flow.OPTIMAL
    assert limit == count or not flow.flows(last)[step == limit].any(), "the limit was felt"
    load = np.bincount(tail - rows, weights=flow.flows(last), minlength=members).astype(np.int64)
    square = int(load @ load)
    rest = flow.optimal_cost() - square * square_digit
    mismatches = -(-rest // rack_digit)
    return square, mismatches, mismatches * rack_digit - rest
