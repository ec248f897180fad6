"""What a state was before records that are not replicated: an undo log, or snapshots.

The undo log keeps the value before each record. Snapshots keep, of each batch, the value before of
each key it has changed: fewer values where a batch changes a key often, and for longer, since a
snapshot goes only once the next one is replicated. Source: SnapshotRegistry and TimelineHashMap of
Kafka 4.4.0.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from assignors.simulation.timed.coordinator.log import Entry, apply
from assignors.simulation.timed.coordinator.state import Partition, Snapshot


def change(partition: Partition, entries: Iterable[Entry]) -> int:
    """Apply the next records to the state, and keep what that was; return how many values are kept.

    Cost: O(records), and O(snapshots) with these.
    """
    state, ahead = partition.state, partition.ahead
    if partition.snapshots is None:
        undo, high_watermark = partition.undo, partition.high_watermark
        for entry in entries:
            if ahead >= high_watermark:
                undo.append((ahead, entry.key, state.get(entry.key)))
            apply(state, entry)
            ahead += 1
        partition.ahead = ahead
        return len(undo)
    before = partition.snapshots[-1].before
    for entry in entries:
        if entry.key not in before:
            before[entry.key] = state.get(entry.key)
        apply(state, entry)
        ahead += 1
    partition.ahead = ahead
    return sum(len(each.before) for each in partition.snapshots)


def end_batch(partition: Partition) -> None:
    """Make a snapshot, where there are any: what follows is taken back apart. Cost: O(1)."""
    if partition.snapshots is not None:
        partition.snapshots.append(Snapshot(partition.ahead))


def forget(partition: Partition) -> None:
    """Drop what is not needed now that the high watermark has risen. Cost: O(what is dropped)."""
    snapshots, offset = partition.snapshots, partition.high_watermark
    if snapshots is None:
        undo = partition.undo
        while undo and undo[0][0] < offset:
            undo.popleft()
        return
    while len(snapshots) > 1 and snapshots[1].offset <= offset:
        snapshots.popleft()


def revert(partition: Partition, offset: int) -> None:
    """Take back all changes from an offset on: of a record, or with snapshots of a batch.

    Cost: O(what is taken back).
    """
    undo, snapshots = partition.undo, partition.snapshots
    partition.ahead = offset
    while undo and undo[-1][0] >= offset:
        _, key, before = undo.pop()
        apply(partition.state, Entry(key, before))
    if snapshots is None:
        return
    while snapshots and snapshots[-1].offset >= offset:
        for key, before in snapshots.pop().before.items():
            apply(partition.state, Entry(key, before))
    snapshots.append(Snapshot(offset))


def known(partition: Partition) -> tuple[int, dict[Hashable, Any]]:
    """Return an offset at or below the high watermark, and the state that the log had there.

    It is the high watermark itself with an undo log, the newest snapshot below it with these.
    Cost: O(state).
    """
    before: dict[Hashable, Any] = {}
    if partition.snapshots is None:
        offset = min(partition.high_watermark, partition.ahead)
        before = {key: value for _, key, value in reversed(partition.undo)}
    else:
        offset = partition.snapshots[0].offset
        for snapshot in reversed(partition.snapshots):
            before.update(snapshot.before)
    state = {**partition.state, **before}
    return offset, {key: value for key, value in state.items() if value is not None}
