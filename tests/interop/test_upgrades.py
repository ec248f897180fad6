"""A group of four clients changes its protocol while it works, one member at a time.

The way is the one of KIP-429, with two bounces: first every member learns the new protocol beside
the old one, then every member forgets the old one; and the same way back. After each restart the
group settles, no partition ever has two owners, and no record is lost or consumed twice.
"""

from __future__ import annotations

import pytest

from tests.interop.conftest import MakeGroup
from tests.interop.group import DRAINS_S, SETTLES_S
from tests.interop.neighbours import COOPERATIVE, RANGE, STICKY

pytestmark = pytest.mark.interop

MEMBERS = ("kpp", "java44", "sarama", "franz")
HOLD_S = 0.5


@pytest.mark.slow
@pytest.mark.parametrize("old", [pytest.param(RANGE, marks=pytest.mark.deep), STICKY])
def test_two_bounces_to_cooperative_and_back_never_stop_the_group(
    old: str, make_group: MakeGroup
) -> None:
    bounces = {
        "both": ((COOPERATIVE, old), COOPERATIVE),
        "new alone": ((COOPERATIVE,), COOPERATIVE),
        "both again": ((COOPERATIVE, old), COOPERATIVE),
        "old alone": ((old,), old),
    }
    group = make_group({"a": 5, "b": 3, "c": 1}, assignors=(old,))
    group.feed.start()
    group.start(*MEMBERS)
    assert group.settled(SETTLES_S).protocol == old
    protocol = old
    for bounce, (assignors, spoken_in_the_end) in bounces.items():
        for number, member in enumerate(list(group.members.values()), start=1):
            member.restart(assignors=assignors)
            settled = group.settled(SETTLES_S, hold_s=HOLD_S)
            # One member that knows both is not enough, one that knows the old one alone is.
            if spoken_in_the_end == COOPERATIVE and number < len(MEMBERS):
                assert settled.protocol == protocol, (bounce, number)
            else:
                assert settled.protocol == spoken_in_the_end, (bounce, number)
            verdict = group.judge()
            assert not verdict.windows, (bounce, number, verdict.windows)
        protocol = spoken_in_the_end
    group.drain(DRAINS_S)
    verdict = group.judge()
    assert verdict.is_clean, verdict
    assert not verdict.excused, "nobody was killed"
