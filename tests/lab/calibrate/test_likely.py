"""The few repetitions of the suite: a right model passes, a wrong one does not; no broker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from math import comb

import pytest

from assignors.simulation.timed.scenario import Verb
from tests.lab.calibrate import fit
from tests.lab.calibrate.figures import Figures
from tests.lab.calibrate.likely import false_alarm, is_possible, lean_p, unlikely
from tests.lab.calibrate.plan import KINDS
from tests.lab.calibrate.simulated import play
from tests.lab.calibrate.test_calibrate import CALM, PLANS, SLACK_S, VERBS, times_of

MANY = range(12)
REAL = [1000]
"""Seeds: of what is predicted, and of what stands for the real group."""


@pytest.mark.parametrize(("real", "simulated"), [(1, 1), (3, 5), (2, 7), (3, 12)])
def test_a_false_alarm_is_as_likely_as_its_orders_are_many(real: int, simulated: int) -> None:
    outside = [
        places
        for places in combinations(range(real + simulated), real)
        if not is_possible(
            places,
            [place for place in range(real + simulated) if place not in places],
            slack_s=0,
        )
    ]
    assert false_alarm(real, simulated) == pytest.approx(
        min(len(outside) / comb(real + simulated, real), 1)
    )


def figures(kind: str, verb: Verb, runs: Sequence[Sequence[Figures]]) -> list[Figures]:
    """Return the figures of a verb, but for the first repetition."""
    places = [n for n, action in enumerate(PLANS[kind].verbs) if action.do is verb][1:]
    return [run[place] for run in runs for place in places]


@pytest.mark.parametrize("kind", KINDS)
def test_a_right_model_passes(kind: str) -> None:
    constants = fit.kept()[kind]
    real, runs = (play(PLANS[kind], constants, seeds=seeds) for seeds in (REAL, MANY))
    for verb in VERBS:
        one, many = figures(kind, verb, real), figures(kind, verb, runs)
        assert unlikely(one, many, times=times_of(kind), slack_s=SLACK_S) == {}


def test_a_round_more_of_a_busy_machine_may_take_its_time() -> None:
    kind, verb = "java-cooperative", Verb.START
    one, *many = play(PLANS[kind], fit.kept()[kind], seeds=[*REAL, *MANY])
    first, *others = figures(kind, verb, [one])
    simulated = figures(kind, verb, many)
    late = [later(1.5)(replace(each, generations=each.generations + 1)) for each in others]
    assert unlikely([first, *late], simulated, times=times_of(kind), slack_s=SLACK_S) == {}
    slow = [later(1.5)(each) for each in others]
    assert unlikely([first, *slow], simulated, times=times_of(kind), slack_s=SLACK_S)


def later(seconds: float) -> Callable[[Figures], Figures]:
    """Return what makes all times longer."""
    return lambda each: replace(
        each, longest_s=each.longest_s + seconds, duration_s=each.duration_s + seconds
    )


WRONG: dict[str, Callable[[Figures], Figures]] = {
    "a round less": lambda each: replace(each, generations=each.generations - 1),
    "a round more": lambda each: replace(each, generations=each.generations + 1),
    "another move": lambda each: replace(each, moves=each.moves + 1),
    "a heartbeat more": later(1.5),
    "no wait": lambda each: replace(each, longest_s=0.0, duration_s=0.0),
}


def test_a_wrong_model_fails_alone_or_with_all_others() -> None:
    runs = {kind: play(PLANS[kind], fit.kept()[kind], seeds=[*REAL, *MANY]) for kind in CALM}
    for wrong in WRONG.values():
        found, cells = 0, []
        for kind, (real, *many) in runs.items():
            for verb in VERBS:
                one = figures(kind, verb, [real])
                other = [wrong(each) for each in figures(kind, verb, many)]
                found += bool(unlikely(one, other, times=times_of(kind), slack_s=SLACK_S))
                cells.append(([x.duration_s for x in one], [x.duration_s for x in other]))
        assert found > len(runs) or lean_p(cells, slack_s=SLACK_S) < 0.001
