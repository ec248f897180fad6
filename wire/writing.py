"""Bytes of the parts that Subscription, Assignment and UserData have in common."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence

from wire.cursor import TopicPartitions
from wire.errors import ErrorKind, WireError
from wire.text import encode_utf8, utf16_sorted

STRING_LIMIT = 32767
NEWEST_VERSION = 3
VERSIONS = [struct.pack(">h", version) for version in range(NEWEST_VERSION + 1)]
INT16, INT32 = struct.Struct(">h").pack, struct.Struct(">i").pack
SHORT_LISTS = [struct.Struct(f">{count + 1}i").pack for count in range(32)]
"""By length: bytes of a list of int32, of (length, *numbers). Most lists are short."""


def version_bytes(version: int, what: str) -> tuple[int, bytes]:
    """Return the version that is written and its two bytes: Java clamps, and refuses negatives."""
    if version < 0:
        raise WireError(ErrorKind.UNKNOWN_VERSION, f"unsupported {what} version: {version}")
    effective = min(version, NEWEST_VERSION)
    return effective, VERSIONS[effective]


def string_bytes(text: str) -> bytes:
    """Return int16 length and UTF-8."""
    data = encode_utf8(text)
    if len(data) > STRING_LIMIT:
        raise WireError(ErrorKind.UNWRITABLE, f"string of {len(data)} bytes is too long")
    return INT16(len(data)) + data


def nullable_string_bytes(text: str | None) -> bytes:
    """Return a string, or length -1 for none."""
    return b"\xff\xff" if text is None else string_bytes(text)


def nullable_bytes(data: bytes | None) -> bytes:
    """Return int32 length and the data, or length -1 for none."""
    return b"\xff\xff\xff\xff" if data is None else INT32(len(data)) + data


def int32_bytes(value: int, what: str) -> bytes:
    """Return four bytes; `WireError` for a number that does not fit."""
    try:
        return INT32(value)
    except struct.error as error:
        raise WireError(ErrorKind.UNWRITABLE, f"{what}: {value} is no int32") from error


def int32_list_bytes(numbers: Sequence[int]) -> bytes:
    """Return an array of int32; `struct.error` for a number that does not fit."""
    count = len(numbers)
    return struct.pack(f">{count + 1}i", count, *numbers)


def topics_bytes(topics: Iterable[str], *, keep_order: bool = False) -> bytes:
    """Return an array of topic names, in UTF-16 order unless the given one is to be kept."""
    if isinstance(topics, str):
        text = f"topics: {topics[:80]!r} is one name, not several: ({topics[:80]!r},)"
        raise WireError(ErrorKind.UNWRITABLE, text)
    ordered = list(topics) if keep_order else utf16_sorted(topics)
    return INT32(len(ordered)) + b"".join(map(string_bytes, ordered))


def partitions_bytes(partitions: TopicPartitions, *, keep_order: bool = False) -> bytes:
    """Return an array of (topic, numbers), sorted unless the given order is to be kept.

    A topic and its numbers are written in one step. A topic without numbers is left out.
    """
    topics = [topic for topic, numbers in partitions.items() if numbers]
    if not keep_order:
        topics = utf16_sorted(topics)
    chunks = [INT32(len(topics))]
    for topic in topics:
        numbers = partitions[topic] if keep_order else sorted(partitions[topic])
        name, count = encode_utf8(topic), len(numbers)
        try:
            layout = f">h{len(name)}s{count + 1}i"
            chunks.append(struct.pack(layout, len(name), name, count, *numbers))
        except struct.error as error:
            text = f"partitions of {topic[:80]!r}: {error}"
            raise WireError(ErrorKind.UNWRITABLE, text) from error
    return b"".join(chunks)
