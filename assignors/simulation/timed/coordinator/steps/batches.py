"""Records of several requests that are appended together, and the state that runs ahead of them.

A batch waits for others (`settings.Lingers`) until it is full, or a request comes whose records are
a batch of their own. Of a partition one batch is appended at a time. If that fails, it is taken
back with all that was made on top of it. Source: CoordinatorRuntime of Kafka 4.4.0, whose append
into the local log is always complete at once; here it need not be.
"""

from __future__ import annotations

from collections.abc import Iterable

from assignors.simulation.timed.coordinator.log import Entry
from assignors.simulation.timed.coordinator.port import (
    Append,
    Failure,
    Linger,
    Lingered,
    make,
)
from assignors.simulation.timed.coordinator.settings import Lingers
from assignors.simulation.timed.coordinator.state import Batch, Coordinator, Partition, Task
from assignors.simulation.timed.coordinator.steps import history
from assignors.simulation.timed.coordinator.steps.holding import (
    answer,
    release,
    release_key,
    release_worker,
)
from assignors.simulation.timed.coordinator.steps.parking import drain, park


def add(state: Coordinator, partition: Partition, task: Task) -> None:
    """Let the state run ahead, and the records wait for others."""
    assert task.handled is not None
    entries = task.handled.entries
    is_alone = task.request.is_transactional
    batch = partition.batch
    if batch is not None and (
        is_alone or len(batch.entries) + len(entries) > state.settings.batch_max
    ):
        _close(state, partition)
        batch = None
    if batch is None:
        batch = _open(state, partition, task)
    run_ahead(state, partition, task)
    batch.tasks.append(task)
    batch.entries += entries
    release_worker(state, task)
    release_key(state, task)
    if is_alone or _is_due(state, partition, batch):
        _close(state, partition)


def join(partition: Partition, task: Task) -> None:
    """Let a request that writes nothing wait for all that has run ahead."""
    if partition.batch is not None:
        partition.batch.tasks.append(task)
    elif partition.closed:
        partition.closed[-1].tasks.append(task)
    else:
        park(partition, task)


def run_ahead(state: Coordinator, partition: Partition, task: Task) -> None:
    """Apply the records of a request to the state."""
    assert task.handled is not None
    task.start = partition.ahead
    held = history.change(partition, task.handled.entries)
    task.end = partition.ahead
    state.held_max = max(state.held_max, held)


def append(
    state: Coordinator, partition: int, entries: Iterable[Entry], whose: Task | Batch
) -> None:
    """Ask for an append."""
    state.tokens += 1
    state.appends[state.tokens] = whose
    state.out.append(make(Append, (state.tokens, partition, tuple(entries))))


def _open(state: Coordinator, partition: Partition, task: Task) -> Batch:
    """Begin a batch: who waits now may be in it."""
    state.tokens += 1
    waiting = state.keys[task.key].tasks
    last = waiting[-1] if waiting else None
    batch = partition.batch = Batch(state.tokens, task.partition, last)
    if state.settings.linger is Lingers.TIMED and not task.request.is_transactional:
        state.out.append(Linger(task.partition, batch.number))
    return batch


def flush_if_due(state: Coordinator, partition: Partition) -> None:
    """Append the batch that is being filled, if it is full or waits for nobody any more."""
    batch = partition.batch
    if batch is not None and _is_due(state, partition, batch):
        _close(state, partition)


def _is_due(state: Coordinator, partition: Partition, batch: Batch) -> bool:
    settings = state.settings
    if len(batch.entries) >= settings.batch_max:
        return True
    if partition.is_appending:
        return False
    last, linger = batch.last, settings.linger
    if linger is Lingers.QUEUED and last is not None:
        return last.handled is not None or last.request.number not in state.tasks
    return linger is not Lingers.TIMED or batch.has_lingered


def _close(state: Coordinator, partition: Partition) -> None:
    """Let nothing more into the batch, and append it in its turn."""
    assert partition.batch is not None
    partition.closed.append(partition.batch)
    partition.batch = None
    if partition.snapshots is not None:
        history.end_batch(partition)
    if not partition.is_appending:
        _append_next(state, partition)


def _append_next(state: Coordinator, partition: Partition) -> None:
    batch = partition.closed[0]
    partition.is_appending = True
    append(state, batch.partition, batch.entries, batch)


def lingered(state: Coordinator, event: Lingered) -> None:
    """Append a batch that has waited long enough."""
    partition = state.partitions[event.partition]
    batch = partition.batch
    if batch is not None and batch.number == event.batch:
        batch.has_lingered = True
        flush_if_due(state, partition)


def batch_appended(state: Coordinator, batch: Batch, end: int | None) -> None:
    """Let a batch that is in the local log wait for the high watermark, and append the next one."""
    partition = state.partitions[batch.partition]
    partition.is_appending = False
    if end is None:
        _take_back(state, partition)
        return
    partition.closed.popleft()
    partition.written = end
    for task in batch.tasks:
        park(partition, task)
    if partition.high_watermark >= end:  # it has risen before this was known
        drain(state, partition)
    if partition.closed:
        _append_next(state, partition)
    if partition.batch is not None:
        flush_if_due(state, partition)


def _take_back(state: Coordinator, partition: Partition) -> None:
    """Take back a batch that failed, and those that were made on top of it."""
    batches = [*partition.closed, *([partition.batch] if partition.batch else ())]
    partition.closed.clear()
    partition.batch = None
    history.revert(partition, partition.written)
    for batch in batches:
        for task in batch.tasks:
            answer(state, task, failure=Failure.APPEND)
            release(state, task)
