"""The log of an offsets partition as the entries of an execution model.

A record that cannot be read, or of which no group can be made, is named with its offset, and left
out: the records around it count as they would without it. Kafka's own loader leaves out what has a
type that it does not know, and gives up the partition at everything else.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from assignors.simulation.timed.execution.port import Entry
from assignors.simulation.timed.hosting.record_bytes import TopicNames, read_record
from assignors.simulation.timed.offsets_topic import LogEntry
from assignors.simulation.timed.protocols.kafka.restore import Restored, apply
from wire import WireError


class Odd(NamedTuple):
    """A record that is left out, and why."""

    offset: int
    reason: str


class ReadLog(NamedTuple):
    """What a log contains."""

    entries: tuple[Entry, ...]
    """For `Loaded`."""
    groups: dict[str, Restored]
    """The groups that its records make, by name: as of its end."""
    odd: list[Odd]


def log_of(entries: Iterable[Entry], start: int, at_ms: int) -> list[LogEntry]:
    """Return entries of an execution model as they stand in a log, the first one at `start`.

    Cost: O(entries).
    """
    found: list[LogEntry] = []
    for offset, (key, value) in enumerate(entries, start):
        assert isinstance(key, bytes), key
        found.append(LogEntry(offset, at_ms, key, value))
    return found


def read_log(log: Iterable[LogEntry], topics: TopicNames) -> ReadLog:
    """Return what the records of one partition contain; they come in order. Cost: O(bytes)."""
    entries: list[Entry] = []
    groups: dict[str, Restored] = {}
    odd: list[Odd] = []
    for row in log:
        try:
            name, record = read_record(row.key, row.value, topics)
            apply(groups.setdefault(name, Restored()), record)
        except (WireError, ValueError) as error:
            odd.append(Odd(row.offset, str(error)))
        else:
            entries.append(Entry(row.key, row.value))
    return ReadLog(tuple(entries), groups, odd)
