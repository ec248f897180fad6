"""Kafka's log segment files (`*.log`): record batches of message format 2, one after another.

Each batch has a header of 61 bytes that says how long it is, and a CRC over everything behind
the CRC:

    base offset 8 | length 4 | leader epoch 4 | magic 1 | crc 4 | attributes 2 | last delta 4 |
    base timestamp 8 | max timestamp 8 | producer id 8, epoch 2, sequence 4 | record count 4

Bytes that cannot be read are a `Flaw` with its place, and reading goes on at the next batch whose
CRC is right: behind the bad one if its length is plausible, else wherever one is found. The
caller passes CRC-32C, which the standard library lacks. `wire.log.batch` reads the records.

Source: Kafka's protocol guide, "Record Batch"; `DefaultRecordBatch`.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, TypeAlias

from wire.log.batch import Batch

Checksum: TypeAlias = Callable[[bytes], int]
"""CRC-32C (Castagnoli) of bytes."""

SIZE_MAX = 128 << 20
"""Longest batch that is read by default, in bytes; Kafka's own default is one MiB."""

_HEADER = struct.Struct(">qiibIhiqqqhii")
_FRAME = struct.Struct(">qi")
_FRAME_SIZE = _FRAME.size  # base offset and length: what the length does not count
_CRC_END = 21  # the CRC is over everything from the attributes on
_MAGIC_AT = 16
MAGIC = 2
"""The message format of every broker since 0.11."""
_WINDOW = 1 << 20


@dataclass(frozen=True, kw_only=True, slots=True)
class Flaw:
    """Bytes that could not be read: where, and why."""

    position: int
    """First byte in the file of the batch at fault."""
    end: int
    """Byte where reading goes on."""
    offset: int | None
    """The batch's first offset, where its header is plausible."""
    text: str


def read_batches(
    stream: BinaryIO, *, checksum: Checksum, size_max: int = SIZE_MAX
) -> Iterator[Batch | Flaw]:
    """Yield every batch of a segment file, and a flaw for each range of bytes that is none.

    `stream` can seek. Zeros up to the end, which preallocated files have, are no flaw. The
    base offset is not under the CRC: a batch that goes back behind the one before comes with
    a flaw that says so, and is yielded.
    Memory: the longest batch, at most `size_max` bytes. Cost: one pass, and where bytes are
    damaged at most two more over the whole file.
    """
    file = _File(stream, checksum, size_max)
    position = 0
    next_offset = 0
    while position < file.size:
        found = file.batch_at(position)
        if isinstance(found, Batch):
            if found.base_offset < next_offset:
                text = f"offset {found.base_offset} behind {next_offset - 1}: one of them is wrong"
                yield Flaw(position=position, end=position, offset=None, text=text)
            yield found
            position += _HEADER.size + len(found.payload)
            next_offset = found.last_offset + 1
        elif file.is_zero_from(position):
            return
        else:
            end = file.resume(position)
            yield Flaw(position=position, end=end, offset=found.offset, text=found.text)
            position = end


@dataclass(frozen=True, kw_only=True, slots=True)
class _Refused:
    """Why no batch stands at a place."""

    text: str
    offset: int | None = None
    end: int | None = None
    """Where the next one should be, if the length is plausible."""


class _File:
    """A seekable file, and how much of it the search for a batch may still check."""

    __slots__ = ("_budget", "_checksum", "_size_max", "_stream", "size")

    def __init__(self, stream: BinaryIO, checksum: Checksum, size_max: int) -> None:
        self._stream = stream
        self._checksum = checksum
        self._size_max = size_max
        self.size = stream.seek(0, os.SEEK_END)
        # What the search for a next batch may check in all: a forged file full of headers that
        # each claim a long batch must not make it quadratic.
        self._budget = self.size + size_max

    def batch_at(self, position: int) -> Batch | _Refused:
        """Return the batch at a place, its CRC checked, or why there is none."""
        head = self._read(position, _HEADER.size)
        refused = self._refused(head, position)
        if refused is not None:
            return refused
        base_offset, length, leader_epoch, _, crc, attributes, *rest = _HEADER.unpack(head)
        last_offset_delta, base_timestamp_ms, max_timestamp_ms, *rest = rest
        producer_id, producer_epoch, _, record_count = rest
        payload = self._stream.read(length + _FRAME_SIZE - _HEADER.size)
        computed = self._checksum(head[_CRC_END:] + payload)
        if computed != crc:
            text = f"CRC {computed:08x}, the batch of {length} bytes says {crc:08x}"
            return _Refused(text=text, offset=base_offset, end=position + _FRAME_SIZE + length)
        return Batch(
            position=position,
            base_offset=base_offset,
            leader_epoch=leader_epoch,
            attributes=attributes,
            last_offset=base_offset + last_offset_delta,
            base_timestamp_ms=base_timestamp_ms,
            max_timestamp_ms=max_timestamp_ms,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            record_count=record_count,
            payload=payload,
        )

    def _refused(self, head: bytes, position: int) -> _Refused | None:
        """Return what is wrong with a header, if something is."""
        left = self.size - position
        if len(head) <= _MAGIC_AT:
            return _Refused(text=f"truncated: a header in {left} bytes")
        base_offset, length = _FRAME.unpack_from(head)
        magic = head[_MAGIC_AT]
        size = length + _FRAME_SIZE
        least = _HEADER.size if magic >= MAGIC else _MAGIC_AT + 1
        if size < least or base_offset < 0:
            text = f"no header of a batch: offset {base_offset}, length {length}, magic {magic}"
            return _Refused(text=text)
        if size > left:
            return _Refused(
                text=f"truncated: a batch of {size} bytes in {left}", offset=base_offset
            )
        if magic == MAGIC and size <= self._size_max:
            return None
        if magic < MAGIC:
            text = f"message format {magic}, older than Kafka 0.11, is not read"
        elif magic > MAGIC:
            text = f"message format {magic} is unknown"
        else:
            text = f"a batch of {size} bytes, at most {self._size_max} are read"
        return _Refused(text=text, offset=base_offset, end=position + size)

    def resume(self, position: int) -> int:
        """Return where the next good batch begins behind a bad place; the file's end if none does.

        Batches that say where they end are followed as long as the chain holds; a chain that
        leads nowhere is searched byte by byte for the first header whose CRC is right.
        """
        at = position
        while at < self.size:
            found = self.batch_at(at)
            if isinstance(found, Batch):
                return at
            if found.end is None:
                break
            at = found.end
        else:
            return self.size
        return self._search(position + 1)

    def _search(self, start: int) -> int:
        """Return the first byte from `start` on where a batch with the right CRC begins."""
        at = start
        while at + _HEADER.size <= self.size:
            window = self._read(at, _WINDOW + _HEADER.size)
            last = len(window) - _HEADER.size
            magic_at = window.find(MAGIC, _MAGIC_AT)
            while 0 <= magic_at <= last + _MAGIC_AT:
                begin = magic_at - _MAGIC_AT
                head = window[begin : begin + _HEADER.size]
                if self._refused(head, at + begin) is None:
                    self._budget -= _FRAME.unpack_from(head)[1]
                    if self._budget < 0:
                        return self.size
                    if isinstance(self.batch_at(at + begin), Batch):
                        return at + begin
                magic_at = window.find(MAGIC, magic_at + 1)
            at += last + 1
        return self.size

    def is_zero_from(self, position: int) -> bool:
        """Whether nothing but zeros follows."""
        while position < self.size:
            window = self._read(position, _WINDOW)
            if window.strip(b"\0"):
                return False
            position += len(window)
        return True

    def _read(self, position: int, size: int) -> bytes:
        self._stream.seek(position)
        return self._stream.read(size)
