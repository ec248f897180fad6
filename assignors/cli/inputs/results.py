"""Make one result document for each input line, whatever the line holds.

A line that cannot be answered gives a document with the same keys and an `error`; the lines after
it are not affected.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby
from operator import attrgetter

from assignors.cli.inputs.lines import Line, lines, placed, total_size
from assignors.cli.outputs.progress import with_line_progress
from assignors.documents.described import is_described
from assignors.documents.failures import NO_ERROR, error_columns
from assignors.documents.terminal import (
    ANOTHER_TABLE,
    DUMP_LOG_TEXT,
    LOG4J,
    LOG4J_TEXT,
    is_around,
    recognised_text,
)
from assignors.documents.values import SCHEMA, Document, DocumentError, ErrorCode
from assignors.jvm.failure import JavaFailure
from assignors.own_assignors.answers import AssignorError

BEGINNING_MAX = 1 << 12
"""Bytes of a line that are inspected to recognise its file."""

READ_BY = "check and assign read tables of groups, replay reads records"

Blank = Document
"""The keys of a result, with their values where there is an error."""


def result_documents(
    files: Sequence[str],
    blank: Blank,
    result_of: Callable[[bytes], Document],
    *,
    together: Callable[[Iterable[Line]], Iterable[Line]] = iter,
) -> Iterator[Document]:
    """Yield the result document of each line of the files, in order.

    `together` joins lines of a file that are one input. `result_of` returns the values for the keys
    of `blank`, and `error` where it has one. What it raises becomes the error of that line. A file
    that holds a table or a log is one error.
    """
    read = with_line_progress(lines(files), total_size(files), attrgetter("width"))
    for _, own in groupby(read, attrgetter("file")):
        first, other = _beginning(own)
        if other is not None:
            error = DocumentError(ErrorCode.BAD_TEXT, f"{other}, and no bytes; {READ_BY}")
            yield {"schema": SCHEMA, **blank, **placed(error.document(), first[0])}
            continue
        for line in together(chain(first, own)):
            result = result_document(
                blank,
                lambda given=line.text: result_of(given),  # type: ignore[misc]
                line,
            )
            yield {"schema": SCHEMA, **result}


def _beginning(own: Iterable[Line]) -> tuple[list[Line], str | None]:
    """Return the first lines of a file, and its kind if it is a table or a log."""
    first: list[Line] = []
    for line in own:
        first.append(line)
        text = line.text[:BEGINNING_MAX]
        if not text.strip() or is_around(text.decode("utf-8", "replace")):
            continue
        if is_described(text.decode("utf-8", "replace")):
            return first, "a table of groups"
        found = recognised_text(text)
        return first, found if found in {ANOTHER_TABLE, DUMP_LOG_TEXT} else None
    is_log = len(first) > 1 and any(LOG4J.match(line.text) for line in first)
    return first, LOG4J_TEXT if is_log else None


def result_document(blank: Blank, result: Callable[[], Document], line: Line | None) -> Document:
    """Return `blank` filled in with a result, or with the reason why there is none, and where."""
    return placed(_result_document(blank, result), line)


def _result_document(blank: Blank, result: Callable[[], Document]) -> Document:
    try:
        return {**blank, **NO_ERROR, **result()}
    except DocumentError as error:
        return {**blank, **error.document()}
    except AssignorError as error:
        sys.stderr.write(error.trace or "")
        return {**blank, **error_columns(error)}
    except (JavaFailure, ValueError, MemoryError, RecursionError) as error:
        return {**blank, **error_columns(error)}
    except Exception as error:  # noqa: BLE001  # our mistake or a foreign assignor's: other lines go on
        traceback.print_exc(file=sys.stderr)
        return {**blank, **error_columns(error)}
