"""Segment files made by hand, from Kafka's documentation of the format: the tests' own writer."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from crc32c import crc32c

NO_PRODUCER = -1
TRANSACTIONAL = 0x10
CONTROL = 0x20
LOG_APPEND_TIME = 0x08
FIRST_MS = 1_700_000_000_000

Pair = tuple[bytes | None, bytes | None]


@dataclass(frozen=True, kw_only=True)
class Batch:
    """What is written; `payload` stands for the records where they are compressed or broken."""

    base_offset: int = 0
    pairs: Sequence[Pair] = ()
    attributes: int = 0
    producer_id: int = NO_PRODUCER
    record_count: int | None = None
    payload: bytes | None = None
    magic: int = 2

    def data(self) -> bytes:
        """The batch as it stands in a file."""
        payload = records(self.pairs) if self.payload is None else self.payload
        count = len(self.pairs) if self.record_count is None else self.record_count
        body = struct.pack(
            ">hiqqqhii",
            self.attributes,
            max(count, 1) - 1,
            FIRST_MS,
            FIRST_MS + max(count, 1) - 1,
            self.producer_id,
            0,
            -1,
            count,
        )
        behind = struct.pack(">ibI", 0, self.magic, crc32c(body + payload)) + body + payload
        return struct.pack(">qi", self.base_offset, len(behind)) + behind


def marker(base_offset: int, producer_id: int, *, commits: bool) -> Batch:
    """How a producer's transaction ended."""
    key, value = struct.pack(">hh", 0, int(commits)), struct.pack(">hi", 0, 7)
    return Batch(
        base_offset=base_offset,
        pairs=[(key, value)],
        attributes=TRANSACTIONAL | CONTROL,
        producer_id=producer_id,
    )


def records(pairs: Sequence[Pair]) -> bytes:
    """The records of a batch, a millisecond apart."""
    return b"".join(record(number, key, value) for number, (key, value) in enumerate(pairs))


def record(number: int, key: bytes | None, value: bytes | None, headers: bytes = b"\0") -> bytes:
    """One record, length and all."""
    body = b"\0" + varint(number) + varint(number) + field(key) + field(value) + headers
    return varint(len(body)) + body


def field(value: bytes | None) -> bytes:
    """Nullable bytes behind their length."""
    return varint(-1) if value is None else varint(len(value)) + value


def varint(number: int) -> bytes:
    """A zigzag varint."""
    rest = number << 1 if number >= 0 else (-number << 1) - 1
    written = bytearray()
    while rest >= 0x80:
        written.append(rest & 0x7F | 0x80)
        rest >>= 7
    written.append(rest)
    return bytes(written)
