"""Figures of runs that never were, small enough to have them by hand."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from tests.lab.weights import recordings
from tests.lab.weights.figures import (
    figures,
    lateness,
    moves,
    owned,
    partition_lags,
    paused_s,
    records_behind,
    use_ratio,
)
from tests.lab.weights.recordings import Run
from tests.lab.weights.world import CAPACITIES, COSTS, FULL, World

WORLD = World(seed=5, seconds=8.0, member_count=3, partition_count=8, rate=40.0)
BEGIN_NS = 1_000_000_000_000
MACHINE = {"load_before": 0.0}


def at(second: float) -> int:
    """A time of a run, as programs report it."""
    return BEGIN_NS + round(second * 1e9)


def run(*, changes: list[tuple[int, int, str, list[int]]], late_s: float = 0.25) -> Run:
    """A run in which member 0 processes everything so late, and nothing in the last second."""
    rows = [
        (place, 100 + offset, at(due + late_s))
        for place, dues in enumerate(WORLD.due_s)
        for offset, due in enumerate(dues)
        if due < WORLD.seconds - 1
    ]
    places, offsets, times = (list(each) for each in zip(*rows, strict=True))
    return Run(
        contender="range",
        world=WORLD,
        begin_ns=BEGIN_NS,
        first=[100] * WORLD.partition_count,
        changes=changes,
        done=[(places, offsets, times), ([places[0]], [offsets[0]], [times[0] + 10**9])],
        errors=[],
        rounds=2,
        leaders=1,
        machine=MACHINE,
    )


def test_the_first_to_process_a_record_counts_and_open_ones_by_their_age() -> None:
    found = run(changes=[])
    late = lateness(found)
    assert late.values[~late.is_open] == pytest.approx(0.25)
    assert late.is_open.tolist() == (late.due_s >= WORLD.seconds - 1).tolist()
    assert late.values[late.is_open] == pytest.approx(WORLD.seconds - late.due_s[late.is_open])
    shown = figures(found)
    assert shown["twice"] == 1
    assert shown["behind_end"] == sum(int((one >= 7).sum()) for one in WORLD.due_s)
    assert shown["late_s"][0] == 0.25


def test_the_lag_of_a_partition_is_the_age_of_its_oldest_open_record() -> None:
    found = run(changes=[])
    lags = partition_lags(found)
    times = np.arange(0.25, 8.1, 0.25)
    assert lags.shape == (32, WORLD.partition_count)
    for place, due in enumerate(WORLD.due_s):
        done = np.where(due < WORLD.seconds - 1, due + 0.25, np.inf)
        for at_s, lag in zip(times, lags[:, place], strict=True):
            waiting = due[(due <= at_s) & (done > at_s)]
            assert lag == pytest.approx(at_s - waiting.min() if len(waiting) else 0.0)


def test_records_behind_are_due_and_not_processed() -> None:
    found = run(changes=[])
    due = np.concatenate(WORLD.due_s)
    done = np.where(due < WORLD.seconds - 1, due + 0.25, np.inf)
    behind = [int(((due <= at_s) & (done > at_s)).sum()) for at_s in np.arange(0.25, 8.1, 0.25)]
    assert records_behind(found).tolist() == behind


def test_a_record_that_is_open_counts_whatever_came_after_it_is_processed() -> None:
    """A new owner goes on behind what was lost, and comes back to it."""
    due = WORLD.due_s[0]
    done = [([0] * len(due), list(range(100, 100 + len(due))), [at(7.0), *map(at, due[1:])])]
    found = run(changes=[])._replace(done=done)
    assert partition_lags(found)[23, 0] == pytest.approx(6.0 - due[0])
    assert partition_lags(found)[28, 0] == 0.0


def test_a_partition_that_comes_back_did_not_move_and_was_paused() -> None:
    everything = list(range(WORLD.partition_count))
    found = owned(
        run(
            changes=[
                (at(-1), 0, "assigned", everything),
                (at(2), 0, "revoked", everything),
                (at(2.5), 0, "assigned", everything[1:]),
                (at(3), 1, "assigned", [0]),
                (at(5), 1, "lost", [0]),
                (at(6), 0, "assigned", [0]),
            ]
        )
    )
    assert moves(found) == 2
    assert paused_s(WORLD, found) == pytest.approx((7 * 0.5 + 1.0 + 1.0) / 8)


def test_what_ends_without_an_owner_is_paused_to_the_end() -> None:
    changes = [(at(-1), 0, "assigned", list(range(8))), (at(6), 0, "revoked", [3])]
    assert paused_s(WORLD, owned(run(changes=changes))) == pytest.approx(2 / 8)


def test_the_first_owners_are_no_moves() -> None:
    changes = [(at(-2), 0, "assigned", [1]), (at(-1.5), 0, "revoked", [1])]
    changes += [(at(-1), 1, "assigned", [1])]
    assert moves(owned(run(changes=changes))) == 0


def test_a_ratio_of_one_is_what_nobody_can_do_better() -> None:
    """All assignments of eight partitions to three members, tried: none is below the bound."""
    weights = WORLD.weights(0.5)
    capacity = np.array([WORLD.capacity(number) for number in range(3)])
    uses = {
        owner: max(np.bincount(owner, weights, minlength=3) / capacity)
        for owner in itertools.product(range(3), repeat=WORLD.partition_count)
    }
    owner = min(uses, key=lambda each: uses[each])
    ratio = use_ratio(WORLD, np.array(owner), at_s=0.5)
    assert 1 <= ratio < 1.3
    other = (0,) * WORLD.partition_count
    worse = use_ratio(WORLD, np.array(other), at_s=0.5)
    assert worse / ratio == pytest.approx(uses[other] / uses[owner], rel=1e-3)


def test_a_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    found = run(changes=[(at(-1), 0, "assigned", list(range(8)))])
    recordings.save(found, tmp_path / "one.json.gz")
    (again,) = recordings.saved(tmp_path)
    assert figures(again) == figures(found)


@pytest.mark.parametrize("seed", range(5))
def test_a_world_needs_what_it_says(seed: int) -> None:
    world = World(seed=seed)
    full = world.quota * sum(map(world.capacity, range(world.member_count))) / FULL
    for at_s in (0.0, world.seconds):
        assert world.weights(at_s).sum() / 1e6 == pytest.approx(world.use * full, rel=0.001)
    assert world.rates[0].sum() == pytest.approx(world.rate)
    assert sorted(world.rates[0]) == pytest.approx(sorted(world.rates[1]))
    assert not np.allclose(*world.rates)
    due, places = world.schedule
    assert len(due) == pytest.approx(world.rate * world.seconds, rel=0.05)
    assert (np.diff(due) >= 0).all()
    assert places.max() == world.partition_count - 1
    assert set(world.cost_class.tolist()) == set(COSTS)
    assert {world.capacity(number) for number in range(4)} == set(CAPACITIES)


def test_no_partition_needs_more_than_a_member_of_full_capacity() -> None:
    for seed in range(1, 6):
        world = World(seed=seed)
        assert world.weights(0.0).max() / 1e6 < world.quota
        assert world.weights(world.seconds).max() / 1e6 < world.quota
