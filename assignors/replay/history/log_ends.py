"""Where partitions ended at some moments: what the offsets topic does not record.

Beside commits it gives the lag, and the rate at which records are produced instead of consumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from assignors.documents import schemas
from assignors.documents.keys import Kind, listed, mapping, read
from assignors.documents.values import DocumentError, ErrorCode, Place, as_integer

LARGEST = 1 << 63
"""Offsets and times stay below it, as in Kafka's protocol."""


def _whole(value: object, place: Place) -> int:
    """Return a whole number from 0 on."""
    number = as_integer(value, place, "a whole number")
    if not 0 <= number < LARGEST:
        raise DocumentError(ErrorCode.OUT_OF_RANGE, f"{number} is not from 0 to 2**63 - 1", place)
    return number


WHOLE = Kind(_whole, lambda: schemas.COUNT)
KNOWN = Kind(
    lambda value, place: None if value is None else _whole(value, place),
    lambda: schemas.nullable(schemas.COUNT),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEnds:
    """The offsets that the next records get, at one moment."""

    at_ms: Annotated[int, WHOLE]
    """When, in epoch milliseconds."""
    log_ends: Annotated[Mapping[str, tuple[int | None, ...]], mapping(listed(KNOWN))]
    """Topic -> the end of each partition: the offset of its next record; null: not known."""


def log_ends_from_document(document: object) -> LogEnds:
    """Return the log ends of one moment; `DocumentError` with the place of what is wrong.

    >>> log_ends_from_document({"at_ms": 1000, "log_ends": {"orders": [7, None]}}).log_ends
    {'orders': (7, None)}
    """
    return read(LogEnds, document)
