"""The background executor: threads that compute for requests, and results that are requests again.

A request leaves work behind (`port.Background`) and is answered without it. Work of one key of a
partition is accepted once at a time, until its result has been handled. The result waits for its
key and a worker like any request, and writes like one; if what it was computed on has changed by
then, it is dropped, or written all the same (`settings.Stale`). Source: CoordinatorExecutorImpl of
Kafka 4.4.0; there, too, work goes on where the append of the request that asked for it fails.
"""

from __future__ import annotations

from assignors.simulation.timed.coordinator.port import (
    Background,
    Compute,
    Computed,
    Handled,
    Request,
)
from assignors.simulation.timed.coordinator.settings import Stale
from assignors.simulation.timed.coordinator.state import Coordinator, Job, Task
from assignors.simulation.timed.coordinator.steps.holding import enqueue

NOTHING = Handled((), None)


def submit(state: Coordinator, task: Task, background: Background) -> None:
    """Accept work, unless some of the same key is on its way."""
    executor, key = state.executor, (task.partition, background.key)
    if key in executor.jobs:
        executor.not_taken += 1
        return
    state.tokens += 1
    job = Job(state.tokens, task.partition, task.request.group, background)
    executor.jobs[key] = job
    executor.taken += 1
    executor.queue.append(job)
    _start(state)


def _start(state: Coordinator) -> None:
    """Let free threads begin what waits; what was cancelled meanwhile is passed over."""
    executor = state.executor
    while executor.free and executor.queue:
        job = executor.queue.popleft()
        if _is_wanted(state, job):
            executor.free -= 1
            executor.running[job.token] = job
            state.out.append(Compute(job.token, job.partition, job.background.key))


def _is_wanted(state: Coordinator, job: Job) -> bool:
    return state.executor.jobs.get((job.partition, job.background.key)) is job


def computed(state: Coordinator, event: Computed) -> None:
    """Let the result of some work wait for its turn, unless the partition has gone."""
    executor = state.executor
    job = executor.running.pop(event.token, None)
    if job is None:
        return
    executor.free += 1
    if _is_wanted(state, job):
        job.is_failed = event.is_failed
        request = Request(-job.token, job.group, job.background, is_commit=False)
        key = job.group if state.is_by_group else job.partition
        task = Task(request, job.partition, key, is_checked=True)
        task.job, task.is_answered = job, True  # nobody waits for an answer
        state.tasks[request.number] = task
        enqueue(state, task)
    _start(state)


def result_of(state: Coordinator, job: Job) -> Handled:
    """Return what the result of some work writes, and accept work of its key again.

    Raises `port.Refused` where the result cannot be written.
    """
    executor, background = state.executor, job.background
    del executor.jobs[job.partition, background.key]
    if job.is_failed:
        executor.failed += 1
        return NOTHING
    now = state.partitions[job.partition].state
    if background.look(now) != background.seen:
        executor.stale += 1
        if state.settings.stale is Stale.DROPPED:
            return NOTHING
    executor.applied += 1
    return background.finish(now, background.seen)


def cancel(state: Coordinator, partition: int) -> None:
    """Forget all work of a partition; a thread that is at it goes on, for nothing."""
    jobs = state.executor.jobs
    for key in [key for key in jobs if key[0] == partition]:
        del jobs[key]
