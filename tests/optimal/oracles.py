"""Second opinions on the best assignment: slow and obvious, or somebody else's code.

Each returns (sum of squared loads, rack mismatches, partitions kept, spread) of the best
assignment. `Order` is the order of the last two aims.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from ortools.graph.python import min_cost_flow

from tests.optimal.groups import Arrays

Order = Literal["moves", "spread"]
Figures = tuple[int, int, int, int]


def best_by_trial(made: Arrays, *, first: Order = "moves") -> Figures:
    """Return the figures of the best assignment, all of them tried.

    Assignments with the same loads are one case as far as balance goes, so only the best of
    each is carried on from topic to topic.
    """
    allowed, remote = made.may_take().tolist(), made.is_remote().tolist()
    nobody = (0,) * made.member_count
    best: dict[tuple[int, ...], tuple[int, int, int]] = {nobody: (0, 0, 0)}
    for begin, end in zip(made.first.tolist(), made.first.tolist()[1:], strict=False):
        shares = {nobody: (0, 0)}
        for partition in range(begin, end):
            takers = [member for member, may in enumerate(allowed[partition]) if may]
            if not takers:
                continue
            following: dict[tuple[int, ...], tuple[int, int]] = {}
            for counts, (mismatches, lost) in shares.items():
                for member in takers:
                    more = (*counts[:member], counts[member] + 1, *counts[member + 1 :])
                    is_kept = made.owner[partition] == member
                    cost = (mismatches + remote[partition][member], lost - int(is_kept))
                    if cost < following.get(more, (1 << 30, 0)):
                        following[more] = cost
            shares = following
        beyond: dict[tuple[int, ...], tuple[int, int, int]] = {}
        for loads, (mismatches, *rest) in best.items():
            for counts, (remote_count, lost) in shares.items():
                spread = sum(count * count for count in counts)
                last = (lost, spread) if first == "moves" else (spread, lost)
                total = (mismatches + remote_count, rest[0] + last[0], rest[1] + last[1])
                key = tuple(map(sum, zip(loads, counts, strict=True)))
                if total < beyond.get(key, (1 << 30, 0, 0)):
                    beyond[key] = total
        best = beyond
    square, mismatches, *rest = min(
        (sum(load * load for load in loads), *cost) for loads, cost in best.items()
    )
    lost, spread = rest if first == "moves" else rest[::-1]
    return square, mismatches, -lost, spread


def best_by_flow(  # noqa: PLR0915 - one network, arc by arc
    made: Arrays,
    *,
    load_limit: int | None = None,
    topic_limit: int | None = None,
    first: Order = "moves",
) -> Figures:
    """Return the same by OR-tools' min-cost flow, on (topic, replica set) rows.

    The j-th partition of a member costs 2j - 1, so that its load costs the square; the j-th
    partition of a topic with a member costs as much in the digit of the spread. Racks, moves and
    spread are smaller digits of the same number. Loads above `load_limit`, and members' counts in
    a topic above `topic_limit`, are left out; that is checked to change nothing.
    """
    allowed, remote = made.may_take(), made.is_remote()
    wanted = np.flatnonzero(allowed.any(axis=1))
    count, members = len(wanted), made.member_count
    if not count:
        return 0, 0, 0, 0
    sets = made.topic_of if made.replica_set is None else made.replica_set
    set_count = int(sets.max()) + 1
    label = made.topic_of.astype(np.int64) * set_count + sets
    found, sample, row, size = np.unique(
        label[wanted], return_index=True, return_inverse=True, return_counts=True
    )
    topics, topic = np.unique(found // set_count, return_inverse=True)
    topic_size = np.bincount(topic, weights=size).astype(np.int64)
    may, far = allowed[wanted[sample]], remote[wanted[sample]]
    owned = np.zeros(may.shape, dtype=np.int64)
    owner = made.owner[wanted]
    held = owner >= 0
    np.add.at(owned, (row[held], owner[held]), 1)
    owned[~may] = 0
    most = count if topic_limit is None else topic_limit
    if first == "moves":
        spread_digit, move_digit = 1, most * count + 1
        rack_digit = move_digit * (count + 1 if remote.any() else 1)
    else:
        move_digit, spread_digit = 1, count + 1
        rack_digit = spread_digit * (most * count + 1)
    square_digit = rack_digit * (count + 1)
    rows, limit = len(size), count if load_limit is None else load_limit
    pairs = rows + np.arange(len(topics) * members).reshape(len(topics), members)
    member_node, sink = int(pairs.max()) + 1, int(pairs.max()) + 1 + members
    flow = min_cost_flow.SimpleMinCostFlow()
    row_of, member_of = np.nonzero(may)
    keepable, cost = owned[row_of, member_of], far[row_of, member_of] * rack_digit
    pair = pairs[topic[row_of], member_of]
    keeping = flow.add_arcs_with_capacity_and_unit_cost(row_of, pair, keepable, cost - move_digit)
    beyond = flow.add_arcs_with_capacity_and_unit_cost(row_of, pair, size[row_of], cost)
    pair, member_of, topic_of = np.unique(np.stack([pair, member_of, topic[row_of]]), axis=1)
    step = np.tile(np.arange(1, most + 1), len(pair))
    fits = step <= np.repeat(topic_size[topic_of], most)
    step = step[fits]
    parallel = flow.add_arcs_with_capacity_and_unit_cost(
        np.repeat(pair, most)[fits],
        member_node + np.repeat(member_of, most)[fits],
        np.ones(len(step), dtype=np.int64),
        spread_digit * (2 * step - 1),
    )
    load_step = np.tile(np.arange(1, limit + 1), members)
    tail = np.repeat(np.arange(members), limit)
    last = flow.add_arcs_with_capacity_and_unit_cost(
        tail + member_node,
        np.full(len(tail), sink),
        np.ones(len(tail), dtype=np.int64),
        square_digit * (2 * load_step - 1),
    )
    supply = np.zeros(sink + 1, dtype=np.int64)
    supply[:rows] = size
    supply[sink] = -count
    flow.set_nodes_supplies(np.arange(len(supply)), supply)
    assert flow.solve() == flow.OPTIMAL
    assert limit == count or not flow.flows(last)[load_step == limit].any(), "the limit was felt"
    assert topic_limit is None or not flow.flows(parallel)[step == most].any(), "its limit was felt"
    load = np.bincount(tail, weights=flow.flows(last), minlength=members).astype(np.int64)
    used = flow.flows(parallel) > 0
    across = np.concatenate([flow.flows(keeping), flow.flows(beyond)])
    return (
        int(load @ load),
        int((across * np.tile(cost > 0, 2)).sum()),
        int(flow.flows(keeping).sum()),
        int((2 * step[used] - 1).sum()),
    )
