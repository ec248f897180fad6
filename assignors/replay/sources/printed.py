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

from assignors.replay.sources.json_fields import INT32, INT64, number_field, text_field
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

REFUSED = (
    (
        re.compile(rb".*::(GroupMetadata\(groupId=|NULL\s*$)"),
        f"Kafka 3.8 and older print no assignments of groups: {HOW}",
    ),
    (
        re.compile(rb"(Dumping |Starting offset: |\| offset: |baseOffset: )"),
        "kafka-dump-log prints its own text: name the .log file itself, or its folder",
    ),
    (
        re.compile(
            rb"(CreateTime|LogAppendTime|NoTimestampType):-?\d*\t|Partition:\d+\t|Offset:\d+\t"
        ),
        f"the console consumer's default formatter loses bytes: {HOW}",
    ),
    (
        re.compile(rb"\s*GROUP\s+(TOPIC|CONSUMER-ID|COORDINATOR)\b"),
        f"kafka-consumer-groups prints groups as they are now, no records: {HOW}",
    ),
)
"""Text that is known, and cannot be read: how a line of it begins, and what to say."""

_REMARK = re.compile(
    rb"Option --\S+ is deprecated|Processed a total of \d+ messages"
    rb"|% (Reached end of topic|Auto-selecting) "
)

FIRST_BYTES = 1 << 16
"""So much of a file says what it is."""


def is_remark(line: bytes) -> bool:
    """Return whether a line is what a tool says about itself, among what it prints.

    >>> is_remark(b"Option --property is deprecated and will be removed in a future version.")
    True
    """
    return _REMARK.match(line) is not None


def begins_as_printed(first: bytes) -> bool:
    """Return whether the first bytes of a file are those of lines that can be read.

    >>> begins_as_printed(b'{"topic":"__con'), begins_as_printed(bytes(8))
    (True, False)
    """
    start = _without_remarks(first)
    return start.startswith((b'{"', b"{ ")) or (start.startswith(b"[") and b"]::" in start)


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


def refusal(line: bytes) -> str | None:
    """Return why a line of a known tool cannot be read, `None` where it is of none.

    >>> refusal(b"g::GroupMetadata(groupId=g, ...")[:34]
    'Kafka 3.8 and older print no assig'
    """
    start = _without_remarks(line)
    return next((text for begin, text in REFUSED if begin.match(start)), None)


def _without_remarks(first: bytes) -> bytes:
    """Return bytes from the first line on that is no remark and not blank."""
    start = first.lstrip()
    while is_remark(start):
        start = start.partition(b"\n")[2].lstrip()
    return start


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
    key, value = document["key"], document.get("value")
    # Kafka 3.9 calls the type "version".
    number = key.get("type", key.get("version"))
    found = BY_NUMBER.get(number) if isinstance(number, int) else None
    if found is None:
        raise ValueError(f"key: record type {number!r:.20} is not known")
    try:
        key_bytes = encode_key(found.name, from_json(found.key, _fields(key, "key")))
        if value is None:
            return Raw(key=key_bytes, timestamp_ms=before_ms)
        fields = from_json(found.value, _fields(value, "value"))
        version = number_field(value, "version", INT32)
        value_bytes = encode_value(found.name, -1 if version is None else version, fields)
    except WireError as error:
        raise ValueError(f"no {found.name}: {error.text}") from error
    times = [fields[name] for name in _TIME_FIELDS if name in fields]
    own_ms = time_or_none(max([time for time in times if isinstance(time, int)], default=-1))
    has_time = own_ms is not None and own_ms >= 0
    return Raw(key=key_bytes, value=value_bytes, timestamp_ms=own_ms if has_time else before_ms)


def _fields(part: object, name: str) -> Mapping[str, Any]:
    """Return the fields of a key or a value, which a formatter puts below "data"."""
    data = part.get("data") if isinstance(part, Mapping) else None
    if not isinstance(data, Mapping):
        raise ValueError(f"{name}: no fields: {data!r:.40}")
    return data
