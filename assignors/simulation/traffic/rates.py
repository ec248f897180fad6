"""How many records arrive at each partition, from a seed and without end.

Each rate is the partition's mean times a slow wave of its topic, its own noise (an autoregressive
process of order 1) and bursts. Random numbers come from streams of their own, and everything is
made of additions, multiplications and divisions, so that a seed gives the same on every machine:
normal numbers are sums of twelve uniform ones, the wave is made of parabolas, and `exponentials`
is a polynomial.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count as counting
from math import factorial, sqrt

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Int32
from assignors.simulation.dice import mixed, mixed_array
from assignors.simulation.timed.random_streams import stream_seed
from assignors.simulation.traffic.scenario import Distribution, RateConfig

Float64 = NDArray[np.float64]

DAY_S = 86_400
LN_2 = 0.6931471805599453
TERMS = 13
"""Of the series of exp, for arguments up to ln 2 / 2: exact to 1e-15."""
UNIFORMS_A_NORMAL = 12
"""Their sum less 6 has the mean 0 and the variance 1."""


class Draws:
    """Random numbers of one purpose: for each step as many as there are partitions."""

    __slots__ = ("_count", "_key")

    def __init__(self, seed: int, purpose: str, count: int) -> None:
        """Draw `count` numbers a step."""
        self._key = stream_seed(seed, "traffic", purpose)
        self._count = count

    def uniform(self, step: int) -> Float64:
        """Return numbers from 0 to 1, float64[count]. Cost: O(count)."""
        found: Float64 = self._bits(step, 1)[0] * 2.0**-32
        return found

    def normal(self, step: int) -> Float64:
        """Return numbers with mean 0 and variance 1, within 6 of 0: float64[count]."""
        found: Float64 = self._bits(step, UNIFORMS_A_NORMAL).sum(axis=0) * 2.0**-32 - 6
        return found

    def _bits(self, step: int, rows: int) -> NDArray[np.int64]:
        """Return numbers of 32 bits, int64[rows, count]."""
        size = rows * self._count
        seeds = np.full(size, mixed(self._key, step), dtype=np.uint64)
        drawn = mixed_array(seeds, np.arange(size)) >> np.uint64(32)
        return drawn.astype(np.int64).reshape(rows, self._count)


def exponentials(powers: Float64) -> Float64:
    """Return e to each power, the same on every machine. Cost: O(n), about 30 operations each.

    >>> exponentials(np.array([0.0, 1.0]))
    array([1.        , 2.71828183])
    """
    whole = np.rint(powers / LN_2)
    rest = powers - whole * LN_2
    found = np.full(len(powers), 1 / factorial(TERMS))
    for term in range(TERMS - 1, -1, -1):
        found = found * rest + 1 / factorial(term)
    scaled: Float64 = np.ldexp(found, whole.astype(np.int32))
    return scaled


def mean_rates(config: RateConfig, count: int, seed: int) -> Float64:
    """Return the mean rate of each partition, relative to others, float64[count]. O(n log n).

    Those of noise, waves and bursts come on top; `surplus` is by how much.
    """
    draws = Draws(seed, "means", count)
    if config.distribution is Distribution.LOG_NORMAL:
        return exponentials(config.spread * draws.normal(0))
    if config.distribution is Distribution.EVEN:
        return np.ones(count)
    order = np.argsort(draws.uniform(0), kind="stable")
    rates = np.ones(count)
    if config.distribution is Distribution.HOT:
        rates[order[:1]] = config.spread
    else:
        # Rounded to what the logarithms of all machines agree on.
        logarithms: Float64 = np.round(np.log(np.arange(1.0, count + 1)), 12)
        rates[order] = exponentials(-config.spread * logarithms)
    return rates


def surplus(config: RateConfig) -> float:
    """Return the mean of a rate over its mean rate: what waves, noise and bursts add."""
    parts = exponentials(config.drift * _wave(np.arange(WAVE_POINTS) / WAVE_POINTS))
    noise = float(exponentials(np.array([config.noise**2 / 2]))[0])
    between = config.bursts_a_day / DAY_S * config.burst_s
    bursts = 1 + between / (1 + between) * (config.burst_factor - 1)
    return float(parts.mean()) * noise * bursts


WAVE_POINTS = 1000


def rates(config: RateConfig, topic_of: Int32, *, tick_s: int, seed: int) -> Iterator[Float64]:
    """Yield the rate of each partition, relative to others, step by step: float64[P].

    `topic_of` is int32[P]. Cost: O(P) a step, about a microsecond a partition.
    """
    count = len(topic_of)
    mean = mean_rates(config, count, seed)
    phase = Draws(seed, "phases", int(topic_of.max(initial=-1)) + 1).uniform(0)[topic_of]
    noise, starts = Draws(seed, "noise", count), Draws(seed, "bursts", count)
    lengths, factors = Draws(seed, "burst lengths", count), Draws(seed, "burst factors", count)
    kept = float(exponentials(np.array([-tick_s / config.noise_s]))[0])
    fresh = sqrt(1 - kept * kept)
    chance = config.bursts_a_day * tick_s / DAY_S
    deviation = noise.normal(0)
    left, factor = np.zeros(count), np.ones(count)
    for step in counting():
        wave = _wave(phase + step * tick_s / config.drift_period_s)
        begins = (left <= 0) & (starts.uniform(step) < chance)
        if begins.any():
            length = config.burst_s * (0.4 + 1.2 * lengths.uniform(step))
            left = np.where(begins, length, left)
            height = config.burst_factor * (2 + 2 * factors.uniform(step)) / 3
            factor = np.where(begins, height, factor)
        yield (
            mean
            * exponentials(config.drift * wave + config.noise * deviation)
            * np.where(left > 0, factor, 1)
        )
        deviation = kept * deviation + fresh * noise.normal(step + 1)
        left -= tick_s


def _wave(turns: Float64) -> Float64:
    """Return a wave of two parabolas, from -1 to 1, with the period 1 and the mean 0."""
    place = turns - np.rint(turns)
    return 16 * place * (0.5 - np.abs(place))
