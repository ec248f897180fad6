"""How well a median is known: intervals that have the true difference as often as they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import pytest

from assignors.ownership.changes import Change
from assignors.simulation.timed.scenario import Verb
from tests.lab.calibrate import fit
from tests.lab.calibrate.compare import as_row, compare
from tests.lab.calibrate.nearness import SURE, Known, Off, Played, nearness_of
from tests.lab.calibrate.page import Source, as_text, near_by_class
from tests.lab.calibrate.plan import TOPIC, cell, plan_of
from tests.lab.calibrate.predictions import trials_of
from tests.lab.calibrate.real import Recording
from tests.lab.calibrate.recordings import load, save
from tests.lab.calibrate.report import compared
from tests.lab.calibrate.simulated import planned

DRAWS = 300
OFF = 0.2


def played(dice: Random, *, groups: int = 12, off: float = 0.0) -> list[Played]:
    """Return groups of ten repetitions, which have a part in common; medians `off` apart.

    A repetition and its predictions have the better part of their time in common.
    """
    found = []
    for _ in range(groups):
        own = dice.gauss(3, 0.3)
        shared = [own + dice.gauss(0, 0.7) for _ in range(10)]
        found.append(
            Played(
                real=[one + dice.gauss(0, 0.3) for one in shared],
                simulated=[[one + off + dice.gauss(0, 0.3) for _ in range(5)] for one in shared],
            )
        )
    return found


@pytest.mark.parametrize("groups", [8, 12])
def test_an_interval_has_the_true_difference_as_often_as_it_says(groups: int) -> None:
    dice = Random(groups)
    tries = 400
    hits = {"medians": 0, "pairs": 0, "half of medians": 0, "half of pairs": 0}
    for _ in range(tries):
        found = nearness_of(played(dice, groups=groups, off=OFF), draws=DRAWS)
        assert found is not None
        for name, each in (("medians", found.medians), ("pairs", found.pairs)):
            hits[name] += each.low <= OFF <= each.high
            hits[f"half of {name}"] += abs(OFF - each.value) <= (each.high - each.low) / 4
    shares = {name: count / tries for name, count in hits.items()}
    assert min(shares["medians"], shares["pairs"]) >= SURE - 0.05
    # Those of medians are too wide rather than too narrow; half as wide they would be too narrow.
    assert max(shares["half of medians"], shares["half of pairs"]) < SURE - 0.05


def test_pairs_that_move_together_are_known_better_than_medians() -> None:
    found = nearness_of(played(Random(1), off=OFF))
    assert found is not None
    assert found.correlation is not None
    assert found.correlation > 0.7
    assert found.pairs.high - found.pairs.low < found.medians.high - found.medians.low


def known(groups: Sequence[Played]) -> Known:
    found = nearness_of(groups)
    assert found is not None
    return found.known


def test_a_median_is_near_or_missed_only_if_all_of_its_interval_is() -> None:
    # 0.3 is a tenth of the median.
    words = {off: known(played(Random(2), groups=40, off=off)) for off in (0.0, 0.3, 0.9, -0.9)}
    assert words == {
        0.0: Known.NEAR,
        0.3: Known.UNDECIDED,
        0.9: Known.MISSED,
        -0.9: Known.MISSED,
    }
    assert known(played(Random(2), groups=6, off=0.2)) is Known.UNDECIDED


def test_few_groups_say_nothing() -> None:
    assert nearness_of(played(Random(3), groups=5)) is None
    empty = Played(real=[], simulated=[])
    assert nearness_of([empty, *played(Random(3), groups=5)]) is None


def test_what_never_varies_is_known_and_has_no_correlation() -> None:
    found = nearness_of([Played(real=[1.0, 1.0], simulated=[[1.0], [1.0]])] * 6)
    assert found is not None
    assert (found.medians, found.known) == (Off(value=0.0, low=0.0, high=0.0), Known.NEAR)
    assert found.correlation is None


def recording(seed: int) -> Recording:
    """Return a recording in which a newcomer takes a partition, each time a bit later."""
    plan = plan_of(cell("java-consumer", 3), repetitions=3, seed=seed)
    done = planned(plan)
    return Recording(
        plan=plan,
        done=done,
        changes=[
            Change(at=at + 1000 * (seed + n), member_id=name, owned={TOPIC: (n,)})
            for n, ((verb, name), at) in enumerate(done.items())
            if verb is Verb.START
        ],
        generations=[at + 5 for at in done.values()],
        arrivals=[],
        died=0,
    )


def rows_of(recordings: Mapping[str, Sequence[Recording]]) -> list[dict[str, object]]:
    return [as_row(row.pooled) for row in compared(recordings, fit.kept())]


def test_two_recordings_are_compared_as_one_that_has_all_their_groups(tmp_path: Path) -> None:
    every = [recording(seed) for seed in (2, 9, 10, 11)]
    folders = {name: tmp_path / name for name in ("one", "other", "both")}
    save(every[:2], folders["one"])
    save(every[2:], folders["other"])
    save(every, folders["both"])
    loaded = {name: load(folder) for name, folder in folders.items()}
    assert loaded["both"] == loaded["one"] + loaded["other"] == every
    both = loaded.pop("both")
    assert rows_of(loaded) == rows_of({"both": both})
    assert rows_of({"one": loaded["one"]}) != rows_of({"both": both})


def test_what_is_predicted_of_a_group_does_not_depend_on_other_groups() -> None:
    constants = fit.kept()["java-consumer"]
    one, other = recording(4), recording(5)
    alone = trials_of([other], constants, seeds=range(2))
    assert trials_of([one, other], constants, seeds=range(2))[1:] == alone


def test_the_page_says_what_each_recording_is() -> None:
    rows = [row.pooled for row in compared({"a": [recording(n) for n in (1, 2, 3)]}, fit.kept())]
    source = Source(
        name="a",
        machine={
            "date": "2026-11-28",
            "processor": "p",
            "cores": 2,
            "clients": {"java": "4.4.0"},
            "loads": [{"groups": 3, "load_median": 1.0, "load_max": 2.0}],
        },
        fitted="",
        groups=3,
        repetitions=12,
        near=near_by_class(rows),
    )
    text = as_text(rows, fit.kept(), [source])
    assert "| a | 2026-11-28, p, 2 cores | java 4.4.0 | 3 | 12 |" in text
    assert "| java-consumer-3 | join | 0 in 3 |" in text or "java-consumer-3 | leave" in text


def test_a_group_in_which_nothing_came_to_rest_counts_for_nothing() -> None:
    trials = trials_of([recording(1)], fit.kept()["java-consumer"], seeds=range(1))
    found = compare(trials, Verb.START)
    assert found.times["idle_s"].nearness is None
