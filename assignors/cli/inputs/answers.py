"""One document out for each line in, whatever the line holds.

A line that cannot be answered gives the same keys as any other and an `error`; the lines
after it are answered as if nothing had been.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator, Sequence

from assignors.cli.inputs.sources import lines, total_size
from assignors.cli.outputs.progress import counted
from assignors.documents.answers import SCHEMA
from assignors.documents.values import Document, DocumentError, ErrorCode
from assignors.jvm.failure import JavaFailure

Blank = Document
"""The keys of an answer with the values they have when there is none."""


def answers(
    files: Sequence[str], blank: Blank, answer: Callable[[bytes], Document]
) -> Iterator[Document]:
    """Yield the answer to each line of the files, in order.

    `answer` returns the values for the keys of `blank`, with `error` where it has one.
    """
    for line in counted(lines(files), total_size(files)):
        yield answered(blank, lambda text=line: answer(text))  # type: ignore[misc]


def answered(blank: Blank, answer: Callable[[], Document]) -> Document:
    """Return `blank` filled in by `answer`, or with the reason why it could not be."""
    try:
        return {"schema": SCHEMA, **blank, "error": None, **answer()}
    except DocumentError as error:
        reason = error.document()
    except JavaFailure as error:
        reason = DocumentError(ErrorCode.REFERENCE_FAILED, f"Java fails: {error}").document()
    except (ValueError, MemoryError, RecursionError) as error:
        reason = DocumentError(ErrorCode.FAILED, f"{error}" or type(error).__name__).document()
    except Exception as error:  # noqa: BLE001  # our mistake or a foreign assignor's: other lines go on
        reason = DocumentError(ErrorCode.FAILED, f"{type(error).__name__}: {error}").document()
        traceback.print_exc(file=sys.stderr)
    return {"schema": SCHEMA, **blank, "error": reason}
