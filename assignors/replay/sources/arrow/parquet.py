"""Dumps as Parquet: one file, or a folder of them as Spark writes it.

The columns are those of Spark's Kafka source; only `key` and `value` must be there. Files of a
folder are read in the order of their names.

What a file may become is bounded: with one long value in a dictionary and many rows that refer
to it, a kilobyte could become gigabytes. So columns of bytes are read as dictionaries, which are
expanded a batch at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from assignors.replay.sources.arrow.batches import (
    BATCH_BYTES,
    BATCH_ROWS,
    RAW,
    batched,
    slices,
    uniform,
)
from assignors.replay.sources.raw import Raw, SourceError, printable_name

if TYPE_CHECKING:
    import pyarrow.parquet as pq

PLAIN_MAX = 128 << 20
"""Most bytes of keys, values and texts that are read from one file, unless it is long itself."""

PLAIN_RATIO = 1000
"""A file that is long may have this many times its own size."""


_BYTES = [field.name for field in RAW if field.type in (pa.binary(), pa.string())]


def read_parquet(path: str | Path, *, batch_rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
    """Yield the records of Parquet files, as batches of `RAW` of about `BATCH_BYTES` at most.

    Raises `SourceError` where there is no file, or none with a key and a value. A value that
    its column cannot hold is a row with `error`. A file that breaks off, or becomes more than
    `PLAIN_MAX` bytes and more than `PLAIN_RATIO` times its size, ends with a row with its name
    in `error`, behind the rows that could be read.
    Memory: a batch, and the pages of Parquet that it stands in.
    """
    place = Path(path)
    files = sorted(place.glob("*.parquet")) if place.is_dir() else [place]
    if not files:
        raise SourceError(f"{place}: no Parquet file")
    if len(files) == 1:
        with _opened(files[0]):
            pass
    return (batch for file in files for batch in _file_batches(file, batch_rows))


def write_parquet(batches: Iterable[pa.RecordBatch], path: str | Path) -> int:
    """Write the batches of a source as one Parquet file, and return the number of rows.

    Memory: a batch, and the row group of Parquet that it goes into.
    """
    import pyarrow.parquet as pq  # noqa: PLC0415 - 10 ms, and lines need none of it

    row_count = 0
    with pq.ParquetWriter(path, RAW, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch)
            row_count += batch.num_rows
    return row_count


def _opened(file: Path) -> pq.ParquetFile:
    import pyarrow.parquet as pq  # noqa: PLC0415 - as above

    try:
        metadata = pq.read_metadata(file)
        paths = {metadata.schema.column(number).path for number in range(metadata.num_columns)}
        packed = [name for name in _BYTES if name in paths]
        opened = pq.ParquetFile(file, metadata=metadata, read_dictionary=packed)
    except (pa.ArrowInvalid, OSError) as error:
        raise SourceError(f"{file}: no Parquet file: {error}") from error
    missing = [name for name in ("key", "value") if name not in opened.schema_arrow.names]
    if missing:
        names = ", ".join(opened.schema_arrow.names)
        raise SourceError(f"{file}: no column {' and '.join(missing)} among {names}")
    return opened


def _file_batches(file: Path, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the batches of one file; what is wrong with it is its last row."""
    name = printable_name(file)
    row = 1
    try:
        with _opened(file) as opened:
            for piece in _bounded(
                opened, batch_rows, max(PLAIN_MAX, PLAIN_RATIO * file.stat().st_size)
            ):
                yield uniform(piece, name, first_row=row)
                row += piece.num_rows
    except (SourceError, pa.ArrowException, OSError) as error:
        yield from batched([Raw(error=f"{name}: {error}")])
    finally:
        # Arrow keeps what it has freed: 60 MB after the first batch, while histories are made.
        pa.default_memory_pool().release_unused()


def _bounded(opened: pq.ParquetFile, batch_rows: int, plain_max: int) -> Iterator[pa.RecordBatch]:
    """Yield the columns of `RAW` in pieces, up to so many bytes of keys, values and texts."""
    wanted = [name for name in RAW.names if name in opened.schema_arrow.names]
    row = 1
    left = plain_max
    for batch in opened.iter_batches(batch_size=batch_rows, columns=wanted):
        for first, count, size in slices(batch, BATCH_BYTES):
            left -= size
            if left < 0:
                text = f"row {row + first}: more than {plain_max} bytes: not read from here on"
                raise SourceError(text)
            yield batch.slice(first, count)
        row += batch.num_rows
