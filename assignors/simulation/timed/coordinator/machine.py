"""One step of a coordinator: an event in, effects out, by its execution model.

A key is locked by the request that is handled, once for all of its stages or for each of them, and
unlocked exactly once, whatever becomes of it. A worker is taken and given back in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from assignors.simulation.timed.coordinator import failover, writes
from assignors.simulation.timed.coordinator.holding import (
    answer,
    line_up,
    release,
    release_worker,
)
from assignors.simulation.timed.coordinator.policy import Holds, Key
from assignors.simulation.timed.coordinator.port import (
    Appended,
    Asked,
    Check,
    Checked,
    Effect,
    Event,
    Failure,
    Lingered,
    Loaded,
    Lost,
    Replicated,
    TimedOut,
    Work,
    Worked,
)
from assignors.simulation.timed.coordinator.state import Coordinator, Task, Waiting


def step(state: Coordinator, event: Event) -> list[Effect]:
    """Return what the coordinator does about an event; `state` changes in place.

    Cost: O(1), and that of the handler; O(records not replicated) where an append fails.
    """
    state.out = []
    HANDLERS[type(event)](state, event)
    _dispatch(state)
    return state.out


def _asked(state: Coordinator, event: Asked) -> None:
    request, policy = event.request, state.policy
    partition = request.group % len(state.partitions)
    key: Hashable = request.group if policy.key is Key.GROUP else partition
    task = Task(request, partition, key, is_checked=not request.is_checked)
    state.tasks[request.number] = task
    if not task.is_checked and policy.in_check is Holds.NOTHING:
        state.out.append(Check(request.number))
    else:
        _enqueue(state, task)


def _enqueue(state: Coordinator, task: Task) -> None:
    waiting = state.keys.get(task.key)
    if waiting is None:
        waiting = state.keys[task.key] = Waiting()
    task.is_inline = state.policy.runs_inline and not waiting.tasks and not waiting.holders
    waiting.tasks.append(task)
    line_up(state, task.key, waiting)


def _dispatch(state: Coordinator) -> None:
    """Give workers to those that go on, then to the keys in line."""
    while state.free and state.resumed:
        task = state.resumed.popleft()
        state.free -= 1
        task.has_worker = True
        _work(state, task)
    while state.free and state.ready:
        key = state.ready.popleft()
        waiting = state.keys[key]
        waiting.is_ready = False
        task = waiting.tasks.popleft()
        waiting.holders += 1
        waiting.is_exclusive = not task.request.is_commit
        state.free -= 1
        task.has_worker = task.has_key = True
        if task.is_checked:
            _work(state, task)
        else:
            state.out.append(Check(task.request.number))
            if state.policy.in_check is Holds.KEY:
                release_worker(state, task)
        line_up(state, key, waiting)


def _work(state: Coordinator, task: Task) -> None:
    task.is_working = True
    state.out.append(Work(task.request.number, not task.is_inline))


def _checked(state: Coordinator, event: Checked) -> None:
    task = state.tasks.get(event.number)
    if task is None:
        return
    task.is_checked = True
    if not event.is_passed:
        answer(state, task, failure=Failure.CHECK)
        release(state, task)
        writes.flush_if_due(state, task.partition)
    elif task.has_worker:
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
    writes.write(state, task)


def _timed_out(state: Coordinator, event: TimedOut) -> None:
    """Answer a client that waits no longer; what it asked for goes its way."""
    task = state.tasks.get(event.number)
    if task is not None:
        answer(state, task, failure=Failure.TIMED_OUT)


HANDLERS: dict[type, Callable[[Coordinator, Any], None]] = {
    Asked: _asked,
    Worked: _worked,
    Checked: _checked,
    Appended: writes.appended,
    Replicated: writes.replicated,
    Lingered: writes.lingered,
    TimedOut: _timed_out,
    Lost: failover.lost,
    Loaded: failover.loaded,
}
"""Type of an event -> what handles it."""
