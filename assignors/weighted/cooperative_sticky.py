"""Cooperative-sticky by weight: the target of `weighted.sticky`, handed over safely.

The hand-over rule (`assignors.handover`) knows no weights: no partition has two owners, whatever
they are. The budget is of a round; a group whose members rejoin to take what others have revoked
should have a budget of 0 in that round, or moves beget moves (`Weighting.budget`).
"""

from __future__ import annotations

import numpy as np

from assignors.assignor import Assignor, RebalanceProtocol, UserData
from assignors.claims import claims_of
from assignors.group_bytes.assignments import assigned
from assignors.handover import withhold
from assignors.metrics import lazy_stats
from assignors.model import Group, require_group
from assignors.optimal.cooperative_sticky import assign as assign_by_count
from assignors.problem import partitions_by_topic, problem_of
from assignors.rebalance import ComputedMapping, Rebalance
from assignors.weighted.sticky import deferred_partitions, target_of


def assign(group: Group) -> Rebalance:
    """Return the part of the assignment by weight that is safe now. Source: KIP-429.

    >>> from assignors.model import Cluster, Member
    >>> from assignors.weighting import Weighting
    >>> members = (
    ...     Member(member_id="a", topics=("t",), owned={"t": (0, 1)}, generation=1),
    ...     Member(member_id="b", topics=("t",), owned={"t": (2, 3)}, generation=1),
    ... )
    >>> weighting = Weighting(weights={"t": (50, 30, 10, 10)})
    >>> group = Group(cluster=Cluster.of({"t": 4}), members=members, weighting=weighting)
    >>> answer = assign(group)
    >>> answer.assignment, answer.withheld
    ({'a': {'t': (0,)}, 'b': {'t': (2, 3)}}, {'t': (1,)})
    """
    require_group(group)
    if group.weighting is None:
        return assign_by_count(group)
    problem = problem_of(group)
    claims = claims_of(problem, group, UserData.COOPERATIVE)
    target = target_of(problem, claims, group.weighting)
    changed = np.flatnonzero(target.owner != target.favoured)
    handover = withhold(claims, target.owner, changed.tolist())
    return Rebalance(
        assignment=assigned(problem, handover.given),
        withheld=partitions_by_topic(problem, handover.withheld),
        follow_up=handover.follow_up,
        deferred=deferred_partitions(problem, target.deferred),
        spent=target.spent,
        deferred_cost=target.deferred_cost,
        notes=claims.notes,
        stats=lazy_stats(
            problem,
            favoured=target.favoured,
            given=handover.given,
            target=target.owner,
            more=ComputedMapping(lambda: {**target.figures, "follow_up": handover.follow_up}),
        ),
    )


COOPERATIVE_WEIGHTED = Assignor(
    family="weighted",
    name="cooperative-weighted",
    assign=assign,
    protocols=frozenset({RebalanceProtocol.COOPERATIVE, RebalanceProtocol.EAGER}),
    user_data=UserData.COOPERATIVE,
)
