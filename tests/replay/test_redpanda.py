"""Groups of Redpanda: twmb/franz-go#799 found that its GROUP_METADATA is not Kafka's.

An int16 stands before each member, so such a group read as damaged, and as `Empty`. The same
records are in the file `redpanda-as-kafka.jsonl` as Kafka writes them.
"""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from assignors.replay.analysis.group_analysis import analysed_group
from assignors.replay.analysis.table_rows import group_rows
from assignors.replay.decode.batches import decoded_records
from assignors.replay.decode.logged_records import logged_records
from assignors.replay.history.fold import histories
from assignors.replay.sources import Raw
from tests.cli.running import answer, answers
from wire import NoteCode
from wire.records import Record, decode_record

DATA = Path(__file__).parent / "data"
REDPANDA, KAFKA = DATA / "redpanda.jsonl", DATA / "redpanda-as-kafka.jsonl"


def raws(path: Path) -> list[Raw]:
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    return [
        Raw(
            key=base64.b64decode(line["key"]),
            value=base64.b64decode(line["value"]),
            timestamp_ms=line["timestamp"],
        )
        for line in lines
    ]


def damaged(raw: Raw) -> Raw:
    assert raw.value is not None
    return replace(raw, value=raw.value[:-3])


def records(path: Path) -> list[Record]:
    return [decode_record(raw.key, raw.value, keep_bytes=False) for raw in raws(path)]


def states(listed: list[Raw]) -> list[tuple[str, str]]:
    found = histories(logged_records(listed))
    return [
        (row.kind, row.state)
        for history in found
        for row in group_rows(analysed_group(history), [])
    ]


def test_a_record_of_redpanda_is_read_as_kafkas_with_a_note() -> None:
    for theirs, ours in zip(records(REDPANDA), records(KAFKA), strict=True):
        codes = [note.code for note in theirs.notes]
        assert codes == ([NoteCode.MEMBER_VERSION] if ours.name == "GROUP_METADATA" else [])
        assert replace(theirs, notes=()) == ours


@pytest.mark.parametrize("version", [b"\x00\x04", b"\xff\xff"])
def test_other_numbers_before_a_member_are_not_read(version: bytes) -> None:
    raw = raws(REDPANDA)[0]
    assert raw.value is not None
    at = raw.value.index(b"\x00\x03\x00\x2crdkafka")
    other = decode_record(raw.key, raw.value[:at] + version + raw.value[at + 2 :])
    assert (other.value, other.error is None) == (None, False)
    longer = decode_record(raw.key, raw.value + b"\x00")
    assert (longer.value, longer.error is None) == (None, False)


def test_columns_have_what_the_records_have() -> None:
    decoded = [
        decoded_records(
            pa.array([raw.key for raw in raws(path)], pa.binary()),
            pa.array([raw.value for raw in raws(path)], pa.binary()),
        ).to_pylist()
        for path in (REDPANDA, KAFKA)
    ]
    notes = [[note["code"] for note in row.pop("notes")] for row in decoded[0]]
    assert notes == [["member-version"]] * 3 + [[]]
    assert decoded[0] == [
        {name: row[name] for name in row if name != "notes"} for row in decoded[1]
    ]


def test_a_group_of_redpanda_has_the_history_that_it_would_have_on_kafka() -> None:
    def tables(path: Path) -> list[dict[str, Any]]:
        documents, code = answers("replay", str(path), "--table", "groups", "--table", "findings")
        assert code == 0
        return documents

    (row,) = tables(REDPANDA)
    assert [row] == tables(KAFKA)
    group = row["row"]
    assert (group["state"], group["member_count"], group["moved"]) == ("Stable", 2, 2)


def test_decode_reads_a_record_of_redpanda() -> None:
    raw = raws(REDPANDA)[1]
    assert raw.value is not None
    given = f"{raw.key.hex()} {raw.value.hex()}" if raw.key else ""
    document = answer("decode", "offsets-record", given=given)
    assert [note["code"] for note in document["notes"]] == ["member-version"]
    assert len(document["value"]["members"]) == 2


def test_a_group_whose_own_record_cannot_be_read_has_no_known_state() -> None:
    first, second, third, commit = raws(KAFKA)
    assert states([first, second, third, commit]) == [("classic", "Stable")]
    assert states([damaged(first), commit]) == [("classic", "Unknown")]
    assert states([first, second, damaged(third)]) == [("classic", "Unknown")]
    assert states([damaged(first), second, third]) == [("classic", "Stable")]
    assert states([damaged(first), replace(second, value=None)]) == [("classic", "Dead")]
    assert states([commit]) == [("simple", "Empty")]
    unread = replace(first, key=b"\x00\x03" + (first.key or b"")[2:])
    assert states([unread, commit]) == [("simple", "Unknown")]
