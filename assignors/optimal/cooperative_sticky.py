"""Cooperative-sticky: the sticky target, reached without a partition ever having two owners.

The target is computed from the claims that count; the hand-over rule (`assignors.handover`) then
decides which part of it is given in this round. A partition that waits is free in the next round.
A target that has been partly reached is still optimal and needs no other move, so the next round
completes it: two rounds, if every member revokes what it must.
"""

from __future__ import annotations

from functools import partial

from assignors.assignor import Assignor, RebalanceProtocol, UserData
from assignors.claims import claims_of
from assignors.group_bytes.assignments import AssignedPartitions
from assignors.handover import withhold
from assignors.metrics import lazy_stats
from assignors.model import Group
from assignors.optimal.small.assign import assign_small
from assignors.optimal.sticky import place_within
from assignors.options import Options
from assignors.problem import partitions_by_topic, problem_of
from assignors.rebalance import ComputedMapping, Rebalance


def assign(group: Group, *, options: Options = Options()) -> Rebalance:  # noqa: B008 - a value
    """Return the part of the optimal assignment that is safe now. Source: KIP-429.

    Small groups take lists (`small.assign`), others arrays; the answer is the same.

    >>> from assignors.model import Cluster, Member
    >>> members = (
    ...     Member(member_id="a", topics=("t",), owned={"t": (0, 1, 2, 3)}, generation=1),
    ...     Member(member_id="b", topics=("t",)),
    ... )
    >>> answer = assign(Group(cluster=Cluster.of({"t": 4}), members=members))
    >>> answer.assignment, answer.withheld, answer.follow_up
    ({'a': {'t': (0, 1)}, 'b': {}}, {'t': (2, 3)}, False)
    """
    answer = assign_small(group, UserData.COOPERATIVE, options)
    return answer or assign_by_arrays(group, options=options)


def assign_by_arrays(group: Group, *, options: Options = Options()) -> Rebalance:  # noqa: B008 - a value
    """Return the same assignment, computed on arrays whatever the size."""
    problem = problem_of(group)
    claims = claims_of(problem, group, UserData.COOPERATIVE)
    placed = place_within(problem, claims, options=options)
    handover = withhold(problem, claims, placed.target, kept=placed.kept, changed=placed.changed)
    return Rebalance(
        assignment=AssignedPartitions(problem, handover.given),
        withheld=ComputedMapping(partial(partitions_by_topic, problem, handover.withheld))
        if len(handover.withheld)
        else {},
        follow_up=handover.follow_up,
        notes=claims.notes,
        stats=lazy_stats(
            problem,
            favoured=placed.favoured,
            given=handover.given,
            target=placed.target,
            more={**placed.cut_off, "follow_up": handover.follow_up},
        ),
    )


COOPERATIVE_STICKY = Assignor(
    family="optimal",
    name="cooperative-sticky",
    assign=assign,
    protocols=frozenset({RebalanceProtocol.COOPERATIVE, RebalanceProtocol.EAGER}),
    user_data=UserData.COOPERATIVE,
    configure=lambda options: partial(assign, options=options) if options.are_of_search else None,
    takes_arrays=True,
)
