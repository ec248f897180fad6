"""Rows of a source to decoded records, in the order of the source.

Nothing is dropped: a row that a source could not read is a record with an error. It is reported
among the findings, with the place that the source named.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from wire import ErrorKind, WireError
from wire.records import Record, decode_record

if TYPE_CHECKING:
    from assignors.replay.sources import Raw

NO_TIME = 0
"""The time of a record whose source has no timestamps."""

NO_GROUP = ""
"""The group name of records that name no group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRecord:
    """One record, when it was written, and where it stands in the topic."""

    record: Record
    at_ms: int
    partition: int | None = None
    offset: int | None = None
    is_aborted: bool | None = None
    """Whether its transaction was aborted; `None` where the source does not know."""


def logged_records(rows: Iterable[Raw]) -> Iterator[LoggedRecord]:
    """Yield each row as a record. Memory: a row."""
    return map(logged_record, rows)


def logged_record(raw: Raw) -> LoggedRecord:
    """Return a row as a record. Cost: linear in the bytes."""
    return LoggedRecord(
        record=record_of(raw.key, raw.value, raw.error),
        at_ms=NO_TIME if raw.timestamp_ms is None else raw.timestamp_ms,
        partition=raw.partition,
        offset=raw.offset,
        is_aborted=_is_aborted(raw.transaction),
    )


def group_in(key: Mapping[str, Any] | None) -> str | None:
    """Return the group in the key of a record, `None` where it names none."""
    return None if key is None else key.get("group", key.get("groupId"))


@lru_cache(maxsize=20_000)  # a key is written again with each commit
def group_of_key(key: bytes | None) -> str:
    """Return the group that the bytes of a key name, `NO_GROUP` where they cannot be read."""
    return group_in(decode_record(key, None).key) or NO_GROUP


def of_groups(raws: Iterable[Raw], wanted: re.Pattern[str], seen: set[str]) -> Iterator[Raw]:
    """Yield the rows of groups whose name matches, anywhere in it, and rows with an error.

    `seen` gets the names of the groups that do not match. Values are not decoded.

    >>> from assignors.replay.sources import Raw
    >>> raws = [Raw(key=bytes.fromhex("00020001") + name) for name in (b"a", b"b")]
    >>> others = set()
    >>> [raw.key[-1:] for raw in of_groups(raws, re.compile("b"), others)], others
    ([b'b'], {'a'})
    """
    for raw in raws:
        if raw.error is None and not wanted.search(group := group_of_key(raw.key)):
            if group:
                seen.add(group)
            continue
        yield raw


def record_of(key: bytes | None, value: bytes | None, error: str | None) -> Record:
    """Return a row's record, or the reason why there is none; its bytes where there is none."""
    if error is not None:
        return Record(error=WireError(ErrorKind.TRUNCATED, error), key_bytes=key)
    return decode_record(key, value, keep_bytes=False)


def is_record(record: Record) -> bool:
    """Return whether there was a record at all, and not a line or a file that is cut short."""
    return record.key_bytes is not None or record.type is not None


def reason(record: Record) -> str:
    """Return why a record cannot be read, with the byte where there was a record."""
    if record.error is None:
        return "a value of an unknown version"
    return str(record.error) if is_record(record) else record.error.text


def no_record_words(key: bytes | None, why: str) -> str:
    """Return in words that no record of a source can be read: `key` is one's, and `why` its reason.

    A table often has in base64 what should be bytes: then the words say so.
    """
    words = f"no record is one of __consumer_offsets: {why}"
    try:
        found = decode_record(binascii.a2b_base64(key or b"", strict_mode=True), None)
    except ValueError:  # Spark may have it as text that is not ASCII
        return words
    if found.error is not None:
        return words
    return f"{words}; the keys are base64 text: decode keys and values first"


def _is_aborted(transaction: str | None) -> bool | None:
    """Return whether a transaction was aborted, `None` where the source does not know."""
    return {"aborted": True, "committed": False}.get(transaction or "")
