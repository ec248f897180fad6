"""Who holds a worker or a key, and who is answered: each once, whatever becomes of a request."""

from __future__ import annotations

from collections.abc import Hashable

from assignors.simulation.timed.coordinator.policy import Key
from assignors.simulation.timed.coordinator.port import Answer, Failure
from assignors.simulation.timed.coordinator.state import Coordinator, Task, Waiting


def key_of(state: Coordinator, group: int) -> Hashable:
    """Return the key of a group's requests."""
    return group if state.policy.key is Key.GROUP else group % len(state.partitions)


def enqueue(state: Coordinator, task: Task) -> None:
    """Let a request wait for its key."""
    waiting = state.keys.get(task.key)
    if waiting is None:
        waiting = state.keys[task.key] = Waiting()
    task.is_inline = state.policy.runs_inline and not waiting.tasks and not waiting.holders
    waiting.tasks.append(task)
    line_up(state, task.key, waiting)


def may_begin(state: Coordinator, waiting: Waiting) -> bool:
    """Return whether the next request of a key may begin, once there is a worker."""
    if not waiting.tasks:
        return False
    shares = state.policy.shares_commits and not waiting.is_exclusive
    return not waiting.holders or (shares and waiting.tasks[0].request.is_commit)


def line_up(state: Coordinator, key: Hashable, waiting: Waiting) -> None:
    """Put a key in line for a worker if its next request may begin."""
    if not waiting.is_ready and may_begin(state, waiting):
        waiting.is_ready = True
        state.ready.append(key)


def next_key(state: Coordinator) -> Hashable:
    """Take a key out of the line: the first one, or any. Cost: O(1), O(keys in line) for any."""
    ready = state.ready
    if state.dice is not None:
        at = state.dice.below(len(ready))
        ready[0], ready[at] = ready[at], ready[0]
    return ready.popleft()


def answer(
    state: Coordinator, task: Task, response: object = None, failure: Failure | None = None
) -> None:
    """Answer a request, unless it has been answered."""
    if not task.is_answered:
        task.is_answered = True
        state.out.append(Answer(task.request.number, response, failure))


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
        if waiting.tasks:
            line_up(state, task.key, waiting)
        elif not waiting.holders:
            del state.keys[task.key]


def release(state: Coordinator, task: Task) -> None:
    """Give back what a task holds, and forget it: it is over."""
    release_worker(state, task)
    release_key(state, task)
    state.tasks.pop(task.request.number, None)
