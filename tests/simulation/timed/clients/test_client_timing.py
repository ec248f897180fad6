"""What each model costs on a clock: rebalances, stalls, commits."""

from __future__ import annotations

from statistics import mean

import pytest

from assignors.simulation.timed.clients.models import (
    BACKGROUND_THREAD,
    HEARTBEAT_THREAD,
    IN_POLL,
    MODELS,
    Model,
    Thread,
)
from assignors.simulation.timed.clients.timing import (
    MILLISECOND,
    SECOND,
    Measured,
    Setting,
    Stall,
    measure,
)
from tests.docs.client_measures import rebalance_s

SWAP, GROW = frozenset({1, 2}), frozenset({0, 1, 2})
HEARTBEAT_MEAN_S = 1.5
"""Half of the time between two heartbeats."""


def with_stall(model: Model, thread: Thread, stall_s: int) -> Measured:
    """A run in which a thread does nothing for a while."""
    stall = Stall(thread, 10 * SECOND, stall_s * SECOND)
    return measure(
        model, Setting(poll_interval_us=SECOND, stalls=(stall,), until_us=(60 + stall_s) * SECOND)
    )


@pytest.mark.parametrize("poll_s", [2, 10])
def test_where_nothing_is_revoked_a_background_thread_saves_a_whole_poll(poll_s: int) -> None:
    """One callback, so half a poll interval on average; with a heartbeat thread one poll more."""
    background = rebalance_s(BACKGROUND_THREAD, poll_s, GROW)
    two_threads = rebalance_s(HEARTBEAT_THREAD, poll_s, GROW)
    assert background == pytest.approx(HEARTBEAT_MEAN_S + poll_s / 2, rel=0.15)
    assert two_threads - background == pytest.approx(poll_s, rel=0.01)


@pytest.mark.parametrize("poll_s", [2, 10])
def test_where_partitions_are_revoked_a_background_thread_saves_nothing(poll_s: int) -> None:
    """Two callbacks, each in a call of `poll`: the second waits for one more interval anyway."""
    background = rebalance_s(BACKGROUND_THREAD, poll_s, SWAP)
    two_threads = rebalance_s(HEARTBEAT_THREAD, poll_s, SWAP)
    assert background == pytest.approx(HEARTBEAT_MEAN_S + 1.5 * poll_s, rel=0.15)
    assert two_threads == pytest.approx(background, abs=0.01)


@pytest.mark.parametrize("poll_s", [2, 10])
def test_who_does_all_in_poll_waits_for_polls_to_hear_of_it(poll_s: int) -> None:
    """Heartbeats leave, and their answers are read, in calls of `poll` alone."""
    in_poll, two_threads = (
        rebalance_s(model, poll_s, SWAP) for model in (IN_POLL, HEARTBEAT_THREAD)
    )
    assert poll_s / 2 < in_poll - two_threads < 1.5 * poll_s


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_the_thread_that_sends_heartbeats_is_the_one_whose_stall_evicts(model: Model) -> None:
    sends = Thread.POLLING if model is IN_POLL else Thread.OTHER
    for thread in Thread:
        evictions = [with_stall(model, thread, stall_s).evictions for stall_s in (20, 41, 60)]
        assert evictions == ([0, 0, 1] if thread is sends else [0, 0, 0])


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_polling_thread_that_never_comes_back_is_noticed_by_its_own_limit(model: Model) -> None:
    """With a second thread heartbeats go on: only `max.poll.interval.ms` ends that."""
    stalled = with_stall(model, Thread.POLLING, 320)
    assert (stalled.evictions, stalled.departures) == (int(model is IN_POLL), 1)
    assert (stalled.heartbeat_gap_us > 300 * SECOND) == (model is IN_POLL)


def test_a_slow_loop_starves_heartbeats_beyond_the_session_timeout_only() -> None:
    for loop_s, is_evicted in ((1, False), (4, False), (7, True)):
        setting = Setting(
            loop_us=loop_s * SECOND,
            heartbeat_us=SECOND,
            session_us=5 * SECOND,
            until_us=30 * SECOND,
        )
        assert (measure(BACKGROUND_THREAD, setting).evictions > 0) == is_evicted


def test_what_a_blocking_commit_takes() -> None:
    """A round trip; through a loop that is not woken, a period to be sent and up to one to end."""
    for model in MODELS:
        assert set(measure(model, Setting(commits_every=3)).commits_us) == {2 * MILLISECOND}
    for loop_ms in (5, 50, 100):
        setting = Setting(commits_every=3, loop_us=loop_ms * MILLISECOND)
        took = measure(BACKGROUND_THREAD, setting).commits_us
        assert min(took) >= 2 * MILLISECOND
        assert loop_ms * MILLISECOND <= mean(took) <= max(took) < 2 * (loop_ms + 2) * MILLISECOND
        assert set(measure(IN_POLL, setting).commits_us) == {2 * MILLISECOND}


def test_a_callback_counts_in_full() -> None:
    quick, slow = (
        measure(
            BACKGROUND_THREAD,
            Setting(rebalance_at_us=10 * SECOND, target=GROW, callback_us=us, until_us=30 * SECOND),
        ).rebalance_us
        for us in (0, 700 * MILLISECOND)
    )
    assert quick is not None
    assert slow == quick + 700 * MILLISECOND
