"""The smallest groups that other implementations are known to get wrong, each with its story.

Nothing here runs anybody else's code: the stories say what was seen when it was run, and the
tests say what happens here.
"""

from __future__ import annotations

import json
from itertools import permutations, product
from pathlib import Path

import pytest

from assignors import Assignor, Cluster, Group, Member, lead
from assignors.checks import check
from tests.laws.laws import (
    BY_ARRAYS,
    COOPERATIVE,
    EVERY_ASSIGNOR,
    STICKY,
    applied,
    members,
    protocol_of,
)
from wire import NoteCode, Subscription, decode_assignment, decode_subscription, encode_subscription

VECTORS = Path(__file__).resolve().parents[1] / "vectors"
OPTIMAL = pytest.mark.parametrize(
    "assignor",
    [STICKY, COOPERATIVE, *BY_ARRAYS],
    ids=["sticky", "cooperative", "sticky-arrays", "cooperative-arrays"],
)


def assert_lawful(assignor: Assignor, group: Group) -> None:
    answer = assignor.assign(group)
    report = check(
        group, answer.assignment, withheld=answer.withheld, protocol=protocol_of(assignor)
    )
    assert report.violations == ()


@EVERY_ASSIGNOR
def test_a_member_that_cannot_move_with_a_stale_claim_fails_nothing(assignor: Assignor) -> None:
    """P's only partition cannot move, and P remembers one that A owns by now.

    Java 4.4 throws a NullPointerException, librdkafka 2.16 ends with a segmentation fault,
    Sarama's plan gives the partition to nobody.
    """
    group = Group(
        cluster=Cluster.of({"t0": 4, "t1": 1}),
        members=members(
            A={"topics": ("t0",), "owned": {"t0": (0, 1, 2, 3)}, "generation": 5},
            B={"topics": ("t0",)},
            P={"topics": ("t1",), "owned": {"t0": (0,)}, "generation": 4},
        ),
        generation=5,
    )
    assert_lawful(assignor, group)
    if assignor.user_data.value == "sticky":
        assert assignor.assign(group).assignment == {
            "A": {"t0": (0, 1)},
            "B": {"t0": (2, 3)},
            "P": {"t1": (0,)},
        }


@EVERY_ASSIGNOR
def test_nothing_goes_back_to_an_owner_that_no_longer_asks_for_it(assignor: Assignor) -> None:
    """The same with Q beside P: Java, librdkafka, kafka-python and aiokafka give t0-0 to P.

    They move a partition back to who had it before, without asking whether it still subscribes.
    """
    group = Group(
        cluster=Cluster.of({"t0": 4, "t1": 1}),
        members=members(
            A={"topics": ("t0",), "owned": {"t0": (0, 1, 2, 3)}, "generation": 5},
            B={"topics": ("t0",)},
            P={"topics": ("t1",), "owned": {"t0": (0,)}, "generation": 4},
            Q={"topics": ("t1",)},
        ),
        generation=5,
    )
    assert_lawful(assignor, group)
    answer = assignor.assign(group)
    assert "t0" not in answer.assignment["P"]
    assert "t0" not in answer.assignment["Q"]


@EVERY_ASSIGNOR
@pytest.mark.parametrize("number", [99, 4, -1, -(2**31), 2**31 - 1])
def test_a_claim_beyond_the_topic_names_no_partition(assignor: Assignor, number: int) -> None:
    """Java throws "No more unfilled consumers" or keeps the phantom in the assignment."""
    group = Group(
        cluster=Cluster.of({"t": 4}),
        members=members(
            a={"topics": ("t",), "owned": {"t": (0, number)}, "generation": 1},
            b={"topics": ("t",), "owned": {"gone": (0,)}, "generation": 1},
        ),
        generation=1,
    )
    assert_lawful(assignor, group)
    answer = assignor.assign(group)
    assert sorted(n for share in answer.assignment.values() for n in share["t"]) == [0, 1, 2, 3]
    if assignor.user_data.value != "none":
        assert {note.code for note in answer.notes} == {"partition-out-of-range", "unknown-topic"}


@EVERY_ASSIGNOR
def test_a_member_that_asks_for_nothing_gets_nothing_wherever_it_stands(
    assignor: Assignor,
) -> None:
    """Java takes a group whose first member asks for nothing for one of equal subscriptions."""
    described = members(idle={}, a={"topics": ("t",)}, b={"topics": ("t",)})
    answers = [
        assignor.assign(Group(cluster=Cluster.of({"t": 4}), members=order)).assignment
        for order in permutations(described)
    ]
    assert all(answer == answers[0] for answer in answers)
    assert answers[0]["idle"] == {}
    assert [len(answers[0][name]["t"]) for name in "ab"] == [2, 2]


@pytest.mark.parametrize("generation", [8, 7])
def test_nothing_is_withheld_for_ever_after_a_change_of_subscription(generation: int) -> None:
    """A member drops topic b and goes on claiming b-0; kafka-python never hands b-0 out again.

    Its leader withholds the partition, nobody revokes anything, nobody rejoins. Here the
    leader is told to start another round itself, and one that names no claim ends it.
    """
    group = Group(
        cluster=Cluster.of({"a": 1, "b": 1}),
        members=members(
            changed={
                "topics": ("a",),
                "owned": {"a": (0,), "b": (0,)},
                "generation": generation,
            },
            other={"topics": ("b",)},
        ),
        generation=8,
    )
    first = COOPERATIVE.assign(group)
    assert first.withheld == {"b": (0,)}
    assert first.follow_up
    second = COOPERATIVE.assign(applied(group, first.assignment))
    assert second.assignment == {"changed": {"a": (0,)}, "other": {"b": (0,)}}
    assert not second.withheld
    assert not second.follow_up


def test_a_member_that_was_expelled_gets_nothing_while_the_other_still_has_it() -> None:
    """A member is expelled, the other takes all, the first returns with its old claims.

    kafka-python gives it its old partitions in the same round in which the other member still
    consumes them: what the cooperative protocol is there to prevent.
    """
    everything = tuple(range(6))
    group = Group(
        cluster=Cluster.of({"t": 6}),
        members=members(
            back={"topics": ("t",), "owned": {"t": (1, 3, 5)}, "generation": 4},
            stayed={"topics": ("t",), "owned": {"t": everything}, "generation": 5},
        ),
        generation=5,
    )
    first = COOPERATIVE.assign(group)
    assert first.assignment["back"] == {}
    assert len(first.withheld["t"]) == 3
    assert not first.follow_up, "the one that stayed revokes three and rejoins by itself"
    second = COOPERATIVE.assign(applied(group, first.assignment))
    assert [len(share["t"]) for share in second.assignment.values()] == [3, 3]


@OPTIMAL
def test_three_claimants_are_heard_alike_in_every_order(assignor: Assignor) -> None:
    """Generations 5, 5 and 6 claim one partition: the 6 is believed, whoever speaks first.

    In Java the second 5 strikes the first one out, and what is left depends on the order of a
    hash map; kafka-python's last speaker wins.
    """
    described = members(
        old={"topics": ("t",), "owned": {"t": (0,)}, "generation": 5},
        older={"topics": ("t",), "owned": {"t": (0,)}, "generation": 5},
        newest={"topics": ("t",), "owned": {"t": (0,)}, "generation": 6},
    )
    for generation, order in product((None, 6), permutations(described)):
        group = Group(cluster=Cluster.of({"t": 1}), members=order, generation=generation)
        answer = assignor.assign(group)
        assert answer.assignment == {"old": {}, "older": {}, "newest": {"t": (0,)}}
        assert not answer.withheld


@OPTIMAL
def test_two_equal_claims_decide_nothing_and_a_newer_lie_is_not_handed_anything(
    assignor: Assignor,
) -> None:
    """The same claims in a group that has gone on to generation 9: all three are memories.

    Kafka believes the highest generation whoever it is; the cooperative hand-over here waits.
    """
    described = members(
        old={"topics": ("t",), "owned": {"t": (0,)}, "generation": 5},
        newest={"topics": ("t",), "owned": {"t": (0,)}, "generation": 6},
    )
    for order in permutations(described):
        answer = assignor.assign(Group(cluster=Cluster.of({"t": 1}), members=order, generation=9))
        if not assignor.is_cooperative:
            assert answer.assignment["newest"] == {"t": (0,)}
        else:
            assert answer.withheld == {"t": (0,)}
            assert answer.follow_up


@EVERY_ASSIGNOR
def test_static_and_dynamic_members_side_by_side_all_get_their_share(assignor: Assignor) -> None:
    """Static, dynamic, static, dynamic: kafka-python's range leaves two of the four with nothing.

    It groups the members by kind without sorting them first, so of every interrupted run only
    the last one survives.
    """
    described = members(
        m1={"topics": ("t",), "instance_id": "i1"},
        m2={"topics": ("t",)},
        m3={"topics": ("t",), "instance_id": "i3"},
        m4={"topics": ("t",)},
    )
    for order in permutations(described):
        answer = assignor.assign(Group(cluster=Cluster.of({"t": 6}), members=order))
        shares = [len(share["t"]) for share in answer.assignment.values()]
        assert sorted(shares) == [1, 1, 2, 2]


@EVERY_ASSIGNOR
def test_a_topic_named_twice_is_asked_for_once(assignor: Assignor) -> None:
    """kafka-python's range counts the member twice and gives two partitions to nobody."""
    twice = Member(member_id="m1", topics=("a", "a"))
    once = Member(member_id="m2", topics=("a",))
    group = Group(cluster=Cluster.of({"a": 6}), members=(twice, once))
    assert_lawful(assignor, group)
    assert [len(share["a"]) for share in assignor.assign(group).assignment.values()] == [3, 3]


@EVERY_ASSIGNOR
def test_unequal_subscriptions_and_empty_groups_are_groups(assignor: Assignor) -> None:
    """kafka-python's round-robin raises KeyError for the first, its sticky TypeError for none."""
    unequal = members(m0={"topics": ("t0",)}, m1={"topics": ("t0", "t1")}, m2={"topics": ("t1",)})
    assert_lawful(assignor, Group(cluster=Cluster.of({"t0": 3, "t1": 3}), members=unequal))
    assert assignor.assign(Group(cluster=Cluster.of({"t": 3}), members=())).assignment == {}


def test_the_group_that_never_came_to_rest_rests() -> None:
    """Five real clients under a librdkafka leader, which names one topic twice in its answer.

    The follower that keeps only the last entry of a topic revokes what the first one held and
    rejoins, for ever. Answered here, each topic stands once, and the group rests.
    """
    lines = (VECTORS / "livelock-librdkafka.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 4
    for line in lines:
        record = json.loads(line)
        doubled = [
            decode_assignment(bytes.fromhex(blob)).notes
            for blob in record["leader_answer"].values()
        ]
        assert NoteCode.TOPIC_REPEATED in {note.code for notes in doubled for note in notes}
        said = {m["id"]: bytes.fromhex(m["subscription"]) for m in record["members"]}
        assert rounds_until_rest(Cluster.of(record["partitions"]), said, record["generation"]) <= 2


def rounds_until_rest(cluster: Cluster, said: dict[str, bytes], generation: int) -> int:
    """Return after how many rounds nobody revokes anything and nothing waits; at most 5."""
    for count in range(1, 6):
        led = lead(COOPERATIVE, cluster, said, generation=generation)
        generation += 1
        revoked = False
        for member_id, blob in led.assignments.items():
            decoded = decode_assignment(blob)
            assert decoded.notes == (), "a client must not need to be tolerant"
            given = decoded.require().partitions
            before = decode_subscription(said[member_id]).require()
            revoked |= any(
                not set(numbers) <= set(given.get(topic, ()))
                for topic, numbers in before.owned.items()
            )
            said[member_id] = encode_subscription(
                Subscription(
                    version=before.version,
                    topics=before.topics,
                    owned=given,
                    generation=generation,
                )
            )
        if not revoked and not led.rebalance.withheld:
            return count
    return 5
