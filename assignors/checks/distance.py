"""How far an assignment is from the best possible one.

An assignment that could be better breaks no rule, so these are figures, not violations. A
partition given to a member that does not subscribe to its topic counts as unassigned, or an
invalid assignment could look better than the best. While a partition is unassigned, loads are
not final, and no balance gap is reported.
"""

from __future__ import annotations

import numpy as np

from assignors.assignor import UserData
from assignors.claims import claims_of, favoured_owners
from assignors.metrics import loads, moved_count, rack_mismatch_count, topic_spread
from assignors.model import Assignment, Group
from assignors.optimal.assign import target_assignment
from assignors.problem import NOBODY, lawful_owners, problem_of
from assignors.weighted.figures import Figures, weight_figures, weight_moved


def distance(
    group: Group, assignment: Assignment, kind: UserData
) -> dict[str, int | float | bool | None]:
    """Return loads and moves beside the best possible.

    `balance_gap`: sum of squared loads above the optimum, never negative, and `None` while a
    partition that could be given is not;
    `load_max`, `load_max_optimum`; `moved`: partitions that this round takes from members that
    own them by a valid claim, `moved_minimum`: the fewest that any perfectly balanced assignment
    moves (one that is less balanced may move fewer); `unassigned`; `topic_spread`: the sum over
    topics and
    members of squared counts, `topic_spread_minimum`: the least of all assignments that are best
    in balance, racks and moves (one that moves more may have less); `topic_spread_max`;
    `rack_mismatches`; in a group with weights also those of `weighted.figures`.
    Cost: that of the optimal solver.
    """
    problem = problem_of(group)
    favoured = favoured_owners(claims_of(problem, group, kind))
    best = target_assignment(problem, favoured)
    given = lawful_owners(problem, assignment)
    held, ideal = loads(problem, given), loads(problem, best)
    waits = (given == NOBODY) & (best != NOBODY)
    is_complete = not bool(waits.any())
    spread, spread_max = topic_spread(problem, given)
    by_weight: Figures = {}
    if group.weighting is not None:
        goal = np.where(waits, favoured, given).astype(np.int32)
        by_weight = {
            **weight_figures(problem, group.weighting, favoured=favoured, target=goal),
            "weight_moved": weight_moved(problem, group.weighting, favoured, given),
        }
    return {
        "balance_gap": int(held @ held - ideal @ ideal) if is_complete else None,
        "load_max": int(held.max(initial=0)),
        "load_max_optimum": int(ideal.max(initial=0)),
        "load_min": int(held.min()) if len(held) else 0,
        "moved": moved_count(favoured, given),
        "moved_minimum": moved_count(favoured, best),
        "unassigned": int(np.count_nonzero(waits)),
        "topic_spread": spread if is_complete else None,
        "topic_spread_minimum": topic_spread(problem, best)[0],
        "topic_spread_max": spread_max,
        "rack_mismatches": rack_mismatch_count(problem, given),
        **by_weight,
    }
