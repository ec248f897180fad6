"""Dumps as Parquet: one file, or a folder of them as Spark writes it.

The columns are those of Spark's Kafka source; only `key` and `value` must be there. Files of a
folder are read in the order of their names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from assignors.replay.sources.raw import BATCH_ROWS, RAW, Raw, SourceError, batched, uniform


def is_parquet(path: Path) -> bool:
    """Return whether a path is a file of Parquet by its name, or a folder with some."""
    return path.suffix == ".parquet" or (path.is_dir() and any(path.glob("*.parquet")))


def read_parquet(path: str | Path, *, batch_rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
    """Yield the records of Parquet files.

    Raises `SourceError` where there is no file, or none with a key and a value. A file that
    breaks off is a row with its name in `error`, behind the rows that could be read.
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
    row_count = 0
    with pq.ParquetWriter(path, RAW, compression="zstd") as writer:
        for batch in batches:
            writer.write_batch(batch)
            row_count += batch.num_rows
    return row_count


def _opened(file: Path) -> pq.ParquetFile:
    try:
        opened = pq.ParquetFile(file)
    except (pa.ArrowInvalid, OSError) as error:
        raise SourceError(f"{file}: no Parquet file: {error}") from error
    missing = [name for name in ("key", "value") if name not in opened.schema_arrow.names]
    if missing:
        names = ", ".join(opened.schema_arrow.names)
        raise SourceError(f"{file}: no column {' and '.join(missing)} among {names}")
    return opened


def _file_batches(file: Path, batch_rows: int) -> Iterator[pa.RecordBatch]:
    """Yield the batches of one file; what is wrong with it is its last row."""
    try:
        with _opened(file) as opened:
            wanted = [name for name in RAW.names if name in opened.schema_arrow.names]
            for batch in opened.iter_batches(batch_size=batch_rows, columns=wanted):
                yield uniform(batch, file.name)
    except (SourceError, pa.ArrowException, OSError) as error:
        yield from batched([Raw(error=f"{file.name}: {error}")])
