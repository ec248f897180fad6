"""Groups whose partitions are not equal, over hours: who moves how much, and who lags.

    python -m tests.benchmarks.bench_traffic [--part NAME] [--store]

Plays the named scenarios of `traffic` under our assignors and the peers, six seeds each, and prints
a line for each. `--part` plays one part alone, and leaves the others as they are stored. With
`--store` the means go into `results/traffic.json`, of which `python -m tests.lab.pages` writes the
tables. Nothing here is a time: every machine gets the same figures. About five minutes of one core.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from assignors.simulation.traffic.results import TrafficResult, result_of
from assignors.simulation.traffic.run import moments
from assignors.simulation.traffic.scenario import TrafficScenario
from assignors.simulation.traffic.worlds import world
from tests.benchmarks.traffic.catch_up import least_s
from tests.benchmarks.traffic.contenders import CONTENDERS, Contender

RESULTS = Path(__file__).resolve().parent / "results" / "traffic.json"
FIGURES = (
    "moves_per_hour",
    "returned_share",
    "rebalances_per_hour",
    "rounds_per_hour",
    "use_over_bound_mean",
    "overloaded_share",
    "lag_p99_s",
    "lag_max_s",
    "caught_up_after_s",
    "paused_s_per_hour",
    "double",
)
SEEDS = range(100, 106)
COUNTING = "`cooperative-sticky`, by count"
EVERY = "lag-based, every minute"
RATES = ("LPT by rate", "guyozeri by rate", "KCL 3 by rate", "Dicer by rate")
OURS = "**ours, as it is**"
TIGHT, NARROW, OF_LAG, OF_RATE = (
    "ours, tolerance and trigger 1 %",
    "ours, trigger 5 %",
    "ours, lag as weight",
    "ours, by rate",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A table: a scenario, and who plays it."""

    scenario: TrafficScenario
    contenders: Sequence[str]


PARTS: dict[str, Part] = {
    "noisy": Part(scenario=world("noisy"), contenders=tuple(CONTENDERS)),
    **{
        f"steady, {error:.0%}": Part(
            scenario=replace(world("steady"), leader=replace(world("steady").leader, error=error)),
            contenders=(*RATES, TIGHT, NARROW, OURS),
        )
        for error in (0.1, 0.3)
    },
    **{
        f"catch-up, {use:.0%}": Part(
            scenario=replace(world("catch-up"), use=use),
            contenders=(COUNTING, EVERY, *RATES, OF_RATE, OF_LAG, OURS),
        )
        for use in (0.5, 0.7)
    },
}
"""By the name that they have in the results."""


def played(scenario: TrafficScenario, contender: Contender, seed: int) -> TrafficResult:
    """Return the figures of one run."""
    changed = replace(scenario, leader=contender.leader(scenario.leader))
    found = moments(changed, contender.made(), seed=seed)
    return result_of(found, tick_s=scenario.tick_s, count_from_s=scenario.count_from_s)


def measured(part: Part, *, only: str | None = None) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield each contender's name and the means of its figures; `only` one, if wanted."""
    for name in part.contenders if only is None else [only]:
        runs = [played(part.scenario, CONTENDERS[name], seed) for seed in SEEDS]
        means = {figure: fmean(getattr(run, figure) for run in runs) for figure in FIGURES}
        yield name, {figure: round(mean, 4) for figure, mean in means.items()}


def main() -> None:
    """Play all parts, print a line for each contender, and keep the means if wanted."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", choices=PARTS)
    parser.add_argument("--store", action="store_true")
    options = parser.parse_args()
    kept = json.loads(RESULTS.read_text(encoding="utf-8"))
    for title, part in PARTS.items():
        if options.part not in {None, title}:
            continue
        print(f"{title}: {', '.join(FIGURES)}", flush=True)
        found = {}
        if part.scenario.behind_share:
            kept["least_s"][title] = round(fmean(least_s(part.scenario, one) for one in SEEDS), 1)
        for name, figures in measured(part):
            found[name] = figures
            print(f"  {name:40}", *(f"{value:10,.3f}" for value in figures.values()), flush=True)
        kept["parts"][title] = found
    if options.store:
        parts = {title: kept["parts"][title] for title in PARTS}
        text = json.dumps({"least_s": kept["least_s"], "parts": parts}, indent=1)
        RESULTS.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
