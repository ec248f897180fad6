"""Recorded plans are what Java's assignors make of the recorded Subscriptions."""

from __future__ import annotations

from collections import Counter

import pytest

from assignors.replay.analysis.group_analysis import analysed_group
from assignors.replay.analysis.table_rows import generation_rows
from assignors.replay.history.fingerprint import BROKER, JAVA_NEW, JAVA_OLD
from assignors.replay.history.fold import group_history, histories, learned_names
from tests.replay.histories import Says, captured, classic, in_order
from tests.replay.reproductions import Reproduction, reproductions
from wire import (
    Subscription,
    encode_assignment,
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
                older[version, not one.fails and not one.different_count] += 1
    assert older == {
        ("java24", True): 83,
        ("java24", False): 60,
        ("java31", True): 80,
        ("java31", False): 80,
    }


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


def test_a_leader_whose_subscription_breaks_off_is_not_taken_for_java() -> None:
    """Version 1 with null UserData is Java's form, version 1 without the owned array is not."""
    cut = encode_subscription(Subscription(version=1, topics=("t",)))[:-4]
    plan = encode_assignment({"t": (0,)}, version=1)
    for subscription, guess in ((cut + b"\0\0\0\0", JAVA_OLD), (cut, None)):
        says = Says(subscription=subscription, assignment=plan)
        history = group_history("g", in_order([classic(1, 1, {"a": says})]))
        assert [row.leader_guess for row in generation_rows(analysed_group(history))] == [guess]
