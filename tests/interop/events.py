"""What members say, line by line, and what the tests did to them.

The lines themselves are described in `tests/foreign/members/python/reporting.py`. The tests add
events of their own, which no member can write: `killed`, `paused`, `resumed`, and `died` for a
program that ended by itself.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass

Partition = tuple[str, int]
"""Topic and number."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Something a member did, or that was done to it."""

    t_ms: int
    """Wall clock: one machine, one clock."""
    member: str
    kind: str
    partitions: frozenset[Partition] = frozenset()
    """Of `assigned`, `revoked`, `lost` and `view`; the single one of `records`."""
    first: int = 0
    last: int = -1
    """The run of sequence numbers of `records`."""
    text: str = ""


def now_ms() -> int:
    """The clock of the events."""
    return time.time_ns() // 1_000_000


def parse(line: str, member: str) -> Event:
    """One line of a member's; anything that is none becomes an `error` with its text.

    >>> parse('{"t": 5, "event": "lost", "partitions": [["a", [1]]]}', "m").partitions
    frozenset({('a', 1)})
    >>> parse("Exception in thread", "m").kind
    'error'
    """
    try:
        said = json.loads(line)
        kind, t_ms = said["event"], said["t"]
    except (ValueError, KeyError, TypeError):
        return Event(t_ms=now_ms(), member=member, kind="error", text=line.strip()[:500])
    if kind == "records":
        return Event(
            t_ms=t_ms,
            member=member,
            kind=kind,
            partitions=frozenset({(said["topic"], said["partition"])}),
            first=said["first"],
            last=said["last"],
        )
    partitions = frozenset(
        (topic, number) for topic, numbers in said.get("partitions", ()) for number in numbers
    )
    text = said.get("text", "")
    return Event(t_ms=t_ms, member=member, kind=kind, partitions=partitions, text=text)
