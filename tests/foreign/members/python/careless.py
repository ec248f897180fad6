"""An assignor as bad as they come: it listens to nobody, and deals out what others still have.

Tests of real groups show with it that they would notice.
"""

from __future__ import annotations

from dataclasses import replace

from assignors import Assignor, Group, Rebalance, assignor_named

BEST = assignor_named("cooperative-sticky")


def _assign(group: Group) -> Rebalance:
    deaf = (
        replace(one, owned={}, user_data=None, version=None, owned_known=True)
        for one in group.members
    )
    return BEST.assign(replace(group, members=tuple(deaf)))


CARELESS = Assignor(
    name=BEST.name,
    family="tests",
    assign=_assign,
    protocols=BEST.protocols,
    user_data=BEST.user_data,
)
