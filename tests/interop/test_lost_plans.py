"""Plans that a leader of ours made and that did not arrive, in real groups.

One member says nothing of what it has: version 0 under cooperative-sticky, and it consumes through
every round. The leader's memory is all there is, and it has to be right when the broker refuses a
round, and when the next one begins before everybody has asked for its part.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace

import pytest
from kio.schema.sync_group.v5.request import SyncGroupRequest

from assignors import Group, Rebalance, assignor_named
from assignors.clients.kafka_python import strategy
from tests.interop.conftest import MakeGroup
from tests.interop.group import SETTLES_S, LiveGroup
from tests.interop.hosted import HostedMember
from tests.interop.odd_bytes import subscription
from tests.interop.odd_rows import SHARED, claims_all
from tests.interop.raw import RawMember, Round
from tests.interop.test_odd_members import listed
from wire import decode_assignment

pytestmark = pytest.mark.interop

HOLD_S = 0.6
COOPERATIVE = "cooperative-sticky"
BEST = assignor_named(COOPERATIVE)
EVEN = {"a": 6, "b": 6}
SLOW_S = 0.2
"""How long a slow member waits: a leader that starts the next round at once is faster."""
PATIENT_MS = 1000
"""Heartbeat interval of a leader that waits: it starts the next round when one has passed. The
difference is what a busy machine may add to a slow member's time."""


class Late(RawMember):
    """A member that takes a moment to ask for its part."""

    asks_after_s = 0.0

    def _syncing(self, seen: Round, answers: Mapping[str, bytes]) -> SyncGroupRequest:
        time.sleep(self.asks_after_s)
        return super()._syncing(seen, answers)


def silent_member(group: LiveGroup) -> Late:
    """It joins, and has its share."""
    blobs = {COOPERATIVE: subscription(0, group.topics)}
    member = Late(
        *(group.broker.bootstrap, group.name, "silent", blobs),
        holds=True,
        lets_go_s=0.3,
        events=group.events,
    )
    group.guests["silent"] = member
    member.start()
    assert group.settled(SETTLES_S, hold_s=HOLD_S).partition_counts["silent"] > 0
    return member


@pytest.mark.parametrize(
    ("newcomer", "leader"),
    [
        ("java44", "kpp"),
        ("aiop", "aiop"),
        pytest.param("aiop", "kpp", marks=pytest.mark.deep),
        pytest.param("java44", "aiop", marks=pytest.mark.deep),
    ],
)
def test_who_is_slow_to_ask_for_its_part_is_not_robbed(
    leader: str, newcomer: str, make_group: MakeGroup
) -> None:
    """The leader joined again at once, for the follow-up round or because it had to let go itself,
    and took the silent member to have what it had never asked for."""
    group = make_group(EVEN)
    (leading,) = group.start(leader, heartbeat_ms=PATIENT_MS)
    group.settled(SETTLES_S, hold_s=HOLD_S)
    silent = silent_member(group)
    silent.asks_after_s = SLOW_S
    group.start(newcomer)
    counts = group.settled(SETTLES_S, hold_s=HOLD_S).partition_counts
    assert sorted(counts.values()) == [4, 4, 4]
    assert group.leader() == leading.name
    assert not group.judge().windows


def test_a_round_that_the_broker_refuses_costs_a_silent_member_nothing(
    make_group: MakeGroup,
) -> None:
    """While the leader assigns, one more member joins: the coordinator refuses the plan."""
    group = make_group(EVEN)
    guests: list[RawMember] = []

    def assign(asked: Group) -> Rebalance:
        if guests:
            guests.pop().start()
            until = time.monotonic() + SETTLES_S
            while group.admin.describe(group.name).state != "PreparingRebalance":
                assert time.monotonic() < until
        return BEST.assign(asked)

    with ExitStack() as stack:
        leader = HostedMember(group, "leader", strategy(replace(BEST, assign=assign)))
        stack.callback(leader.end)
        group.guests["leader"] = leader
        leader.start()
        group.settled(SETTLES_S, hold_s=HOLD_S)
        silent = silent_member(group)
        before = len(silent.rounds)
        first, second = (newcomer(group, name) for name in ("first", "second"))
        guests.append(second)
        first.start()
        counts = group.settled(SETTLES_S, hold_s=HOLD_S).partition_counts
    assert sorted(counts.values()) == [3, 3, 3, 3]
    generations = [one.generation for one in silent.rounds[before - 1 :]]
    assert generations[1] == generations[0] + 2, "one round was refused"
    assert min(map(count, silent.rounds[before:])) == 3, "it has its share throughout"
    assert leader.errors == []
    assert not group.judge().windows


@pytest.mark.parametrize("leader", ["kpp", "aiop"])
def test_a_follow_up_round_waits_for_who_remembers_wrongly_and_is_slow_to_ask(
    leader: str, make_group: MakeGroup
) -> None:
    """Its first answer tells it the truth. The leader started the follow-up round before it had
    asked, so it said the same again; nothing had changed, no further round was started, and five
    partitions stood with nobody."""
    group = make_group(SHARED)
    (leading,) = group.start(leader, heartbeat_ms=PATIENT_MS)
    group.settled(SETTLES_S, hold_s=HOLD_S)
    group.start("aiop" if leader == "kpp" else "kpp")
    place = newcomer(group, "place")
    place.start()
    group.settled(SETTLES_S, hold_s=HOLD_S)

    def says(member: RawMember) -> dict[str, bytes]:
        if not member.rounds:
            return {COOPERATIVE: claims_all(1, -1)(group.topics)}
        owned = listed(member, group.topics)
        truth = subscription(3, group.topics, owned=owned, generation=member.generation)
        return {COOPERATIVE: truth}

    wrong = Late(
        *(group.broker.bootstrap, group.name, "wrong", says), holds=True, events=group.events
    )
    wrong.asks_after_s = SLOW_S
    # In one round, so that nobody else has a reason to join again.
    group.guests.pop("place").end()
    group.guests["wrong"] = wrong
    wrong.start()
    counts = group.settled(SETTLES_S, hold_s=HOLD_S).partition_counts
    assert sorted(counts.values()) == [5, 5, 5]
    assert group.leader() == leading.name
    assert not group.judge().windows


def newcomer(group: LiveGroup, name: str) -> RawMember:
    """A member that does what it is told, and says that it has nothing."""
    blobs = {COOPERATIVE: subscription(3, group.topics)}
    group.guests[name] = member = RawMember(
        *(group.broker.bootstrap, group.name, name, blobs), events=group.events
    )
    return member


def count(one: Round) -> int:
    given = decode_assignment(one.assignment).require().partitions
    return sum(map(len, given.values()))
