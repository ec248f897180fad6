"""The comparison itself, without a broker: figures by counting, and wrong predictions found."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.ownership.changes import Change
from assignors.simulation.timed.scenario import Verb
from assignors.simulation.timed.simulation import simulate
from tests.conftest import cases
from tests.lab.calibrate import fit
from tests.lab.calibrate.compare import Trial, binomial_p, compare, kolmogorov_smirnov_p
from tests.lab.calibrate.figures import MICROSECONDS, figures_of, spreads_of
from tests.lab.calibrate.fit import handling_of_rounds, with_looks
from tests.lab.calibrate.plan import KINDS, TOPIC, cell, plan_of
from tests.lab.calibrate.real import Recording
from tests.lab.calibrate.recordings import load, save
from tests.lab.calibrate.simulated import (
    Constants,
    Course,
    generations,
    planned,
    play,
    scenario_of,
)

PLANS = {kind: plan_of(cell(kind, 3, heartbeat_ms=1000), repetitions=4, seed=1) for kind in KINDS}
END = 60


@st.composite
def histories(draw: st.DrawFn) -> list[Change]:
    """Draw who owns what of three partitions from when on, at whole moments up to `END`."""
    moments = draw(st.lists(st.integers(0, END - 1), max_size=12, unique=True))
    return [
        Change(at=at, member_id=draw(st.sampled_from("ab")), owned={TOPIC: tuple(sorted(numbers))})
        for at in sorted(moments)
        for numbers in [draw(st.sets(st.integers(0, 2)))]
    ]


@given(histories(), st.integers(1, END - 1))
@cases(100)
def test_idle_time_is_what_counting_moment_by_moment_finds(
    changes: list[Change], start: int
) -> None:
    (figures,) = figures_of(changes, [], windows=[(start, END)], partitions=3)
    idle = [
        partition
        for moment in range(start, END)
        for partition in range(3)
        if partition not in _owned(changes, moment)
    ]
    assert figures.idle_s * MICROSECONDS == pytest.approx(len(idle))


def _owned(changes: list[Change], moment: int) -> set[int]:
    """Return what anybody owns in a moment."""
    newest = {change.member_id: change.owned for change in changes if change.at <= moment}
    return {number for owned in newest.values() for number in owned[TOPIC]}


def test_what_a_member_gives_up_at_the_verb_itself_moves() -> None:
    changes = [
        Change(at=0, member_id="a", owned={TOPIC: (0,)}),
        Change(at=10, member_id="a", owned={}),
        Change(at=15, member_id="b", owned={TOPIC: (0,)}),
    ]
    (found,) = figures_of(changes, [], windows=[(10, 20)], partitions=1)
    assert (found.moves, found.is_settled) == (1, True)
    assert found.idle_s == found.longest_s == found.duration_s == 5 / MICROSECONDS


def test_a_generation_counts_for_the_verb_before_it() -> None:
    windows = [(0, 10), (10, 20), (20, 30)]
    found = figures_of([], [3, 10, 19, 19], windows=windows, partitions=1)
    assert [each.generations for each in found] == [1, 3, 0]


def test_members_are_assigned_apart_from_the_first_to_the_last() -> None:
    changes = [
        Change(at=at, member_id=member, owned={TOPIC: (0,)} if owns else {})
        for at, member, owns in [
            *((1, "a", False), (2, "b", False), (4, "b", True), (9, "a", True)),  # a round
            *((10, "c", True), (25, "b", True), (26, "a", True)),
        ]
    ]
    assert spreads_of(changes, windows=[(0, 10), (10, 20), (20, 30)]) == [5, 1]


@pytest.mark.parametrize(
    ("client", "handling_us"), [("librdkafka", 200), ("java", 400), ("kafka-python", 600)]
)
def test_what_an_answer_costs_is_found_again_in_the_rounds(client: str, handling_us: int) -> None:
    plan = plan_of(cell(f"{client}-eager", 10), repetitions=2, seed=5)
    scenario = scenario_of(plan, Constants(handling_us=handling_us), seed=3)
    recording = Recording(
        plan=plan,
        done=planned(plan),
        changes=simulate(scenario, keeps_history=True).changes,
        generations=[],
        arrivals=[],
        died=0,
    )
    assert handling_of_rounds([recording]) == handling_us


@pytest.mark.parametrize("late_us", [0, 3000])
def test_how_late_looks_are_is_found_again_in_what_follows_from_them(
    late_us: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit, "WAKE_LATE_US", (0, 3000, 9000))
    constants = Constants(startup_ms=56, handling_us=200, compute_us_per_partition=15)
    recordings = []
    for seed in (5, 6):
        plan = plan_of(cell("librdkafka-cooperative", 10), repetitions=5, seed=seed)
        scenario = scenario_of(plan, replace(constants, wake_late_us=late_us), seed=seed)
        played = simulate(scenario, keeps_history=True)
        recordings.append(
            Recording(
                plan=plan,
                done=planned(plan),
                changes=played.changes,
                generations=generations(played),
                arrivals=[],
                died=0,
            )
        )
    assert with_looks(recordings, constants).wake_late_us == late_us


@pytest.mark.parametrize("kind", KINDS)
def test_a_prediction_is_the_same_every_time(kind: str) -> None:
    plan = PLANS[kind]
    first, again = (play(plan, Constants(), seeds=[7]) for _ in range(2))
    assert first == again
    course = Course(done=planned(plan), joined={})
    assert first == play(plan, Constants(), seeds=[7], course=course)
    assert all(each.is_settled for each in first[0])


@pytest.mark.parametrize("verb", [Verb.START, Verb.STOP])
@pytest.mark.parametrize("kind", KINDS)
def test_only_a_right_prediction_has_no_misses(kind: str, verb: Verb) -> None:
    plan, constants = PLANS[kind], fit.kept()[kind]
    real, elsewhere = play(plan, constants, seeds=[1, 2])
    right = Trial(plan=plan, real=real, simulated=[real])
    found = compare([right], verb)
    assert (found.moves, found.generations, found.misses) == (3, 3, [])
    assert compare([replace(right, simulated=[elsewhere])], verb).moves == 3
    late = [replace(each, duration_s=1.2 * each.duration_s + 1) for each in real]
    assert "median duration" in compare([replace(right, simulated=[late])], verb).misses
    moved = [replace(each, moves=each.moves + 1) for each in real]
    wrong = replace(right, simulated=[moved])
    assert "moves in 3" in compare([wrong], verb).misses
    rounds = [replace(each, generations=each.generations + 9) for each in real]
    assert compare([replace(right, simulated=[rounds])], verb).generations == 0
    both = compare([right, wrong], verb)
    assert (both.repetitions, both.moves) == (6, 3)


def test_samples_of_two_distributions_are_told_apart() -> None:
    dice = Random(1)
    one = [dice.gauss(0, 1) for _ in range(30)]
    same = [dice.gauss(0, 1) for _ in range(300)]
    other = [dice.gauss(1, 1) for _ in range(300)]
    assert kolmogorov_smirnov_p(one, same) > 0.05
    assert kolmogorov_smirnov_p(one, other) < 0.001
    assert binomial_p(5, 30, 0.2) > 0.5
    assert binomial_p(15, 30, 0.2) < 0.001


def test_a_recording_is_read_as_it_was_saved(tmp_path: Path) -> None:
    plan = plan_of(cell("java-eager", 3), repetitions=2, seed=5)
    recording = Recording(
        plan=plan,
        done=planned(plan),
        changes=[Change(at=5, member_id="c00", owned={TOPIC: (1, 2)})],
        generations=[4],
        arrivals=[3],
        died=0,
    )
    save([recording], tmp_path)
    assert load(tmp_path) == [recording]
