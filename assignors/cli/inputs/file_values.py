"""Options and arguments whose value is a file of JSON, which is checked as it is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar, cast

import click

from assignors.cli.inputs.json_text import parse_json
from assignors.cli.inputs.lines import standard_input
from assignors.documents.values import DocumentError, ErrorCode

if TYPE_CHECKING:
    from assignors.replay.history.log_ends import LogEnds

T = TypeVar("T")


class JsonFile(click.ParamType[T], Generic[T]):
    """A file with a JSON document, read by a function that raises `DocumentError`.

    >>> JsonFile(len).convert("no-such.json", None, None)
    Traceback (most recent call last):
    click.exceptions.BadParameter: no-such.json: No such file or directory
    """

    name = "file"

    def __init__(self, read: Callable[[object], T]) -> None:
        """`read` turns the parsed document into the value of the option."""
        self._read = read

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> T:
        """Return the value; a usage error says what is wrong in the file, and where."""
        if not isinstance(value, str):
            return cast("T", value)  # a default
        try:
            return read_json_file(value, self._read)
        except click.UsageError as error:
            self.fail(error.message, param, ctx)


class LogEndsFile(click.ParamType[tuple["LogEnds", ...]]):
    """A file of JSON lines, each with the log ends of one moment."""

    name = "file"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[LogEnds, ...]:
        """Return the moments; a usage error says which line is wrong, and where in it."""
        from assignors.replay.history.log_ends import log_ends_from_document  # noqa: PLC0415 - of this one

        found = []
        try:
            lines = _bytes_of(str(value)).splitlines()
        except OSError as error:
            self.fail(f"{value}: {error.strerror}", param, ctx)
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                found.append(log_ends_from_document(parse_json(line)))
            except DocumentError as error:
                self.fail(f"{value}, line {number}: {_sentence(error)}", param, ctx)
        if not found:
            self.fail(f"{value}: no line has log ends", param, ctx)
        return tuple(found)


def read_json_file(path: str, read: Callable[[object], T]) -> T:
    """Return what `read` makes of the document of a file, `-` for standard input.

    Raises `click.UsageError` where the file cannot be read, or `read` refuses its document.
    """
    where = "standard input" if path == "-" else path
    try:
        return read(parse_json(_bytes_of(path)))
    except OSError as error:
        raise click.UsageError(f"{where}: {error.strerror}") from None
    except DocumentError as error:
        raise click.UsageError(f"{where}: {_sentence(error)}") from None


def _bytes_of(path: str) -> bytes:
    return standard_input().read() if path == "-" else Path(path).read_bytes()


def _sentence(error: DocumentError) -> str:
    """Return what is wrong with a file, for somebody who may not know that it has to be JSON."""
    is_json = error.kind not in {ErrorCode.BAD_JSON, ErrorCode.BAD_UTF8}
    return str(error) if is_json else f"not JSON: {error}"
