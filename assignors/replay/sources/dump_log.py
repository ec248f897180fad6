"""What `kafka-dump-log --offsets-decoder` of Kafka 4.x prints of segment files.

    Dumping /data/__consumer_offsets-12/00000000000000000000.log
    baseOffset: 0 lastOffset: 0 ... producerId: -1 ... isTransactional: false isControl: false ...
    | offset: 0 CreateTime: 1761764808000 ... key: {"type":"2",...} payload: {"version":"3",...}

Keys and values are JSON, so each record can be written again; a tombstone is `<DELETE>`. Batches
say which transaction a record is part of, and markers how it ended: as with segment files, two
passes leave out what a consumer with `read_committed` does not see. Subscriptions and Assignments
of classic members are printed field by field (`member_fields`).

Source: `DumpLogSegments` and its `OffsetsMessageParser`, Kafka 4.0 to 4.3.
"""

from __future__ import annotations

import json
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from gzip import BadGzipFile

from assignors.replay.sources.printed import encoded_record, is_remark
from assignors.replay.sources.raw import Raw, time_or_none
from assignors.replay.sources.segments import PARTITION_MAX, SEEN
from assignors.replay.sources.transactions import (
    TransactionResult,
    Transactions,
    transactions_of,
)
from wire.log.batch import Batch, MarkerKind
from wire.log.segment import Flaw

_DUMPING = re.compile(
    r"Dumping (?P<log>(?:.*[/\\])?(?:(?P<topic>[\w.-]{1,249})-(?P<partition>\d{1,10}))?)"
    r"[/\\][^/\\]*"
)
_BATCH = re.compile(
    r"baseOffset: (?P<offset>\d{1,19}) .*?producerId: (?P<producer>-?\d{1,19}) .*?"
    r"isTransactional: (?P<transactional>\w+) isControl: (?P<control>\w+) .*isvalid: (?P<valid>\w+)"
)
_RECORD = re.compile(
    r"\| (?:offset: (?P<offset>\d{1,19}) (?P<type>\w+): (?P<ms>-?\d{1,19}) "
    r"keySize: -?\d+ valueSize: -?\d+(?: sequence: -?\d+ headerKeys: \[.*?\])? ?)?"
    r"(?:key: (?P<key>.*)|endTxnMarker: (?P<marker>\w+).*|(?P<other>.*))",
    re.DOTALL,
)
_OTHER = re.compile(
    r"(Log starting offset|Starting offset|Snapshot end offset): |Non-consecutive offsets in |"
    r" +-?\d+ is followed by -?\d+|Mismatches in :|(  )?Index (offset|timestamp): |"
    r"offset: \d+ position: |timestamp: -?\d+ offset: |Ignoring unknown file |Found timestamp|"
    r"Found out of order|The following indexed|Indexed offset: |version: \d+ producerId: |"
    r".* (is empty|passed sanity check)\.$"
)
"""What else the tool prints: of gaps that compaction left, and of index files."""

_HEAD_MAX = 4096
"""Characters of a line about a file or a batch that are looked at: the tool prints fewer."""

_TYPES = {"CreateTime": 0, "LogAppendTime": 1}
_DELETED = "<DELETE>"
_PAYLOAD = " payload: "
_NOT_DECODED = (
    "keys are not JSON: run kafka-dump-log of Kafka 4.x with --offsets-decoder, or name the .log "
    "file itself (the other lines of this kind are not listed)"
)
_NO_RECORDS = "batches and no records: run kafka-dump-log with --offsets-decoder"
_BATCH_ONLY = Batch(
    **dict.fromkeys(("position", "base_offset", "leader_epoch", "attributes", "last_offset"), 0),
    **dict.fromkeys(("base_timestamp_ms", "max_timestamp_ms", "producer_id", "producer_epoch"), -1),
    record_count=0,
    payload=b"",
)
_NO_TRANSACTIONS = Transactions()
_json = json.JSONDecoder().raw_decode


@dataclass(slots=True)
class _Place:
    """The log and the batch that a line of the dump belongs to."""

    log: str | None = None
    topic: str | None = None
    partition: int | None = None
    batch: Batch | None = None
    is_valid: bool = True
    """Whether the CRC of the batch is right."""

    def moved(self, line: str) -> bool:
        """Take what a line says about the lines below it; `False` where it says nothing."""
        if line.startswith("Dumping "):
            found = _DUMPING.fullmatch(line[:_HEAD_MAX])
            self.log = line if found is None else found["log"]
            number = None if found is None else found["partition"]
            is_named = found is not None and number is not None and int(number) <= PARTITION_MAX
            self.topic = found["topic"] if found is not None and is_named else None
            self.partition = int(number) if number is not None and is_named else None
            self.batch = None
            return True
        found = _BATCH.match(line[:_HEAD_MAX]) if line.startswith("baseOffset: ") else None
        if found is not None:
            attributes = (found["transactional"] == "true") << 4 | (found["control"] == "true") << 5
            self.batch = _batch(int(found["offset"]), attributes, int(found["producer"]))
            self.is_valid = found["valid"] == "true"
        return found is not None

    def error(self, text: str) -> Raw:
        """Return the row of something that cannot be read."""
        return Raw(topic=self.topic, partition=self.partition, error=text)


def dump_log_records(
    lines: Callable[[], Iterable[bytes]], *, name: str, line_max: int
) -> Iterator[Raw]:
    """Yield the records of a dump; `lines` returns its lines, and is called twice.

    What cannot be read is a row with its line in `error`. Memory: a line, and an entry for each
    transactional batch. Cost: linear in the text.
    """
    found = _transactional_batches(lines)
    transactions = {
        log: transactions_of(batches, marker_kind=_kind) for log, batches in found.items()
    }
    place, is_seen, has_records, is_said = _Place(), True, False, False
    for number, data in enumerate(lines(), 1):
        line, error = _text(data), None
        if line.startswith("| "):
            has_records = True
            try:
                if is_seen:
                    yield from _record(line, place, line_max)
            except (ValueError, RecursionError) as reason:
                error = str(reason)
                if error == _NOT_DECODED:
                    error, is_said = None if is_said else error, True
        elif place.moved(line):
            is_seen, error = _is_seen(place, transactions.get(place.log, _NO_TRANSACTIONS))
        elif line and not (_OTHER.match(line) or is_remark(data)):
            is_rest = line.startswith("Found ")
            error = line if is_rest else f"no line of kafka-dump-log: {line[:40]!r}"
        if error is not None:
            yield place.error(f"{name}: line {number}: {error}")
    if place.batch is not None and not has_records:
        yield place.error(f"{name}: {_NO_RECORDS}")


def _transactional_batches(
    lines: Callable[[], Iterable[bytes]],
) -> dict[str | None, list[Batch | Flaw]]:
    """Return the transactional batches and the damage in each log; see `_kind` for markers."""
    found: defaultdict[str | None, list[Batch | Flaw]] = defaultdict(list)
    place = _Place()
    for data in _whole(lines()):
        batch = place.batch
        if data.startswith((b"Dumping ", b"baseOffset: ")):
            place.moved(_text(data))
            batch = place.batch
            if batch is not None and not place.is_valid:
                found[place.log].append(Flaw(position=0, end=0, text="", offset=None))
            elif batch is not None and batch.is_transactional:
                found[place.log].append(batch)
        elif batch is not None and batch.is_control and b" endTxnMarker: " in data:
            kind = MarkerKind.COMMIT if b" endTxnMarker: COMMIT" in data else MarkerKind.ABORT
            if found[place.log]:
                found[place.log][-1] = replace(batch, payload=bytes([kind]))
    return found


def _text(data: bytes) -> str:
    """Return a line as text; bytes that are no UTF-8 become escapes that are no JSON."""
    return data.decode("utf-8", "backslashreplace").rstrip("\r\n")


def _whole(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield lines up to the damage of a compressed file, which the second pass reports."""
    with suppress(EOFError, zlib.error, BadGzipFile):
        yield from lines


def _kind(batch: Batch) -> MarkerKind | None:
    """Return how a control batch of `_transactional_batches` ends its transaction."""
    return MarkerKind(batch.payload[0]) if batch.payload else None


def _is_seen(place: _Place, transactions: Transactions) -> tuple[bool, str | None]:
    """Return whether the records of a batch are read, and why not where that is an error."""
    batch, stop = place.batch, transactions.last_stable_offset
    if batch is None:
        return True, None
    if not place.is_valid:
        return False, f"batch of offset {batch.base_offset}: its CRC is wrong"
    if batch.is_control or (stop is not None and batch.base_offset >= stop):
        return False, None
    result = transactions.result_of(batch)
    if result is TransactionResult.LOST:
        text = "no marker says how its transaction ended"
        return False, f"batch of offset {batch.base_offset}: {text}"
    return result in SEEN, None


def _batch(offset: int, attributes: int, producer_id: int) -> Batch:
    """Return a batch with all that decides whether its records are read."""
    return replace(_BATCH_ONLY, base_offset=offset, attributes=attributes, producer_id=producer_id)


def _record(line: str, place: _Place, line_max: int) -> Iterator[Raw]:
    """Yield the record of a line, none for a marker; `ValueError` where it is not whole."""
    if len(line) >= line_max:
        raise ValueError(f"{line_max} bytes and no end of it")
    found = _RECORD.fullmatch(line)
    assert found is not None, "the last alternative takes any text"
    text = found["key"]
    if found["marker"] is not None:
        return
    if text is None:
        raise ValueError(f"no key: {found['other']:.60}")
    if text.startswith(("Unknown record type ", "Error at offset ")):
        raise ValueError(f"kafka-dump-log could not read it: {text:.200}")
    if not text.startswith("{"):
        raise ValueError(_NOT_DECODED)
    key, end = _json(text)
    if not text.startswith(_PAYLOAD, end):
        raise ValueError("no payload: is the line cut short?")
    rest = text[end + len(_PAYLOAD) :]
    value = None if rest == _DELETED else json.loads(rest)
    if rest != _DELETED and value is None:
        raise ValueError("payload: null, where kafka-dump-log prints <DELETE>")
    key_bytes, value_bytes, _ = encoded_record(key, value)
    yield Raw(
        key=key_bytes,
        value=value_bytes,
        topic=place.topic,
        partition=place.partition,
        offset=None if found["offset"] is None else _int64(found["offset"]),
        timestamp_ms=time_or_none(int(found["ms"])) if found["type"] in _TYPES else None,
        timestamp_type=_TYPES.get(found["type"]),
    )


def _int64(digits: str) -> int:
    number = int(digits)
    if number >= 1 << 63:
        raise ValueError(f"offset {digits} does not fit in 64 bits")
    return number
