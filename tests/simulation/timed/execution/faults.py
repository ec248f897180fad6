"""Faults that are put into a coordinator's steps on purpose, to see the contract find them."""

from __future__ import annotations

from typing import Any

import pytest

from assignors.simulation.timed.execution import state, step


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
