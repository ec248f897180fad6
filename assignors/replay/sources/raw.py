"""What every source gives: a row (`Raw`) for each record, or for each place that cannot be read.

The columns are those of Spark's own Kafka source, so a live topic, a dump and a segment file are
the same to whatever comes next. Two columns are ours. `error` says what could not be read, and
where; then `key` and `value` are null. `transaction` says how the transaction of a record ended,
where the source can know: null means none, or unknown.

JSON lines and segment files are read row by row, without pyarrow. Parquet and Spark have batches
of Arrow: `arrow.batches` makes rows of these, and batches of rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_MILLISECONDS_MAX = 2**63 // 1000 - 1


class SourceError(ValueError):
    """A source that cannot be read at all, in one line that names it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Raw:
    """One row of a source, its fields in the order of `RAW`."""

    key: bytes | None = None
    value: bytes | None = None
    topic: str | None = None
    partition: int | None = None
    offset: int | None = None
    timestamp_ms: int | None = None
    timestamp_type: int | None = None
    transaction: str | None = None
    error: str | None = None


def printable_name(path: Path) -> str:
    r"""Return the name of a file for messages: a name need not be text, an error must be.

    >>> printable_name(Path("dump-\udcff.jsonl"))
    'dump-\\udcff.jsonl'
    """
    return printable_path(Path(path.name))


def printable_path(path: Path) -> str:
    """Return a path for messages, as `printable_name` a name."""
    return str(path).encode("utf-8", "backslashreplace").decode()


def time_or_none(timestamp_ms: int | None) -> int | None:
    """Return a time, `None` where it is too far off for the timestamps of Arrow and Spark."""
    if timestamp_ms is None or abs(timestamp_ms) > _MILLISECONDS_MAX:
        return None
    return timestamp_ms
