"""Why something has no answer, as the columns `error` and `error_kind` of lines, rows and structs.

The same failure has the same columns in JSON, in Arrow, on Spark and in plain Python.
"""

from __future__ import annotations

from collections.abc import Mapping

from assignors.documents.values import DocumentError, ErrorCode
from assignors.jvm.failure import JavaFailure
from assignors.own_assignors.answers import AssignorError
from wire import WireError

NO_ERROR: Mapping[str, None] = {"error": None, "error_kind": None}
"""The columns of what has an answer."""


def error_columns(error: Exception | None) -> dict[str, str | None]:
    """Return `error`, a sentence with its place, and `error_kind`, a code; both null for `None`.

    >>> error_columns(DocumentError(ErrorCode.MISSING, "'id' is missing", ("members", 0, "id")))
    {'error': "'id' is missing at members[0]", 'error_kind': 'missing'}
    >>> error_columns(ZeroDivisionError("division by zero"))
    {'error': 'ZeroDivisionError: division by zero', 'error_kind': 'failed'}
    """
    match error:
        case None:
            return dict(NO_ERROR)
        case DocumentError() | WireError():
            return {"error": str(error), "error_kind": error.kind.value}
        case JavaFailure():
            words = f"Java fails: {error}"
            return {"error": words, "error_kind": ErrorCode.REFERENCE_FAILED.value}
        case AssignorError():
            words = str(error)
        case MemoryError():
            words = "MemoryError: it does not fit into the memory of this process"
        case ValueError() if str(error):
            words = str(error)
        case _:
            words = f"{type(error).__name__}: {error}"
    return {"error": words, "error_kind": ErrorCode.FAILED.value}
