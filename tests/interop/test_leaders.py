"""Whoever leads: every protocol under every client that knows it, our members following.

The leader starts first and alone, so that the broker makes it the leader and keeps it. Then come
kafka-python and aiokafka with our strategies and two members of other kinds, drawn by the seed of
the cell; the group settles, is disturbed once by a kill or a newcomer, settles again, and every
record is accounted for.
"""

from __future__ import annotations

import random
import zlib

import pytest

from tests.interop.audit import dangerous, rounds
from tests.interop.chaos import kind_of
from tests.interop.conftest import MakeGroup
from tests.interop.group import LiveGroup, Verdict
from tests.interop.neighbours import COOPERATIVE, DEALS_TWICE, LEADERS, OURS, READS_AGAIN, followers

pytestmark = [pytest.mark.interop, pytest.mark.xdist_group("interop")]

SETTLES_S = 25.0
DRAINS_S = 10.0
ALONE_S = 0.3
"""How long the leader's first plan has to hold: nobody else is there."""

CELLS = [(protocol, leader) for protocol, kinds in LEADERS.items() for leader in kinds]


@pytest.mark.parametrize(("protocol", "leader"), CELLS)
def test_every_leader_leads_us_and_we_lead_everybody(
    protocol: str, leader: str, make_group: MakeGroup
) -> None:
    dice = random.Random(zlib.crc32(f"{protocol} {leader}".encode()))
    others = [kind for kind in followers(protocol, leader) if kind not in {leader, *OURS}]
    group = make_group(
        {"a": 5, "b": 3, "c": 1},
        assignors=(protocol,),
        session_timeout_ms=4000,
        heartbeat_ms=400,
    )
    group.feed.start()
    first = group.start_one(leader)
    group.settled(SETTLES_S, hold_s=ALONE_S)
    group.start("kpp", "aiop", *dice.sample(others, 2))
    group.settled(SETTLES_S)
    assert group.leader() == first.name
    disturbed = disturb(group, dice, others)
    settled = group.settled(SETTLES_S)
    assert group.leader() == first.name, disturbed
    assert settled.protocol == protocol
    assert max(settled.partition_counts.values()) >= 1
    group.drain(DRAINS_S)
    deals_twice = (protocol, leader) in DEALS_TWICE
    judge(group, group.judge(), protocol, deals_twice=deals_twice)
    if protocol == COOPERATIVE:
        audit(group, deals_twice=deals_twice)


def test_a_leader_that_deals_twice_is_found_out(make_group: MakeGroup) -> None:
    """What the other tests would say, were it our assignor that is careless."""
    group = make_group({"a": 6, "b": 3})
    group.feed.start()
    careless = "tests.foreign.members.python.careless:CARELESS"
    first = group.start_one("kpp", assignors=(careless,))
    group.settled(SETTLES_S, hold_s=ALONE_S)
    group.start("java44", "franz")
    group.settled(SETTLES_S)
    assert group.leader() == first.name
    with pytest.raises(AssertionError, match="dealt twice"):
        audit(group, deals_twice=False)
    with pytest.raises(AssertionError, match="dealt twice"):
        audit(group, deals_twice=True)


def disturb(group: LiveGroup, dice: random.Random, others: list[str]) -> str:
    """Kill a follower, or let one more in; say which."""
    if dice.random() < 0.5:
        victim = dice.choice(list(group.members)[1:])
        group.members[victim].kill()
        return f"{victim} was killed"
    newcomer = group.start_one(dice.choice([*others, "kpp"]))
    return f"{newcomer.name} came"


def audit(group: LiveGroup, *, deals_twice: bool) -> None:
    """Hold every gift of every round against all claims: a quick client hides what was wrong."""
    found = rounds(group.broker.bootstrap, group.name)
    assert len(found) >= 3
    gifts = [gift for one in found for gift in dangerous(one)]
    robbed = [gift for gift in gifts if {kind_of(group, name) for name in gift.claimants} & OURS]
    found_out = robbed if deals_twice else gifts
    assert not found_out, f"dealt twice: {found_out}"


def judge(group: LiveGroup, verdict: Verdict, protocol: str, *, deals_twice: bool) -> None:
    assert not verdict.died, verdict
    assert not verdict.unread, verdict
    assert not verdict.failures, verdict
    if deals_twice:
        assert all(group.members[one.members[0]].kind not in OURS for one in verdict.windows)
    else:
        assert not verdict.windows, verdict
        assert all(
            (protocol, group.members[one.members[1]].kind) in READS_AGAIN for one in verdict.repeats
        ), verdict
