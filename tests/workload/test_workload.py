"""Weights from samples of offsets: what is measured, and what becomes of all that cannot be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.weighting import LARGEST, Weighting
from assignors.workload import NumberedPartitions, Sample, Workload, after, weights_of, work

OFFSETS = st.one_of(st.none(), st.integers(-2, 10_000))
TOPICS = st.dictionaries(st.sampled_from("tuv"), st.lists(OFFSETS, max_size=4), max_size=3)
ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.text(max_size=2),
    st.integers(),
    st.floats(),
    st.just(10**400),
    st.lists(st.integers(), max_size=2),
)


@dataclass
class Seen:
    """One partition, the slow way: everything is remembered under its own name."""

    rate: float | None = None
    error: float = 0.0
    error_size: float = 0.0
    lag: float = 0.0
    newest: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, at_ms: int, found: Mapping[str, int | None], half_life_s: float) -> None:
        measured: tuple[float, float] | None = None
        for source in ("committed", "log end"):  # the second counts where both are there
            offset = found[source]
            if offset is None:
                continue
            if source in self.newest:
                before_ms, before = self.newest[source]
                if offset >= before:
                    elapsed_s = (at_ms - before_ms) / 1000
                    measured = (offset - before) / elapsed_s, elapsed_s
            self.newest[source] = at_ms, offset
        if measured is not None:
            rate, elapsed_s = measured
            if self.rate is None:
                self.rate = rate
            else:
                kept, found_error = math.exp2(-elapsed_s / half_life_s), rate - self.rate
                self.error = kept * self.error + (1 - kept) * found_error
                self.error_size = kept * self.error_size + (1 - kept) * abs(found_error)
                lasting = abs(self.error) / self.error_size if self.error_size else 0.0
                self.rate += max(1 - kept, lasting) * found_error
        end, committed = found["log end"], found["committed"]
        if end is not None and committed is not None:
            self.lag = float(max(end - committed, 0))


@given(st.lists(st.tuples(st.integers(1, 90_000), TOPICS, TOPICS), min_size=1, max_size=6))
def test_rates_and_lags_are_those_of_each_partition_followed_by_itself(
    steps: Sequence[tuple[int, Any, Any]],
) -> None:
    counts = {"t": 4, "u": 4, "v": 4}
    slow = {(topic, number): Seen() for topic, count in counts.items() for number in range(count)}
    workload: Workload | None = None
    at_ms = 0
    for elapsed_ms, ends, committed in steps:
        at_ms += elapsed_ms
        sample = Sample.of(at_ms, log_end=_whole(ends, counts), committed=_whole(committed, counts))
        workload = after(workload, sample, half_life_s=20)
        for (topic, number), seen in slow.items():
            found = {
                "log end": _known(ends, topic, number),
                "committed": _known(committed, topic, number),
            }
            seen.add(at_ms, found, 20)
    assert workload is not None
    expected = [slow[topic, number] for topic in "tuv" for number in range(4)]
    for seen, rate, lag in zip(expected, workload.rate, workload.lag, strict=True):
        assert math.isnan(rate) == (seen.rate is None)
        assert seen.rate is None or rate == pytest.approx(seen.rate)
        assert (0.0 if math.isnan(lag) else lag) == seen.lag


def _whole(ends: Mapping[str, Sequence[Any]], counts: Mapping[str, int]) -> dict[str, list[Any]]:
    return {
        topic: [*ends.get(topic, []), *[None] * count][:count] for topic, count in counts.items()
    }


def _known(offsets: Mapping[str, Sequence[int | None]], topic: str, number: int) -> int | None:
    listed = offsets.get(topic, [])
    offset = listed[number] if number < len(listed) else None
    return None if offset is None or offset < 0 else offset


@given(st.lists(st.integers(1, 60), min_size=1, max_size=8), st.integers(0, 1000))
def test_a_constant_rate_is_found_whenever_samples_are_taken(gaps: list[int], rate: int) -> None:
    at_s, workload = 0, after(None, Sample.of(0, log_end={"t": [7]}, committed={"t": [7]}))
    for gap in gaps:
        at_s += gap
        ends = {"t": [7 + rate * at_s]}
        workload = after(workload, Sample.of(at_s * 1000, log_end=ends, committed=ends))
    assert workload.rate.tolist() == [pytest.approx(rate)]
    assert workload.weights(horizon_s=100) == {"t": (round(100 * workload.rate[0]),)}


def test_a_backlog_weighs_as_much_as_so_many_records_to_come() -> None:
    workload = None
    for at_s in (0, 10):
        sample = Sample.of(
            at_s * 1000,
            log_end={"t": [1000 + 5 * at_s, 1000 + 5 * at_s, 5 * at_s]},
            committed={"t": [5 * at_s, 1000 + 5 * at_s, 5 * at_s + 7]},
        )
        workload = after(workload, sample)
    assert workload is not None
    assert workload.weights(horizon_s=300) == {"t": (2500, 1500, 1500)}


def smoothed(rates: Sequence[float], half_life_s: float = 90) -> list[float]:
    """Return the rate that is known after each measurement, one in 30 seconds."""
    found, end = [], 0.0
    workload = after(None, Sample.of(0, log_end={"t": [0]}, committed={}))
    for number, rate in enumerate(rates, 1):
        end += 30 * rate
        sample = Sample.of(30_000 * number, log_end={"t": [end]}, committed={})
        workload = after(workload, sample, half_life_s=half_life_s)
        found.append(float(workload.rate[0]))
    return found


def test_errors_that_cancel_out_are_smoothed_with_the_half_life_at_least() -> None:
    known = smoothed([120, 80] * 20)
    assert all(abs(rate - 100) < 5 for rate in known[10:])
    rng = np.random.default_rng(1)
    measured = 100 * np.exp(0.3 * rng.standard_normal(400))
    assert np.std(smoothed(measured.tolist())[20:]) < 0.55 * np.std(measured)


def test_a_change_that_lasts_is_seen_at_once() -> None:
    rng = np.random.default_rng(2)
    noise = np.exp(0.1 * rng.standard_normal(24))
    # A fixed half-life of 90 seconds would be at 162 after the first sample, at 211 after two.
    known = smoothed((100 * noise * np.where(np.arange(24) < 20, 1, 4)).tolist())
    assert known[20] > 250
    assert known[21] > 330
    # And back: the burst is over.
    back = smoothed((100 * noise * np.where(np.arange(24) < 20, 4, 1)).tolist())
    assert back[20] < 250
    assert back[21] < 170


def test_a_partition_that_rests_keeps_no_rate() -> None:
    assert smoothed([100, 100, 0, 0, 0])[-1] == 0


def test_a_topic_that_is_made_anew_keeps_its_rate_until_it_is_measured() -> None:
    """Its offsets begin at 0 again: that is no rate of minus a million."""
    workload = None
    for at_s, end in ((0, 1_000_000), (10, 1_000_100), (20, 5), (30, 205)):
        sample = Sample.of(at_s * 1000, log_end={"t": [end]}, committed={})
        workload = after(workload, sample, half_life_s=10)
        rate = float(workload.rate[0])
        assert math.isnan(rate) if at_s == 0 else rate == {10: 10, 20: 10, 30: 20}[at_s]


def test_a_topic_that_grows_keeps_what_is_known_and_new_ones_weigh_the_median() -> None:
    known = None
    for at_s, ends in ((0, [0, 0, 0]), (10, [10, 30, 90])):
        known = after(known, Sample.of(at_s * 1000, log_end={"t": ends}, committed={}))
    grown = after(known, Sample.of(20_000, log_end={"a": [5], "t": [None] * 5}, committed={}))
    assert grown.weights(horizon_s=10) == {"a": (30,), "t": (10, 30, 90, 30, 30)}


@given(
    st.dictionaries(st.sampled_from("tuv"), st.one_of(ODD, st.lists(ODD, max_size=4))),
    st.dictionaries(st.sampled_from("tuv"), st.lists(ODD, max_size=4)),
)
def test_whatever_is_given_as_a_number_makes_weights_that_a_round_can_use(
    values: Mapping[str, Any], offsets: Mapping[str, Any]
) -> None:
    partitions = NumberedPartitions.of({"t": 3, "u": 2})
    found = weights_of(partitions, partitions.values(values))
    Weighting(weights=found).require_fits({"t": 3, "u": 2})
    workload = after(None, Sample.of(0, log_end=offsets, committed=offsets))
    workload = after(workload, Sample.of(1000, log_end=offsets, committed=offsets))
    Weighting(weights=workload.weights())


@given(st.lists(st.floats(0, 2.0**53 - 1), min_size=1, max_size=50))
def test_large_figures_keep_their_proportions(values: list[float]) -> None:
    partitions = NumberedPartitions.of({"t": len(values)})
    found = weights_of(partitions, np.array(values))["t"]
    assert sum(found) < LARGEST
    total = sum(values)
    if total > LARGEST:
        scale = sum(found) / total
        assert all(
            abs(got - value * scale) <= 1 + value * scale * 1e-9
            for got, value in zip(found, values, strict=True)
        )


WAITING = st.lists(st.sampled_from((0, 1, 7, 400)), min_size=4, max_size=4)


@given(WAITING, WAITING, st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_lag_makes_no_partition_heavier_than_the_fair_part_of_the_largest_member(
    rates: list[int], lags: list[int], capacities: list[int]
) -> None:
    rate, lag = np.array(rates, dtype=float), np.array(lags, dtype=float) * 40
    found = work(rate, lag, horizon_s=10, capacities=capacities)
    without = work(rate, lag, horizon_s=10)
    most = max(10 * rate.max(), _fair_by_trial(without, capacities) * max(capacities))
    assert (found <= without).all()
    assert (found >= 10 * rate).all()
    assert found.max() <= most * (1 + 1e-9)
    # What is lighter than that counts in full.
    light = without <= _fair_by_trial(without, capacities) * max(capacities) * (1 - 1e-9)
    assert np.allclose(found[light], without[light])


def _fair_by_trial(waiting: Any, capacities: Sequence[int]) -> float:
    """Return the largest use at which members are full, no partition counting more than one."""
    low, high = 0.0, float(waiting.sum()) / sum(capacities)
    for _ in range(100):
        fair = (low + high) / 2
        full = fair * sum(capacities) * (1 - 1e-12)
        if np.minimum(waiting, fair * max(capacities)).sum() >= full:
            low = fair
        else:
            high = fair
    return high


def test_a_partition_that_is_far_behind_does_not_hide_the_load_of_others() -> None:
    rate, lag = np.array([1.0, 3, 3, 1, 1, 1]), np.array([9000.0, 0, 0, 0, 0, 0])
    assert work(rate, lag, horizon_s=100).tolist() == [9100, 300, 300, 100, 100, 100]
    found = work(rate, lag, horizon_s=100, capacities=[1, 1, 1])
    assert found.tolist() == [450, 300, 300, 100, 100, 100]


@pytest.mark.parametrize("horizon_s", [0, -1, math.nan, math.inf])
def test_a_horizon_is_above_0(horizon_s: float) -> None:
    with pytest.raises(ValueError, match="horizon_s"):
        work(np.array([1.0]), horizon_s=horizon_s)


def test_an_older_sample_changes_nothing() -> None:
    newest = after(None, Sample.of(10, log_end={"t": [5]}, committed={}))
    assert after(newest, Sample.of(10, log_end={"t": [9]}, committed={})) is newest
