"""Finds the constants of a kind: those with which ten members are predicted best.

The time of a start is measured. The others are searched for, each among a few values. Other sizes
are never looked at: they are the test.

A client handles an answer at one speed, whatever assignor its group has. Of the classic protocol an
eager round shows it: how long after the first of ten members the last one is assigned its
partitions. That time depends on nothing else, and is much the same in each round; what a join or a
leave costs depends on the phases of heartbeats, by which chance alone chose values from 0 to 600.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from statistics import median

from assignors.simulation.timed.scenario import GroupProtocol, Verb
from assignors.simulation.timed.simulation import simulate
from tests.lab.calibrate.compare import NEAR_S, TIMES, compare
from tests.lab.calibrate.figures import spreads_of
from tests.lab.calibrate.plan import KINDS, MILLI, Kind
from tests.lab.calibrate.predictions import predicts_one_by_one, trials_of
from tests.lab.calibrate.real import Recording
from tests.lab.calibrate.simulated import (
    COMPUTE_US,
    Constants,
    is_late_by_itself,
    scenario_of,
)

KEPT = Path(__file__).resolve().parent / "constants.json"
FITTED_MEMBERS = 10
SEEDS = range(2)
"""Enough: each value is tried on sixty verbs or more."""
REPETITIONS = 5
"""The last ones of a recording are looked at, of the classic protocol: each is a run."""

HANDLING_US = (0, 50, 100, 150, 200, 250, 300, 400, 500, 600, 800, 1000, 1200, 1500, 2000)
LATE_MS = (0, 1, 2, 3, 5)
"""Both let the members of a group act at different times: they are searched for together where no
eager round shows the first."""
WAKE_LATE_US = (0, 250, 500, 1000, 1500, 2000, 3000, 4000, 6000)
"""A matter of the machine's load. Members drift apart by it, more from round to round, so each
repetition is held against its own prediction."""
COURSES = range(4)
"""Seeds for that."""
ROUNDS_GRID: Mapping[str, Sequence[int]] = {
    "sync_delay_us": (0, 100, 200, 400, 700, 1000, 1400, 2000),
    "between_polls_us": (500, 1000, 2000, 3000, 4000, 6000, 8000, 10_000, 12_000, 15_000),
}
"""The same of what decides how often a round more is needed."""


def _with_looks(recordings: Sequence[Recording], best: Constants) -> Constants:
    """Return constants with what decides how late looks are."""
    several = [replace(best, wake_late_us=late_us) for late_us in WAKE_LATE_US]
    return min(several, key=lambda tried: _loss_by(_apart, recordings, tried, COURSES))


def fit(recordings: Iterable[Recording]) -> dict[str, Constants]:
    """Return the constants of each kind of which ten members were recorded. Cost: minutes."""
    together: dict[tuple[str, GroupProtocol], dict[str, list[Recording]]] = {}
    for each in recordings:
        if each.plan.cell.members == FITTED_MEMBERS:
            kind = KINDS[each.plan.cell.kind]
            by_kind = together.setdefault((kind.client, kind.protocol), {})
            by_kind.setdefault(each.plan.cell.kind, []).append(each)
    with ProcessPoolExecutor() as processes:
        found = list(processes.map(_fit_client, together.values()))
    return {name: constants for each in found for name, constants in each.items()}


def _fit_client(by_kind: Mapping[str, Sequence[Recording]]) -> dict[str, Constants]:
    """Fit the kinds of one client under one protocol: they share `handling_us`."""
    eager = [each for name, several in by_kind.items() if KINDS[name].is_eager for each in several]
    handling_us = (handling_of_rounds(eager),) if eager else HANDLING_US
    return {
        name: _with_looks(several, best) if not is_late_by_itself(KINDS[name]) else best
        for name, several in by_kind.items()
        for best in [_with_rounds(KINDS[name], several, _best(KINDS[name], several, handling_us))]
    }


def handling_of_rounds(recordings: Sequence[Recording]) -> int:
    """Return the `handling_us` with which members are assigned as far apart as they really were."""
    (kind,) = {each.plan.cell.kind for each in recordings}
    base = _base(KINDS[kind], recordings)
    real = [
        spread for each in recordings for spread in spreads_of(each.changes, windows=each.windows)
    ]

    def off(handling_us: int) -> float:
        tried = replace(base, handling_us=handling_us)
        said = [
            spread
            for each in recordings
            for scenario in [scenario_of(each.plan, tried, seed=0, course=each.course)]
            for spread in spreads_of(
                simulate(scenario, keeps_history=True).changes, windows=each.windows
            )
        ]
        return abs(median(real) - median(said))

    return min(HANDLING_US, key=off)


def _best(kind: Kind, recordings: Sequence[Recording], handling_us: Sequence[int]) -> Constants:
    """Return the constants of least loss, with a `handling_us` of these."""
    some = recordings
    if predicts_by_phase(kind):
        some = [
            replace(each, plan=replace(each.plan, verbs=each.plan.verbs[-2 * REPETITIONS :]))
            for each in recordings
        ]
    base = _base(kind, recordings)
    several = [
        replace(base, handling_us=handling, late_ms=late)
        for handling in handling_us
        for late in (LATE_MS if is_late_by_itself(kind) else (0,))
    ]
    return several[0] if len(several) == 1 else min(several, key=partial(_loss, kind, some))


def _base(kind: Kind, recordings: Sequence[Recording]) -> Constants:
    """Return the constants from which the search begins."""
    return Constants(
        startup_ms=startup_ms(recordings),
        between_polls_us=1000 * (kind.client == "kafka-python"),
        compute_us_per_partition=COMPUTE_US[kind.assignor],
    )


def _with_rounds(kind: Kind, recordings: Sequence[Recording], best: Constants) -> Constants:
    """Return constants with what decides how often a round more is needed."""
    in_polls = kind.client == "kafka-python"
    if kind.assignor != "cooperative-sticky" and not in_polls:
        return best  # a late SyncGroup changes nothing
    name = "between_polls_us" if in_polls else "sync_delay_us"
    several = (replace(best, **{name: value}) for value in ROUNDS_GRID[name])
    return min(several, key=lambda tried: _rounds_off(recordings, tried))


def predicts_by_phase(kind: Kind) -> bool:
    """Return whether a repetition's own prediction is like it, but for rounds more.

    Polls of kafka-python's members begin and end by chance: no repetition is like another one.
    """
    return predicts_one_by_one(kind) and kind.client != "kafka-python"


def _rounds_off(recordings: Sequence[Recording], constants: Constants) -> float:
    """Return how far the predicted number of verbs with a round more is from the real one."""
    trials = trials_of(recordings, constants, seeds=SEEDS)
    off = 0.0
    for verb in (Verb.START, Verb.STOP):
        found = compare(trials, verb)
        more, share = found["more_rounds"]
        off += more - share * found["repetitions"]
    return abs(off)


def startup_ms(recordings: Iterable[Recording]) -> int:
    """Return the median time from a member's start to its first request at the coordinator."""
    delays = [
        delay
        for each in recordings
        for place, delay in enumerate(each.delays)
        if each.plan.verbs[place].do is Verb.START and place
    ]
    return round(median(delays) / MILLI)


def _loss(kind: Kind, recordings: Sequence[Recording], constants: Constants) -> float:
    """Return how far predictions are off, in shares of what was measured, summed over figures.

    Where each repetition has its own prediction, of the same phase, the median of the differences
    counts, as a round more or less shifts a time by a heartbeat. Elsewhere what is compared in the
    end counts: the distributions, and their medians.
    """
    apart = _apart if predicts_by_phase(kind) else _distributions_apart
    return _loss_by(apart, recordings, constants, SEEDS)


def _loss_by(
    apart: Callable[[Sequence[float], Sequence[Sequence[float]]], float],
    recordings: Sequence[Recording],
    constants: Constants,
    seeds: range,
) -> float:
    trials = trials_of(recordings, constants, seeds=seeds)
    loss = 0.0
    for verb in (Verb.START, Verb.STOP):
        settled = [
            (real, runs)
            for trial in trials
            for real, runs in trial.repetitions(verb)
            if real.is_settled
        ]
        for name in TIMES:
            happened = [getattr(real, name) for real, _ in settled]
            said = [[getattr(run, name) for run in runs] for _, runs in settled]
            loss += apart(happened, said) / max(median(happened), NEAR_S)
    return loss


def _apart(real: Sequence[float], simulated: Sequence[Sequence[float]]) -> float:
    """Return how far the repetitions are from their own predictions, of the same phase."""
    return median(abs(value - median(said)) for value, said in zip(real, simulated, strict=True))


def _distributions_apart(real: Sequence[float], simulated: Sequence[Sequence[float]]) -> float:
    """Return how far the values are apart that have the same rank, and the medians."""
    said = sorted(value for each in simulated for value in each)
    ranks = len(said) / len(real)
    off = sum(
        abs(value - said[int((place + 0.5) * ranks)]) for place, value in enumerate(sorted(real))
    )
    return off / len(real) + abs(median(real) - median(said))


def kept() -> dict[str, Constants]:
    """Return the constants that the last long run found."""
    return {kind: Constants(**each) for kind, each in json.loads(KEPT.read_text("utf-8")).items()}


def keep(found: Mapping[str, Constants]) -> None:
    """Write constants down for `kept`."""
    listed = {kind: asdict(each) for kind, each in found.items()}
    KEPT.write_text(json.dumps(listed, indent=2) + "\n", "utf-8")
