"""Compares what was predicted with what happened: figures of a cell's joins, or of its leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles
from typing import Any

from assignors.simulation.timed.scenario import Verb
from tests.lab.calibrate.figures import Figures
from tests.lab.calibrate.plan import Plan

NEAR_SHARE = 0.1
NEAR_S = 0.05
"""A median is near another one if it is within either of these."""
TIMES = ("idle_s", "longest_s", "duration_s")


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


def is_near(real: float, simulated: float) -> bool:
    """Return whether a predicted median counts as right.

    >>> is_near(0.02, 0.06), is_near(27.0, 29.0), is_near(3.0, 3.4)
    (True, True, False)
    """
    return abs(real - simulated) <= max(NEAR_SHARE * real, NEAR_S)


def compare(trials: Sequence[Trial], verb: Verb) -> dict[str, Any]:
    """Return the comparison of one verb in groups of one cell, as a row of results.json.

    Repetitions that ended before the group was at rest are `unsettled`, and left out. `moves` and
    `generations` count those that had a predicted number; `more_rounds` are those with more
    generations than the least, and the predicted share of them. Times are the 5th, 50th and 95th
    percentile, in seconds or partition-seconds.
    """
    repetitions = [each for trial in trials for each in trial.repetitions(verb)]
    settled = [(real, runs) for real, runs in repetitions if real.is_settled]
    happened = [real for real, _ in settled]
    predicted = [run for _, runs in settled for run in runs if run.is_settled]
    least = min((each.generations for each in happened + predicted), default=0)
    more = sum(each.generations > least for each in happened)
    share = sum(each.generations > least for each in predicted) / max(len(predicted), 1)
    return {
        "cell": trials[0].plan.cell.name,
        "verb": verb.value,
        "groups": len(trials),
        "repetitions": len(settled),
        "unsettled": len(repetitions) - len(settled),
        **{
            name: sum(
                getattr(real, name) in {getattr(run, name) for run in runs}
                for real, runs in settled
            )
            for name in ("moves", "generations")
        },
        "more_rounds": [more, share],
        "times": {
            name: {
                side: _percentiles([getattr(each, name) for each in figures])
                for side, figures in (("real", happened), ("simulated", predicted))
            }
            for name in TIMES
        },
    }


def _percentiles(values: list[float]) -> list[float]:
    if len(values) < 2:
        return 3 * (values or [0.0])
    twentieths = quantiles(values, n=20, method="inclusive")
    return [round(each, 4) for each in (twentieths[0], median(values), twentieths[-1])]
