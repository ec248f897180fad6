"""Writes record batches of message format 2, uncompressed, as a broker has them in its segments.

`wire.log.segment` and `wire.log.batch` read them. The caller passes CRC-32C, which the standard
library lacks. Batches are of no producer and of no transaction.

Source: Kafka's protocol guide, "Record Batch"; `DefaultRecordBatch`, `DefaultRecord`.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from wire.log.segment import MAGIC, Checksum

Entry = tuple[int, bytes | None, bytes | None]
"""Timestamp in milliseconds, key, value."""

_FRAME = struct.Struct(">qiib")
_BODY = struct.Struct(">hiqqqhii")
_NONE = -1
"""The producer id, epoch and sequence of a batch without a producer."""


def batch_bytes(base_offset: int, entries: Sequence[Entry], *, checksum: Checksum) -> bytes:
    """Return a batch, its records at consecutive offsets. Cost: O(bytes).

    >>> from zlib import crc32
    >>> batch_bytes(7, [(0, b"k", None)], checksum=crc32)[:8].hex()
    '0000000000000007'
    """
    assert entries, "a batch without records is not written"
    first = entries[0][0]
    records = b"".join(
        _record_bytes(at_ms - first, number, key, value)
        for number, (at_ms, key, value) in enumerate(entries)
    )
    last = max(at_ms for at_ms, _, _ in entries)
    count = len(entries)
    body = _BODY.pack(0, count - 1, first, last, _NONE, _NONE, _NONE, count) + records
    crc = struct.pack(">I", checksum(body))
    # What the length counts: leader epoch, magic and CRC, 9 bytes, and the rest.
    return _FRAME.pack(base_offset, 9 + len(body), 0, MAGIC) + crc + body


def _record_bytes(
    timestamp_delta: int, offset_delta: int, key: bytes | None, value: bytes | None
) -> bytes:
    body = b"\0" + _zigzag(timestamp_delta) + _zigzag(offset_delta) + _field(key) + _field(value)
    body += _zigzag(0)  # no headers
    return _zigzag(len(body)) + body


def _field(data: bytes | None) -> bytes:
    return _zigzag(-1) if data is None else _zigzag(len(data)) + data


def _zigzag(number: int) -> bytes:
    left = number << 1 if number >= 0 else (-number << 1) - 1
    written = bytearray()
    while left >= 0x80:
        written.append(left & 0x7F | 0x80)
        left >>= 7
    written.append(left)
    return bytes(written)
