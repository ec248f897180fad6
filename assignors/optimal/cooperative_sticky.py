"""Cooperative-sticky: the sticky target, reached without a partition ever having two owners.

The target is computed from the claims that count; the hand-over rule (`assignors.handover`) then
decides which part of it is given in this round. A partition that waits is free in the next round.
A target that has been partly reached is still optimal and needs no other move, so the next round
completes it: two rounds, if every member revokes what it must.
"""

from __future__ import annotations

from functools import partial

from assignors.assignor import Assignor, RebalanceProtocol, UserData
from assignors.model import Group
from assignors.optimal.assign import assign as assign_as
from assignors.options import Options
from assignors.rebalance import Rebalance


def assign(group: Group, *, options: Options = Options()) -> Rebalance:  # noqa: B008 - a value
    """Return the part of the optimal assignment that is safe now. Source: KIP-429.

    >>> from assignors.model import Cluster, Member
    >>> members = (
    ...     Member(member_id="a", topics=("t",), owned={"t": (0, 1, 2, 3)}, generation=1),
    ...     Member(member_id="b", topics=("t",)),
    ... )
    >>> answer = assign(Group(cluster=Cluster.of({"t": 4}), members=members))
    >>> answer.assignment, answer.withheld, answer.follow_up
    ({'a': {'t': (0, 1)}, 'b': {}}, {'t': (2, 3)}, False)
    """
    return assign_as(group, UserData.COOPERATIVE, options)


COOPERATIVE_STICKY = Assignor(
    family="optimal",
    name="cooperative-sticky",
    assign=assign,
    protocols=frozenset({RebalanceProtocol.COOPERATIVE, RebalanceProtocol.EAGER}),
    user_data=UserData.COOPERATIVE,
    configure=lambda options: partial(assign, options=options) if options.are_of_search else None,
)
