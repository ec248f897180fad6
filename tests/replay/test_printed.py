"""What kcat and Kafka's console consumer print is read, or refused by a sentence that helps.

The files of `data/printed` are one topic, printed by each tool.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from assignors.replay.sources import Raw, SourceError, open_source, parse_lines
from tests.cli.running import answers
from tests.replay.test_sources import raws
from wire.records import decode_record, formatter_json

DATA = Path(__file__).parent / "data"
PRINTED = DATA / "printed"
COMMIT, CLASSIC = 1, 2
EVERY_BYTE = bytes(range(256))

ESCAPED = {8: "\\b", 9: "\\t", 10: "\\n", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}
"""What kcat (yajl) writes for these bytes; other bytes below a blank as \\u00XX, the rest as is."""


def printed(name: str) -> list[Raw]:
    return list(open_source(PRINTED / f"{name}.gz"))


def topic() -> list[Raw]:
    """What the others print too, without what their own consumers left in the topic."""
    return printed("topic.jsonl")


def group_of(raw: Raw) -> str:
    key = decode_record(raw.key, None).key or {}
    return str(key.get("group", key.get("groupId")))


def of_others(rows: Iterable[Raw]) -> list[Raw]:
    """The records of all groups but those of console consumers."""
    return [raw for raw in rows if not group_of(raw).startswith("console-")]


def of_type(rows: Iterable[Raw], number: int) -> list[Raw]:
    return [raw for raw in rows if decode_record(raw.key, None).type == number]


def in_order(rows: Iterable[Raw]) -> list[tuple[str, bytes | None, bytes | None]]:
    """Keys and values of each group in their order: partitions come in any."""
    return sorted(((group_of(raw), raw.key, raw.value) for raw in rows), key=lambda row: row[0])


def fields(raw: Raw) -> tuple[Any, Any]:
    """What a record says, whatever version it is written in; topic ids are newer than 3.9."""
    record = decode_record(raw.key, raw.value)
    value = None if record.value is None else dict(record.value)
    if value is not None:
        value.pop("topicId", None)
    return record.key, value


def yajl(blob: bytes | None) -> bytes:
    if blob is None:
        return b"null"
    parts = [
        ESCAPED[byte].encode()
        if byte in ESCAPED
        else b"\\u%04X" % byte
        if byte < 32
        else bytes([byte])
        for byte in blob
    ]
    return b'"' + b"".join(parts) + b'"'


def kcat_line(raw: Raw) -> bytes:
    kind = {0: b"create", 1: b"logappend", None: b"unknown"}[raw.timestamp_type]
    numbers = (raw.partition or 0, raw.offset or 0, kind, raw.timestamp_ms or 0)
    return b'{"topic":"%s","partition":%d,"offset":%d,"tstype":"%s","ts":%d,"broker":1,' % (
        json.dumps(raw.topic or "t").encode()[1:-1],
        *numbers,
    ) + b'"key":%s,"payload":%s}\n' % (yajl(raw.key), yajl(raw.value))


def test_what_kcat_prints_is_the_topic_to_the_byte() -> None:
    assert printed("kcat.jsonl") == topic()
    assert len(topic()) > 40


def test_kcat_prints_every_byte_and_tells_null_from_nothing() -> None:
    every, no_payload, no_key = printed("kcat-bytes.jsonl")
    odd = "\xe9\u20ac\U0001f600".encode() + b'\xc3(\xe2\x82\xed\xa0\x80"\\/'
    assert (every.key, every.value) == (EVERY_BYTE, EVERY_BYTE[::-1] + odd)
    assert (no_payload.key, no_payload.value) == (b"", None)
    assert (no_key.key, no_key.value) == (None, b"")


def test_our_lines_of_kcat_are_those_of_kcat() -> None:
    """So that the next test tries what kcat would print."""
    lines = gzip.decompress((PRINTED / "kcat.jsonl.gz").read_bytes())
    assert b"".join(map(kcat_line, topic())) == lines


@given(raws)
def test_whatever_bytes_kcat_prints_come_back(raw: Raw) -> None:
    (found,) = parse_lines([kcat_line(raw)], name="-")
    if "\N{REPLACEMENT CHARACTER}" not in kcat_line(raw).decode("utf-8", "ignore"):
        assert (found.error, found.key, found.value) == (None, raw.key, raw.value)
        assert found.timestamp_type == raw.timestamp_type


def test_bytes_that_a_reader_of_text_has_replaced_are_an_error_on_their_line_alone() -> None:
    lines = gzip.decompress((PRINTED / "kcat.jsonl.gz").read_bytes()).splitlines()
    replaced = [line.decode("utf-8", "replace").encode() for line in lines]
    lost = [old != new for old, new in zip(lines, replaced, strict=True)]
    found = list(parse_lines(replaced, name="-"))
    assert any(lost)
    assert not all(lost)
    for number, (raw, whole, is_lost) in enumerate(zip(found, topic(), lost, strict=True), 1):
        if is_lost:
            assert raw.error is not None
            assert raw.error.startswith(f"-: line {number}: bytes were replaced by U+FFFD: ")
        else:
            assert raw == whole


def test_text_that_jq_has_written_with_escapes_is_still_whole() -> None:
    raw = Raw(key="gr\xfcn \U0001f600".encode(), value=None, topic="t", partition=0, offset=1)
    line = json.dumps(json.loads(kcat_line(raw))).encode()
    assert line.isascii()
    (found,) = parse_lines([line], name="-")
    assert found.key == raw.key


@pytest.mark.parametrize(("kind", "number"), [("commits", COMMIT), ("groups", CLASSIC)])
def test_a_formatter_of_kafka_4_prints_whole_records(kind: str, number: int) -> None:
    found = of_others(printed(f"formatter-4.3-{kind}.txt"))
    assert in_order(found) == in_order(of_type(topic(), number))
    assert any(raw.value is None for raw in found), "tombstones too"
    assert all(raw.error is None and raw.timestamp_ms for raw in found)
    assert {raw.offset for raw in found} == {None}


@pytest.mark.parametrize("version", ["3.9", "3.6"])
def test_older_formatters_print_whole_commits(version: str) -> None:
    """3.9 ends at the first record that it does not know, so its file has fewer."""
    found = of_others(printed(f"formatter-{version}-commits.txt"))
    whole = [fields(raw) for raw in of_type(topic(), COMMIT)]
    assert found
    assert all(fields(raw) in whole for raw in found)
    if version == "3.6":
        assert sorted(map(repr, map(fields, found))) == sorted(map(repr, whole))


def test_records_of_all_types_come_back_from_what_a_formatter_prints() -> None:
    """Kafka's own prints two types; the form is the same for all. Without newlines, as it does."""
    whole = [
        raw
        for raw in open_source(DATA / "real.jsonl.gz")
        if raw.error is None and formatter_json(decode_record(raw.key, raw.value)) is not None
    ]
    documents = [formatter_json(decode_record(raw.key, raw.value)) for raw in whole]
    line = "".join(json.dumps(each, separators=(",", ":")) for each in documents).encode()
    found = list(parse_lines([line], name="-"))
    assert [(raw.key, raw.value) for raw in found] == [(raw.key, raw.value) for raw in whole]
    assert len({decode_record(raw.key, None).type for raw in whole}) > 10


def test_what_a_tool_says_of_itself_is_no_record(tmp_path: Path) -> None:
    """Kafka 4.3 prints its advice on options to standard output, before the first record."""
    file = tmp_path / "printed.txt"
    formatted = gzip.decompress((PRINTED / "formatter-4.3-groups.txt.gz").read_bytes())
    advice = b"Option --property is deprecated and will be removed in a future version.\n"
    file.write_bytes(advice + formatted + b"\nProcessed a total of 87 messages\n")
    assert list(open_source(file)) == printed("formatter-4.3-groups.txt")
    file.write_bytes(gzip.decompress((PRINTED / "kcat.jsonl.gz").read_bytes()))
    with file.open("ab") as stream:
        stream.write(b"% Reached end of topic __consumer_offsets [1] at offset 27\n")
    assert list(open_source(file)) == topic()


def test_a_tombstone_has_the_time_of_the_record_before() -> None:
    line = (
        b"[g,t,0]::OffsetAndMetadata(offset=5, leaderEpoch=Optional[3], metadata=a, b) [c]::NULL, "
        b"commitTimestamp=1700000000000, expireTimestamp=Some(1700000000009))\n"
    )
    commit, tombstone = parse_lines([line, b"[g,t,0]::NULL\n"], name="-")
    value = decode_record(commit.key, commit.value).value or {}
    assert value["metadata"] == "a, b) [c]::NULL"
    assert value["expireTimestamp"] == 1700000000009
    assert tombstone == Raw(key=commit.key, timestamp_ms=1700000000000)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("formatter-3.6-groups.txt", "Kafka 3.8 and older print no assignments of groups: run kaf"),
        ("console-consumer-4.3.txt", "the console consumer's default formatter loses bytes: run k"),
        ("kcat-format.txt", "not what kcat -J, a formatter of kafka-console-consumer or kafka-d"),
    ],
)
def test_what_cannot_be_whole_is_refused_with_what_to_run(name: str, words: str) -> None:
    with pytest.raises(SourceError, match=words):
        printed(name)


def test_the_same_text_under_the_name_of_a_dump_says_so_too(tmp_path: Path) -> None:
    file = tmp_path / "groups.json"
    file.write_bytes(gzip.decompress((PRINTED / "formatter-3.6-groups.txt.gz").read_bytes()))
    _, code = answers("replay", str(file))
    assert code == 2
    with pytest.raises(SourceError, match=r"print no assignments"):
        open_source(file)
    with file.open("ab") as stream:
        stream.write(b'{"key": null, "value": null}\n')
    *errors, good = open_source(file)
    assert all("print no assignments" in (raw.error or "") for raw in errors)
    assert good.error is None


def test_replay_of_what_is_printed_is_replay_of_the_topic(tmp_path: Path) -> None:
    truth, _ = answers("replay", str(PRINTED / "topic.jsonl.gz"), "--table", "generations")
    file = tmp_path / "kcat.txt"
    file.write_bytes(gzip.decompress((PRINTED / "kcat.jsonl.gz").read_bytes()))
    assert answers("replay", str(file), "--table", "generations")[0] == truth
    file.write_bytes(gzip.decompress((PRINTED / "formatter-4.3-groups.txt.gz").read_bytes()))
    found, _ = answers("replay", str(file), "--table", "generations", "--group", "^[^c]")
    kept = ("group", "generation", "state", "protocol", "leader_id", "member_count")
    classic = [{name: row["row"][name] for name in kept} for row in found]
    of_groups = {row["group"] for row in classic}
    assert classic == [
        {name: row["row"][name] for name in kept}
        for row in truth
        if row["row"]["group"] in of_groups and row["row"]["state"] != "Dead"
    ]
    assert classic


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (b'{"key":{"type":99,"data":{}},"value":null}', "record type 99 is not known"),
        (b'{"key":{"type":2,"data":"unknown"},"value":null}', "key: no fields: 'unknown'"),
        (b'{"key":{"type":2,"data":{}},"value":null}', "no GROUP_METADATA: "),
        (
            b'{"key":{"type":2,"data":{"group":"g"}},"value":{"version":9,"data":{}}}',
            "no GROUP_METADATA: ",
        ),
        (
            b'{"key":{"type":2,"data":{"group":"g"}},"value":{"version":3,"data":"unknown"}}',
            "value: no fields: 'unknown'",
        ),
        (b'{"tstype":"create","key":{"a":1},"payload":null}', "key: decoded by kcat"),
        (b"[g,t]::OffsetAndMetadata(offset=5", "Expecting"),
    ],
)
def test_odd_lines_are_errors_on_their_line(line: bytes, words: str) -> None:
    good = b'{"key":{"type":2,"data":{"group":"g"}},"value":null}'
    before, odd, after = parse_lines([good, line, good], name="-")
    assert before == after == Raw(key=bytes.fromhex("0002000167"))
    assert odd.error is not None
    assert odd.error.startswith("-: line 2: ")
    assert words in odd.error
