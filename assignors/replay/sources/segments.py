"""The log segment files of a topic, in a broker's data folder or copied from there.

A path may be one file, the folder of a partition (`__consumer_offsets-3`), or the data folder
of a broker with such folders in it. A folder's name gives topic and partition; the files of a
partition are one log, in the order of their names, and its transactions run across them.

By default the rows are those that a consumer with `isolation.level=read_committed` sees: no
markers, no aborted transactions, nothing from the last stable offset on. With
`READ_UNCOMMITTED` all records are yielded, each of a transaction labelled with its result. Bytes
that cannot be read are a row with the file and the byte in `error`; the other rows are complete.

The CRC-32C comes from the package `crc32c` of the extra `replay`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from assignors.replay.sources.compression import PLAIN_MAX, decompressor
from assignors.replay.sources.files import first_bytes
from assignors.replay.sources.printed import is_text, refusal
from assignors.replay.sources.raw import Raw, SourceError, printable_name, time_or_none
from assignors.replay.sources.transactions import TransactionResult, transactions_of
from wire.errors import WireError
from wire.log.batch import Batch, Decompress, read_records
from wire.log.segment import SIZE_MAX, Flaw, read_batches

OFFSETS_TOPIC = "__consumer_offsets"

SEEN = (None, TransactionResult.COMMITTED)
"""What a `read_committed` consumer sees."""

PARTITION_MAX = (1 << 31) - 1

_FOLDER = re.compile(r"(?P<topic>[a-zA-Z0-9._-]{1,249})-(?P<partition>\d{1,10})")
_FILE = re.compile(r"\d{20}\.log")


class Isolation(StrEnum):
    """Which records of transactions are yielded, named as a consumer's `isolation.level`."""

    READ_COMMITTED = "read_committed"
    READ_UNCOMMITTED = "read_uncommitted"


@dataclass(frozen=True, kw_only=True, slots=True)
class Partition:
    """One partition's log: its segment files in order, and its name where a folder gives it."""

    files: tuple[Path, ...]
    topic: str | None = None
    partition: int | None = None


def read_segments(
    path: str | Path,
    *,
    topic: str = OFFSETS_TOPIC,
    isolation: Isolation = Isolation.READ_COMMITTED,
    size_max: int = SIZE_MAX,
    plain_max: int = PLAIN_MAX,
) -> Iterator[Raw]:
    """Yield the records of segment files; `topic` chooses among the folders of a data folder.

    Raises `SourceError` where no segment file is found. No batch of the log longer than
    `size_max` bytes is read, none that decompresses to more than `plain_max`.
    Memory: one batch of the log. Cost: two passes, one for the markers of transactions.
    """
    return (
        raw
        for log in partitions(path, topic=topic)
        for raw in read_partition(log, isolation=isolation, size_max=size_max, plain_max=plain_max)
    )


def read_partition(
    log: Partition,
    *,
    isolation: Isolation = Isolation.READ_COMMITTED,
    size_max: int = SIZE_MAX,
    plain_max: int = PLAIN_MAX,
) -> Iterator[Raw]:
    """Yield the records of one partition's log; see `read_segments`."""
    checksum = crc32c_function()
    transactions = transactions_of(
        found for file in log.files for found in _read(file, checksum, size_max)
    )
    is_committed_only = isolation is Isolation.READ_COMMITTED
    stop = transactions.last_stable_offset if is_committed_only else None
    decompress = decompressor(plain_max)
    for file in log.files:
        for found in _read(file, checksum, size_max):
            if isinstance(found, Flaw):
                yield _flawed(log, file, found)
                continue
            if found.is_control or (stop is not None and found.base_offset >= stop):
                continue
            result = transactions.result_of(found)
            if not is_committed_only or result in SEEN:
                yield from _rows(log, file, found, result, decompress)
            elif result is TransactionResult.LOST:
                text = f"batch at byte {found.position}: no marker says how its transaction ended"
                yield _error(log, file, text, found.base_offset)


def partitions(path: str | Path, *, topic: str = OFFSETS_TOPIC) -> list[Partition]:
    """Return the logs under a path, ordered by topic and number.

    Raises `SourceError` where there are none.
    """
    place = Path(path)
    if place.is_file():
        first = first_bytes(place)
        if is_text(first):
            raise SourceError(f"{place}: {refusal(first) or 'text, not a segment'}")
        return [_partition(place.parent, (place,))]
    if not place.is_dir():
        raise SourceError(f"{place}: no such file or folder")
    own = _segment_files(place)
    if own:
        return [_partition(place, own)]
    found = []
    for folder in place.iterdir():
        named = _FOLDER.fullmatch(folder.name)
        if named and named["topic"] == topic and folder.is_dir():
            found.append(_partition(folder, _segment_files(folder)))
    if not found:
        raise SourceError(f"{place}: no segment files, and no folder {topic}-<partition>")
    return sorted(found, key=lambda log: log.partition or 0)


def _segment_files(folder: Path) -> tuple[Path, ...]:
    return tuple(sorted(file for file in folder.iterdir() if _FILE.fullmatch(file.name)))


def _partition(folder: Path, files: tuple[Path, ...]) -> Partition:
    named = _FOLDER.fullmatch(folder.resolve().name)
    if named is None or int(named["partition"]) > PARTITION_MAX:
        return Partition(files=files)
    return Partition(files=files, topic=named["topic"], partition=int(named["partition"]))


def _read(file: Path, checksum: Callable[[bytes], int], size_max: int) -> Iterator[Batch | Flaw]:
    with file.open("rb") as stream:
        yield from read_batches(stream, checksum=checksum, size_max=size_max)


def _rows(
    log: Partition,
    file: Path,
    batch: Batch,
    result: TransactionResult | None,
    decompress: Decompress,
) -> Iterator[Raw]:
    """Yield a row for each record; a bad one ends the batch with a row that says where."""
    timestamp_type = int(batch.is_log_append_time)
    transaction = None if result is None else result.value
    try:
        for offset, timestamp_ms, key, value in read_records(batch, decompress):
            yield Raw(
                key=key,
                value=value,
                topic=log.topic,
                partition=log.partition,
                offset=offset,
                timestamp_ms=time_or_none(timestamp_ms),
                timestamp_type=timestamp_type,
                transaction=transaction,
            )
    except WireError as error:
        text = f"batch of {batch.record_count} records at byte {batch.position}: {error}"
        yield _error(log, file, text, batch.base_offset)


def _flawed(log: Partition, file: Path, flaw: Flaw) -> Raw:
    text = f"bytes {flaw.position} to {flaw.end}: {flaw.text}"
    return _error(log, file, text, flaw.offset)


def _error(log: Partition, file: Path, text: str, offset: int | None) -> Raw:
    where = f"{printable_name(file.parent)}/{printable_name(file)}"
    return Raw(topic=log.topic, partition=log.partition, offset=offset, error=f"{where}: {text}")


def crc32c_function() -> Callable[[bytes], int]:
    """Return CRC-32C; `SourceError` where its package is missing."""
    try:
        from crc32c import crc32c  # noqa: PLC0415 - the extra `replay`
    except ModuleNotFoundError as error:
        text = "segment files need crc32c: pip install 'kafka-assignors[replay]'"
        raise SourceError(text) from error
    checksum: Callable[[bytes], int] = crc32c
    return checksum
