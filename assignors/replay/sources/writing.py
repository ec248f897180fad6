"""Writes records in the forms that the sources read: for dumps that no broker has written."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from json import dumps
from pathlib import Path

from assignors.replay.sources.files import is_json_lines, is_parquet
from assignors.replay.sources.raw import Raw, SourceError
from assignors.replay.sources.segments import crc32c_function
from wire.log.writing import batch_bytes

SEGMENT_BYTES = 104_857_600
"""`offsets.topic.segment.bytes`: so long a segment gets before the next one begins."""


def write_records(path: str | Path, batches: Iterable[Sequence[Raw]]) -> int:
    """Write the records of one partition, and return how many; the path's name decides the form.

    `*.jsonl`, `*.json`, `*.ndjson`, each with or without `.gz`; `*.parquet`; everything else is a
    folder, which gets the partition's own with segment files, each of `batches` a record batch in
    them. Raises `SourceError` for a folder that is not empty. Memory: a batch; cost: linear in the
    bytes.
    """
    place = Path(path)
    if is_json_lines(place):
        return _write_json_lines(place, chain.from_iterable(batches))
    if is_parquet(place):
        from assignors.replay.sources.arrow import batched, write_parquet  # noqa: PLC0415 - an extra

        return write_parquet(batched(chain.from_iterable(batches)), place)
    return write_segments(place, batches)


def write_segments(folder: Path, batches: Iterable[Sequence[Raw]]) -> int:
    """Write segment files below `folder`, in a partition's folder that is named as a broker's."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise SourceError(f"{folder}: not an empty folder")
    checksum = crc32c_function()
    folder.mkdir(parents=True, exist_ok=True)
    count = size = 0
    file = folder
    for batch in filter(None, batches):
        base_offset = batch[0].offset or 0
        entries = [(each.timestamp_ms or 0, each.key, each.value) for each in batch]
        data = batch_bytes(base_offset, entries, checksum=checksum)
        if not count or size + len(data) > SEGMENT_BYTES:
            place = folder / f"{batch[0].topic}-{batch[0].partition}"
            place.mkdir(exist_ok=True)
            file, size = place / f"{base_offset:020d}.log", 0
        with file.open("ab") as stream:
            stream.write(data)
        size += len(data)
        count += len(batch)
    return count


def _write_json_lines(file: Path, raws: Iterable[Raw]) -> int:
    count = 0
    opened = gzip.open if file.suffix == ".gz" else open
    with opened(file, "wt", encoding="ascii") as stream:
        for line in json_lines(raws):
            stream.write(line)
            count += 1
    return count


def json_lines(raws: Iterable[Raw]) -> Iterator[str]:
    """Yield each record as a line of JSON, with its newline. Cost: O(bytes)."""
    for raw in raws:
        yield (
            dumps(
                {
                    "key": None if raw.key is None else b64encode(raw.key).decode(),
                    "value": None if raw.value is None else b64encode(raw.value).decode(),
                    "topic": raw.topic,
                    "partition": raw.partition,
                    "offset": raw.offset,
                    "timestamp": raw.timestamp_ms,
                    "timestampType": raw.timestamp_type,
                }
            )
            + "\n"
        )
