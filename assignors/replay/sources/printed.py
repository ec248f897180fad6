"""Records as other tools print them: kcat's JSON, and Kafka's console consumer with a formatter.

    kcat -b broker:9092 -C -t __consumer_offsets -e -J
    kafka-console-consumer.sh --formatter org.apache.kafka.tools.consumer.OffsetsMessageFormatter

kcat writes the bytes of keys and payloads as they are, so its lines are no UTF-8 and yet whole:
read with surrogates in place of what is no UTF-8, each text becomes its bytes again. A tool that
reads UTF-8 on the way (jq) puts U+FFFD in their place, and they are lost.

The formatters of Kafka 3.9 and newer print every field of a record, bytes in base64, so the record
can be written again; partition, offset and timestamp are not printed. The time of a record is then
the one that its value holds, and that of the record before where it holds none. Kafka 3.8 and older
print commits as text, all fields but the topic's id; of groups they leave the assignments out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from assignors.documents.terminal import DUMP_LOG, LOG4J, LOG4J_TEXT, is_around
from assignors.replay.sources.files import FIRST_BYTES
from assignors.replay.sources.json_fields import INT32, INT64, number_field, text_field
from assignors.replay.sources.member_fields import with_member_bytes
from assignors.replay.sources.raw import Raw, time_or_none
from wire.errors import WireError
from wire.records import encode_key, encode_value
from wire.records.json_form import from_json
from wire.records.types import BY_NUMBER

KCAT = "kcat -C -t __consumer_offsets -e -J"
HOW = f"run kafka-assignors dump, or {KCAT}"
"""What gives whole records, for messages."""

REPLACED = "\N{REPLACEMENT CHARACTER}"

_BOUNDARY = b'}{"key":'
_COMMIT = re.compile(
    r"\[(?P<group>.*),(?P<topic>[a-zA-Z0-9._-]{1,249}),(?P<partition>\d{1,10})\]::"
    r"(?:NULL|OffsetAndMetadata\(offset=(?P<offset>\d{1,19}), "
    r"leaderEpoch=Optional(?:\.empty|\[(?P<leader_epoch>\d{1,10})\]), "
    r"metadata=(?P<metadata>.*), commitTimestamp=(?P<commit_ms>-?\d{1,19}), "
    r"expireTimestamp=(?:None|Some\((?P<expire_ms>-?\d{1,19})\))\))",
    re.DOTALL,
)
_TIME_FIELDS = ("commitTimestamp", "currentStateTimestamp")
_TSTYPES = {"create": 0, "logappend": 1}

GROUPS_NOW = "kafka-consumer-groups or rpk prints groups as they are now, no records"
SEGMENTS = "name a folder __consumer_offsets-N of the broker's data"

REFUSED = (
    (
        re.compile(rb".*::(GroupMetadata\(groupId=|NULL\s*$)"),
        f"Kafka 3.8 and older print no assignments of groups: {HOW}",
    ),
    (
        re.compile(
            rb"(CreateTime|LogAppendTime|NoTimestampType):-?\d*\t|Partition:\d+\t|Offset:\d+\t"
        ),
        f"the console consumer's default formatter loses bytes: {HOW}",
    ),
    (
        re.compile(rb"\s*(GROUP\s+(TOPIC|CONSUMER-ID|COORDINATOR)|TOPIC\s+PARTITION)\b"),
        f"{GROUPS_NOW}: kafka-assignors check reads them; for a history {HOW}",
    ),
    (
        LOG4J,
        f"{LOG4J_TEXT}, not a segment: {SEGMENTS}, or {HOW}",
    ),
)
"""Text that is known, and cannot be read: how a line of it begins, and what to say."""

_BEGINS = (b'{"', b"{ ", *DUMP_LOG)
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
"""Bytes that no text has, and every segment file."""


def is_remark(line: bytes) -> bool:
    """Return whether a line is of a tool or a terminal, and neither a record nor a part of one.

    >>> is_remark(b"Option --property is deprecated and will be removed in a future version.")
    True
    """
    return is_around(line[:FIRST_BYTES].decode("utf-8", "replace"))


def lines_before(first: bytes) -> tuple[list[str], bytes] | None:
    r"""Return the lines before the first record, and that; `None` where no line begins a record.

    `first` is how a file begins. Bytes that are no text end the search.

    >>> lines_before(b'$ kcat -J\n{"topic":"__con'), lines_before(bytes(8))
    ((['$ kcat -J'], b'{"topic":"__con'), None)
    """
    before: list[str] = []
    for line in first.split(b"\n"):
        bare = line.strip()
        if bare.startswith(_BEGINS) or (bare.startswith(b"[") and b"]::" in bare):
            return before, bare
        if _CONTROL.search(bare):
            return None
        if bare:
            before.append(bare.decode("utf-8", "replace"))
    return None


def is_text(first: bytes) -> bool:
    """Return whether a file that begins so is text, and so neither a segment nor Parquet."""
    return bool(first.strip()) and _CONTROL.search(first) is None


def records_of_line(line: bytes) -> Iterator[bytes]:
    """Yield the records of a line: Kafka's formatters write no newline between two.

    In no text of JSON a quote can stand as in `{"key":`, so records end where that begins.

    >>> list(records_of_line(b'{"key":null}{"key":{"type":2}}'))
    [b'{"key":null}', b'{"key":{"type":2}}']
    """
    first, *others = line.split(_BOUNDARY)
    for part in others:
        yield first + b"}"
        first = _BOUNDARY[1:] + part
    yield first


def refusal(text: bytes) -> str | None:
    """Return why text of a known tool cannot be read, `None` where no line is of one.

    >>> refusal(b"g::GroupMetadata(groupId=g, ...")[:34]
    'Kafka 3.8 and older print no assig'
    """
    lines = text.split(b"\n")
    return next((words for begin, words in REFUSED if any(map(begin.match, lines))), None)


def printed_record(document: Mapping[str, Any], line: bytes, before_ms: int | None) -> Raw | None:
    """Return the record of a document that kcat or a formatter has printed; `None`: neither has.

    `line` is what the document was read from, `before_ms` the time of the record before. Raises
    `ValueError` where it is one of theirs and not whole.
    """
    if "payload" in document and "tstype" in document:
        return _kcat_record(document, line)
    if isinstance(document.get("key"), dict):
        return _formatter_record(document, before_ms)
    return None


def commit_line(line: bytes, before_ms: int | None) -> Raw | None:
    """Return the commit in a line that Kafka 3.8 or older has printed; `None` where it is none.

    >>> line = b"[g,t,0]::OffsetAndMetadata(offset=5, leaderEpoch=Optional.empty, metadata=, "
    >>> line += b"commitTimestamp=7, expireTimestamp=None)"
    >>> commit_line(line, None).timestamp_ms
    7
    """
    if not line.startswith(b"["):
        return None
    found = _COMMIT.fullmatch(line.decode("utf-8", "surrogateescape").rstrip("\r\n"))
    if found is None:
        return None
    key = {name: found[name] for name in ("group", "topic")}
    key_bytes = encode_key("OFFSET_COMMIT", {**key, "partition": int(found["partition"])})
    if found["offset"] is None:
        return Raw(key=key_bytes, timestamp_ms=before_ms)
    expire_ms = found["expire_ms"]
    value = {
        "offset": int(found["offset"]),
        "leaderEpoch": int(found["leader_epoch"] or -1),
        "metadata": found["metadata"],
        "commitTimestamp": int(found["commit_ms"]),
    }
    if expire_ms is None:
        value_bytes = encode_value("OFFSET_COMMIT", 3, value)
    else:
        del value["leaderEpoch"]
        value_bytes = encode_value("OFFSET_COMMIT", 1, {**value, "expireTimestamp": int(expire_ms)})
    return Raw(key=key_bytes, value=value_bytes, timestamp_ms=time_or_none(int(found["commit_ms"])))


def _kcat_record(document: Mapping[str, Any], line: bytes) -> Raw:
    if not line.isascii():
        # As JSON is read else, halves of characters are taken that kcat never meant as such.
        document = json.loads(line.decode("utf-8", "surrogateescape"))
    is_replaced = REPLACED in json.dumps(document, ensure_ascii=False) and _is_utf8(line)
    if is_replaced:
        raise ValueError(f"bytes were replaced by U+FFFD: keep what kcat itself writes ({KCAT})")
    return Raw(
        key=_kcat_bytes(document, "key"),
        value=_kcat_bytes(document, "payload"),
        topic=text_field(document, "topic"),
        partition=number_field(document, "partition", INT32),
        offset=number_field(document, "offset", INT64),
        timestamp_ms=time_or_none(number_field(document, "ts", INT64)),
        timestamp_type=_TSTYPES.get(document["tstype"]),
    )


def _kcat_bytes(document: Mapping[str, Any], name: str) -> bytes | None:
    value = document.get(name)
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError(f"{name}: decoded by kcat (-s): {KCAT} leaves it as it is")
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise ValueError(f"{name}: no bytes: {error.reason}") from error


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _formatter_record(document: Mapping[str, Any], before_ms: int | None) -> Raw:
    key, value, fields = encoded_record(document["key"], document.get("value"))
    times = [fields[name] for name in _TIME_FIELDS if name in fields]
    own_ms = time_or_none(max([time for time in times if isinstance(time, int)], default=-1))
    has_time = own_ms is not None and own_ms >= 0
    return Raw(key=key, value=value, timestamp_ms=own_ms if has_time else before_ms)


def encoded_record(
    key: Mapping[str, Any], value: object
) -> tuple[bytes, bytes | None, Mapping[str, Any]]:
    r"""Return the bytes of a key and a value that a tool of Kafka prints as JSON, and its fields.

    `value` is `None` for a tombstone. Raises `ValueError` where they are not whole.

    >>> encoded_record({"type": "3", "data": {"groupId": "g"}}, None)[:2]
    (b'\x00\x03\x00\x01g', None)
    """
    # Kafka 3.9 calls the type "version"; kafka-dump-log prints numbers as text.
    number = _number(key.get("type", key.get("version")))
    found = None if number is None else BY_NUMBER.get(number)
    if found is None:
        raise ValueError(
            f"key: record type {key.get('type', key.get('version'))!r:.20} is not known"
        )
    try:
        key_bytes = encode_key(found.name, from_json(found.key, _fields(key, "key")))
        if value is None:
            return key_bytes, None, {}
        fields = from_json(found.value, with_member_bytes(_fields(value, "value")))
        version = _number(value.get("version")) if isinstance(value, dict) else None
        value_bytes = encode_value(found.name, -1 if version is None else version, fields)
    except WireError as error:
        raise ValueError(f"no {found.name}: {error.text}") from error
    return key_bytes, value_bytes, fields


def _number(value: object) -> int | None:
    """Return a small number, also one that is written as text; `None` for anything else."""
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 6:
        return int(value)
    return value if type(value) is int and abs(value) < INT32 else None


def _fields(part: object, name: str) -> Mapping[str, Any]:
    """Return the fields of a key or a value, which a formatter puts below "data"."""
    data = part.get("data") if isinstance(part, Mapping) else None
    if not isinstance(data, Mapping):
        raise ValueError(f"{name}: no fields: {data!r:.40}")
    return data
