"""The adapter inside kafka-python's own coordinators, without a broker."""

from __future__ import annotations

import logging
import pydoc
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import kafka.coordinator.consumer as host
import pytest
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.errors import KafkaConfigurationError
from kafka.protocol.consumer.metadata import ConsumerProtocolSubscription

from assignors import Assignor, Group, MemberNote, Rebalance, RebalanceProtocol
from assignors.clients.common.client_session import LedRound
from assignors.clients.kafka_python import (
    cooperative_sticky,
    cooperative_weighted,
    strategy,
    weighted,
)
from tests.clients.local_group import LocalGroup
from tests.wire.vectors import captured
from wire import Subscription, decode_assignment, decode_subscription, encode_subscription

COOPERATIVE = "cooperative-sticky"
GARBAGE = {
    "nothing": b"",
    "one byte": b"\x00",
    "negative version": bytes.fromhex("ffff00000000ffffffff"),
    "v1 without owned partitions": bytes.fromhex("000100000001000174ffffffff"),
    "cut in a topic": bytes.fromhex("0003000000010005"),
    "null topics": bytes.fromhex("0003ffffffffffffffff00000000ffffffffffff"),
    "bad utf-8": bytes.fromhex("0003000000010001ffffffffff00000000ffffffffffff"),
}


@pytest.fixture
def group() -> Iterator[LocalGroup]:
    made = LocalGroup({"t": 6, "u": 3})
    yield made
    made.close()


def owned(group: LocalGroup) -> list[tuple[str, int]]:
    return sorted(
        place
        for member in group.members.values()
        if member.consumer is not None
        for place in member.assigned
    )


EVERYTHING = sorted([("t", n) for n in range(6)] + [("u", n) for n in range(3)])


def test_members_share_out_and_move_no_more_than_they_must(group: LocalGroup) -> None:
    for name in "ab":
        group.add(name, [cooperative_sticky()], ["t", "u"])
    assert group.settle() == 1
    assert owned(group) == EVERYTHING
    before = {name: member.assigned for name, member in group.members.items()}
    group.add("c", [cooperative_sticky()], ["t", "u"])
    assert group.settle() == 2
    assert owned(group) == EVERYTHING
    for name, had in before.items():
        assert group.members[name].assigned < had
        assert len(group.members[name].assigned) == 3


@pytest.mark.parametrize("name", ["range", "roundrobin", "sticky", "java/sticky"])
def test_eager_names_settle_in_a_round(group: LocalGroup, name: str) -> None:
    for member in "abc":
        group.add(member, [strategy(name)], ["t", "u"])
    assert group.settle() == 1
    assert owned(group) == EVERYTHING
    before = {member: found.assigned for member, found in group.members.items()}
    group.remove("c")
    assert group.settle() == 1
    assert owned(group) == EVERYTHING
    if name.endswith("sticky"):
        assert all(before[member] < group.members[member].assigned for member in "ab")


@pytest.mark.parametrize("blob", GARBAGE.values(), ids=GARBAGE)
@pytest.mark.parametrize("name", [COOPERATIVE, "range", "sticky"])
def test_no_bytes_of_a_member_stop_the_leader(group: LocalGroup, name: str, blob: bytes) -> None:
    notes: list[MemberNote] = []
    group.add("a", [strategy(name, on_note=notes.append)], ["t"])
    odd = group.add_bytes("odd", {name: blob})
    group.settle()
    assert odd.received is not None
    assert len(odd.received) >= 10, "never zero bytes"
    takes_part = "t" in (decode_subscription(blob).value or Subscription()).topics
    assert len(group.members["a"].assigned) == (3 if takes_part else 6)
    assert {note.member_id for note in notes} == {"odd"}


def test_captured_bytes_of_every_client_are_led(group: LocalGroup) -> None:
    """Each Subscription that a real client sent joins a group of ours."""
    group.counts.update(dict.fromkeys(("ta", "tb", "tc", "td"), 3))
    group.add("a", [cooperative_sticky()], ["t"])
    for case in captured("subscription"):
        group.add_bytes("odd", {COOPERATIVE: bytes.fromhex(case["hex"])})
        group.settle()
        assert "a" in group.members
        del group.members["odd"]


def test_the_leader_starts_the_round_that_nobody_else_would(group: LocalGroup) -> None:
    rounds: list[LedRound] = []
    group.add("a", [cooperative_sticky(on_round=rounds.append)], ["t"])
    ghost = Subscription(topics=("u",), owned={"t": (5,)}, generation=-1)
    group.add_bytes("ghost", {COOPERATIVE: encode_subscription(ghost)})
    assert group.settle() == 3, "a claims something, then nothing changes any more"
    assert [led.must_follow_up for led in rounds] == [True, True, False]
    assert all(led.seconds > 0 and led.member_count == 2 for led in rounds)
    assert all(type(led.stats) is dict for led in rounds), "a round that is kept keeps no group"
    assert len(group.members["a"].assigned) == 5


def test_a_member_of_version_0_has_its_share_once_the_plan_is_known(group: LocalGroup) -> None:
    group.add("a", [cooperative_sticky()], ["t"])
    old = encode_subscription(Subscription(version=0, topics=("t",)))
    member = group.add_bytes("old", {COOPERATIVE: old})
    group.settle()
    assert len(group.members["a"].assigned) == 3
    assert member.received is not None
    assert len(member.received) > 20


def test_the_two_step_upgrade_never_stops(group: LocalGroup) -> None:
    def members(*names: str) -> list[Any]:
        return [strategy(name) for name in names]

    for member in "abc":
        group.add(member, members("range"), ["t", "u"])
    group.settle()
    for names in ((COOPERATIVE, "range"), (COOPERATIVE,), (COOPERATIVE, "range"), ("range",)):
        for member in "abc":
            group.remove(member)
            group.add(member, members(*names), ["t", "u"])
            group.settle()
            assert owned(group) == EVERYTHING
    protocols = {member.coordinator._rebalance_protocol for member in group.members.values()}
    assert protocols == {host.RebalanceProtocol.EAGER}


def test_racks_of_members_and_brokers_are_used() -> None:
    group = LocalGroup({"t": 6}, racks=["r0", "r1"])
    for number, name in enumerate("ab"):
        group.add(name, [cooperative_sticky(rack_id=f"r{number}")], ["t"])
    group.settle()
    for number, name in enumerate("ab"):
        assert {place[1] % 2 for place in group.members[name].assigned} == {number}
    group.close()


def test_static_members_are_ordered_by_instance_id(group: LocalGroup) -> None:
    group.counts = {"t": 1}
    group.add("a", [strategy("range")], ["t"])
    asked = encode_subscription(Subscription(topics=("t",)))
    static = group.add_bytes("z", {"range": asked}, instance_id="first")
    group.settle()
    assert group.members["a"].assigned == set()
    assert static.received is not None
    assert b"\x00\x01t" in static.received


def test_members_that_kafka_python_decoded_itself_are_led(group: LocalGroup) -> None:
    """Decoded before the first strategy was made: they are encoded again."""
    member = group.add("a", [RangePartitionAssignor()], ["t"])
    group.settle()
    decoded = ConsumerProtocolSubscription(version=1, topics=["t"], user_data=None)
    members = [
        SimpleNamespace(member_id=name, group_instance_id=None, metadata=decoded) for name in "ab"
    ]
    answer = strategy("range").assign(member.coordinator._cluster, members)
    given = [decode_assignment(blob).require().partitions for blob in answer.values()]
    assert given == [{"t": (0, 1, 2)}, {"t": (3, 4, 5)}]


def test_bind_names_the_consumer(group: LocalGroup) -> None:
    member = group.add("a", [cooperative_sticky()], ["t"])
    lonely = cooperative_sticky()
    lonely.bind(member.consumer)
    group.settle()
    read = decode_subscription(lonely.metadata({"t"})).value
    assert read is not None
    assert read.owned == {"t": (0, 1, 2, 3, 4, 5)}


def test_one_strategy_serves_one_consumer(group: LocalGroup) -> None:
    shared = cooperative_sticky()
    group.add("a", [shared], ["t"])
    with pytest.raises(KafkaConfigurationError, match="one for each"):
        group.add("b", [shared], ["t"])


@pytest.mark.parametrize("name", ["server/uniform", "nothing"])
def test_an_assignor_that_runs_elsewhere_or_nowhere_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"broker|known"):
        strategy(name)


def test_an_assignor_of_ones_own_that_fails_does_not_stop_the_group(
    group: LocalGroup, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(group: Group) -> Rebalance:
        raise ZeroDivisionError(len(group.members))

    mine = Assignor(
        family="mine",
        name="mine",
        assign=broken,
        protocols=frozenset({RebalanceProtocol.EAGER}),
    )
    notes: list[MemberNote] = []
    group.add("a", [strategy(mine, on_note=notes.append)], ["t"])
    with caplog.at_level(logging.ERROR, logger="kafka"):
        group.settle()
    assert len(group.members["a"].assigned) == 6
    assert [note.code for note in notes] == ["assignor-failed"]
    assert "ZeroDivisionError" in caplog.text


def test_a_callback_that_fails_does_not_stop_the_group(group: LocalGroup) -> None:
    def fail(_: object) -> None:
        raise RuntimeError

    group.add("a", [cooperative_sticky(on_note=fail, on_round=fail)], ["t"])
    group.add_bytes("odd", {COOPERATIVE: b""})
    group.settle()
    assert len(group.members["a"].assigned) == 6


@pytest.mark.parametrize("make", [weighted, cooperative_weighted])
def test_help_of_a_strategy_by_weight_has_its_options(make: Callable[..., object]) -> None:
    """Not those of `functools.partial`, which it was."""
    shown = pydoc.plain(pydoc.render_doc(make))
    # Python 3.13 gives each parameter a line.
    signature = shown.replace("\n    ", " ").replace("( ", "(")
    assert f"{make.__name__}(*, capacity: 'int | None' = None," in signature
    assert "`capacity` is what this member can carry" in shown
    assert "-> assignors.clients.kafka_python.weighted.Weighted" in shown
