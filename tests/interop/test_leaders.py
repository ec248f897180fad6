"""Whoever leads: every protocol under every client that knows it, our members following.

The leader starts first and alone, so that the broker makes it the leader and keeps it. Then come
kafka-python and aiokafka with our strategies and a member of every other kind that can follow
such a leader, all at once, so that every pair of leader and follower meets in one of the cells;
the group settles, everybody with something to read, is disturbed once by a kill or a newcomer,
settles again, and every record is accounted for. Who cannot follow whom stands in `STUMBLES`, and
is shown to be so at the end of this file.
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
TOPICS = {"a": 13, "b": 3, "c": 1}
"""Range gives a partition of the first topic to each of up to thirteen members."""

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
        TOPICS,
        assignors=(protocol,),
        session_timeout_ms=4000,
        heartbeat_ms=400,
    )
    group.feed.start()
    first = group.start_one(leader)
    group.settled(SETTLES_S, hold_s=ALONE_S)
    group.start("kpp", "aiop", *others)
    everybody = group.settled(SETTLES_S)
    assert group.leader() == first.name
    assert set(followers(protocol, leader)) <= {one.kind for one in group.members.values()}
    assert all(everybody.partition_counts[name] for name in group.members), everybody
    disturbed = disturb(group, dice, others)
    settled = group.settled(SETTLES_S)
    assert group.leader() == first.name, disturbed
    assert settled.protocol == protocol
    assert min(settled.partition_counts.values()) >= 1
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
