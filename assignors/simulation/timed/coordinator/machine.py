"""One step of a coordinator: an event in, effects out, by its execution model.

A key is locked by the request that is handled, once for all of its stages or for each of them, and
unlocked exactly once, whatever becomes of it. A worker is taken and given back in the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assignors.simulation.timed.coordinator.policy import Holds
from assignors.simulation.timed.coordinator.port import (
    Answer,
    Appended,
    Asked,
    Check,
    Checked,
    Computed,
    Effect,
    Event,
    Failure,
    Lingered,
    Loaded,
    Loading,
    Lost,
    Replicated,
    TimedOut,
    Work,
    Worked,
    make,
)
from assignors.simulation.timed.coordinator.state import Coordinator, Task
from assignors.simulation.timed.coordinator.steps import background, batches, failover, writes
from assignors.simulation.timed.coordinator.steps.holding import (
    answer,
    any_key,
    enqueue,
    line_up,
    release,
    release_worker,
)
from assignors.simulation.timed.coordinator.steps.parking import catch_up, replicated


def step(state: Coordinator, event: Event) -> list[Effect]:
    """Return what the coordinator does about an event; `state` changes in place.

    Cost: O(1), and that of the handler; O(records not replicated) where an append fails.
    """
    out: list[Effect] = []
    state.out = out
    HANDLERS[type(event)](state, event)
    if state.unlocked:
        catch_up(state)
    if state.free and (state.ready or state.resumed):
        _dispatch(state)
    return out


def _asked(state: Coordinator, event: Asked) -> None:
    request = event.request
    number = request.group % len(state.partitions)
    refuses = state.partitions[number].refuses
    if refuses is not None:
        state.out.append(Answer(request.number, None, refuses))
        return
    key = request.group if state.is_by_group else number
    task = Task(request, number, key, not request.is_checked)
    state.tasks[request.number] = task
    if not task.is_checked and state.policy.in_check is Holds.NOTHING:
        state.out.append(Check(request.number))
    else:
        enqueue(state, task)


def _dispatch(state: Coordinator) -> None:
    """Give workers to those that go on, then to the keys in line."""
    while state.free and state.resumed:
        task = state.resumed.popleft()
        state.free -= 1
        task.has_worker = True
        _work(state, task)
    keys, ready, policy = state.keys, state.ready, state.policy
    while state.free and ready:
        key = ready.popleft() if state.dice is None else any_key(state.dice, ready)
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
        batches.flush_if_due(state, state.partitions[task.partition])
    elif task.has_worker:
        _work(state, task)
    elif task.has_key:
        state.resumed.append(task)
    else:
        enqueue(state, task)


def _worked(state: Coordinator, event: Worked) -> None:
    task = state.tasks.get(event.number)
    if task is None:  # its partition has gone to another coordinator
        state.free += 1
        return
    task.is_working = False
    writes.write(state, task)


def _timed_out(state: Coordinator, event: TimedOut) -> None:
    """Answer that a request has waited too long; it goes its way, and its state stays.

    What it holds it gives back when it would have without this: at its late completion.
    """
    task = state.tasks.get(event.number)
    if task is not None:
        answer(state, task, failure=Failure.TIMED_OUT)


HANDLERS: dict[type, Callable[[Coordinator, Any], None]] = {
    Asked: _asked,
    Worked: _worked,
    Checked: _checked,
    Appended: writes.appended,
    Replicated: replicated,
    Lingered: batches.lingered,
    TimedOut: _timed_out,
    Computed: background.computed,
    Lost: failover.lost,
    Loading: failover.loading,
    Loaded: failover.loaded,
}
"""Type of an event -> what handles it."""
