"""Findings that a leader causes name its client, not the member that received the assignment."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from assignors.replay.analysis.group_analysis import analysed_group
from assignors.replay.engines.python import replay_records
from assignors.replay.findings import FINDINGS
from assignors.replay.findings.leaders import LEADERS_CLIENT, findings_by_leader
from assignors.replay.history.fingerprint import BROKER, JAVA_NEW
from assignors.replay.history.fold import group_history
from assignors.replay.tables.rows import FindingRow
from tests.replay.findings import COOPERATIVE, found, kinds, lower, upper
from tests.replay.histories import Says, captured, classic, in_order
from wire import Subscription, encode_subscription

LEADER = Says(
    gets={"t": (0, 1)},
    owns={"t": (0, 1, 2, 3)},
    generation=1,
    client_id="billing-7",
    host="/10.0.0.7",
)


def given_too_early(leader: Says, generation: int = 2, at_ms: int = 5_000) -> list[FindingRow]:
    """The findings of a group whose leader gives half of its partitions away at once."""
    before = replace(leader, gets={"t": (0, 1, 2, 3)}, owns={}, generation=-1)
    return found(
        classic(0, generation - 1, {"a": before}, protocol=COOPERATIVE),
        classic(at_ms, generation, {"a": leader, "b": upper()}, protocol=COOPERATIVE),
    )


def test_evidence_advice_and_columns_name_the_leader() -> None:
    """They named the member that received the partition, with "update that client"."""
    (row,) = given_too_early(LEADER)
    who = f"billing-7 at /10.0.0.7, guessed to be {JAVA_NEW}"
    assert (row.kind, row.member_id, row.client_id) == ("given-too-early", "b", "client")
    assert (row.leader_id, row.leader_client_id, row.leader_host) == ("a", "billing-7", "/10.0.0.7")
    assert row.leader_guess == JAVA_NEW
    assert row.evidence.endswith(f"; the leader was {who}")
    assert f"update the leader's client ({who})" in row.what_to_do


def test_advice_about_a_leader_says_whose_client() -> None:
    for kind, known in FINDINGS.items():
        assert not known.is_by_leader or LEADERS_CLIENT in known.what_to_do, kind
        assert "that client" not in known.what_to_do or kind == "unreadable"
    blamed = {kind for kind, known in FINDINGS.items() if known.is_by_leader}
    assert {"given-too-early", "unassigned", "foreign-topic", "rebalance-loop"} <= blamed


@pytest.mark.parametrize(
    ("client_id", "guess"),
    [
        ("rdkafka", "librdkafka"),
        ("sarama", "Sarama"),
        ("kgo", "franz-go"),
        ("kafkajs", "kafkajs"),
        ("kafka-python-2.0.2", "kafka-python 2.0.2"),
        ("aiokafka-0.10.0", "aiokafka 0.10.0"),
        ("worker@host-1 (github.com/segmentio/kafka-go)", "kafka-go"),
        ("app-0b1e-StreamThread-2-consumer", "Kafka Streams"),
        ("consumer-billing-1", JAVA_NEW),
        ("rdkafka-billing", JAVA_NEW),
    ],
)
def test_a_client_id_that_nobody_set_is_the_librarys_own(client_id: str, guess: str) -> None:
    """Else the bytes tell; those of this leader are Java's."""
    (row,) = given_too_early(replace(LEADER, client_id=client_id))
    assert row.leader_guess == guess


def test_a_leader_of_no_known_library_has_no_guess() -> None:
    says = Subscription(version=2, topics=("t",), owned={"t": (0, 1, 2, 3)}, generation=1)
    (row,) = given_too_early(replace(LEADER, subscription=encode_subscription(says)))
    assert (row.leader_guess, row.leader_client_id) == (None, "billing-7")
    assert row.evidence.endswith("; the leader was billing-7 at /10.0.0.7")


def loops(*leaders: Says) -> list[FindingRow]:
    """Two loops of five generations, a leader each."""
    entries = [
        classic(number * 1_000, number + 1, {"a": who, f"b{turn}": upper()}, leader="a")
        for turn, who in enumerate(leaders)
        for number in range(turn * 5, turn * 5 + 5)
    ]
    return [row for row in found(*entries) if row.kind == "rebalance-loop"]


def test_leaders_of_one_library_are_one_cause_and_of_two_are_two() -> None:
    one, other = lower(client_id="a-1"), lower(client_id="a-2")
    assert [row.occurrences for row in loops(one, other)] == [2]
    rows = loops(replace(one, client_id="rdkafka"), other)
    assert {row.leader_guess for row in rows} == {"librdkafka", JAVA_NEW}
    assert [row.occurrences for row in rows] == [1, 1]


def test_workers_of_connect_are_known_by_their_protocol() -> None:
    entries = [
        classic(number * 1_000, number + 1, {"a": Says()}, protocol_type="connect")
        for number in range(5)
    ]
    (life,) = analysed_group(group_history("g", in_order(entries)), {}).lives
    assert {one.generation.writer for one in life.generations} == {"Kafka Connect"}


def test_where_the_broker_assigns_no_leader_is_named() -> None:
    tables = replay_records(captured("real"))
    consumer = {(row.group, row.life) for row in tables.groups if row.kind == "consumer"}
    rows = [row for row in tables.findings if (row.group, row.life) in consumer]
    assert "unassigned" in kinds(rows)
    assert {row.leader_id or row.leader_guess for row in rows} == {None}
    assert not [row for row in rows if "leader was" in row.evidence]


def test_findings_of_a_real_topic_have_few_causes() -> None:
    rows = [row for row in replay_records(captured("real")).findings if row.leader_id is not None]
    listed = findings_by_leader(rows)
    assert sum(len(one.findings) for one in listed) == len(rows) > 2 * len(listed)
    worst = [[-count for count in one.severities.values()] for one in listed]
    assert all(before <= after for before, after in pairwise(worst))
    assert {one.guess for one in listed} > {"librdkafka", "franz-go", "kafkajs", None}
    assert BROKER not in {one.guess for one in listed}
    for one in listed:
        assert set(kinds(list(one.findings))) == set(one.kinds)
        assert one.client_ids
