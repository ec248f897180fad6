"""Times, durations, counts, kinds of groups and names as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from assignors.replay.history.model import Kind

NONE = "-"
"""Printed where a value is not known."""

TEXT_MAX = 600
"""Characters of one printed value: a name may be as long as 32 kB."""

KIND_NAMES: Mapping[str, str] = {
    Kind.CLASSIC: "classic",
    Kind.CONSUMER: "KIP-848",
    Kind.SHARE: "share",
    Kind.STREAMS: "streams",
    Kind.SIMPLE: "no members",
}
"""`GroupRow.kind` as the page prints it."""


def generation_name(kind: str) -> str:
    """Return what a generation is called in a group of this kind.

    >>> generation_name("classic"), generation_name("consumer")
    ('generation', 'group epoch')
    """
    return "generation" if kind == Kind.CLASSIC else "group epoch"


def clock(at_ms: int | None) -> str:
    """Return the time of day of epoch milliseconds, in UTC.

    >>> clock(1795220373651), clock(None), clock(10**18)
    ('00:19:33.651', '-', '1000000000000000000')
    """
    utc = _utc(at_ms)
    if at_ms is None or utc is None:
        return NONE if at_ms is None else str(at_ms)
    return f"{utc:%H:%M:%S}.{at_ms % 1000:03d}"


def date(at_ms: int | None) -> str:
    """Return the date of epoch milliseconds, in UTC.

    >>> date(1795220373651)
    '2026-11-21'
    """
    utc = _utc(at_ms)
    return NONE if utc is None else f"{utc:%Y-%m-%d}"


def date_and_time(at_ms: int | None) -> str:
    """Return date and time of epoch milliseconds, in UTC.

    >>> date_and_time(1795220373651)
    '2026-11-21 00:19:33'
    """
    utc = _utc(at_ms)
    if at_ms is None or utc is None:
        return clock(at_ms)
    return f"{utc:%Y-%m-%d %H:%M:%S}"


def period(from_ms: int, to_ms: int) -> str:
    """Return the first and the last time of a period; the date once where both have the same.

    >>> period(1795220373651, 1795220378651)
    '2026-11-21 00:19:33 to 00:19:38'
    """
    until = date_and_time(to_ms)
    if date(from_ms) == date(to_ms) != NONE:
        until = until.partition(" ")[2]
    return f"{date_and_time(from_ms)} to {until}"


def duration(duration_ms: int | None) -> str:
    """Return a duration in one or two units.

    >>> [duration(ms) for ms in (7, 41_260, 754_000, 90_061_000, None)]
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


def known_sum(values: Iterable[int | None]) -> int | None:
    """Return the sum of the values that are not `None`, or `None` where all of them are.

    >>> known_sum([1, None, 2]), known_sum([None]), known_sum([])
    (3, None, 0)
    """
    listed = list(values)
    known = [value for value in listed if value is not None]
    return sum(known) if known or not listed else None


def number(value: int | None) -> str:
    """Return a number with separators.

    >>> number(12345), number(None)
    ('12,345', '-')
    """
    return NONE if value is None else f"{value:,}"


def count(value: int, noun: str) -> str:
    """Return a number and its noun, in the plural where it needs one.

    >>> count(1, "move"), count(2, "generation")
    ('1 move', '2 generations')
    """
    return f"{value:,} {noun if value == 1 else noun + 's'}"


def value_range(smallest: int, largest: int) -> str:
    """Return the smallest and the largest of some numbers, once where they are equal.

    >>> value_range(2, 5), value_range(3, 3)
    ('2-5', '3')
    """
    return str(smallest) if smallest == largest else f"{smallest:,}-{largest:,}"


def visible(text: str) -> str:
    r"""Return the text with an escape sequence for every character that cannot be seen.

    >>> visible("orders\x1b[2J"), visible("\u202efdp")
    ('orders\\x1b[2J', '\\u202efdp')
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def shortened(text: str, length: int = TEXT_MAX) -> str:
    """Return the text, cut to `length` characters where it is longer.

    >>> shortened("a-very-long-name", 8)
    'a-very-…'
    """
    return text if len(text) <= length else f"{text[: length - 1]}…"


def shortened_name(text: str, length: int) -> str:
    """Return at most so many characters, those in the middle left out: names often begin alike.

    >>> shortened_name("payment-service-7d9f8b-xk2lp", 16)
    'payment…8b-xk2lp'
    """
    if len(text) <= length:
        return text
    end = length // 2
    return f"{text[: length - 1 - end]}…{text[-end:]}"


def _utc(at_ms: int | None) -> datetime | None:
    if at_ms is None:
        return None
    try:
        return datetime.fromtimestamp(at_ms // 1000, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return None
