"""Sticky by weight: the largest use comes down as far as it must, and few partitions move.

Without a weighting all partitions weigh the same, and the answer is that of `optimal/sticky`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from assignors.arrays import Int32, Int64
from assignors.assignor import Assignor, UserData
from assignors.claims import Claims, claims_of, favoured_owners
from assignors.group_bytes.assignments import assigned
from assignors.metrics import lazy_stats
from assignors.model import Group, require_group
from assignors.optimal.sticky import assign as assign_by_count
from assignors.problem import NOBODY, Problem, partitions_by_topic, problem_of
from assignors.rebalance import ComputedMapping, Figure, Rebalance
from assignors.weighted.figures import weight_figures
from assignors.weighted.inputs import search_of
from assignors.weighting import Weighting

if TYPE_CHECKING:
    from assignors.weighted.solve import Search


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The target of a group, and why no more moves."""

    favoured: Int32
    """int32[P]: the member that stickiness favours."""
    owner: Int32
    """int32[P]: the owner that each partition should have."""
    deferred: Int64
    """int64[N]: partitions that a later round moves if the budget allows."""
    spent: int
    """Cost of the moves of this round."""
    deferred_cost: int
    """Cost of the deferred moves."""
    figures: ComputedMapping[Figure]
    """Figures by weight, computed when one is read."""


def target_of(problem: Problem, claims: Claims[Int32], weighting: Weighting) -> Target:
    """Return the owner that each partition should have, with figures for `Rebalance.stats`.

    `deferred` is how many partitions are put off, `batches_left` in how many rounds of this budget
    they move, and `hold` says why nothing moves: a `MustHold` or a `solve.Hold`. Cost: that of
    `solve`.
    """
    from assignors.weighted.solve import solve  # noqa: PLC0415 - a tenth of importing `assignors`

    favoured = favoured_owners(claims)
    search = search_of(problem, weighting, favoured)
    found = solve(search)
    owner, deferred = found.owner, np.zeros(0, dtype=np.int64)
    if weighting.must_hold is not None:
        owner = found.placed
    elif weighting.budget is not None:
        deferred = found.deferred
    moved = np.flatnonzero((favoured != NOBODY) & (owner != favoured))
    deferred_cost = _cost_of(search, deferred)
    hold = weighting.must_hold or found.hold

    def figures() -> dict[str, Figure]:
        known: dict[str, Figure] = {
            **weight_figures(problem, weighting, favoured=favoured, target=owner),
            "deferred": len(deferred),
        }
        if weighting.budget:
            known["batches_left"] = -(-deferred_cost // weighting.budget)
        if hold is not None:
            known["hold"] = hold.value
        return known

    return Target(
        favoured=favoured,
        owner=owner,
        deferred=deferred,
        spent=_cost_of(search, moved),
        deferred_cost=deferred_cost,
        figures=ComputedMapping(figures),
    )


def _cost_of(search: Search, partitions: Int64) -> int:
    """Return what moving these partitions costs."""
    return len(partitions) if search.cost is None else int(search.cost[partitions].sum())


def deferred_partitions(problem: Problem, partitions: Int64) -> dict[str, tuple[int, ...]]:
    """Return partitions that are put off, by topic."""
    return partitions_by_topic(problem, np.sort(partitions)) if len(partitions) else {}


def assign(group: Group) -> Rebalance:
    """Return the eager assignment by weight. Source: KIP-54 for the protocol.

    >>> from assignors.model import Cluster, Member
    >>> members = (
    ...     Member(member_id="a", topics=("t",), owned={"t": (0, 1)}, generation=1),
    ...     Member(member_id="b", topics=("t",), owned={"t": (2, 3)}, generation=1),
    ... )
    >>> weighting = Weighting(weights={"t": (50, 30, 10, 10)})
    >>> group = Group(cluster=Cluster.of({"t": 4}), members=members, weighting=weighting)
    >>> answer = assign(group)
    >>> answer.assignment, answer.stats["use_max"], answer.stats["use_bound"]
    ({'a': {'t': (0,)}, 'b': {'t': (1, 2, 3)}}, 50.0, 50.0)
    """
    require_group(group)
    if group.weighting is None:
        return assign_by_count(group)
    problem = problem_of(group)
    claims = claims_of(problem, group, UserData.STICKY)
    target = target_of(problem, claims, group.weighting)
    return Rebalance(
        assignment=assigned(problem, target.owner),
        deferred=deferred_partitions(problem, target.deferred),
        spent=target.spent,
        deferred_cost=target.deferred_cost,
        notes=claims.notes,
        stats=lazy_stats(
            problem, favoured=target.favoured, given=target.owner, more=target.figures
        ),
    )


WEIGHTED = Assignor(
    family="weighted",
    name="weighted",
    assign=assign,
    user_data=UserData.STICKY,
)
