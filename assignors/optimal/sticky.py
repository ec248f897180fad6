"""Sticky: the best possible balance, the fewest moves that reach it, and even topics.

The order of aims is Java's: loads as equal as the subscriptions allow, then racks, then
movement; the spread of topics comes last. Java's own assignor stops when no single move improves;
this one returns an optimum, which `solve` proves.
"""

from __future__ import annotations

from functools import partial

from assignors.assignor import Assignor, UserData
from assignors.model import Group
from assignors.optimal.assign import assign as assign_as
from assignors.options import Options
from assignors.rebalance import Rebalance


def assign(group: Group, *, options: Options = Options()) -> Rebalance:  # noqa: B008 - a value
    """Return the optimal eager assignment. Source: KIP-54.

    >>> from assignors.model import Cluster, Member
    >>> members = (
    ...     Member(member_id="a", topics=("t",), owned={"t": (0, 1, 2, 3)}, generation=1),
    ...     Member(member_id="b", topics=("t",)),
    ... )
    >>> assign(Group(cluster=Cluster.of({"t": 4}), members=members)).assignment
    {'a': {'t': (0, 1)}, 'b': {'t': (2, 3)}}
    """
    return assign_as(group, UserData.STICKY, options)


STICKY = Assignor(
    family="optimal",
    name="sticky",
    assign=assign,
    user_data=UserData.STICKY,
    configure=lambda options: partial(assign, options=options) if options.are_of_search else None,
)
