"""From everybody's bytes to everybody's bytes, whatever one of them writes."""

from __future__ import annotations

from typing import Any, cast

import pytest

from assignors import Assignor, Cluster, Group, Rebalance, assignor_named, lead
from assignors.checks.compare import compare
from assignors.checks.explain import explain
from assignors.leader import Memory
from tests.laws.laws import EVERY_ASSIGNOR
from wire import (
    Mode,
    Subscription,
    TopicPartitions,
    decode_assignment,
    encode_cooperative_user_data,
    encode_sticky_user_data,
    encode_subscription,
)

CLUSTER = Cluster.of({"t": 6, "u": 2})
TOPICS = "00000001000174"
NULL = "ffffffff"
OWNED = "0000000100017400000003ffffffff0000000000000063"

# What a raw member was seen to send to leaders of real groups, and whether it can take part.
ODD = {
    "v0": ("0000" + TOPICS + NULL, True),
    "v1 without the owned array": ("0001" + TOPICS + NULL, True),
    "v2 cut before the generation": ("0002" + TOPICS + NULL + "00000000", True),
    "v3 without the rack": ("0003" + TOPICS + NULL + "00000000" + NULL, True),
    "no bytes": ("", False),
    "one byte": ("00", False),
    "version -1": ("ffff" + TOPICS + NULL, True),
    "version 9 and a tail": ("0009" + TOPICS + NULL + "00000000" + NULL + "ffff" + "abcd", True),
    "owned array null": ("0001" + TOPICS + NULL + NULL, True),
    "cut": ("0001" + "000000010005", False),
    "claims -1 and 99": ("0001" + TOPICS + NULL + OWNED, True),
    "no topics": ("000100000000" + NULL + "00000000", False),
    "a topic that does not exist": ("0001000000010001ff" + NULL + "00000000", False),
    "a topic twice": ("000100000002000174000174" + NULL + "00000000", True),
    "0xff for ever": ("ff" * 40, False),
}


def fresh(**options: object) -> bytes:
    return encode_subscription(Subscription(topics=("t", "u"), **options))  # type: ignore[arg-type]


def given_to(assignments: dict[str, bytes]) -> dict[str, TopicPartitions]:
    """What a strict follower reads."""
    return {
        member_id: decode_assignment(blob, mode=Mode.STRICT).require().partitions
        for member_id, blob in assignments.items()
    }


def count(partitions: TopicPartitions) -> int:
    return sum(map(len, partitions.values()))


@EVERY_ASSIGNOR
@pytest.mark.parametrize(("hex_digits", "takes_part"), ODD.values(), ids=ODD)
def test_one_odd_member_never_fails_the_group(
    assignor: Assignor,
    hex_digits: str,
    takes_part: bool,  # noqa: FBT001 - a column of the table
) -> None:
    odd = bytes.fromhex(hex_digits)
    memory = None
    for _ in range(3):
        led = lead(assignor, CLUSTER, {"a": fresh(), "odd": odd, "z": fresh()}, memory=memory)
        memory = led.memory
        given = given_to(dict(led.assignments))
        assert set(given) == {"a", "odd", "z"}, "every member has an entry"
    assert sum(map(count, given.values())) == 8, "by now everything is handed out"
    assert (count(given["odd"]) > 0) == takes_part
    assert set(given["odd"]) <= {"t"}, "only what it asked for"
    oddities = {note.code for note in led.rebalance.notes if note.member_id == "odd"}
    quiet = {"v0", "no topics", "a topic twice"}
    assert oddities or any(ODD[name][0] == hex_digits for name in quiet)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("sticky", CLUSTER, {}), "assignor: expected an Assignor, .* found 'sticky'"),
        (
            (assignor_named("sticky"), {"t": 1}, {}),
            r"cluster: expected a Cluster, .* found {'t': 1}",
        ),
        ((assignor_named("sticky"), CLUSTER, [("a", b"")]), "subscriptions: .* found list"),
    ],
)
def test_what_stands_in_the_place_of_an_argument_is_named(arguments: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        lead(*arguments)


def test_a_name_is_no_assignor_where_one_is_explained_or_compared() -> None:
    group, named = Group(cluster=CLUSTER, members=()), cast(Assignor, "sticky")
    for call in (lambda: explain(group, named, "t", 0), lambda: compare(group, [named])):
        with pytest.raises(ValueError, match=r"expected an Assignor, .* found 'sticky'"):
            call()


def test_what_is_written_can_be_read_by_every_client() -> None:
    led = lead(assignor_named("sticky"), CLUSTER, {"a": fresh(), "b": b""})
    assert led.assignments["b"].hex() == "000100000000ffffffff"
    blob = led.assignments["a"]
    assert blob.hex().startswith("000100000002000174")
    assert blob.hex().endswith(NULL)


COOPERATIVE = assignor_named("cooperative-sticky")


def test_unknown_claims_wait_until_this_leaders_plan_is_known() -> None:
    old = bytes.fromhex("0001" + TOPICS + NULL)
    owner = fresh(owned={"t": (0, 1)}, generation=3)
    first = lead(COOPERATIVE, CLUSTER, {"a": owner, "old": old}, generation=3)
    assert given_to(dict(first.assignments)) == {"a": {"t": (0, 1)}, "old": {}}
    assert first.rebalance.follow_up
    owner = fresh(owned={"t": (0, 1)}, generation=4)
    forgot = lead(COOPERATIVE, CLUSTER, {"a": owner, "old": old}, generation=4)
    assert count(given_to(dict(forgot.assignments))["old"]) == 0, "a new leader starts over"
    knows = lead(COOPERATIVE, CLUSTER, {"a": owner, "old": old}, generation=4, memory=first.memory)
    given = given_to(dict(knows.assignments))
    assert (count(given["a"]), count(given["old"])) == (4, 4)
    assert not knows.rebalance.withheld
    without_number = lead(COOPERATIVE, CLUSTER, {"a": owner, "old": old}, memory=first.memory)
    assert without_number.assignments == knows.assignments


@pytest.mark.parametrize("known", [{"generation": 4}, {"joined": 5}])
def test_what_a_leader_remembers_is_of_the_last_generation(known: dict[str, int]) -> None:
    """A generation that has not been does not make the plan that arrived older than a ghost's."""
    old = bytes.fromhex("0001" + TOPICS + NULL)
    owner = fresh(owned={"t": (0, 1)}, generation=4)
    liar = fresh(owned={"t": (7,)}, generation=9)
    ghost = fresh(owned={"t": (2, 3)}, generation=2)
    memory = Memory(plan={"a": {"t": (0, 1)}, "old": {"t": (2, 3)}})
    members = {"a": owner, "ghost": ghost, "liar": liar, "old": old}
    led = lead(COOPERATIVE, CLUSTER, members, memory=memory, **known)  # type: ignore[arg-type]
    assert given_to(dict(led.assignments))["old"] == {"t": (2, 3)}


def test_who_is_silent_is_not_waited_for_to_join_again() -> None:
    """A kafkajs member let go of two partitions, in a group that then stood still with them: what
    the leader remembers for a member is no promise that it takes part in hand-overs."""
    old = bytes.fromhex("0001" + TOPICS + NULL)
    first = lead(COOPERATIVE, CLUSTER, {"a": fresh(), "old": old}, joined=1)
    knows = lead(COOPERATIVE, CLUSTER, {"a": fresh(), "old": old}, joined=2, memory=first.memory)
    mine = given_to(dict(knows.assignments))["a"]
    members = {"a": fresh(owned=mine, generation=2), "new": fresh(), "old": old}
    moved = lead(COOPERATIVE, CLUSTER, members, joined=3, memory=knows.memory)
    mine = given_to(dict(moved.assignments))["a"]
    assert moved.must_follow_up
    members["a"] = fresh(owned=mine, generation=3)
    members["new"] = fresh(owned=given_to(dict(moved.assignments))["new"], generation=3)
    rested = lead(COOPERATIVE, CLUSTER, members, joined=4, memory=moved.memory)
    assert not rested.rebalance.withheld
    assert not rested.must_follow_up
    assert sum(map(count, given_to(dict(rested.assignments)).values())) == 8


def test_memory_covers_nobody_whose_claims_are_known() -> None:
    honest = fresh(owned={"t": (0,)}, generation=4)
    memory = Memory(plan={"a": {"t": (5,)}, "b": {}})
    led = lead(COOPERATIVE, CLUSTER, {"a": honest, "b": fresh()}, memory=memory)
    assert 0 in given_to(dict(led.assignments))["a"]["t"]
    assert led.rebalance.stats["kept"] == 1


def test_a_generation_in_four_bytes_is_as_good_as_one_in_the_field() -> None:
    stale = fresh(owned={"t": (0, 1, 2)}, generation=2)
    for version, generation, user_data in [
        (1, -1, encode_cooperative_user_data(5)),
        (2, 5, None),
        (3, 5, encode_cooperative_user_data(2)),
    ]:
        holder = fresh(
            version=version,
            owned={"t": (0, 1, 2)},
            generation=generation,
            user_data=user_data,
        )
        led = lead(COOPERATIVE, CLUSTER, {"ghost": stale, "holder": holder}, generation=5)
        given = given_to(dict(led.assignments))
        assert given["holder"]["t"][:3] == (0, 1, 2)
        assert not led.rebalance.withheld


def test_static_members_come_first_in_range() -> None:
    cluster = Cluster.of({"t": 1})
    led = lead(
        assignor_named("range"),
        cluster,
        {"a": fresh(), "z": fresh()},
        instance_ids={"z": "i"},
    )
    assert given_to(dict(led.assignments)) == {"a": {}, "z": {"t": (0,)}}


def test_the_leader_starts_a_round_once_for_the_same_claims() -> None:
    ghost = encode_subscription(Subscription(topics=("u",), owned={"t": (0,)}, generation=2))
    owner = fresh(owned={"t": (1, 2)}, generation=5)
    first = lead(COOPERATIVE, CLUSTER, {"a": owner, "g": ghost}, joined=6)
    assert first.rebalance.follow_up
    assert first.must_follow_up
    again = lead(COOPERATIVE, CLUSTER, {"a": owner, "g": ghost}, joined=7, memory=first.memory)
    assert again.rebalance.follow_up
    assert not again.must_follow_up, "nothing has changed: it would end the same way"
    refused = first.memory_in_doubt()
    once_more = lead(COOPERATIVE, CLUSTER, {"a": owner, "g": ghost}, joined=7, memory=refused)
    assert once_more.must_follow_up, "the plan was refused, so nobody started that round"
    other = fresh(owned={"t": (1,)}, generation=7)
    changed = lead(COOPERATIVE, CLUSTER, {"a": other, "g": ghost}, joined=8, memory=again.memory)
    assert changed.must_follow_up


def test_a_generation_at_or_above_the_one_being_made_counts_for_nothing() -> None:
    liar = fresh(owned={"t": (0, 1, 2)}, generation=9)
    owner = fresh(owned={"t": (0, 1, 2)}, generation=5)
    led = lead(COOPERATIVE, CLUSTER, {"liar": liar, "owner": owner}, joined=9)
    assert given_to(dict(led.assignments))["owner"]["t"][:3] == (0, 1, 2)
    trusted = lead(COOPERATIVE, CLUSTER, {"liar": liar, "owner": owner})
    assert given_to(dict(trusted.assignments))["liar"]["t"][:3] == (0, 1, 2), "nobody said better"


def test_what_javas_assignor_remembers_goes_round_with_its_leader() -> None:
    sticky = assignor_named("java/sticky")
    user_data = encode_sticky_user_data({"t": (0,)}, 7)
    led = lead(sticky, CLUSTER, {"a": fresh(user_data=user_data), "b": fresh()})
    assert led.memory.state.max_generation == 7
    later = lead(sticky, CLUSTER, {"a": fresh(), "b": fresh()}, memory=led.memory)
    assert later.memory.state.max_generation == 7


def test_what_a_follower_would_stumble_over_is_not_written() -> None:
    def careless(group: Group) -> Rebalance:
        return Rebalance(assignment={"a": {"t": (3, 1, 3), "u": (0,)}, "b": {}})

    odd = Assignor(family="mine", name="careless", assign=careless)
    asked = encode_subscription(Subscription(topics=("t",)))
    led = lead(odd, CLUSTER, {"a": asked, "b": asked})
    assert given_to(dict(led.assignments)) == {"a": {"t": (1, 3)}, "b": {}}
