"""What is measured of a load agrees with queueing theory, and with the sum of its parts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from assignors.simulation.timed.execution.load import MICRO, Load, draws
from assignors.simulation.timed.execution.measures import Stage, measure, play
from assignors.simulation.timed.execution.policy import POLICIES, Settings

BASE = Load(requests=6000, per_second=5000, groups=1000)
ALONE = Settings(workers=1, partitions=1)


def test_the_same_load_is_played_the_same_way() -> None:
    load = replace(BASE, requests=2000, check_us=500, is_steady=False, seed=7)
    assert measure(POLICIES["inline"], load) == measure(POLICIES["inline"], load)
    assert measure(POLICIES["inline"], load) != measure(POLICIES["inline"], replace(load, seed=8))


def test_another_duration_of_checks_changes_no_other_draw() -> None:
    one, other = draws(BASE), draws(replace(BASE, check_us=900))
    assert np.array_equal(one.at_us, other.at_us)
    assert np.array_equal(one.group, other.group)


@pytest.mark.parametrize("name", POLICIES)
def test_a_lone_request_takes_its_check_its_service_its_append_and_the_replication(
    name: str,
) -> None:
    load = Load(
        requests=50,
        per_second=10,
        check_us=3000,
        service_us=100,
        append_us=400,
        replication_us=2000,
    )
    measured = measure(POLICIES[name], load, ALONE)
    assert measured.p50_ms == measured.mean_ms == pytest.approx(5.5)
    assert (measured.checked_ms, measured.executed_ms) == (3.0, 0.1)
    assert (measured.appended_ms, measured.parked_ms) == (0.4, 2.0)
    assert measured.queued_ms == measured.lingered_ms == pytest.approx(0)


@pytest.mark.parametrize("name", POLICIES)
def test_the_stages_of_a_request_follow_on_each_other_and_fill_its_response_time(name: str) -> None:
    load = replace(
        BASE, requests=500, check_us=700, append_us=30, is_steady=False, changes_share=0.3
    )
    played = play(POLICIES[name], load)
    spent = played.spent()
    assert list(spent) == list(Stage)
    assert all((times >= 0).all() for times in spent.values())
    for number in range(500):
        way = played.way(number)
        ends = [int(played.drawn.at_us[number]), *(end for *_, end in way)]
        assert [start for _, start, _ in way] == ends[:-1]
        assert ends[-1] == played.answered_at[number]
        for stage, times in spent.items():
            assert times[number] == sum(end - start for each, start, end in way if each is stage)


@pytest.mark.parametrize("load_share", [0.5, 0.8])
def test_a_single_worker_makes_requests_wait_as_long_as_pollaczek_and_khinchine_say(
    load_share: float,
) -> None:
    load = Load(requests=40_000, per_second=round(load_share * 1000), service_us=1000)
    measured = measure(POLICIES["blocking"], load, ALONE)
    assert measured.queued_ms == pytest.approx(load_share / (2 * (1 - load_share)), rel=0.12)


def test_the_mean_backlog_is_the_rate_times_the_mean_response_time() -> None:
    """Little's law; arrivals at random see the mean of the backlog."""
    load = replace(BASE, requests=20_000, check_us=2000)
    played = play(POLICIES["two-stage"], load)
    measured = measure(POLICIES["two-stage"], load)
    answered = np.searchsorted(np.sort(played.answered_at), played.drawn.at_us)
    seen = (np.arange(load.requests) - answered)[2000:].mean()
    assert seen == pytest.approx(load.per_second * measured.mean_ms / 1000, rel=0.05)
    assert measured.throughput_per_second == pytest.approx(load.per_second, rel=0.05)


@pytest.mark.parametrize("linger_us", [1000, 5000, 20_000])
def test_a_linger_costs_its_time_to_the_first_of_a_batch_and_half_of_it_to_the_others(
    linger_us: int,
) -> None:
    load = replace(BASE, requests=20_000, per_second=1000, linger_us=linger_us, service_us=1)
    measured = measure(POLICIES["two-stage"], load, ALONE)
    others = load.per_second * linger_us / MICRO
    expected = (linger_us + others * linger_us / 2) / (1 + others) / 1000
    assert measured.lingered_ms == pytest.approx(expected, rel=0.05)
    assert measured.records_per_append == pytest.approx(1 + others, rel=0.05)


@pytest.mark.parametrize(("share", "is_sustained"), [(0.9, True), (1.15, False), (3.0, False)])
def test_a_load_above_the_limit_is_recognised_by_its_backlog(
    share: float, *, is_sustained: bool
) -> None:
    load = Load(requests=4000, service_us=1000, per_second=round(4000 * share))
    measured = measure(POLICIES["blocking"], load)
    assert measured.is_sustained == is_sustained
    if not is_sustained:
        assert measured.backlog_growth == pytest.approx(1 - 1 / share, abs=0.06)
        assert measured.backlog_max == pytest.approx(4000 * (1 - 1 / share), rel=0.4)
        assert measured.throughput_per_second == pytest.approx(4000, rel=0.05)


def test_a_long_response_time_is_no_backlog_that_grows() -> None:
    load = replace(BASE, requests=2000, per_second=20_000, check_us=20_000)
    assert measure(POLICIES["two-stage"], load).is_sustained


def test_state_that_runs_ahead_is_counted_in_records_and_bytes() -> None:
    load = replace(BASE, requests=20_000, per_second=8000, replication_us=10_000, record_bytes=90)
    ahead, behind = (measure(POLICIES[name], load) for name in ("two-stage", "per-group"))
    mean = 8000 * 0.01 / Settings().partitions
    assert mean < ahead.held_max < 3 * mean
    assert ahead.held_bytes == 90 * ahead.held_max
    assert behind.held_max == behind.held_bytes == 0


def test_a_request_is_handed_over_unless_its_partition_is_free() -> None:
    load = replace(BASE, requests=2000, per_second=100, handoff_us=300)
    inline, stages = (measure(POLICIES[name], load) for name in ("inline", "two-stage"))
    assert inline.handed_off_share < 0.05
    assert stages.handed_off_share == 1
    assert stages.p50_ms - inline.p50_ms == pytest.approx(0.3)
    assert stages.executed_ms - inline.executed_ms == pytest.approx(0.3, rel=0.1)


def test_appends_of_a_partition_take_the_local_log_one_by_one() -> None:
    load = replace(BASE, requests=3000, per_second=60_000, append_us=200)
    each, together = (measure(POLICIES[name], load) for name in ("blocking", "two-stage"))
    assert each.records_per_append == 1
    assert each.throughput_per_second == pytest.approx(4 * MICRO / 250, rel=0.05)
    assert together.records_per_append > 2
    assert together.throughput_per_second > 2 * each.throughput_per_second
