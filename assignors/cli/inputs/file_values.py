"""Options and arguments whose value is a file of JSON, which is checked as it is read."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from assignors.cli.inputs.json_text import parse_json
from assignors.cli.inputs.lines import standard_input
from assignors.cli.inputs.option_types import Value
from assignors.documents.values import DocumentError, ErrorCode

if TYPE_CHECKING:
    from assignors.replay.history.log_ends import LogEnds

T = TypeVar("T")


def json_file(read: Callable[[object], T]) -> Value[T]:
    """Return the type of an option whose value is a file with a JSON document.

    `read` turns the document into the value; it raises `DocumentError`.
    """
    return Value("file", partial(_value_of_file, read=read))


def log_ends_of_file(path: str) -> tuple[LogEnds, ...]:
    """Return the log ends of a file, a moment a line; `ValueError` with the line that is wrong."""
    from assignors.replay.history.log_ends import log_ends_from_document  # noqa: PLC0415 - of this one

    found = []
    try:
        lines = _bytes_of(path).splitlines()
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            found.append(log_ends_from_document(parse_json(line)))
        except DocumentError as error:
            raise ValueError(f"{path}, line {number}: {_sentence(error)}") from None
    if not found:
        raise ValueError(f"{path}: no line has log ends")
    return tuple(found)


def read_json_file(path: str, read: Callable[[object], T]) -> T:
    """Return what `read` makes of the document of a file, `-` for standard input.

    Raises `click.UsageError` where the file cannot be read, or `read` refuses its document.
    """
    try:
        return _value_of_file(path, read)
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _value_of_file(path: str, read: Callable[[object], T]) -> T:
    where = "standard input" if path == "-" else path
    try:
        return read(parse_json(_bytes_of(path)))
    except OSError as error:
        raise ValueError(f"{where}: {error.strerror}") from None
    except DocumentError as error:
        raise ValueError(f"{where}: {_sentence(error)}") from None


def _bytes_of(path: str) -> bytes:
    return standard_input().read() if path == "-" else Path(path).read_bytes()


def _sentence(error: DocumentError) -> str:
    """Return what is wrong with a file, and that it has to be JSON where it is not."""
    is_json = error.kind not in {ErrorCode.BAD_JSON, ErrorCode.BAD_UTF8}
    return str(error) if is_json else f"not JSON: {error}"
