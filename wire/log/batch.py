"""The records inside one record batch of message format 2, and the markers of transactions.

A record is a length and fields, every number a zigzag varint counted from the batch's header:
its time from the base timestamp, its offset from the base offset. The records of a batch are
compressed as one; the caller passes the function that decompresses them, as the standard library
has gzip alone.

Source: Kafka's protocol guide, "Record Batch"; `DefaultRecord` and `ControlRecordType`.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from wire.errors import ErrorKind, WireError

Decompress: TypeAlias = Callable[["Compression", bytes], bytes]
"""The plain bytes of compressed ones; `WireError` where there are none, or too many."""

LogRecord: TypeAlias = tuple[int, int, bytes | None, bytes | None]
"""Offset, timestamp in ms, key, value."""

_MARKER_KEY = struct.Struct(">hh")
_DELTA_MAX = 1 << 31  # offsets of a batch are counted in an int32
_OFFSET_MAX = (1 << 63) - 1


class Compression(IntEnum):
    """How the records of a batch are compressed."""

    NONE = 0
    GZIP = 1
    SNAPPY = 2
    LZ4 = 3
    ZSTD = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Batch:
    """One record batch whose CRC was right: its header, and its records, still compressed."""

    position: int
    """First byte in the file."""
    base_offset: int
    leader_epoch: int
    attributes: int
    last_offset: int
    base_timestamp_ms: int
    max_timestamp_ms: int
    producer_id: int
    producer_epoch: int
    record_count: int
    payload: bytes
    """The records, compressed as `attributes` says."""

    @property
    def is_log_append_time(self) -> bool:
        """Whether the broker's clock, not the producer's, made the timestamps."""
        return bool(self.attributes & 0x08)

    @property
    def is_transactional(self) -> bool:
        """Whether a marker decides later if the records count."""
        return bool(self.attributes & 0x10)

    @property
    def is_control(self) -> bool:
        """Whether this is a marker, which no consumer sees."""
        return bool(self.attributes & 0x20)


class MarkerKind(IntEnum):
    """How a transaction ended."""

    ABORT = 0
    COMMIT = 1


def read_records(batch: Batch, decompress: Decompress) -> Iterator[LogRecord]:
    """Yield the records of a batch; `WireError`, after those before it, at the first bad one.

    Headers of records are passed over. The place in an error counts from the start of the
    decompressed records. Cost: linear in their bytes, whatever the header's count says.
    """
    data = batch.payload
    attributes = batch.attributes
    codec = attributes & 0x07
    if codec:
        if codec > Compression.ZSTD:
            raise WireError(ErrorKind.UNKNOWN_VERSION, f"compression {codec} is unknown")
        data = decompress(Compression(codec), data)
    base_offset = batch.base_offset
    base_timestamp_ms = batch.base_timestamp_ms
    appended_ms = batch.max_timestamp_ms if attributes & 0x08 else None
    size = len(data)
    position = 0
    for number in range(batch.record_count):
        if position >= size:
            text = f"{number} records, the header says {batch.record_count}"
            raise WireError(ErrorKind.TRUNCATED, text, position)
        start = position
        try:
            length, position = _varint(data, position)
            end = position + length
            if length < 0 or end > size:
                raise _bad(f"record {number} of {length} bytes in {size - position}", start)
            timestamp_delta, position = _varint(data, position + 1)
            offset_delta, position = _varint(data, position)
            offset = base_offset + offset_delta
            if not -_DELTA_MAX <= offset_delta < _DELTA_MAX or offset > _OFFSET_MAX:
                raise _bad(f"record {number} is {offset_delta} offsets behind its batch", start)
            key, position = _field(data, position, end)
            value, position = _field(data, position, end)
            if position > end:
                raise _bad(f"record {number} of {length} bytes ends within its fields", start)
        except IndexError:
            raise _bad(f"record {number} ends early", start) from None
        timestamp_ms = base_timestamp_ms + timestamp_delta if appended_ms is None else appended_ms
        yield offset, timestamp_ms, key, value
        position = end
    if position < size:
        raise _bad(f"{size - position} bytes behind the last record", position)


def marker_of(batch: Batch) -> MarkerKind | None:
    """Return how a control batch ends its producer's transaction; `None` if it is another kind.

    Raises `WireError` where the marker is cut short.
    """
    assert batch.is_control, "only control batches hold markers"
    for _, _, key, _ in read_records(batch, _never_compressed):
        if key is None or len(key) < _MARKER_KEY.size:
            raise WireError(ErrorKind.TRUNCATED, "a marker's key ends early")
        _, kind = _MARKER_KEY.unpack_from(key)
        return MarkerKind(kind) if kind in (MarkerKind.ABORT, MarkerKind.COMMIT) else None
    return None


def _never_compressed(compression: Compression, data: bytes) -> bytes:  # noqa: ARG001 - its shape is given
    raise WireError(ErrorKind.BAD_LENGTH, f"a marker compressed with {compression.name}")


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """Return a zigzag varint of at most ten bytes and the place behind it."""
    byte = data[position]
    position += 1
    if byte < 0x80:
        return (byte >> 1) ^ -(byte & 1), position
    value = byte & 0x7F
    for shift in range(7, 70, 7):
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), position
    raise _bad("a varint of more than ten bytes", position)


def _field(data: bytes, position: int, end: int) -> tuple[bytes | None, int]:
    """Return nullable bytes that end at `end` or before, and the place behind them."""
    length, start = _varint(data, position)
    if length < 0:
        return None, start
    behind = start + length
    if behind > end:
        raise _bad(f"{length} bytes in {end - start}", position)
    return data[start:behind], behind


def _bad(text: str, offset: int) -> WireError:
    return WireError(ErrorKind.BAD_LENGTH, text, offset)
