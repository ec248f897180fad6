"""Holds what was predicted against what happened: figures of a cell's joins, or of its leaves.

Moves and generations have to be equal; of times, the medians have to be near each other, and the
distributions either not distinguishable or near at both ends. What holds and what does not is a row
either way. How well the medians are known is said beside them (`nearness`).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, exp, sqrt
from statistics import median, quantiles
from typing import Any

from assignors.simulation.timed.scenario import Verb
from tests.lab.calibrate.figures import Figures
from tests.lab.calibrate.nearness import Nearness, Off, Played, is_near, nearness_of
from tests.lab.calibrate.plan import Plan

SAME_P = 0.01
"""Two samples of one distribution come out less alike than this once in a hundred times."""
ENOUGH = 20
"""Repetitions from which on distributions are compared."""
TIMES = ("idle_s", "longest_s", "duration_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
    """One figure of both sides, in seconds or partition-seconds."""

    real: tuple[float, float, float]
    """5th, 50th and 95th percentile."""
    simulated: tuple[float, float, float]
    same_p: float | None
    """Of Kolmogorov and Smirnov's test; `None` for too few repetitions."""
    nearness: Nearness | None
    """How well the medians are known; `None` for too few groups."""

    @property
    def is_near(self) -> bool:
        """Whether the medians are near each other."""
        return is_near(self.real[1], self.simulated[1])

    @property
    def are_ends_near(self) -> bool:
        """Whether the 5th and 95th percentiles are: a test tells 5.06 s from 5.07 s, if all are."""
        return all(is_near(self.real[end], self.simulated[end]) for end in (0, 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The joins or the leaves of a cell, on both sides."""

    cell: str
    verb: Verb
    groups: int
    repetitions: int
    unsettled: int
    """Real repetitions that ended before the group was at rest: they are left out."""
    moves: int
    """Repetitions in which the number of moves is the predicted one."""
    generations: int
    """Repetitions in which the number of generations is."""
    more_rounds: tuple[int, float]
    """Repetitions with more generations than the least, and the share of them predicted."""
    more_rounds_p: float
    """How likely so many or so few are at that share."""
    times: dict[str, Times]

    @property
    def misses(self) -> list[str]:
        """What was not predicted."""
        found = [] if self.repetitions else ["nothing settled"]
        if self.moves < self.repetitions:
            found.append(f"moves in {self.repetitions - self.moves}")
        if self.generations < self.repetitions and self.more_rounds_p < SAME_P:
            found.append(f"generations in {self.repetitions - self.generations}")
        for name, times in self.times.items():
            if not times.is_near:
                found.append(f"median {name.removesuffix('_s')}")
            if times.same_p is not None and times.same_p < SAME_P and not times.are_ends_near:
                found.append(f"distribution {name.removesuffix('_s')}")
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A plan as one real group played it, and as it was predicted of that group."""

    plan: Plan
    real: Sequence[Figures]
    """Of each verb of the plan."""
    simulated: Sequence[Sequence[Figures]]
    """The same for each run."""

    def repetitions(self, verb: Verb) -> list[tuple[Figures, list[Figures]]]:
        """Return what happened at this verb each time, and the predictions of it.

        The first time is left out: processes are cold.
        """
        places = [n for n, action in enumerate(self.plan.verbs) if action.do is verb][1:]
        return [(self.real[place], [run[place] for run in self.simulated]) for place in places]


def compare(trials: Sequence[Trial], verb: Verb) -> Comparison:
    """Compare the figures of one verb in groups of one cell."""
    repetitions = [each for trial in trials for each in trial.repetitions(verb)]
    settled = [(real, runs) for real, runs in repetitions if real.is_settled]
    happened = [real for real, _ in settled]
    predicted = [run for _, runs in settled for run in runs if run.is_settled]
    least = min((each.generations for each in happened + predicted), default=0)
    more = sum(each.generations > least for each in happened)
    share = sum(each.generations > least for each in predicted) / max(len(predicted), 1)
    return Comparison(
        cell=trials[0].plan.cell.name,
        verb=verb,
        groups=len(trials),
        repetitions=len(settled),
        unsettled=len(repetitions) - len(settled),
        moves=sum(real.moves in {run.moves for run in runs} for real, runs in settled),
        generations=sum(
            real.generations in {run.generations for run in runs} for real, runs in settled
        ),
        more_rounds=(more, share),
        more_rounds_p=binomial_p(more, len(happened), share),
        times={name: _times(trials, verb, name) for name in TIMES},
    )


def _times(trials: Sequence[Trial], verb: Verb, name: str) -> Times:
    groups = [_played(trial, verb, name) for trial in trials]
    real = [value for each in groups for value in each.real]
    simulated = [value for each in groups for said in each.simulated for value in said]
    is_enough = len(real) >= ENOUGH
    return Times(
        real=_percentiles(real),
        simulated=_percentiles(simulated),
        same_p=kolmogorov_smirnov_p(real, simulated) if is_enough and simulated else None,
        nearness=nearness_of(groups),
    )


def _played(trial: Trial, verb: Verb, name: str) -> Played:
    """Return a figure of the repetitions that came to rest, on both sides."""
    settled = [
        (real, [run for run in runs if run.is_settled])
        for real, runs in trial.repetitions(verb)
        if real.is_settled
    ]
    return Played(
        real=[getattr(real, name) for real, _ in settled],
        simulated=[[getattr(run, name) for run in runs] for _, runs in settled],
    )


def _percentiles(values: list[float]) -> tuple[float, float, float]:
    if len(values) < 2:
        only = values[0] if values else 0.0
        return only, only, only
    twentieths = quantiles(values, n=20, method="inclusive")
    return twentieths[0], median(values), twentieths[-1]


def kolmogorov_smirnov_p(one: Sequence[float], other: Sequence[float]) -> float:
    """Return how likely two samples of one distribution differ so much or more.

    By Kolmogorov's asymptotic law, with Stephens's correction for small samples ("Use of the
    Kolmogorov-Smirnov, Cramer-von Mises and related statistics", 1970).

    >>> kolmogorov_smirnov_p(range(30), range(300)) < 1e-6
    True
    >>> kolmogorov_smirnov_p(range(0, 300, 10), range(300)) > 0.99
    True
    """
    first, second = sorted(one), sorted(other)
    most = max(
        abs(bisect_right(first, at) / len(first) - bisect_right(second, at) / len(second))
        for at in (*first, *second)
    )
    root = sqrt(len(first) * len(second) / (len(first) + len(second)))
    scaled = (root + 0.12 + 0.11 / root) * most
    if scaled < 0.2:
        return 1.0
    total = sum((k % 2 * 2 - 1) * exp(-2 * (k * scaled) ** 2) for k in range(1, 101))
    return min(max(2 * total, 0.0), 1.0)


def binomial_p(hits: int, tries: int, share: float) -> float:
    """Return how likely so many hits or so few are, whichever is less likely, twice.

    >>> binomial_p(0, 30, 0.0), round(binomial_p(0, 10, 0.5), 3)
    (1.0, 0.002)
    """
    chances = [comb(tries, n) * share**n * (1 - share) ** (tries - n) for n in range(tries + 1)]
    return min(2 * min(sum(chances[: hits + 1]), sum(chances[hits:])), 1.0)


def as_row(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison as JSON has it."""
    return {
        "cell": comparison.cell,
        "verb": comparison.verb.value,
        "groups": comparison.groups,
        "repetitions": comparison.repetitions,
        "unsettled": comparison.unsettled,
        "moves": comparison.moves,
        "generations": comparison.generations,
        "more_rounds": list(comparison.more_rounds),
        "more_rounds_p": round(comparison.more_rounds_p, 4),
        "times": {
            name: {
                "real": [round(value, 4) for value in times.real],
                "simulated": [round(value, 4) for value in times.simulated],
                "is_near": times.is_near,
                "same_p": None if times.same_p is None else round(times.same_p, 4),
                **_as_known(times.nearness),
            }
            for name, times in comparison.times.items()
        },
        "misses": comparison.misses,
    }


def _as_known(nearness: Nearness | None) -> dict[str, Any]:
    if nearness is None:
        return {"known": None}
    shares = nearness.correlation
    return {
        "known": nearness.known.value,
        "off": _as_off(nearness.medians),
        "off_by_pairs": _as_off(nearness.pairs),
        "known_by_pairs": nearness.pairs_known.value,
        "correlation": None if shares is None else round(shares, 3),
    }


def _as_off(off: Off) -> list[float]:
    return [round(value, 4) for value in (off.value, off.low, off.high)]
