"""Write documents as JSON lines or tables, and return the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import IO

import click

from assignors.cli.outputs.cells import clean, console_of, dumps
from assignors.cli.outputs.tables import print_wrapped
from assignors.documents.values import Document

CLEAN, VIOLATIONS, UNREADABLE, BROKEN_PIPE = 0, 1, 2, 141
"""Exit codes: no problem, violations found, bad usage or input, the reader of the output left."""


class UnreadableError(click.ClickException):
    """A source that cannot be read, or has no records or no matching group; in one line."""

    exit_code = UNREADABLE


class Form(StrEnum):
    """How documents are written: values of `--output`."""

    TABLE = "table"
    JSONL = "jsonl"


VARIABLE = "KAFKA_ASSIGNORS_OUTPUT"
"""Environment variable with the value of `--output` of commands that have none."""

output_option = click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice([form.value for form in Form]),
    default=Form.TABLE.value,
    show_default=True,
    envvar=VARIABLE,
    show_envvar=True,
    callback=lambda _context, _option, value: Form(value),
    help="Format of the output.",
)


def write(
    documents: Iterable[Document],
    form: Form,
    show: Callable[[Iterable[Document]], None],
    *,
    assumptions: str = "",
) -> int:
    """Write the documents, tables with `show`; return the highest exit code of any of them.

    Tables begin with the line of `assumptions`.
    """
    code = CLEAN

    def counted() -> Iterator[Document]:
        nonlocal code
        for document in documents:
            code = max(code, _exit_code(document))
            yield document

    try:
        if form is Form.TABLE:
            show(_after(assumptions, counted()))
        else:
            _write_lines(counted(), sys.stdout.buffer)
    except BrokenPipeError:
        discard_buffered()
        return BROKEN_PIPE
    return code


def _after(line: str, documents: Iterator[Document]) -> Iterator[Document]:
    """Print a line, if there is one, when there is something to show after it."""
    for number, document in enumerate(documents):
        if line and number == 0:
            print_wrapped(console_of(), clean(line), "dim")
        yield document


def _exit_code(document: Document) -> int:
    if document["error"] is not None:
        return UNREADABLE
    return VIOLATIONS if document.get("violations") else CLEAN


def _write_lines(documents: Iterable[Document], stream: IO[bytes]) -> None:
    """Write a line a document, each one at once: its reader may be waiting for it."""
    for document in documents:
        stream.write(dumps(document).encode())
        stream.write(b"\n")
        stream.flush()


def discard_buffered() -> None:
    """Discard what is still buffered: the reader has left, which is no error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
