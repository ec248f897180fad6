"""Where partitions ended at some moments: what the offsets topic does not record.

Beside commits it gives the lag, and the rate at which records are produced instead of consumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assignors.documents.group_keys import require_known
from assignors.documents.values import (
    DocumentError,
    ErrorCode,
    Place,
    as_list,
    as_object,
    as_string,
    described,
    required,
)

LARGEST = 1 << 63
"""Offsets and times stay below it, as in Kafka's protocol."""

KEYS = frozenset({"at_ms", "log_ends"})


@dataclass(frozen=True, slots=True, kw_only=True)
class LogEnds:
    """The offsets that the next records get, at one moment."""

    at_ms: int
    """Epoch milliseconds."""
    by_topic: Mapping[str, tuple[int | None, ...]]
    """Topic -> the end of each partition, `None` where it is not known."""


def log_ends_from_document(document: object) -> LogEnds:
    """Return the log ends of one moment; `DocumentError` with the place of what is wrong.

    >>> log_ends_from_document({"at_ms": 1000, "log_ends": {"orders": [7, None]}}).by_topic
    {'orders': (7, None)}
    """
    fields = as_object(document, ())
    require_known(fields, KEYS, ())
    given = as_object(required(fields, "log_ends", ()), ("log_ends",))
    return LogEnds(
        at_ms=_whole(required(fields, "at_ms", ()), ("at_ms",)),
        by_topic={
            as_string(topic, ("log_ends",)): tuple(
                None if one is None else _whole(one, ("log_ends", topic, at))
                for at, one in enumerate(as_list(listed, ("log_ends", topic)))
            )
            for topic, listed in given.items()
        },
    )


def _whole(value: object, place: Place) -> int:
    """Return a whole number from 0 on."""
    if type(value) is not int:
        words = f"expected a whole number, found {described(value)}"
        raise DocumentError(ErrorCode.WRONG_TYPE, words, place)
    if not 0 <= value < LARGEST:
        raise DocumentError(ErrorCode.OUT_OF_RANGE, f"{value} is not from 0 to 2**63 - 1", place)
    return value
