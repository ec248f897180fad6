"""What `kafka-dump-log --offsets-decoder` prints is read as the segment that it was printed of."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.replay.sources import Raw, SourceError, open_source, read_stream
from assignors.replay.sources.dump_log import dump_log_records
from tests.cli.running import answers
from tests.replay.segments import TRANSACTIONAL, Batch, marker, written
from tests.replay.test_printed import DATA, PRINTED, printed, topic
from wire import decode_assignment
from wire.records import decode_record, encode_key, encode_value, formatter_json

PASTED = DATA / "pasted"
BATCH = (
    "baseOffset: {offset} lastOffset: {offset} count: 1 baseSequence: -1 lastSequence: -1 "
    "producerId: {producer} producerEpoch: 0 partitionLeaderEpoch: 0 isTransactional: {tx} "
    "isControl: {control} deleteHorizonMs: OptionalLong.empty position: 0 CreateTime: 5 size: 9 "
    "magic: 2 compresscodec: none crc: 1 isvalid: {valid}\n"
)
RECORD = (
    "| offset: {offset} CreateTime: {ms} keySize: 1 valueSize: 1 sequence: -1 headerKeys: [] "
    "{text}\n"
)
KEY = '{"type":"3","data":{"groupId":"g"}}'
VALUE = '{"version":"0","data":{"epoch":2}}'
GROUP = 'key: {"type":"2","data":{"group":"g"}} payload: {"version":"3","data":{"members":['
TABLES = ("groups", "generations", "members", "assignments", "offsets")
BY_VERSION = ("leader_guess", "finding_count")
"""Columns that depend on the versions of Assignments: findings are told apart by library."""

GOOD = f"key: {KEY} payload: {VALUE}"
HEAD = "Dumping /data/__consumer_offsets-12/00000000000000000000.log\nLog starting offset: 0\n"


def dumped(text: str, **options: Any) -> list[Raw]:
    """The rows of a dump."""
    lines = text.encode("utf-8", "surrogateescape").splitlines(keepends=True)
    options = {"name": "-", "line_max": 1 << 20, **options}
    return list(dump_log_records(lambda: lines, **options))


def batch(offset: int, *, producer: int = -1, control: bool = False, valid: bool = True) -> str:
    """The line of a batch."""
    flags = {"tx": producer >= 0, "control": control, "valid": valid}
    words = {name: str(flag).lower() for name, flag in flags.items()}
    return BATCH.format(offset=offset, producer=producer, **words)


def record(offset: int, text: str = GOOD) -> str:
    """The line of a record."""
    return RECORD.format(offset=offset, ms=1000 + offset, text=text)


def without_assignment_versions(raw: Raw) -> Raw:
    """The record with version 3 in each Assignment: the tool does not print versions."""
    found = decode_record(raw.key, raw.value)
    if found.name != "GROUP_METADATA" or raw.value is None or found.value is None:
        return raw
    members = [
        {**member, "assignment": b"\0\3" + member["assignment"][2:]}
        for member in found.value["members"]
    ]
    value = encode_value(found.name, found.value_version or 0, {**found.value, "members": members})
    return replace(raw, value=value)


def test_a_dump_of_kafka_4_is_its_partition_to_the_byte_but_for_versions_of_assignments() -> None:
    found = printed("dump-log-4.3.txt")
    whole = {raw.offset: raw for raw in topic() if raw.partition == 1}
    same = [raw for raw in found if raw.offset in whole]
    assert len(same) == len(whole) == 30
    assert len(found) == 37, "and of the tools that ran after the truth was taken"
    for raw in same:
        truth = whole[raw.offset]
        assert without_assignment_versions(raw) == without_assignment_versions(truth)
    assert sum(raw.value is None for raw in found) == 3
    assert {raw.topic for raw in found} == {"__consumer_offsets"}


def test_an_assignment_whose_version_is_not_printed_names_no_library() -> None:
    """No client writes version 2 with Subscription 3: nothing is guessed from it."""
    groups = [decode_record(raw.key, raw.value) for raw in printed("dump-log-4.3.txt")]
    members = [
        member
        for found in groups
        if found.name == "GROUP_METADATA" and found.value is not None
        for member in found.value["members"]
    ]
    found = [decode_assignment(member["assignment"]).value for member in members]
    assert {each.version for each in found if each is not None} == {2}
    rows, _ = answers("replay", str(PRINTED / "dump-log-4.3.txt.gz"), "--table", "generations")
    assert {row["row"]["leader_guess"] for row in rows} == {None}


def test_replay_of_a_dump_is_replay_of_the_partition(tmp_path: Path) -> None:
    file = tmp_path / "partition.jsonl"
    with gzip.open(PRINTED / "topic.jsonl.gz", "rt") as lines:
        file.write_text("".join(line for line in lines if json.loads(line)["partition"] == 1))
    for table in TABLES:
        truth, found = (
            answers("replay", str(source), "--table", table, "--group", "^[^c]")[0]
            for source in (file, PRINTED / "dump-log-4.3.txt.gz")
        )
        for row in (*truth, *found):
            for name in BY_VERSION:
                row["row"].pop(name, None)
        assert found == truth, table


@pytest.mark.parametrize("way", ["file", "pipe"])
def test_what_people_paste_is_read(way: str) -> None:
    file = PASTED / "dump-log.txt"
    with file.open("rb") as stream:
        rows = list(read_stream(stream, name="-") if way == "pipe" else open_source(file))
    assert [raw.error for raw in rows] == [None] * 4
    assert {(raw.topic, raw.partition) for raw in rows} == {("__consumer_offsets", 12)}
    assert [raw.offset for raw in rows] == [0, 1, 2, 3]
    assert [raw.timestamp_ms for raw in rows] == [1761764808000 + 1000 * n for n in range(4)]
    types = [decode_record(raw.key, raw.value).type for raw in rows]
    assert types == [2, 1, 3, 5]


def test_records_of_all_types_come_back() -> None:
    """In the form of the tool: numbers of types and versions as text."""
    whole = [
        raw
        for raw in open_source(DATA / "real.jsonl.gz")
        if raw.error is None and formatter_json(decode_record(raw.key, raw.value)) is not None
    ]
    text = HEAD
    for number, raw in enumerate(whole):
        document: Any = formatter_json(decode_record(raw.key, raw.value))
        key = {**document["key"], "type": str(document["key"]["type"])}
        value = document["value"]
        payload = (
            "<DELETE>"
            if value is None
            else json.dumps({**value, "version": str(value["version"])}, ensure_ascii=False)
        )
        text += batch(number) + record(number, f"key: {json.dumps(key)} payload: {payload}")
    found = dumped(text)
    assert [(raw.key, raw.value) for raw in found] == [(raw.key, raw.value) for raw in whole]
    assert len({decode_record(raw.key, None).type for raw in whole}) > 10
    assert any(raw.value is None for raw in found)


transactions = st.lists(
    st.tuples(st.sampled_from(["records", "commit", "abort", "plain"]), st.integers(1, 2)),
    max_size=10,
)


@given(transactions)
def test_transactions_are_read_as_in_segment_files(
    tmp_path_factory: pytest.TempPathFactory, entries: Sequence[tuple[str, int]]
) -> None:
    key = encode_key("CONSUMER_GROUP_METADATA", {"groupId": "g"})
    value = encode_value("CONSUMER_GROUP_METADATA", 0, {"epoch": 2})
    batches, text = [], HEAD
    for offset, (kind, producer) in enumerate(entries):
        if kind in {"commit", "abort"}:
            batches.append(marker(offset, producer, commits=kind == "commit"))
            text += batch(offset, producer=producer, control=True)
            text += record(offset, f"endTxnMarker: {kind.upper()} coordinatorEpoch: 0")
            continue
        own = producer if kind == "records" else -1
        flags = TRANSACTIONAL if kind == "records" else 0
        batches.append(
            Batch(base_offset=offset, pairs=[(key, value)], attributes=flags, producer_id=own)
        )
        text += batch(offset, producer=own) + record(offset)
    file = written(tmp_path_factory.mktemp("log"), batches)
    assert [raw.offset for raw in dumped(text)] == [raw.offset for raw in open_source(file)]


def test_a_marker_that_may_be_lost_is_said_as_in_segment_files() -> None:
    lost = (
        batch(0, producer=1) + record(0) + batch(1, valid=False) + record(1) + batch(2) + record(2)
    )
    first, second, third = dumped(HEAD + lost)
    assert first.error == "-: line 3: batch of offset 0: no marker says how its transaction ended"
    assert second.error == "-: line 5: batch of offset 1: its CRC is wrong"
    assert (third.offset, third.error) == (2, None)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("key: Unknown record type 99 at offset 1, skipping.", "could not read it: Unknown record"),
        ("key: Error at offset 1, skipping. null", "could not read it: Error at offset 1"),
        (f"key: {KEY}", "no payload: is the line cut short?"),
        (f"key: {KEY} payload: {VALUE[:20]}", "Unterminated string"),
        (f"key: {KEY[:9]}", "Unterminated string"),
        (f"key: {KEY} payload: null", "payload: null"),
        (f"key: {KEY} payload: []", "value: no fields: None"),
        ('key: {"type":"99","data":{}} payload: <DELETE>', "record type '99' is not known"),
        (GROUP + '{"subscription":{"topics":[1]}}]}}', "expected a string, found 1 at topics"),
        (GROUP + '{"assignment":{"assignedPartitions":7}}]}}', "expected a list, found 7"),
        ("", "no key: "),
        ("key: " + "[" * 100_000, "keys are not JSON"),
        ('key: {"a":' + "[" * 100_000, "recursion"),
    ],
)  # fmt: skip
def test_an_odd_line_is_an_error_on_its_line_alone(text: str, words: str) -> None:
    text = HEAD + batch(0) + record(0) + record(1, text) + record(2)
    before, odd, after = dumped(text)
    assert (before.offset, after.offset) == (0, 2)
    assert odd.error is not None
    assert odd.error.startswith("-: line 5: ")
    assert words in odd.error
    assert (odd.topic, odd.partition) == ("__consumer_offsets", 12)


def test_bytes_that_were_not_decoded_are_one_error_for_the_file() -> None:
    text = HEAD + batch(0) + record(0, "key: \x00\x02 payload: \x03") + record(1, "key: \x01")
    (only,) = dumped(text)
    assert "run kafka-dump-log of Kafka 4.x with --offsets-decoder" in str(only.error)
    (only,) = dumped(HEAD + batch(0) + batch(1))
    assert "batches and no records: run kafka-dump-log with --offsets-decoder" in str(only.error)


def test_what_else_is_printed_is_skipped_or_an_error() -> None:
    text = (
        f"$ bin/kafka-dump-log.sh --files x.log\n{HEAD}{batch(0)}{record(0)}"
        "Dumping __consumer_offsets-3/00000000000000000000.index\noffset: 4 position: 70\n"
        f"Dumping C:\\kafka\\__consumer_offsets-4\\00000000000000000000.log\n{batch(7)}{record(7)}"
        "Found 12 invalid bytes at the end of 00000000000000000000.log\n"
        "what is this\n"
        "Non-consecutive offsets in /data/x.log\n  0 is followed by 7\n"
        "command terminated with exit code 1\n"
    )
    first, second, rest, odd = dumped(text)
    assert (first.partition, second.partition) == (12, 4)
    assert rest.error == "-: line 11: Found 12 invalid bytes at the end of 00000000000000000000.log"
    assert odd.error == "-: line 12: no line of kafka-dump-log: 'what is this'"


def test_lines_that_grep_has_chosen_are_read_without_their_place() -> None:
    (only,) = dumped(record(5))
    assert (only.offset, only.partition, only.timestamp_ms) == (5, None, 1005)
    (only,) = dumped(f"| {GOOD}\n")
    assert (only.key, only.offset, only.timestamp_ms) == (b"\0\3\0\1g", None, None)


def test_a_packed_dump_that_is_cut_keeps_what_is_before(tmp_path: Path) -> None:
    file = tmp_path / "dump.gz"
    whole = gzip.compress((HEAD + "".join(batch(n) + record(n) for n in range(5000))).encode())
    file.write_bytes(whole[: len(whole) * 2 // 3])
    *rows, last = open_source(file)
    assert len(rows) > 1000
    assert all(raw.error is None for raw in rows)
    assert "the compressed file is cut short" in str(last.error)


@given(st.text(), st.integers(0, 400), st.integers(0, 5))
def test_whatever_is_changed_in_a_dump_is_a_row_or_an_error(text: str, at: int, cut: int) -> None:
    whole = HEAD + batch(0, producer=3) + record(0) + batch(1, producer=3, control=True)
    whole += record(1, "endTxnMarker: COMMIT coordinatorEpoch: 0")
    damaged = whole[:at] + text.encode("utf-8", "ignore").decode() + whole[at + cut :]
    for raw in dumped(damaged):
        assert (raw.error is None) == (raw.key is not None)


ODD: tuple[object, ...] = (
    *(None, 1.5, float("nan"), True, "x", "\ud800", [], {}, [1], {"a": 1}, -1, 2**31, 2**63),
    "A" * 40_000,
)


def places(value: object, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the place of each part of a document."""
    yield above
    parts = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for name, part in parts:
        yield from places(part, (*above, name))


def with_part(value: Any, place: tuple[Any, ...], part: object) -> Any:
    """Return the document with another value at a place."""
    if not place:
        return part
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[place[0]] = with_part(value[place[0]], place[1:], part)
    return copy


def test_any_value_in_any_place_is_a_record_or_an_error() -> None:
    with gzip.open(PRINTED / "dump-log-4.3.txt.gz", "rt", encoding="utf-8") as lines:
        rows = [line for line in lines if " payload: {" in line]
    kinds: dict[str, str] = {}
    for row in rows:
        kinds[row.partition('key: {"type":"')[2][:2]] = row
    assert len(kinds) >= 6
    for row in kinds.values():
        begin, _, value = row.partition(" payload: ")
        document = json.loads(value)
        for place in places(document):
            for odd in ODD:
                changed = json.dumps(with_part(document, place, odd))
                (raw,) = dumped(f"{begin} payload: {changed}\n")
                assert (raw.error or "").encode() is not None
                assert (raw.error is None) == (raw.value is not None)


def test_text_that_is_no_utf_8_is_an_error_that_can_be_printed() -> None:
    good, bad, rest = dumped(
        HEAD
        + record(0)
        + record(1, 'key: {"type":"3","data":{"groupId":"\udcff"}} payload: <DELETE>')
        + "what\udcff\n"
    )
    assert good.error is None
    assert "Invalid \\escape" in str(bad.error)
    assert str(rest.error).encode().endswith(b"'what\\\\xff'")


def test_lines_of_a_batch_cost_no_more_than_their_length() -> None:
    """This took minutes where the pattern goes back over what it has read."""
    (error,) = dumped("baseOffset: 1 " + "producerId: 1 " * 300_000 + "\n", line_max=1 << 30)
    assert "no line of kafka-dump-log" in str(error.error)


def test_lines_have_a_bound() -> None:
    first, second = dumped(
        HEAD + record(0) + record(1, f"key: {KEY} payload: " + " " * 600), line_max=500
    )
    assert first.error is None
    assert second.error == "-: line 4: 500 bytes and no end of it"


def files() -> Iterator[tuple[str, bytes, str]]:
    log = (PASTED / "broker.log").read_bytes()
    yield "00000000000000000000.log", log, "text of a log4j file, not a segment"
    yield "server.log.gz", gzip.compress(log), "text of a log4j file, not a segment"
    yield "server.jsonl", log, "text of a log4j file, not a segment"
    yield "settings.log", b"broker.id=0\nlog.dirs=/data\n", "text, not a segment"
    yield "server.properties", b"broker.id=0\nlog.dirs=/data\n", "no .jsonl, .parquet or .log"
    yield "settings.jsonl", b"broker.id=0\nlog.dirs=/data\n", "text, and no line of it is a record"
    yield "rpk.txt", b"$ rpk\nTOPIC  PARTITION  LAG\nt  0  1\n", "no records: kafka-assignors check"


@pytest.mark.parametrize(("name", "data", "words"), [*files()])
def test_a_file_of_another_kind_is_refused_in_one_sentence(
    tmp_path: Path, name: str, data: bytes, words: str
) -> None:
    file = tmp_path / name
    file.write_bytes(data)
    with pytest.raises(SourceError, match=words) as caught:
        open_source(file)
    assert "\n" not in str(caught.value)
    assert answers("replay", str(file))[1] == 2


def test_a_folder_without_segments_is_refused(tmp_path: Path) -> None:
    (tmp_path / "server.log").write_bytes((PASTED / "broker.log").read_bytes())
    with pytest.raises(SourceError, match="no segment files"):
        open_source(tmp_path)


def test_lines_of_a_terminal_around_records_are_skipped_and_those_before_are_noted() -> None:
    said: list[str] = []
    file = PASTED / "kubectl-formatter.txt"
    rows = list(open_source(file, say=said.append))
    assert [raw.error for raw in rows] == [None, None]
    (text,) = said
    assert "1 line before the first record is not read: \"If you don't see" in text
    with file.open("rb") as stream:
        assert list(read_stream(stream, name="-", say=said.append)) == rows
    assert said[1] == text.replace(str(file), "-")
