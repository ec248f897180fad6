"""Where raw records come from: JSON lines, Parquet, segment files, a live cluster.

A cluster is read by a plain consumer (`topic_by_consumer`) or by Spark (`topic_by_spark`).

`open_source` yields the rows (`Raw`) of any of them and holds no more than a batch at a time.
What cannot be read is a row with `error` set; a source that cannot be read at all is a
`SourceError`. Spark and Parquet files have the rows as Arrow batches: `arrow`, which alone needs
pyarrow, with most forms of compressed segment files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from assignors.replay.sources.files import first_bytes, is_json_lines, is_parquet
from assignors.replay.sources.jsonlines import (
    holds_lines,
    parse_lines,
    read_json_lines,
    read_stream,
)
from assignors.replay.sources.printed import HOW, refusal
from assignors.replay.sources.raw import Raw, SourceError
from assignors.replay.sources.segments import Isolation, Partition, read_partition, read_segments

__all__ = [
    "Isolation",
    "Partition",
    "Raw",
    "SourceError",
    "holds_lines",
    "is_json_lines",
    "is_parquet",
    "open_source",
    "parse_lines",
    "read_json_lines",
    "read_partition",
    "read_segments",
    "read_stream",
]


Say = Callable[[str], None]
"""Takes a sentence about a source."""


@dataclass(frozen=True, slots=True)
class StoredForm:
    """A form in which records are stored: how a path is recognised, and read."""

    fits: Callable[[Path, Say], bool]
    read: Callable[[Path, Isolation], Iterator[Raw]]


def _read_parquet(place: Path, _: Isolation) -> Iterator[Raw]:
    from assignors.replay.sources.arrow import read_parquet, rows  # noqa: PLC0415 - an extra

    return rows(read_parquet(place))


FORMS: tuple[StoredForm, ...] = (
    StoredForm(
        lambda place, say: holds_lines(place, say=say), lambda place, _: read_json_lines(place)
    ),
    StoredForm(lambda place, _: is_parquet(place), _read_parquet),
    StoredForm(
        lambda place, _: place.suffix == ".log" or place.is_dir(),
        lambda place, isolation: read_segments(place, isolation=isolation),
    ),
)
"""A source is one file of this package, and its row; the first that fits reads a path."""


def open_source(
    path: str | Path,
    *,
    isolation: Isolation = Isolation.READ_COMMITTED,
    say: Say = lambda _: None,
) -> Iterator[Raw]:
    """Yield the records at a path, in the first of `FORMS` that fits.

    `*.jsonl`, `*.json`, `*.ndjson`, each with or without `.gz`; `*.parquet` or a folder of
    them; `*.log`, a partition's folder or a broker's data folder. Lines that kcat, a formatter or
    kafka-dump-log has printed are read whatever the name is (`printed`, `dump_log`). Raises
    `SourceError` where it is none of these, when called; what is damaged inside is a row with
    `error`. `isolation` matters to segment files alone. Memory: a batch; cost: linear in the bytes,
    twice for segment files. `say` gets a sentence about lines of a terminal before the first
    record, which are not read.
    """
    place = Path(path)
    if not place.exists():
        raise SourceError(f"{place}: no such file or folder")
    for form in FORMS:
        if form.fits(place, say):
            return form.read(place, isolation)
    text = refusal(first_bytes(place)) or (
        "no .jsonl, .parquet or .log file, no folder of them, and not what kcat -J, a formatter "
        f"of kafka-console-consumer or kafka-dump-log --offsets-decoder prints: {HOW}"
    )
    raise SourceError(f"{place}: {text}")
