"""The state of a watch in a directory: a killed watch goes on where it was.

One file has the positions in the topic and the state of every group. It is written beside the old
one and renamed. After a restart the records behind the positions are
read again and give the same events with the same ids.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from assignors.watch.encoding import StateError, from_bytes, to_bytes
from assignors.watch.group_state import Cluster, state_bytes, state_from_bytes
from assignors.watch.groups import Watch
from assignors.watch.machine import NOTHING
from assignors.watch.reach import OwnState
from assignors.watch.rules import Rules

NAME = "watch.jsonl"

PART = 200
"""Groups that are written before the watch looks for records again: about 0.1 s."""


@dataclass(slots=True)
class Head:
    """The first line of a checkpoint; the state of a group is a line behind it."""

    positions: dict[int, int]
    """Partition of the offsets topic -> the offset that is read next."""
    since_ms: int
    clock_ms: int
    record_count: int
    unreadable_count: int
    cluster: Cluster = NOTHING
    own: OwnState = field(default_factory=OwnState)


def write_checkpoint(directory: Path, watch: Watch, positions: Mapping[int, int]) -> None:
    """Write the state of a watch at once: see `written_in_parts`."""
    for _ in written_in_parts(directory, watch, positions):
        pass


def written_in_parts(directory: Path, watch: Watch, positions: Mapping[int, int]) -> Iterator[None]:
    """Write the state of a watch, `PART` groups at a time; the old one stays until it is whole.

    The watch may go on in between. A group that is written later is ahead of the positions then,
    and drops the records that it reads again, as it knows the offset of its last one.
    Raises `OSError` where the directory cannot be written. Cost: linear in the state.
    """
    directory.mkdir(parents=True, exist_ok=True)
    head = Head(
        positions=dict(positions),
        since_ms=watch.since_ms,
        clock_ms=watch.clock_ms,
        record_count=watch.record_count,
        unreadable_count=watch.unreadable_count,
        cluster=watch.cluster,
        own=watch.own,
    )
    part = directory / f".{NAME}.part"
    with part.open("wb") as stream:
        stream.write(to_bytes(head) + b"\n")
        for number, name in enumerate([*watch.groups], start=1):
            group = watch.groups.get(name)
            if group is not None:  # not forgotten meanwhile
                stream.write(state_bytes(group) + b"\n")
            if number % PART == 0:
                yield
        stream.flush()
        os.fsync(stream.fileno())
    part.replace(directory / NAME)


def read_checkpoint(directory: Path, rules: Rules) -> tuple[Watch, dict[int, int]] | None:
    """Return the watch of a checkpoint, and its positions; `None` where there is none.

    Raises `StateError` for a checkpoint of another version, or one that is damaged.
    """
    path = directory / NAME
    if not path.exists():
        return None
    try:
        with path.open("rb") as lines:
            head = from_bytes(Head, next(lines, b""))
            watch = Watch(
                rules=rules,
                since_ms=head.since_ms,
                cluster=head.cluster,
                clock_ms=head.clock_ms,
                record_count=head.record_count,
                unreadable_count=head.unreadable_count,
                own=head.own,
            )
            for line in lines:
                watch.restore(state_from_bytes(line))
    except StateError as error:
        words = f"{path}: {error}; remove the directory to start again from the topic"
        raise StateError(words) from error
    return watch, head.positions
