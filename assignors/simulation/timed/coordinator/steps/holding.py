"""Who holds a worker or a key, and who is answered: each once, whatever becomes of a request."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from itertools import takewhile

from assignors.simulation.dice import Dice
from assignors.simulation.timed.coordinator.port import Answer, Failure, make
from assignors.simulation.timed.coordinator.state import Coordinator, Task, Waiting


def enqueue(state: Coordinator, task: Task) -> None:
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
    line_up(state, task.key, waiting)


def line_up(state: Coordinator, key: Hashable, waiting: Waiting) -> None:
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


def any_key(dice: Dice, ready: deque[Hashable]) -> Hashable:
    """Take any key out of the line. Cost: O(keys in line)."""
    at = dice.below(len(ready))
    ready[0], ready[at] = ready[at], ready[0]
    return ready.popleft()


def answer(
    state: Coordinator, task: Task, response: object = None, failure: Failure | None = None
) -> None:
    """Answer a request, unless it has been answered."""
    if not task.is_answered:
        task.is_answered = True
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
            line_up(state, task.key, waiting)
        elif not waiting.holders and state.is_by_group:  # partitions are few, and come again
            del state.keys[task.key]


def release(state: Coordinator, task: Task) -> None:
    """Give back what a task holds, and forget it: it is over."""
    if task.has_worker:
        release_worker(state, task)
    if task.has_key:
        release_key(state, task)
    state.tasks.pop(task.request.number, None)
