"""Segment files made by hand, from Kafka's documentation of the format: the tests' own writer."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from crc32c import crc32c

from assignors.replay.sources import Isolation, Raw, read_segments
from assignors.replay.sources.compression import PLAIN_MAX
from wire.log.segment import SIZE_MAX

NO_PRODUCER = -1
TRANSACTIONAL = 0x10
CONTROL = 0x20
LOG_APPEND_TIME = 0x08
FIRST_MS = 1_700_000_000_000

NAME = "00000000000000000000.log"

Pair = tuple[bytes | None, bytes | None]
PAIRS: list[list[Pair]] = [[(b"key", b"value %d" % n), (b"key", None)] for n in range(5)]


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


def chained(lists: Sequence[Sequence[Pair]], attributes: int = 0) -> list[Batch]:
    """Batches one behind the other, offsets counted on."""
    batches = []
    offset = 0
    for pairs in lists:
        batches.append(Batch(base_offset=offset, pairs=pairs, attributes=attributes))
        offset += len(pairs)
    return batches


def written(folder: Path, batches: Sequence[Batch | bytes]) -> Path:
    """The batches as the segment of partition 3."""
    place = folder / "__consumer_offsets-3"
    place.mkdir(parents=True, exist_ok=True)
    data = [batch if isinstance(batch, bytes) else batch.data() for batch in batches]
    (place / NAME).write_bytes(b"".join(data))
    return place


def read(
    path: Path,
    isolation: Isolation = Isolation.READ_COMMITTED,
    *,
    size_max: int = SIZE_MAX,
    plain_max: int = PLAIN_MAX,
) -> tuple[list[Raw], list[str]]:
    """The records under a path, and the errors."""
    found = list(read_segments(path, isolation=isolation, size_max=size_max, plain_max=plain_max))
    return [raw for raw in found if raw.error is None], [raw.error for raw in found if raw.error]


def pairs_of(raws: Sequence[Raw]) -> list[Pair]:
    return [(raw.key, raw.value) for raw in raws]
