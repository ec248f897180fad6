"""Options whose value is a file with one JSON document."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Generic, NoReturn, Protocol, TypeVar, cast

import click

from assignors.cli.inputs.json_text import parse_json
from assignors.cli.inputs.lines import standard_input
from assignors.documents.values import DocumentError, ErrorCode

T = TypeVar("T")


class Fails(Protocol):
    """How a type of `click` refuses a value."""

    def __call__(
        self, message: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> NoReturn:
        """Raise a usage error."""


def bytes_of(
    path: str, fail: Fails, param: click.Parameter | None, ctx: click.Context | None
) -> bytes:
    """Return what a file has; a usage error says why it cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        fail(f"{path}: {error.strerror}", param, ctx)


class JsonFile(click.ParamType[T], Generic[T]):
    """A file with a JSON document, read by a function that raises `DocumentError`.

    >>> JsonFile(len).convert("no-such.json", None, None)
    Traceback (most recent call last):
    click.exceptions.BadParameter: no-such.json: No such file or directory
    """

    name = "file"

    def __init__(self, read: Callable[[object], T]) -> None:
        """`read` makes of the parsed document what the command is given."""
        self._read = read

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> T:
        """Return what the file says; a usage error says what is wrong with it, and where."""
        if not isinstance(value, str):
            return cast("T", value)  # a default
        try:
            return self._read(parse_json(bytes_of(value, self.fail, param, ctx)))
        except DocumentError as error:
            self.fail(f"{value}: {sentence(error)}", param, ctx)


def read_json_file(option: str, path: str, read: Callable[[object], T]) -> T:
    """Return what `read` makes of the document of a file, `-` for standard input.

    Raises `click.UsageError`, with the option's name, for what `read` or the file is at fault.
    """
    try:
        return read(parse_json(standard_input().read() if path == "-" else Path(path).read_bytes()))
    except OSError as error:
        raise click.UsageError(f"{option}: {path}: {error.strerror}") from None
    except DocumentError as error:
        raise click.UsageError(f"{option}: {path}: {sentence(error)}") from None


def sentence(error: DocumentError) -> str:
    """Return what is wrong with a file, for somebody who may not know that it has to be JSON."""
    is_json = error.kind not in {ErrorCode.BAD_JSON, ErrorCode.BAD_UTF8}
    return str(error) if is_json else f"not JSON: {error}"
