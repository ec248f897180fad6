"""One bad record costs itself: the rest of a damaged topic is in the tables, and they add up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from assignors.registry import assignor_named
from assignors.replay.decode.logged_records import LoggedRecord, logged_records
from assignors.replay.engines.python import replay_records
from assignors.replay.history.fold import group_history, learned_names
from assignors.replay.history.partition_counts import inferred_counts
from assignors.replay.report import page
from assignors.replay.settings import Settings
from assignors.replay.sources import open_source
from assignors.replay.tables.arrow import as_arrow, write_tables
from tests.replay.damage import damaged
from tests.replay.histories import TOPIC_ID, Says, classic, commit, epoch, in_order, member
from tests.replay.laws import broken
from wire.records import decode_record

SETTINGS = Settings(
    assignors=tuple(map(assignor_named, ("optimal/sticky", "java/sticky", "server/uniform")))
)


@pytest.mark.parametrize(
    "seed",
    [*range(5), *(pytest.param(each, marks=pytest.mark.deep) for each in range(5, 16))],
)
def test_a_damaged_topic_is_told_and_its_figures_agree(seed: int, tmp_path: Path) -> None:
    dump = tmp_path / "dump.jsonl"
    dump.write_bytes(damaged(seed))
    listed = list(logged_records(open_source(dump)))
    tables = replay_records(listed, SETTINGS, hide_names=bool(seed % 2))
    assert broken(tables) == []
    unreadable = sum(1 for entry in listed if entry.record.error is not None)
    found = sum(row.count for row in tables.findings if row.kind == "unreadable")
    assert 20 < unreadable <= found
    assert len(write_tables(tables, tmp_path / "tables")) == 7
    assert "unreadable" in page(tables, title="damaged")


def test_a_member_without_a_name_is_one_unreadable_record() -> None:
    whole = member(2, "m", ("t",)).record
    assert whole.key_bytes is not None
    cut = LoggedRecord(record=decode_record(whole.key_bytes[:-2], None), at_ms=2)
    tables = replay_records(in_order([epoch(1, 1), member(2, "n", ("t",)), cut, epoch(3, 2)]))
    assert [row.member_count for row in tables.generations] == [0, 1]
    assert [row.kind for row in tables.findings if row.kind == "unreadable"] == ["unreadable"]


@pytest.mark.parametrize(
    ("partitions", "count"),
    [
        ((0, 1, 2**31 - 1), 2),
        ((9_999,), 10_000),
        ((19_999,), 0),
        (tuple(range(0, 20_000, 199)), 19_901),
    ],
)
def test_a_commit_far_from_all_others_makes_no_topic_of_two_billion(
    partitions: tuple[int, ...], count: int
) -> None:
    history = group_history("g", [commit(1, "t", number, 7) for number in partitions])
    assert inferred_counts(history).get("t", 0) == count


def test_one_bad_commit_renames_no_topic() -> None:
    topic_id = TOPIC_ID.format("Q")
    entries = [
        commit(at_ms, name, 0, 7, topic_id=topic_id)
        for at_ms, name in enumerate(["orders", "orders", "~rders"])
    ]
    assert learned_names(entries) == learned_names(entries[::-1]) == {topic_id: "orders"}


def test_a_number_beyond_64_bits_is_the_last_one_within() -> None:
    (life,) = replay_records(in_order([classic(2**62, 1, {"a": Says()})])).groups
    row = replace(life, downtime_partition_ms=2**70, unassigned_partition_ms=-(2**70))
    (stored,) = as_arrow(type(row), [row]).to_pylist()
    assert stored["from_ms"] == 2**62
    assert stored["downtime_partition_ms"] == 2**63 - 1
    assert stored["unassigned_partition_ms"] == -(2**63)
