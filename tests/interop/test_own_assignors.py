"""Assignors of one's own in real groups: what members write under one, and what a failure does."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.foreign.members.python.failing import RAISED
from tests.interop.audit import dangerous, rounds
from tests.interop.conftest import MakeGroup
from tests.interop.group import DRAINS_S, SETTLES_S
from tests.own_assignors.sticky_ones import HERE, STICKY_ONES
from tests.own_assignors.wrapped import WRAPPED
from tests.waiting import wait

pytestmark = pytest.mark.interop

HOLD_S = 0.3
PARTITIONS = 6


def test_members_of_a_cooperative_one_claim_what_they_own_though_it_does_not_say_so(
    make_group: MakeGroup,
) -> None:
    """Its `user_data` was not given. Without claims its leader would give away what others have."""
    group = make_group({"a": PARTITIONS}, assignors=(WRAPPED["optimal/cooperative-sticky"],))
    group.feed.start()
    for count, kind in enumerate(("kpp", "aiop", "kpp"), start=1):
        group.start(kind)
        counts = group.settled(SETTLES_S, hold_s=HOLD_S).partition_counts
        assert set(counts.values()) == {PARTITIONS // count}
    group.drain(DRAINS_S)
    verdict = group.judge()
    assert verdict.is_clean, verdict
    found = rounds(group.broker.bootstrap, group.name)
    (leader,) = {one.leader for one in found}
    for before, after in pairwise(found):
        assert after.claims[leader] == before.gifts[leader]
    assert not [gift for one in found for gift in dangerous(one)]


@pytest.mark.parametrize("name", STICKY_ONES)
def test_partitions_stay_under_an_eager_sticky_one(name: str, make_group: MakeGroup) -> None:
    """What members own is in UserData: a leader that does not read it moves nearly everything."""
    group = make_group({"a": 4 * PARTITIONS}, assignors=(f"{HERE}{name}",))
    group.feed.start()
    members = group.start("kpp", "kpp", "kpp")
    group.settled(SETTLES_S, hold_s=HOLD_S)
    had = {member.name: member.owned for member in members}
    *staying, leaving = sorted(members, key=lambda member: member.name != group.leader())
    leaving.close()
    group.settled(SETTLES_S, hold_s=HOLD_S)
    for member in staying:
        assert had[member.name] <= group.members[member.name].owned
    group.drain(DRAINS_S)
    verdict = group.judge()
    assert verdict.is_clean, verdict


@pytest.mark.parametrize("kind", ["kp", "aio"])
def test_a_leader_whose_own_assignor_raises_shows_it_and_is_waited_for(
    kind: str, make_group: MakeGroup
) -> None:
    """The exception comes out of `poll`, where most applications end, and leave the group.

    One that polls on joins again at once and raises again; it sends no heartbeat meanwhile, so that
    another member leads when its session is over. It is a follower then.
    """
    group = make_group({"a": PARTITIONS}, assignors=("range",), session_timeout_ms=3000)
    (leader,) = group.start(kind, assignors=("failing",))
    wait(lambda: len(leader.errors) >= 3, shows=lambda: leader.events)
    assert all(RAISED in text for text in leader.errors)
    assert group.admin.describe(group.name).state == "CompletingRebalance"
    (other,) = group.start(kind)
    settled = group.settled(SETTLES_S, hold_s=HOLD_S)
    assert set(settled.partition_counts.values()) == {PARTITIONS // 2}
    assert group.leader() == other.name
    assert leader.close() == 0
    assert group.settled(SETTLES_S, hold_s=HOLD_S).partition_counts == {other.name: PARTITIONS}
