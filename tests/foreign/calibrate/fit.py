"""Finds the constants of a kind: those with which ten members are predicted best.

The time of a start is measured. The others are searched for one after the other, each among a few
values, until none gives a better prediction. Other sizes are never looked at: they are the test.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import median

from assignors.simulation.timed.scenario import Verb
from tests.foreign.calibrate.compare import NEAR_S, TIMES, compare
from tests.foreign.calibrate.plan import KINDS, MILLI
from tests.foreign.calibrate.predictions import predict, predicts_one_by_one
from tests.foreign.calibrate.real import Recording
from tests.foreign.calibrate.simulated import Constants

KEPT = Path(__file__).resolve().parent / "constants.json"
FITTED_MEMBERS = 10
SEEDS = range(4)
ROUNDS = 2
"""How often all constants are gone through at most."""

REPETITIONS = 12
"""The last ones of a recording are looked at, of the classic protocol: each is a run."""

GRID: Mapping[str, Sequence[int]] = {
    "late_ms": (0, 1, 2, 3, 5, 8),
    "poll_ms": (0, 2, 5, 10, 20, 50, 100, 150),
    "network_us": (200, 500, 1000, 2000),
    "callback_ms": (0, 1, 3),
}
"""Field of `Constants` -> the values that are tried."""
SYNC_DELAYS_US = (0, 100, 200, 400, 700, 1000, 2000)


def fit(recordings: Iterable[Recording]) -> dict[str, Constants]:
    """Return the constants of each kind of which ten members were recorded. Cost: minutes."""
    return {
        each.plan.cell.kind: _fit(each)
        for each in recordings
        if each.plan.cell.members == FITTED_MEMBERS
    }


def _fit(recording: Recording) -> Constants:
    kind = KINDS[recording.plan.cell.kind]
    some = recording
    if predicts_one_by_one(kind):
        verbs = recording.plan.verbs[-2 * REPETITIONS :]
        some = replace(recording, plan=replace(recording.plan, verbs=verbs))
    best = Constants(startup_ms=startup_ms(recording))
    least = _loss(some, best)
    for _ in range(ROUNDS):
        before = best
        for name, values in GRID.items():
            for value in values:
                tried = replace(best, **{name: value})
                loss = _loss(some, tried) if tried != best else least
                if loss < least:
                    best, least = tried, loss
        if best == before:
            break
    if kind.assignor != "cooperative-sticky":
        return best  # only there a late SyncGroup changes anything
    delays = (replace(best, sync_delay_us=delay) for delay in SYNC_DELAYS_US)
    return min(delays, key=lambda tried: _rounds_off(recording, tried))


def _rounds_off(recording: Recording, constants: Constants) -> float:
    """Return how far the predicted share of joins with a round more is from the real one."""
    runs = predict(recording, constants, seeds=SEEDS)
    found = compare(recording.plan, Verb.START, recording.figures, runs)
    more, share = found.more_rounds
    return abs(more / max(found.repetitions, 1) - share)


def startup_ms(recording: Recording) -> int:
    """Return the median time from a member's start to its first request at the coordinator."""
    delays = [
        delay
        for action, delay in zip(recording.plan.verbs, recording.delays, strict=True)
        if action.do is Verb.START
    ][1:]
    return round(median(delays) / MILLI)


def _loss(recording: Recording, constants: Constants) -> float:
    """Return how far predictions are off, in shares of what was measured, summed over figures.

    Where each repetition has its own prediction, of the same phase, the median of the differences
    counts, as a round more or less shifts a time by a heartbeat.
    """
    plan, real = recording.plan, recording.figures
    kind = KINDS[plan.cell.kind]
    runs = predict(recording, constants, seeds=SEEDS)
    loss = 0.0
    for verb in (Verb.START, Verb.STOP):
        places = [
            place
            for place, action in enumerate(plan.verbs)
            if action.do is verb and place > 1 and real[place].is_settled
        ]
        for name in TIMES:
            happened = [getattr(real[place], name) for place in places]
            said = [[getattr(run[place], name) for run in runs] for place in places]
            apart = _apart if predicts_one_by_one(kind) else _distributions_apart
            loss += apart(happened, said) / max(median(happened), NEAR_S)
    return loss


def _apart(real: Sequence[float], simulated: Sequence[Sequence[float]]) -> float:
    """Return how far the repetitions are from their own predictions, of the same phase."""
    return median(abs(value - median(said)) for value, said in zip(real, simulated, strict=True))


def _distributions_apart(real: Sequence[float], simulated: Sequence[Sequence[float]]) -> float:
    """Return how far the values are apart that have the same rank: the phases are unknown."""
    said = sorted(value for each in simulated for value in each)
    ranks = len(said) / len(real)
    return sum(
        abs(value - said[int((place + 0.5) * ranks)]) for place, value in enumerate(sorted(real))
    ) / len(real)


def kept() -> dict[str, Constants]:
    """Return the constants that the last long run found."""
    return {kind: Constants(**each) for kind, each in json.loads(KEPT.read_text("utf-8")).items()}


def keep(found: Mapping[str, Constants]) -> None:
    """Write constants down for `kept`."""
    listed = {kind: asdict(each) for kind, each in found.items()}
    KEPT.write_text(json.dumps(listed, indent=2) + "\n", "utf-8")
