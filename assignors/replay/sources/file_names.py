"""What the name of a file says about how it is read and written."""

from __future__ import annotations

from pathlib import Path

_ENDINGS = (".jsonl", ".json", ".ndjson")


def is_json_lines(path: Path) -> bool:
    """Return whether a file's name says that it holds JSON lines.

    >>> is_json_lines(Path("dump.jsonl.gz")), is_json_lines(Path("dump.parquet"))
    (True, False)
    """
    return (path.with_suffix("") if path.suffix == ".gz" else path).suffix in _ENDINGS


def is_parquet(path: Path) -> bool:
    """Return whether a path is a file of Parquet by its name, or a folder with some."""
    return path.suffix == ".parquet" or (path.is_dir() and any(path.glob("*.parquet")))
