"""The member protocol, as every member program speaks it: flags in, JSON lines out.

A program is started with `--name value` flags and writes one JSON object a line on standard
output, each with the wall clock in milliseconds:

    {"t": 1789000000123, "event": "started"}
    {"t": ..., "event": "assigned", "partitions": [["orders", [0, 1]]]}   # what came
    {"t": ..., "event": "revoked", "partitions": [["orders", [1]]]}       # handed over in peace
    {"t": ..., "event": "lost", "partitions": [["orders", [1]]]}          # taken away
    {"t": ..., "event": "view", "partitions": [["orders", [0]]]}          # all it has, every 400 ms
    {"t": ..., "event": "records", "topic": "orders", "partition": 0, "first": 7, "last": 9}
    {"t": ..., "event": "error", "text": "what the client complained about"}
    {"t": ..., "event": "note", "text": "member code"}      # of ours alone: whoever it leads is odd
    {"t": ..., "event": "closed"}

The value of a record is its sequence number in its partition. Records are written before their
offsets are committed, and the end of an ownership after its last commit: what a reader of these
lines holds against a member is then true of the member.

Standard input takes commands: `view`, `subscribe a,b`, `close`. Its end closes the member too,
so that none outlives the tests that started it.
"""

from __future__ import annotations

import json
import queue
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

TopicPartition = tuple[str, int]

VIEW_S = 0.4


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """The flags; all of them are always given."""

    bootstrap: str
    group: str
    client_id: str
    topics: list[str]
    assignors: list[str]
    instance: str | None
    rack: str | None
    session_timeout_ms: int
    heartbeat_ms: int
    rebalance_timeout_ms: int
    metadata_max_age_ms: int
    strategies: str
    """`shipped` with the client, or `ours`."""


def settings() -> Settings:
    """What the command line says."""
    names = [name.removeprefix("--") for name in sys.argv[1::2]]
    flags = dict(zip(names, sys.argv[2::2], strict=True))
    return Settings(
        bootstrap=flags["bootstrap"],
        group=flags["group"],
        client_id=flags["client-id"],
        topics=flags["topics"].split(","),
        assignors=flags["assignors"].split(","),
        instance=flags["instance"] or None,
        rack=flags["rack"] or None,
        session_timeout_ms=int(flags["session-timeout-ms"]),
        heartbeat_ms=int(flags["heartbeat-ms"]),
        rebalance_timeout_ms=int(flags["rebalance-timeout-ms"]),
        metadata_max_age_ms=int(flags["metadata-max-age-ms"]),
        strategies=flags["strategies"],
    )


OURS = {
    "range": "java/range",
    "roundrobin": "java/roundrobin",
    "sticky": "optimal/sticky",
    "cooperative-sticky": "optimal/cooperative-sticky",
}
"""Which of our assignors speaks under a protocol's name; `family/name` stands for itself."""


def write(event: str, **fields: object) -> None:
    """One line."""
    line = json.dumps({"t": time.time_ns() // 1_000_000, "event": event, **fields})
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def write_partitions(event: str, partitions: Iterable[TopicPartition]) -> None:
    """One line with partitions: `assigned`, `revoked`, `lost` or `view`."""
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(partitions):
        topics.setdefault(topic, []).append(partition)
    write(event, partitions=list(topics.items()))


def write_note(note: Any) -> None:
    """What a leader of ours says of a member: its id and what is odd about it, on one line."""
    write("note", text=f"{note.member_id} {note.code}")


def write_error(error: object) -> None:
    """What went wrong, on one line."""
    write("error", text=repr(error)[:300])


@dataclass(slots=True)
class Progress:
    """Records that were reported and whose offsets are still to be committed."""

    offsets: dict[TopicPartition, int] = field(default_factory=dict)
    """The offset to go on from."""

    def took(self, partition: TopicPartition, records: Iterable[tuple[int, bytes]]) -> None:
        """Report records, given as offset and value, in runs without a gap."""
        first = last = None
        for offset, value in records:
            sequence = int(value)
            if first is None or last is None or sequence != last + 1:
                _write_run(partition, first, last)
                first = sequence
            last = sequence
            self.offsets[partition] = offset + 1
        _write_run(partition, first, last)

    def keep(self, owned: Iterable[TopicPartition]) -> None:
        """Forget partitions that are somebody else's: their offsets are not ours to commit."""
        kept = set(owned)
        self.offsets = {one: offset for one, offset in self.offsets.items() if one in kept}

    def drop(self, taken: Iterable[TopicPartition]) -> None:
        """Forget partitions that were taken away."""
        for one in taken:
            self.offsets.pop(one, None)


def _write_run(partition: TopicPartition, first: int | None, last: int | None) -> None:
    if first is not None:
        write("records", topic=partition[0], partition=partition[1], first=first, last=last)


class Commands:
    """Commands from standard input, to be asked for between two polls."""

    def __init__(self) -> None:
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()
        self._view_at = 0.0
        self._shown: frozenset[TopicPartition] | None = None

    def _read(self) -> None:
        for line in sys.stdin:
            self._lines.put(line.strip())
        self._lines.put("close")

    def next(self) -> tuple[str, str]:
        """The next command and its argument; both empty where there is none."""
        try:
            command, _, argument = self._lines.get_nowait().partition(" ")
        except queue.Empty:
            return "", ""
        if command == "view":
            self._view_at = 0.0
        return command, argument

    def show(self, owned: Iterable[TopicPartition]) -> None:
        """A view where one is due: asked for, changed, or 400 ms old."""
        now, shown = time.monotonic(), frozenset(owned)
        if shown != self._shown or now - self._view_at >= VIEW_S:
            self._view_at, self._shown = now, shown
            write_partitions("view", shown)
