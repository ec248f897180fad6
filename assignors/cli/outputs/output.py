"""Documents out: JSON lines for programs, tables for people, and the exit code for both."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from typing import IO

import click

from assignors.documents.values import Document

CLEAN, VIOLATIONS, UNREADABLE, BROKEN_PIPE = 0, 1, 2, 141


class Form(StrEnum):
    """How documents are written."""

    TABLE = "table"
    JSON = "json"
    JSONL = "jsonl"


def _chosen(_context: click.Context, _option: click.Parameter, value: str | None) -> Form:
    if value is not None:
        return Form(value)
    return Form.TABLE if sys.stdout.isatty() else Form.JSONL


output_option = click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice([form.value for form in Form]),
    callback=_chosen,
    help="How to write the answers. Default: table on a terminal, else jsonl.",
)


def write(
    documents: Iterable[Document], form: Form, show: Callable[[Iterable[Document]], None]
) -> int:
    """Write the documents and return the exit code they call for. `show` draws tables."""
    code = CLEAN

    def judged() -> Iterator[Document]:
        nonlocal code
        for document in documents:
            code = max(code, _exit_code(document))
            yield document

    try:
        if form is Form.TABLE:
            show(judged())
        else:
            writer = _write_lines if form is Form.JSONL else _write_array
            writer(judged(), sys.stdout.buffer)
    except BrokenPipeError:
        _leave_quietly()
        return BROKEN_PIPE
    return code


def dumps(document: object, *, indent: int | None = None) -> str:
    """Return JSON in ASCII: escapes carry whatever UTF-8 has no bytes for."""
    return json.dumps(document, indent=indent, default=_plain, check_circular=False)


def _exit_code(document: Document) -> int:
    if document["error"] is not None:
        return UNREADABLE
    return VIOLATIONS if document.get("violations") else CLEAN


def _write_lines(documents: Iterable[Document], stream: IO[bytes]) -> None:
    """Write a line a document, each one at once: whoever reads may be waiting for it."""
    for document in documents:
        stream.write(dumps(document).encode() + b"\n")
        stream.flush()


def _write_array(documents: Iterable[Document], stream: IO[bytes]) -> None:
    """Write one indented array, as its entries come."""
    separator = b"[\n"
    for document in documents:
        stream.write(separator + dumps(document, indent=2).encode())
        separator = b",\n"
    stream.write(b"[]\n" if separator == b"[\n" else b"\n]\n")
    stream.flush()


def _plain(value: object) -> object:
    """Return the Python number in a numpy scalar: a foreign assignor's figures may be some."""
    item = getattr(value, "item", None)
    return item() if callable(item) else str(value)


def _leave_quietly() -> None:
    """Send what is still buffered nowhere: the reader has left, which is no fault."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
