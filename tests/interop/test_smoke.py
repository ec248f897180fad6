"""Every kind of member, alone among its like: they form a group, consume, and one leaves.

What fails here is the harness or a client's installation. The suite shows so those that lead no
group of `test_leaders.py`, where the others settle, consume and leave; `make deep` all of them.
"""

from __future__ import annotations

import pytest

from tests.interop.conftest import MakeGroup
from tests.interop.group import DRAINS_S, SETTLES_S
from tests.interop.members import KINDS
from tests.interop.neighbours import LEADERS

pytestmark = pytest.mark.interop

HOLD_S = 0.5
"""Two of a kind are quickly done: no need to see the rest hold for long."""

COOPERATIVE = "cooperative-sticky"
PROTOCOLS = {"java848": "", "aio": "range", "kjs": "range"}
"""Where it is not `cooperative-sticky`: those clients ship none, the broker assigns the first."""


LEADING = {kind for kinds in LEADERS.values() for kind in kinds}


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=pytest.mark.deep if kind in LEADING else ())
        for kind in sorted(KINDS)
    ],
)
def test_two_of_a_kind_share_then_one_takes_over(kind: str, make_group: MakeGroup) -> None:
    protocol = PROTOCOLS.get(kind, COOPERATIVE)
    group = make_group({"a": 4, "b": 1}, assignors=(protocol or COOPERATIVE,))
    group.feed.start()
    group.start(kind)
    group.settled(SETTLES_S, hold_s=HOLD_S)
    group.start(kind)
    settled = group.settled(SETTLES_S, hold_s=HOLD_S)
    assert sorted(settled.partition_counts.values()) == [2, 3]
    assert settled.protocol == (protocol or "uniform")
    assert group.members[f"{kind}-1"].close() == 0
    assert group.settled(SETTLES_S, hold_s=HOLD_S).partition_counts == {f"{kind}-2": 5}
    group.drain(DRAINS_S)
    verdict = group.judge()
    assert verdict.is_clean, verdict
    assert not verdict.excused
