"""Whoever leads: every protocol under every client that knows it, our members following.

The leader starts first and alone, so that the broker makes it the leader and keeps it. Then come
kafka-python and aiokafka with our strategies, and where one of these leads also a member of every
other kind that can follow it, all at once; the group settles, everybody with something to read, is
disturbed once by a kill or a newcomer, settles again, every record is accounted for, and all leave
in peace. The suite shows each client leading ours once, and ours leading everybody under each
protocol; every protocol under every leader with every follower is for `make deep`. Who cannot
follow whom stands in `STUMBLES`, and is shown to be so at the end of this file.
"""

from __future__ import annotations

import random
import re
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass

import pytest

from tests.conftest import DEEP
from tests.interop.audit import dangerous, rounds
from tests.interop.chaos import kind_of
from tests.interop.conftest import MakeGroup
from tests.interop.group import DRAINS_S, SETTLES_S, LiveGroup, Unsettled, Verdict
from tests.interop.members import Member
from tests.interop.neighbours import (
    COOPERATIVE,
    DEALS_TWICE,
    LEADERS,
    OURS,
    RANGE,
    READS_AGAIN,
    STICKY,
    STUMBLES,
    followers,
)
from tests.waiting import comes
from wire import NoteCode, decode_assignment

pytestmark = pytest.mark.interop


TOPICS = {"a": 13, "b": 3, "c": 1}
"""Range gives a partition of the first topic to each of up to thirteen members."""

ALONE_S = 0.3
"""How long the leader's first plan has to hold: nobody else is there."""

MEETS_S = 1.0
"""How long the rest of all holds before it is disturbed: the one after it holds for longer."""

RESTLESS_S = 4.0
"""How long a group is watched that never rests."""
GLANCE_S = 1.0
CHANGES_MAX = 10
"""How often a member comes or leaves, until the follower is given more of a topic."""

SHOWN: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("java44", "java31", "franz", "ck"), (COOPERATIVE,)),
    **dict.fromkeys(("java24", "sarama", "kp"), (STICKY,)),
    **dict.fromkeys(("aio", "kjs"), (RANGE,)),
    "kpp": (COOPERATIVE, RANGE),
    "aiop": (STICKY,),
}
"""The protocols under which the suite shows a leader."""

CELLS = [
    pytest.param(protocol, leader, marks=() if protocol in SHOWN[leader] else pytest.mark.deep)
    for protocol, kinds in LEADERS.items()
    for leader in kinds
]


@pytest.mark.parametrize(("protocol", "leader"), CELLS)
def test_every_leader_leads_us_and_we_lead_everybody(
    protocol: str, leader: str, make_group: MakeGroup
) -> None:
    dice = random.Random(zlib.crc32(f"{protocol} {leader}".encode()))
    others = [kind for kind in followers(protocol, leader) if kind not in {leader, *OURS}]
    followed_by = others if leader in OURS or DEEP > 1 else []
    group = make_group(TOPICS, assignors=(protocol,), session_timeout_ms=4000)
    group.feed.start()
    first = group.start_one(leader)
    group.settled(SETTLES_S, hold_s=ALONE_S)
    group.start("kpp", "aiop", *followed_by)
    everybody = group.settled(SETTLES_S, hold_s=MEETS_S)
    assert group.leader() == first.name
    assert all(everybody.partition_counts[name] for name in group.members), everybody
    disturbed = disturb(group, dice, followed_by)
    settled = group.settled(SETTLES_S)
    assert group.leader() == first.name, disturbed
    assert settled.protocol == protocol
    assert min(settled.partition_counts.values()) >= 1
    group.drain(DRAINS_S)
    deals_twice = (protocol, leader) in DEALS_TWICE
    judge(group, group.judge(), protocol, deals_twice=deals_twice)
    if protocol == COOPERATIVE:
        audit(group, deals_twice=deals_twice)
    assert leave(group) == {}


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Stumble:
    """What one client's leader shows when another client's member follows."""

    protocol: str
    leader: str
    follower: str
    shows: str
    """A pattern in what comes out of the leader's `poll()`."""


MALFORMED = "SchemaException: (Malformed|Buffer underflow|Error reading field 'owned_partitions')"
FAILING = (
    Stumble(protocol=RANGE, leader="java44", follower="kjs", shows=MALFORMED),
    Stumble(protocol=STICKY, leader="sarama", follower="aio", shows="insufficient data to decode"),
    # The rest shows the same of another version or another client: `make deep`.
    Stumble(protocol=RANGE, leader="java31", follower="kjs", shows=MALFORMED),
    Stumble(protocol=RANGE, leader="java24", follower="kjs", shows=MALFORMED),
    Stumble(protocol=RANGE, leader="kp", follower="kjs", shows="unpack requires a buffer of 4"),
    Stumble(protocol=STICKY, leader="sarama", follower="kp", shows="insufficient data to decode"),
)
FAILING_SHOWN = 2
LEFT_OUT = (RANGE, "ck", "kjs")
RESTLESS = ((COOPERATIVE, "ck", "franz"), (COOPERATIVE, "ck", "sarama"))


def test_who_cannot_follow_whom_is_shown_below_and_nothing_else() -> None:
    shown = {(one.protocol, one.leader, one.follower) for one in FAILING}
    assert shown | {LEFT_OUT, *RESTLESS} == {
        (protocol, leader, kind)
        for (protocol, leader), kinds in STUMBLES.items()
        for kind in kinds & set(LEADERS[protocol])
    }


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(one, marks=() if at < FAILING_SHOWN else pytest.mark.deep)
        for at, one in enumerate(FAILING)
    ],
    ids=lambda one: f"{one.leader}-{one.follower}",
)
def test_a_leader_fails_where_it_cannot_read_what_another_client_writes(
    one: Stumble, make_group: MakeGroup
) -> None:
    """Expected of those versions (see `STUMBLES`), and asserted to see when it changes."""
    group = make_group({"a": 6, "b": 3}, assignors=(one.protocol,), session_timeout_ms=4000)
    (leading,) = group.start(one.leader)
    group.settled(SETTLES_S, hold_s=ALONE_S)
    group.start(one.follower)
    assert comes(
        lambda: any(re.search(one.shows, text) for text in leading.errors), within_s=SETTLES_S
    ), f"{leading.kind} says {leading.errors}"


def test_a_librdkafka_leader_leaves_out_a_member_of_kafkajs(make_group: MakeGroup) -> None:
    protocol, leader, follower = LEFT_OUT
    group = make_group({"a": 6, "b": 3}, assignors=(protocol,))
    group.start(leader)
    group.settled(SETTLES_S, hold_s=ALONE_S)
    group.start(follower)
    counts = group.settled(SETTLES_S).partition_counts
    assert counts == {"ck-1": 9, "kjs-1": 0}


@pytest.mark.parametrize(
    ("protocol", "leader", "follower"),
    [RESTLESS[0], pytest.param(*RESTLESS[1], marks=pytest.mark.deep)],
)
def test_a_librdkafka_leader_never_rests_with_who_reads_a_topic_once(
    protocol: str, leader: str, follower: str, make_group: MakeGroup
) -> None:
    """It writes a topic twice into one assignment when a member gets more of it."""
    group = make_group({"a": 6, "b": 5, "c": 7}, assignors=(protocol,))
    group.start(leader)
    group.settled(SETTLES_S, hold_s=ALONE_S)
    group.start(follower)

    def has_a_topic_twice() -> bool:
        members = group.admin.describe(group.name).members
        found = {one.client_id: decode_assignment(one.blob).notes for one in members}
        return NoteCode.TOPIC_REPEATED in {note.code for note in found.get(f"{follower}-1", ())}

    guests: list[Member] = []
    for _ in range(CHANGES_MAX):
        if comes_before_rest(group, has_a_topic_twice):
            break
        # What the last change gave the follower made up topics that it had nothing of.
        if guests:
            guests.pop().close()
        else:
            guests = group.start("kpp")
    else:
        pytest.fail("no topic was given twice")
    with pytest.raises(Unsettled):
        group.settled(RESTLESS_S)


def comes_before_rest(group: LiveGroup, is_so: Callable[[], bool]) -> bool:
    """Whether something comes true before the group is at rest: one of the two has to."""
    until = time.monotonic() + SETTLES_S
    while time.monotonic() < until:
        if comes(is_so, within_s=GLANCE_S):
            return True
        with suppress(Unsettled):
            group.settled(GLANCE_S)
            return False
    raise Unsettled(f"after {SETTLES_S:g} s: neither at rest nor what it is watched for")


def disturb(group: LiveGroup, dice: random.Random, others: list[str]) -> str:
    """Kill a follower, or let one more in; say which."""
    if dice.random() < 0.5:
        victim = dice.choice(list(group.members)[1:])
        group.members[victim].kill()
        return f"{victim} was killed"
    newcomer = group.start_one(dice.choice([*others, "kpp"]))
    return f"{newcomer.name} came"


def leave(group: LiveGroup) -> dict[str, int | None]:
    """Let everybody go at once; who did not go in peace, and how."""
    alive = [one for one in group.members.values() if one.is_alive]
    with ThreadPoolExecutor(len(alive)) as threads:
        codes = dict(
            zip([one.name for one in alive], threads.map(Member.close, alive), strict=True)
        )
    return {name: code for name, code in codes.items() if code != 0}


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
