"""Recorded plans are what Java's assignors make of the recorded Subscriptions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from assignors.model import Group
from assignors.rebalance import Rebalance
from assignors.replay.analysis.group_analysis import analysed_group
from assignors.replay.analysis.table_rows import generation_rows
from assignors.replay.history.fingerprint import BROKER, JAVA_NEW, JAVA_OLD
from assignors.replay.history.fold import group_history, histories, learned_names
from tests.replay.histories import Says, captured, classic, in_order
from tests.replay.reproductions import BY_PROTOCOL, Reproduction, reproductions
from wire import (
    Subscription,
    encode_assignment,
    encode_sticky_user_data,
    encode_subscription,
)

TOPICS = {
    "real": {"orders": 6, "payments": 4, "clicks.v2": 3, "tiny": 1},
    "java-plans": {"ta": 6, "tb": 5, "tc": 1, "td": 7, "ja": 4, "jb": 2},
}


@pytest.fixture(scope="module")
def found() -> list[tuple[str, Reproduction]]:
    """Every plan of both captured topics, with its group."""
    made = []
    for name, counts in TOPICS.items():
        entries = captured(name)
        for history in histories(entries, topic_names=learned_names(entries)):
            made += [
                (history.group, one)
                for one in reproductions(analysed_group(history, counts), entries)
            ]
    return made


def test_every_plan_of_a_java_4_leader_is_reproduced_byte_for_byte_but_two_of_the_brokers(
    found: list[tuple[str, Reproduction]],
) -> None:
    """The two exceptions are the first plan after a group came back from KIP-848.

    The broker wrote them: what each member had at that moment, in the order of topic ids. No
    assignor was asked, and the leader that the record names had not led yet.
    """
    java_4 = [(group, one) for group, one in found if "java44" in one.leader_client_id]
    others = [(group, one) for group, one in java_4 if not one.is_same]
    assert len(java_4) == 172
    assert [(group, one.life, one.generation) for group, one in others] == [
        ("shop.32-migrate", 5, 5),
        ("shop.33-migrate-eager", 3, 5),
    ]
    assert {one.writer for _, one in others} == {BROKER}


def test_a_java_4_leader_is_known_by_the_form_of_its_bytes(
    found: list[tuple[str, Reproduction]],
) -> None:
    for _, one in found:
        is_java_4 = "java44" in one.leader_client_id and one.writer != BROKER
        assert (one.writer == JAVA_NEW) == is_java_4, one


def test_older_java_leaders_agree_on_as_many_plans_as_were_counted(
    found: list[tuple[str, Reproduction]],
) -> None:
    """Who gets what under 2.4 and 3.1, in groups of odd and mixed members, as 4.4 would have it.

    They read claims in other ways: 2.4 no generation at all, 3.1 none of the Subscription.
    """
    older: Counter[tuple[str, bool]] = Counter()
    for _, one in found:
        for version in ("java24", "java31"):
            if version in one.leader_client_id:
                assert one.writer == JAVA_OLD
                older[version, one.failure is None and not one.different_count] += 1
    assert older == {
        ("java24", True): 83,
        ("java24", False): 60,
        ("java31", True): 80,
        ("java31", False): 80,
    }


def test_a_plan_that_java_would_not_make_says_how_far_off_it_is() -> None:
    entries = in_order(
        [classic(1, 1, {"a": Says(gets={"t": (3, 2)}), "b": Says(gets={"t": (0, 1)})})]
    )
    (one,) = reproductions(analysed_group(group_history("g", entries), {"t": 4}), entries)
    assert str(one) == "java/range gives another assignment: 4 partitions differ"
    reverse = in_order(
        [classic(1, 1, {"a": Says(assignment=encode_assignment({"t": (1, 0)}, keep_order=True))})]
    )
    (one,) = reproductions(analysed_group(group_history("g", reverse), {"t": 2}), reverse)
    assert str(one) == "java/range gives the same assignment in other bytes"


def test_a_group_on_which_java_fails_says_so() -> None:
    """A claim of a number beyond the topic: `No more unfilled consumers`."""
    says = {"a": Says(owns={"t": (7,)}, generation=1), "b": Says(gets={"t": (0,)})}
    entries = in_order([classic(1, 2, says, protocol="cooperative-sticky")])
    (one,) = reproductions(analysed_group(group_history("g", entries), {"t": 1}), entries)
    assert one.failure is not None
    assert "fails on this group" in str(one)


def test_protocols_that_java_does_not_know_are_left_out() -> None:
    entries = in_order([classic(1, 1, {"a": Says()}, protocol="RoundRobinAssigner")])
    assert list(reproductions(analysed_group(group_history("g", entries), {"t": 2}), entries)) == []


def test_guesses_name_the_client_that_wrote_the_plan() -> None:
    """Client ids of the captured topic begin with who they are."""
    says = {
        "franz": "franz-go",
        "ck": "librdkafka",
        "sarama": "Sarama",
        "java44": JAVA_NEW,
        "java24": JAVA_OLD,
        "kjs": "kafkajs",
        "aio": "kafka-python or aiokafka",
        "ks": "Kafka Streams",
    }
    checked: Counter[str] = Counter()
    for history in histories(captured("real")):
        for row in generation_rows(analysed_group(history)):
            if row.leader_client_id is None or row.leader_guess == BROKER:
                continue
            who = row.leader_client_id.removeprefix("w-").removeprefix("live-").split("-")[0]
            if who in says:
                assert row.leader_guess == says[who], row
                checked[who] += 1
    assert set(checked) == set(says)
    assert sum(checked.values()) > 150


def test_a_leader_remembers_the_generations_it_was_told_and_another_one_does_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Java's sticky assignor keeps the highest generation it saw for as long as it lives."""
    asked: list[int] = []
    java = BY_PROTOCOL["sticky"]

    def watched(group: Group) -> Rebalance:
        asked.append(group.state.max_generation)
        return java.assign(group)

    monkeypatch.setitem(BY_PROTOCOL, "sticky", replace(java, assign=watched))
    claims = encode_sticky_user_data({"t": (0,)}, 7)
    said = encode_subscription(Subscription(topics=("t",), user_data=claims))
    plan = {"a": Says(subscription=said), "b": Says()}
    entries = in_order(
        [
            classic(1, 8, plan, protocol="sticky"),
            classic(2, 9, plan, protocol="sticky"),
            classic(3, 10, plan, protocol="sticky", leader="b"),
        ]
    )
    list(reproductions(analysed_group(group_history("g", entries), {"t": 2}), entries))
    assert asked == [-1, 7, -1]


def test_a_leader_whose_subscription_breaks_off_is_not_taken_for_java() -> None:
    """Version 1 with null UserData is Java's form, version 1 without the owned array is not."""
    cut = encode_subscription(Subscription(version=1, topics=("t",)))[:-4]
    plan = encode_assignment({"t": (0,)}, version=1)
    for subscription, guess in ((cut + b"\0\0\0\0", JAVA_OLD), (cut, None)):
        says = Says(subscription=subscription, assignment=plan)
        history = group_history("g", in_order([classic(1, 1, {"a": says})]))
        assert [row.leader_guess for row in generation_rows(analysed_group(history))] == [guess]
