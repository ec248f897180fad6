"""Into assignment by weight and back, beside a Java member that never leads under our name.

Java knows neither `weighted` nor `cooperative-weighted`. So while it is there the group goes on
under `cooperative-sticky`, whoever leads; and once all members are ours under our name alone, the
broker refuses it.
"""

from __future__ import annotations

import pytest

from tests.interop.conftest import MakeGroup
from tests.interop.group import DRAINS_S, SETTLES_S
from tests.interop.neighbours import COOPERATIVE, WEIGHTED
from tests.waiting import wait

pytestmark = pytest.mark.interop

HOLD_S = 0.3
REFUSED = "InconsistentGroupProtocol"


@pytest.mark.deep
def test_two_restarts_lead_in_and_two_lead_out(
    make_group: MakeGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMBER_WEIGHTS_FIXED", "1")
    group = make_group({"a": 6}, assignors=(COOPERATIVE,))
    group.feed.start()
    group.start("java44", "kpp", "kpp")
    java, *ours = group.members.values()
    assert group.settled(SETTLES_S, hold_s=HOLD_S).protocol == COOPERATIVE
    for member in ours:
        member.restart(assignors=(WEIGHTED, COOPERATIVE))
        assert group.settled(SETTLES_S, hold_s=HOLD_S).protocol == COOPERATIVE
    java.close()
    assert group.settled(SETTLES_S, hold_s=HOLD_S).protocol == WEIGHTED
    for member in ours:
        member.restart(assignors=(WEIGHTED,))
        assert group.settled(SETTLES_S, hold_s=HOLD_S).protocol == WEIGHTED
    java.start()
    wait(lambda: REFUSED in " ".join(java.errors), shows=lambda: java.errors)
    java.kill()
    for member in ours:
        member.restart(assignors=(WEIGHTED, COOPERATIVE))
        assert group.settled(SETTLES_S, hold_s=HOLD_S).protocol == WEIGHTED
    for member in ours:
        member.restart(assignors=(COOPERATIVE,))
        assert group.settled(SETTLES_S, hold_s=HOLD_S).protocol == COOPERATIVE
    java.start()
    assert group.settled(SETTLES_S, hold_s=HOLD_S).protocol == COOPERATIVE
    group.drain(DRAINS_S)
    verdict = group.judge()
    assert verdict.is_clean, verdict
