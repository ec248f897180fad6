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
from tests.foreign.calibrate.compare import NEAR_S, compare
from tests.foreign.calibrate.plan import KINDS, MILLI
from tests.foreign.calibrate.real import Recording
from tests.foreign.calibrate.simulated import Constants, play

KEPT = Path(__file__).resolve().parent / "constants.json"
FITTED_MEMBERS = 10
SEEDS = range(5)
ROUNDS = 3
"""How often all constants are gone through at most."""

GRID: Mapping[str, Sequence[int]] = {
    "poll_ms": (0, 2, 5, 10, 20, 30, 50, 75, 100, 150),
    "network_us": (200, 500, 1000, 2000, 4000),
    "callback_ms": (0, 1, 2, 5),
    "sync_delay_us": (0, 500, 1000, 2000, 4000, 8000),
}
"""Field of `Constants` -> the values that are tried."""


def fit(recordings: Iterable[Recording]) -> dict[str, Constants]:
    """Return the constants of each kind of which ten members were recorded. Cost: minutes."""
    return {
        each.plan.cell.kind: _fit(each)
        for each in recordings
        if each.plan.cell.members == FITTED_MEMBERS
    }


def _fit(recording: Recording) -> Constants:
    best = Constants(startup_ms=startup_ms(recording))
    least = _loss(recording, best)
    is_cooperative = KINDS[recording.plan.cell.kind].assignor == "cooperative-sticky"
    for _ in range(ROUNDS):
        before = best
        for name, values in GRID.items():
            if name == "sync_delay_us" and not is_cooperative:
                continue  # only there a late SyncGroup changes anything
            for value in values:
                tried = replace(best, **{name: value})
                loss = _loss(recording, tried) if tried != best else least
                if loss < least:
                    best, least = tried, loss
        if best == before:
            break
    return best


def startup_ms(recording: Recording) -> int:
    """Return the median time from a member's start to its first request at the coordinator."""
    delays = [
        delay
        for action, delay in zip(recording.plan.verbs, recording.delays, strict=True)
        if action.do is Verb.START
    ][1:]
    return round(median(delays) / MILLI)


def _loss(recording: Recording, constants: Constants) -> float:
    """Return how far predicted medians are from real ones, in shares, and shares of rounds."""
    plan = recording.plan
    simulated = play(plan, constants, seeds=SEEDS, done=recording.done)
    loss = 0.0
    for verb in (Verb.START, Verb.STOP):
        found = compare(plan, verb, recording.figures, simulated)
        for times in found.times.values():
            for real, predicted in zip(times.real, times.simulated, strict=True):
                loss += abs(real - predicted) / max(real, NEAR_S)
        more, share = found.more_rounds
        loss += abs(more / max(found.repetitions, 1) - share)
    return loss


def kept() -> dict[str, Constants]:
    """Return the constants that the last long run found."""
    return {kind: Constants(**each) for kind, each in json.loads(KEPT.read_text("utf-8")).items()}


def keep(found: Mapping[str, Constants]) -> None:
    """Write constants down for `kept`."""
    listed = {kind: asdict(each) for kind, each in found.items()}
    KEPT.write_text(json.dumps(listed, indent=2) + "\n", "utf-8")
