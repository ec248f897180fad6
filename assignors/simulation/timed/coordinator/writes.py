"""How records get into the state and into the log, and how they go back.

Where the state changes at the append, `Partition.undo` has what it said before, record by record,
until that is replicated: so an append that fails takes back its own records and all that were made
on top of them. Where it changes with the replication there is nothing to take back, and records are
applied in the order of the log, in whatever order their appends complete.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heappop, heappush

from assignors.simulation.timed.coordinator.holding import (
    answer,
    release,
    release_key,
    release_worker,
)
from assignors.simulation.timed.coordinator.log import Entry, apply
from assignors.simulation.timed.coordinator.policy import Applies, Holds
from assignors.simulation.timed.coordinator.port import (
    Append,
    Appended,
    Failure,
    Linger,
    Lingered,
    Refused,
    Replicated,
)
from assignors.simulation.timed.coordinator.state import Batch, Coordinator, Partition, Task


def write(state: Coordinator, task: Task) -> None:
    """Handle a request and write what it leads to."""
    partition, policy = state.partitions[task.partition], state.policy
    try:
        handled = task.handled = state.handler(partition.state, task.request)
    except Refused as refused:
        answer(state, task, str(refused), Failure.REFUSED)
        release(state, task)
        flush_if_due(state, task.partition)
        return
    if not handled.entries:
        _read(state, partition, task)
    elif policy.has_batches:
        _add(state, partition, task)
    else:
        _append(state, task.partition, handled.entries, task)


def _read(state: Coordinator, partition: Partition, task: Task) -> None:
    """Answer a request that writes nothing, once what it has seen is replicated."""
    is_ahead = partition.ahead > partition.high_watermark
    if state.policy.applies is Applies.APPEND and is_ahead:
        task.start = task.end = partition.ahead
        release_worker(state, task)
        release_key(state, task)
        if partition.batch is not None:
            partition.batch.tasks.append(task)
        elif partition.in_append is not None:
            partition.in_append.tasks.append(task)
        else:
            _park(partition, task)
    else:
        assert task.handled is not None
        answer(state, task, task.handled.response)
        release(state, task)
    flush_if_due(state, task.partition)


def _append(
    state: Coordinator, partition: int, entries: Iterable[Entry], whose: Task | Batch
) -> None:
    state.tokens += 1
    state.appends[state.tokens] = whose
    state.out.append(Append(state.tokens, partition, tuple(entries)))


# Batches


def _add(state: Coordinator, partition: Partition, task: Task) -> None:
    """Let the state run ahead, and the records wait for others."""
    assert task.handled is not None
    batch = partition.batch
    if batch is None:
        state.tokens += 1
        waiting = state.keys[task.key].tasks
        last = waiting[-1] if waiting else None
        batch = partition.batch = Batch(state.tokens, task.partition, last)
        if state.settings.linger:
            state.out.append(Linger(task.partition, batch.number))
    _run_ahead(state, partition, task)
    batch.tasks.append(task)
    batch.entries.extend(task.handled.entries)
    release_worker(state, task)
    release_key(state, task)
    flush_if_due(state, task.partition)


def _run_ahead(state: Coordinator, partition: Partition, task: Task) -> None:
    assert task.handled is not None
    task.start = partition.ahead
    for entry in task.handled.entries:
        if partition.ahead >= partition.high_watermark:
            before = partition.state.get(entry.key)
            partition.undo.append((partition.ahead, entry.key, before))
        apply(partition.state, entry)
        partition.ahead += 1
    task.end = partition.ahead
    state.held_max = max(state.held_max, len(partition.undo))


def flush_if_due(state: Coordinator, number: int) -> None:
    """Append a batch that is full, or, without a linger, waits for nobody any more."""
    batch, settings = state.partitions[number].batch, state.settings
    if batch is None or not batch.entries:
        return
    last = batch.last
    waits = settings.linger or (
        last is not None and last.handled is None and last.request.number in state.tasks
    )
    if not waits or len(batch.entries) >= settings.batch_max:
        _flush(state, number)


def _flush(state: Coordinator, number: int) -> None:
    """Append a batch, if none is being appended: that one's end brings this one on."""
    partition = state.partitions[number]
    if partition.batch is not None and partition.in_append is None:
        partition.in_append, partition.batch = partition.batch, None
        _append(state, number, partition.in_append.entries, partition.in_append)


def lingered(state: Coordinator, event: Lingered) -> None:
    """Append a batch that has waited long enough."""
    batch = state.partitions[event.partition].batch
    if batch is not None and batch.number == event.batch:
        _flush(state, event.partition)


# What becomes of appends


def appended(state: Coordinator, event: Appended) -> None:
    """Take note of an append that is in the local log, or has failed."""
    whose = state.appends.pop(event.token, None)
    if isinstance(whose, Batch):
        _batch_appended(state, whose, event.end)
    elif whose is not None:
        _task_appended(state, whose, event.end)


def _task_appended(state: Coordinator, task: Task, end: int | None) -> None:
    if end is None:
        answer(state, task, failure=Failure.APPEND)
        release(state, task)
        return
    assert task.handled is not None
    partition = state.partitions[task.partition]
    task.start, task.end = end - len(task.handled.entries), end
    partition.written = max(partition.written, end)
    if state.policy.applies is Applies.APPEND:
        _run_ahead(state, partition, task)
    _park(partition, task)
    if state.policy.in_replication is not Holds.WORKER:
        release_worker(state, task)
    if state.policy.in_replication is Holds.NOTHING:
        release_key(state, task)
    _drain(state, partition)


def _batch_appended(state: Coordinator, batch: Batch, end: int | None) -> None:
    partition = state.partitions[batch.partition]
    partition.in_append = None
    if end is None:
        _take_back(state, partition, batch)
        return
    partition.written = end
    for task in batch.tasks:
        _park(partition, task)
    _drain(state, partition)
    if state.settings.linger:
        _flush(state, batch.partition)
    else:
        flush_if_due(state, batch.partition)


def _take_back(state: Coordinator, partition: Partition, batch: Batch) -> None:
    """Undo a batch that failed, and the one that was made on top of it."""
    failed = [*batch.tasks, *(partition.batch.tasks if partition.batch else ())]
    partition.batch = None
    while partition.undo and partition.undo[-1][0] >= partition.written:
        _, key, before = partition.undo.pop()
        apply(partition.state, Entry(key, before))
    partition.ahead = partition.written
    for task in failed:
        answer(state, task, failure=Failure.APPEND)
        release(state, task)


def _park(partition: Partition, task: Task) -> None:
    heappush(partition.parked, (task.end, task.request.number, task))


def replicated(state: Coordinator, event: Replicated) -> None:
    """Answer what the high watermark has passed."""
    partition = state.partitions[event.partition]
    partition.high_watermark = max(partition.high_watermark, event.high_watermark)
    undo = partition.undo
    while undo and undo[0][0] < partition.high_watermark:
        undo.popleft()
    _drain(state, partition)


def _drain(state: Coordinator, partition: Partition) -> None:
    parked, waits_in_order = partition.parked, state.policy.applies is Applies.REPLICATION
    while parked and parked[0][0] <= partition.high_watermark:
        task = parked[0][2]
        assert task.handled is not None
        if waits_in_order:
            if task.start > partition.ahead:
                return  # the append before it is replicated, and has not completed here
            for entry in task.handled.entries:
                apply(partition.state, entry)
            partition.ahead = task.end
        heappop(parked)
        answer(state, task, task.handled.response)
        release(state, task)
