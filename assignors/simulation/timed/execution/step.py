"""One step of a coordinator: an event in, effects out, by its execution model.

A key is locked by the request that is handled, once for all of its stages or for each of them, and
unlocked exactly once, whatever becomes of it. A worker is taken and given back in the same way.

Where the state changes at the append, an append that fails takes back its own records and all that
were made on top of them. Where it changes with the replication there is nothing to take back, and
records are applied in the order of the log, in whatever order their appends complete.

Source: `CoordinatorRuntime` of Kafka 4.4.0, whose append into the local log is always complete at
once; here it need not be.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable
from heapq import heappop, heappush
from itertools import takewhile
from typing import Any

from assignors.simulation.timed.execution.policy import Applies, Holds, Lingers
from assignors.simulation.timed.execution.port import (
    Answer,
    Append,
    Appended,
    Asked,
    Check,
    Checked,
    Effect,
    Entry,
    Event,
    Failure,
    Handled,
    Linger,
    Lingered,
    Loaded,
    Lost,
    Replicated,
    Work,
    Worked,
    apply,
    fold,
    make,
)
from assignors.simulation.timed.execution.state import (
    Batch,
    Coordinator,
    Partition,
    Task,
    Waiting,
    change,
    forget,
    revert,
)


def step(state: Coordinator, event: Event) -> list[Effect]:
    """Return what the coordinator does about an event; `state` changes in place.

    Cost: O(1), and that of the handler; O(records not replicated) where an append fails.
    """
    out: list[Effect] = []
    state.out = out
    HANDLERS[type(event)](state, event)
    if state.unlocked:
        _catch_up(state)
    if state.free and (state.ready or state.resumed):
        _dispatch(state)
    return out


def _asked(state: Coordinator, event: Asked) -> None:
    request = event.request
    number = request.group % len(state.partitions)
    if state.partitions[number].is_lost:
        state.out.append(Answer(request.number, None, Failure.NOT_COORDINATOR))
        return
    key = request.group if state.is_by_group else number
    task = Task(request, number, key, not request.is_checked)
    state.tasks[request.number] = task
    if not task.is_checked and state.policy.in_check is Holds.NOTHING:
        state.out.append(Check(request.number))
    else:
        _enqueue(state, task)


def _dispatch(state: Coordinator) -> None:
    """Give workers to those that go on, then to the keys in line."""
    while state.free and state.resumed:
        task = state.resumed.popleft()
        state.free -= 1
        task.has_worker = True
        _work(state, task)
    keys, ready, policy = state.keys, state.ready, state.policy
    while state.free and ready:
        key = ready.popleft()
        waiting = keys[key]
        waiting.is_ready = False
        task = waiting.tasks.popleft()
        waiting.holders += 1
        waiting.is_exclusive = not task.request.is_commit
        state.free -= 1
        task.has_worker = task.has_key = True
        if task.is_checked:
            task.is_working = True
            state.out.append(make(Work, (task.request.number, not task.is_inline)))
        else:
            state.out.append(Check(task.request.number))
            if policy.in_check is Holds.KEY:
                release_worker(state, task)
        if waiting.tasks and policy.shares_commits:
            _line_up(state, key, waiting)


def _work(state: Coordinator, task: Task) -> None:
    task.is_working = True
    state.out.append(Work(task.request.number, not task.is_inline))


def _checked(state: Coordinator, event: Checked) -> None:
    task = state.tasks.get(event.number)
    if task is None:
        return
    task.is_checked = True
    if task.has_worker:
        _work(state, task)
    elif task.has_key:
        state.resumed.append(task)
    else:
        _enqueue(state, task)


def _worked(state: Coordinator, event: Worked) -> None:
    task = state.tasks.get(event.number)
    if task is None:  # its partition has gone to another coordinator
        state.free += 1
        return
    task.is_working = False
    _write(state, task)


# Who holds a worker or a key, and who is answered: each once, whatever becomes of a request


def _enqueue(state: Coordinator, task: Task) -> None:
    """Let a request wait for its key."""
    waiting = state.keys.get(task.key)
    if waiting is None:
        waiting = state.keys[task.key] = Waiting()
    task.is_inline = state.policy.runs_inline and not waiting.tasks and not waiting.holders
    if task.request.goes_first:
        first = sum(1 for _ in takewhile(lambda each: each.request.goes_first, waiting.tasks))
        waiting.tasks.insert(first, task)
    else:
        waiting.tasks.append(task)
    _line_up(state, task.key, waiting)


def _line_up(state: Coordinator, key: Hashable, waiting: Waiting) -> None:
    """Put a key in line for a worker if its next request may begin; there has to be one."""
    if waiting.is_ready:
        return
    if waiting.holders and not _may_share(state, waiting):
        return
    waiting.is_ready = True
    state.ready.append(key)


def _may_share(state: Coordinator, waiting: Waiting) -> bool:
    """Return whether the next request of a key may begin while others hold the key."""
    shares = state.policy.shares_commits and not waiting.is_exclusive
    return shares and waiting.tasks[0].request.is_commit


def answer(
    state: Coordinator, task: Task, response: object = None, failure: Failure | None = None
) -> None:
    """Answer a request."""
    state.out.append(make(Answer, (task.request.number, response, failure)))


def release_worker(state: Coordinator, task: Task) -> None:
    """Give back a worker, if the task has one."""
    if task.has_worker:
        task.has_worker = False
        state.free += 1


def release_key(state: Coordinator, task: Task) -> None:
    """Unlock the key, if the task has it."""
    if task.has_key:
        task.has_key = False
        waiting = state.keys[task.key]
        waiting.holders -= 1
        if not waiting.holders:
            waiting.is_exclusive = False
            if task.partition in state.risen:
                state.unlocked.append(task.partition)
        if waiting.tasks:
            _line_up(state, task.key, waiting)
        elif not waiting.holders and state.is_by_group:  # partitions are few, and come again
            del state.keys[task.key]


def release(state: Coordinator, task: Task) -> None:
    """Give back what a task holds, and forget it: it is over."""
    if task.has_worker:
        release_worker(state, task)
    if task.has_key:
        release_key(state, task)
    state.tasks.pop(task.request.number, None)


# How a request is handled, and how its records get into the log and into the state


def _write(state: Coordinator, task: Task) -> None:
    """Handle a request and write what it leads to."""
    partition = state.partitions[task.partition]
    task.handled = handled = state.handler(partition.state, task.request)
    if not handled.entries:
        _read(state, partition, task, handled)
    elif state.policy.has_batches:
        _add_to_batch(state, partition, task)
    else:
        append(state, task.partition, handled.entries, task)


def _read(state: Coordinator, partition: Partition, task: Task, handled: Handled) -> None:
    """Answer a request that writes nothing, once what it has seen is replicated."""
    is_ahead = partition.ahead > partition.high_watermark
    if state.policy.applies is Applies.APPEND and is_ahead:
        task.start = task.end = partition.ahead
        release_worker(state, task)
        release_key(state, task)
        _join_batch(partition, task)
    else:
        answer(state, task, handled.response)
        release(state, task)
    _flush_if_due(state, partition)


def _appended(state: Coordinator, event: Appended) -> None:
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
    park(partition, task)
    if state.policy.in_replication is not Holds.WORKER:
        release_worker(state, task)
    if state.policy.in_replication is Holds.NOTHING:
        release_key(state, task)
    drain(state, partition)


# Batches: records of several requests that are appended together. A batch waits for others
# (`policy.Lingers`) until it is full, or a request comes whose records are a batch of their own.
# Of a partition one batch is appended at a time


def _add_to_batch(state: Coordinator, partition: Partition, task: Task) -> None:
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
    _run_ahead(state, partition, task)
    batch.tasks.append(task)
    batch.entries += entries
    release_worker(state, task)
    release_key(state, task)
    if is_alone or _is_due(state, partition, batch):
        _close(state, partition)


def _join_batch(partition: Partition, task: Task) -> None:
    """Let a request that writes nothing wait for all that has run ahead."""
    if partition.batch is not None:
        partition.batch.tasks.append(task)
    elif partition.closed:
        partition.closed[-1].tasks.append(task)
    else:
        park(partition, task)


def _run_ahead(state: Coordinator, partition: Partition, task: Task) -> None:
    """Apply the records of a request to the state."""
    assert task.handled is not None
    task.start = partition.ahead
    held = change(partition, task.handled.entries)
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


def _flush_if_due(state: Coordinator, partition: Partition) -> None:
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
    if not partition.is_appending:
        _append_next(state, partition)


def _append_next(state: Coordinator, partition: Partition) -> None:
    batch = partition.closed[0]
    partition.is_appending = True
    append(state, batch.partition, batch.entries, batch)


def _lingered(state: Coordinator, event: Lingered) -> None:
    """Append a batch that has waited long enough."""
    partition = state.partitions[event.partition]
    batch = partition.batch
    if batch is not None and batch.number == event.batch:
        batch.has_lingered = True
        _flush_if_due(state, partition)


def _batch_appended(state: Coordinator, batch: Batch, end: int | None) -> None:
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
        _flush_if_due(state, partition)


def _take_back(state: Coordinator, partition: Partition) -> None:
    """Take back a batch that failed, and those that were made on top of it."""
    batches = [*partition.closed, *([partition.batch] if partition.batch else ())]
    partition.closed.clear()
    partition.batch = None
    revert(partition, partition.written)
    for batch in batches:
        for task in batch.tasks:
            answer(state, task, failure=Failure.APPEND)
            release(state, task)


# Requests that wait for the high watermark, in order of offset. It is an event of its partition
# like a request: it waits for the one that is being handled, and goes before those that wait.
# Source: HighWatermarkListener in CoordinatorRuntime of Kafka 4.4.0


def park(partition: Partition, task: Task) -> None:
    """Let a request wait for the high watermark."""
    heappush(partition.parked, (task.end, task.request.number, task))


def _replicated(state: Coordinator, event: Replicated) -> None:
    """Let the high watermark rise, if it need not wait."""
    number, high_watermark = event
    if state.in_turn:
        waiting = state.keys.get(number)
        if waiting is not None and waiting.holders:
            state.risen[number] = high_watermark
            return
    _rise(state, number, high_watermark)


def _catch_up(state: Coordinator) -> None:
    """Let those high watermarks rise that have waited for a request that is handled now."""
    for number in state.unlocked:
        high_watermark = state.risen.pop(number, None)
        if high_watermark is not None:
            _rise(state, number, high_watermark)
    state.unlocked.clear()


def _rise(state: Coordinator, number: int, high_watermark: int) -> None:
    """Answer what the high watermark has passed."""
    partition = state.partitions[number]
    if high_watermark > partition.high_watermark:
        partition.high_watermark = high_watermark
        forget(partition)
        drain(state, partition)


def drain(state: Coordinator, partition: Partition) -> None:
    """Answer what is replicated; where the state changes only then, change it."""
    parked, high_watermark = partition.parked, partition.high_watermark
    waits_in_order = state.policy.applies is Applies.REPLICATION
    while parked and parked[0][0] <= high_watermark:
        task = parked[0][2]
        handled = task.handled
        assert handled is not None
        if waits_in_order:
            if task.start > partition.ahead:
                return  # the append before it is replicated, and has not completed here
            for entry in handled.entries:
                apply(partition.state, entry)
            partition.ahead = task.end
        heappop(parked)
        answer(state, task, handled.response)
        release(state, task)


# A partition goes to another coordinator, or comes from one


def _lost(state: Coordinator, event: Lost) -> None:
    """Give up a partition: whoever waits there is answered that this is not the coordinator.

    What comes later of its requests and appends means nothing any more. Cost: O(requests).
    """
    number = event.partition
    for task in [each for each in state.tasks.values() if each.partition == number]:
        answer(state, task, failure=Failure.NOT_COORDINATOR)
        if not task.is_working:  # else its worker is given back when its time is over
            release_worker(state, task)
        state.keys.pop(task.key, None)
        del state.tasks[task.request.number]
    state.ready = deque(key for key in state.ready if key in state.keys)
    state.resumed = deque(each for each in state.resumed if each.partition != number)
    state.appends = {
        token: whose for token, whose in state.appends.items() if whose.partition != number
    }
    state.risen.pop(number, None)
    state.partitions[number] = Partition(is_lost=True)


def _loaded(state: Coordinator, event: Loaded) -> None:
    """Take over a partition from its log, or from what a cleaner has left of it.

    Cost: O(entries).
    """
    state.partitions[event.partition] = Partition.of(fold(event.entries), event.end)


HANDLERS: dict[type, Callable[[Coordinator, Any], None]] = {
    Asked: _asked,
    Worked: _worked,
    Checked: _checked,
    Appended: _appended,
    Replicated: _replicated,
    Lingered: _lingered,
    Lost: _lost,
    Loaded: _loaded,
}
"""Type of an event -> what handles it."""
