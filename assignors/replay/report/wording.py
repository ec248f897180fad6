"""Times, spans and counts as people read them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

NONE = "-"
"""Stands where nothing is known."""


def clock(at_ms: int | None) -> str:
    """Return the time of day of epoch milliseconds, in UTC.

    >>> clock(1795220373651), clock(None), clock(10**18)
    ('00:19:33.651', '-', '1000000000000000000')
    """
    told = _utc(at_ms)
    if at_ms is None or told is None:
        return NONE if at_ms is None else str(at_ms)
    return f"{told:%H:%M:%S}.{at_ms % 1000:03d}"


def day(at_ms: int | None) -> str:
    """Return the date of epoch milliseconds, in UTC.

    >>> day(1795220373651)
    '2026-11-21'
    """
    told = _utc(at_ms)
    return NONE if told is None else f"{told:%Y-%m-%d}"


def moment(at_ms: int | None) -> str:
    """Return date and time of epoch milliseconds, in UTC.

    >>> moment(1795220373651)
    '2026-11-21 00:19:33'
    """
    told = _utc(at_ms)
    if at_ms is None or told is None:
        return clock(at_ms)
    return f"{told:%Y-%m-%d %H:%M:%S}"


def period(from_ms: int, to_ms: int) -> str:
    """Return from when to when, the date once where it is one day.

    >>> period(1795220373651, 1795220378651)
    '2026-11-21 00:19:33 to 00:19:38'
    """
    until = moment(to_ms)
    if day(from_ms) == day(to_ms) != NONE:
        until = until.partition(" ")[2]
    return f"{moment(from_ms)} to {until}"


def span(duration_ms: int | None) -> str:
    """Return how long something took, in two units at most.

    >>> [span(ms) for ms in (7, 41_260, 754_000, 90_061_000, None)]
    ['7 ms', '41.3 s', '12 min 34 s', '25 h 1 min', '-']
    """
    if duration_ms is None:
        return NONE
    if duration_ms < 1000:
        return f"{duration_ms} ms"
    if duration_ms < 60_000:
        return f"{duration_ms / 1000:.1f} s"
    seconds = duration_ms // 1000
    if seconds < 3600:
        return f"{seconds // 60} min {seconds % 60} s"
    return f"{seconds // 3600:,} h {seconds % 3600 // 60} min"


def partition_seconds(partition_ms: int | None) -> str:
    """Return partition-milliseconds as partition-seconds.

    >>> partition_seconds(228268), partition_seconds(0), partition_seconds(None)
    ('228.3', '0', '-')
    """
    if partition_ms is None:
        return NONE
    return f"{partition_ms / 1000:,.1f}" if partition_ms else "0"


def added(values: Iterable[int | None]) -> int | None:
    """Return the sum of what is known, nothing where nothing is.

    >>> added([1, None, 2]), added([None]), added([])
    (3, None, 0)
    """
    listed = list(values)
    known = [value for value in listed if value is not None]
    return sum(known) if known or not listed else None


def number(value: int | None) -> str:
    """Return a count.

    >>> number(12345), number(None)
    ('12,345', '-')
    """
    return NONE if value is None else f"{value:,}"


def count(value: int, noun: str, nouns: str | None = None) -> str:
    """Return a count with its noun.

    >>> count(1, "move"), count(2, "life", "lives")
    ('1 move', '2 lives')
    """
    return f"{value:,} {noun if value == 1 else nouns or noun + 's'}"


def extent(least: int, most: int) -> str:
    """Return a range of loads.

    >>> extent(2, 5), extent(3, 3)
    ('2-5', '3')
    """
    return str(least) if least == most else f"{least:,}-{most:,}"


def _utc(at_ms: int | None) -> datetime | None:
    if at_ms is None:
        return None
    try:
        return datetime.fromtimestamp(at_ms // 1000, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return None
