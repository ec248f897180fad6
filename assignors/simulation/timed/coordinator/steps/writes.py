"""How a request is handled, and how its records get into the log and into the state.

Where the state changes at the append, `history` has what it was before, so an append that fails
takes back its own records and all that were made on top of them. Where it changes with the
replication there is nothing to take back, and records are applied in the order of the log, in
whatever order their appends complete.
"""

from __future__ import annotations

from assignors.simulation.timed.coordinator.policy import Applies, Holds
from assignors.simulation.timed.coordinator.port import Appended, Failure, Handled, Refused
from assignors.simulation.timed.coordinator.state import Batch, Coordinator, Partition, Task
from assignors.simulation.timed.coordinator.steps import batches
from assignors.simulation.timed.coordinator.steps.background import result_of, submit
from assignors.simulation.timed.coordinator.steps.history import end_batch
from assignors.simulation.timed.coordinator.steps.holding import (
    answer,
    release,
    release_key,
    release_worker,
)
from assignors.simulation.timed.coordinator.steps.parking import drain, park, start_timeout


def write(state: Coordinator, task: Task) -> None:
    """Handle a request and write what it leads to."""
    partition = state.partitions[task.partition]
    try:
        if task.job is None:
            handled = state.handler(partition.state, task.request)
        else:
            handled = result_of(state, task.job)
    except Refused as refused:
        answer(state, task, str(refused), Failure.REFUSED)
        release(state, task)
        batches.flush_if_due(state, partition)
        return
    task.handled = handled
    if handled.background is not None:
        submit(state, task, handled.background)
    if not handled.entries:
        _read(state, partition, task, handled)
    elif state.policy.has_batches:
        batches.add(state, partition, task)
    else:
        batches.append(state, task.partition, handled.entries, task)
    if state.settings.has_timeout:
        start_timeout(state, task)


def _read(state: Coordinator, partition: Partition, task: Task, handled: Handled) -> None:
    """Answer a request that writes nothing, once what it has seen is replicated."""
    is_ahead = partition.ahead > partition.high_watermark
    if state.policy.applies is Applies.APPEND and is_ahead and not task.is_answered:
        task.start = task.end = partition.ahead
        release_worker(state, task)
        release_key(state, task)
        batches.join(partition, task)
    else:
        answer(state, task, handled.response)
        release(state, task)
    batches.flush_if_due(state, partition)


def appended(state: Coordinator, event: Appended) -> None:
    """Take note of an append that is in the local log, or has failed."""
    whose = state.appends.pop(event.token, None)
    if isinstance(whose, Batch):
        batches.batch_appended(state, whose, event.end)
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
        batches.run_ahead(state, partition, task)
        if partition.snapshots is not None:
            end_batch(partition)
    park(partition, task)
    if state.policy.in_replication is not Holds.WORKER:
        release_worker(state, task)
    if state.policy.in_replication is Holds.NOTHING:
        release_key(state, task)
    drain(state, partition)
