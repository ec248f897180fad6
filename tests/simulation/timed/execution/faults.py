"""Faults that are put into a coordinator's steps on purpose, to see the contract find them."""

from __future__ import annotations

from typing import Any

import pytest

from assignors.simulation.timed.execution import state, step
from assignors.simulation.timed.execution.port import Answer, TimedOut


def appends_outside_the_lock(patch: pytest.MonkeyPatch) -> None:
    """A request unlocks its key before its records are in the log."""
    original = step.append

    def hasty(state: Any, partition: int, entries: Any, whose: Any) -> None:
        original(state, partition, entries, whose)
        step.release_worker(state, whose)
        step.release_key(state, whose)

    patch.setattr(step, "append", hasty)


def answers_early(patch: pytest.MonkeyPatch) -> None:
    """An answer does not wait for the high watermark."""
    original = step.park

    def early(partition: Any, task: Any) -> None:
        original(partition, task)
        partition.high_watermark = max(partition.high_watermark, task.end)

    patch.setattr(step, "park", early)


def forgets_to_revert(patch: pytest.MonkeyPatch) -> None:
    """An append fails, and the state stays."""

    def forgetful(partition: Any, offset: int) -> None:
        kept = dict(partition.state)
        original(partition, offset)
        partition.state.update(kept)

    original = state.revert
    patch.setattr(step, "revert", forgetful)


def keeps_what_was_made_on_top(patch: pytest.MonkeyPatch) -> None:
    """A batch fails, and the one that was being filled is appended all the same."""

    def partial(state: Any, partition: Any) -> None:
        later, partition.batch = partition.batch, None
        original(state, partition)
        partition.batch = later

    original = step._take_back
    patch.setattr(step, "_take_back", partial)


def stays_locked(patch: pytest.MonkeyPatch) -> None:
    """A request that fails does not unlock its key."""
    original = step.release

    def forgetful(state: Any, task: Any) -> None:
        task.has_key &= task.end > 0
        original(state, task)

    patch.setattr(step, "release", forgetful)


def unlocks_twice(patch: pytest.MonkeyPatch) -> None:
    """A key is unlocked by the append, and again when the request is over."""
    original = step.release_key

    def again(state: Any, task: Any) -> None:
        original(state, task)
        task.has_key = task.key in state.keys

    patch.setattr(step, "release_key", again)


def applies_as_appends_complete(patch: pytest.MonkeyPatch) -> None:
    """Records are applied in the order in which their appends complete."""
    original = step.drain

    def hasty(state: Any, partition: Any) -> None:
        if partition.parked:
            partition.ahead = max(partition.ahead, partition.parked[0][2].start)
        original(state, partition)

    patch.setattr(step, "drain", hasty)


def applies_stale_results(patch: pytest.MonkeyPatch) -> None:
    """A result is written whatever has changed while it was computed."""
    original = step.result_of

    def blind(state: Any, job: Any) -> Any:
        now = state.partitions[job.partition].state
        seen = job.background.look(now)
        unchanged = job.background._replace(look=lambda _: job.background.seen)
        assert seen is not None
        job.background = unchanged
        return original(state, job)

    patch.setattr(step, "result_of", blind)


def computes_twice(patch: pytest.MonkeyPatch) -> None:
    """Work is accepted while some of the same key is on its way."""
    result_of = step.result_of
    submit_work = step.submit_work

    def again(state: Any, task: Any, work: Any) -> None:
        state.executor.jobs.pop((task.partition, work.key), None)
        submit_work(state, task, work)

    def any_of_them(state: Any, job: Any) -> Any:
        state.executor.jobs[job.partition, job.background.key] = job
        return result_of(state, job)

    patch.setattr(step, "submit_work", again)
    patch.setattr(step, "result_of", any_of_them)
    patch.setattr(step, "_is_wanted", lambda *_: True)


def never_computes_again(patch: pytest.MonkeyPatch) -> None:
    """Work that fails keeps its key."""
    original = step.result_of

    def stuck(state: Any, job: Any) -> Any:
        handled = original(state, job)
        if job.is_failed:
            state.executor.jobs[job.partition, job.background.key] = job
        return handled

    patch.setattr(step, "result_of", stuck)


def answers_late_completions(patch: pytest.MonkeyPatch) -> None:
    """A request is answered that it has timed out, and again when it is replicated."""

    def forgetful(state: Any, task: Any, response: Any = None, failure: Any = None) -> None:
        if not task.is_answered:
            state.out.append(Answer(task.request.number, response, failure))

    patch.setattr(step, "answer", forgetful)


def unlocks_at_the_timeout(patch: pytest.MonkeyPatch) -> None:
    """A request that times out gives its key back, and again when it is over."""

    def hasty(state: Any, event: Any) -> None:
        task = state.tasks.get(event.number)
        original(state, event)
        if task is not None and task.has_key:
            step.release_key(state, task)
            task.has_key = True

    original = step.HANDLERS[TimedOut]
    patch.setitem(step.HANDLERS, TimedOut, hasty)


def handles_results_of_lost_partitions(patch: pytest.MonkeyPatch) -> None:
    """A partition goes to another broker, and its background work stays wanted."""
    patch.setattr(step, "cancel_work", lambda *_: None)
