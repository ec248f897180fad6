"""What `replay` and `watch` take: partition counts, thresholds, records on standard input."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from io import BufferedReader
from typing import BinaryIO, cast

import click

from assignors.cli.inputs.lines import standard_input
from assignors.documents.values import DocumentError, ErrorCode, as_object
from assignors.replay.findings.thresholds import Thresholds, thresholds_from_document
from assignors.replay.sources import Raw, read_stream

GZIP_MAGIC = b"\x1f\x8b"


def partition_counts(document: object) -> dict[str, int]:
    """Return the numbers of partitions of a JSON object, topic -> number."""
    from assignors.documents.groups import (  # noqa: PLC0415 - only who asks pays for it
        partition_count_from_document,
    )

    return {
        topic: partition_count_from_document(count, (topic,))
        for topic, count in as_object(document, ()).items()
    }


def threshold(known: Thresholds, text: str) -> dict[str, int]:
    """Return a threshold of an option, by its name; `ValueError` for one that `known` lacks."""
    name, _, digits = text.partition("=")
    try:
        number = int(digits)
    except ValueError:
        raise ValueError(f"{text!r}: not NAME=NUMBER, a whole number") from None
    try:
        thresholds_from_document({name: number}, known)
    except DocumentError as error:
        # Of an unknown name the sentence has the name already.
        is_unknown = error.kind == ErrorCode.UNKNOWN
        raise ValueError(error.text if is_unknown else str(error)) from None
    return {name: number}


def records_of_standard_input() -> Iterator[Raw]:
    """Return the records of standard input, unpacked if it is gzipped."""
    stream = standard_input()
    if isinstance(stream, BufferedReader) and stream.peek(2)[:2] == GZIP_MAGIC:
        stream = cast("BinaryIO", gzip.GzipFile(fileobj=stream))
    return read_stream(
        stream, name="standard input", say=lambda text: click.echo(f"note: {text}", err=True)
    )
