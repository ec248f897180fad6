"""Rates of partitions: from a seed, with the means and the shapes that are asked for."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from assignors.simulation.traffic.rates import (
    Draws,
    exponentials,
    mean_rates,
    rates,
    surplus,
)
from assignors.simulation.traffic.scenario import Distribution, RateConfig

TOPIC_OF = np.repeat(np.arange(6, dtype=np.int32), 50)
FIXED = RateConfig(drift=0, noise=0, bursts_a_day=0)


def test_the_polynomial_is_the_exponential_function() -> None:
    powers = np.linspace(-30, 30, 10_001)
    assert np.allclose(exponentials(powers), np.exp(powers), rtol=1e-14, atol=0)


def test_random_numbers_have_their_moments_and_depend_on_seed_step_and_purpose() -> None:
    draws = Draws(1, "a", 100_000)
    uniform, normal = draws.uniform(3), draws.normal(3)
    assert abs(uniform.mean() - 0.5) < 0.005
    assert 0 <= uniform.min() < uniform.max() < 1
    assert abs(normal.mean()) < 0.01
    assert abs(normal.std() - 1) < 0.01
    others = (Draws(2, "a", 100_000), Draws(1, "b", 100_000))
    assert all((uniform != other.uniform(3)).any() for other in others)
    assert (uniform != draws.uniform(4)).any()
    assert (uniform == Draws(1, "a", 100_000).uniform(3)).all()


def test_a_partition_more_leaves_the_rates_of_the_others_nearly_all_as_they_are() -> None:
    few, more = (mean_rates(RateConfig(distribution=Distribution.ZIPF), n, 7) for n in (40, 41))
    assert sorted(few) == sorted(np.sort(more)[1:])


@pytest.mark.parametrize(
    ("distribution", "spread", "ratio"),
    [("even", 3.0, 1.0), ("hot", 30.0, 30.0), ("zipf", 1.0, 300.0), ("zipf", 0.5, 300**0.5)],
)
def test_mean_rates_differ_as_much_as_is_asked_for(
    distribution: str, spread: float, ratio: float
) -> None:
    config = RateConfig(distribution=Distribution(distribution), spread=spread)
    found = mean_rates(config, 300, 1)
    assert found.max() / found.min() == pytest.approx(ratio)


def test_logarithms_of_log_normal_rates_have_the_spread_that_is_asked_for() -> None:
    found = mean_rates(RateConfig(spread=0.7), 20_000, 1)
    assert np.log(found).std() == pytest.approx(0.7, rel=0.02)


def test_without_wave_noise_and_bursts_rates_stay_at_their_means() -> None:
    first, *_, last = islice(rates(FIXED, TOPIC_OF, tick_s=60, seed=3), 50)
    assert (first == last).all()
    assert (first == mean_rates(FIXED, len(TOPIC_OF), 3)).all()
    assert surplus(FIXED) == pytest.approx(1)


@pytest.mark.parametrize(
    "config",
    [
        RateConfig(spread=0, drift=0.5, noise=0, bursts_a_day=0),
        RateConfig(spread=0, drift=0, noise=0.5, bursts_a_day=0),
        RateConfig(spread=0, drift=0, noise=0, bursts_a_day=12),
        RateConfig(spread=0),
    ],
)
def test_the_surplus_is_what_waves_noise_and_bursts_add_in_the_mean(config: RateConfig) -> None:
    day = islice(rates(config, TOPIC_OF, tick_s=60, seed=5), 1440)
    mean = np.mean([step.mean() for step in day])
    assert mean == pytest.approx(surplus(config), rel=0.03)


def test_partitions_of_one_topic_share_their_wave() -> None:
    waves = RateConfig(spread=0, drift=0.5, noise=0, bursts_a_day=0)
    step = next(rates(waves, TOPIC_OF, tick_s=60, seed=5))
    assert len(np.unique(step)) == 6
    assert all(len(set(step[topic == TOPIC_OF])) == 1 for topic in range(6))
