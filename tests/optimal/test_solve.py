"""The solver against every assignment, against OR-tools, and against itself renumbered."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies

from assignors.optimal.solve import solve
from tests.optimal.groups import (
    OWNERS,
    SHAPES,
    Arrays,
    arrays,
    group,
    renumbered,
    tiny_groups,
    with_racks,
)
from tests.optimal.oracles import Figures, best_by_flow, best_by_trial

# Multiplies the number of cases of every test below: DEEP=50 runs for half an hour.
DEEP = int(os.environ.get("DEEP", "1"))
TIMES = DEEP if DEEP == 1 else 2 * DEEP
KINDS = pytest.mark.parametrize(("shape", "owners"), list(product(SHAPES, OWNERS)))


def judge(made: Arrays, best: Figures) -> None:
    """Assert that the answer is allowed, complete, as good as `best`, and says so."""
    solved = made.solve()
    answer = solved.owner
    allowed = made.may_take()
    held = answer >= 0
    assert (held == allowed.any(axis=1)).all(), "a partition that could be placed was not"
    assert allowed[held, answer[held]].all(), "a member got what it did not ask for"
    assert made.figures(answer) == best
    active = allowed.any(axis=0)
    load = np.bincount(answer[held], minlength=made.member_count)[active]
    said = (solved.load_square_sum, solved.load_max, solved.load_min)
    assert said == (best[0], load.max(initial=0), load.min() if len(load) else 0)
    # An owner who does not subscribe keeps nothing, so all that matches was kept by right.
    assert solved.kept == best[2]


@settings(max_examples=200 * TIMES)
@given(tiny_groups())
def test_no_assignment_is_better(made: Arrays) -> None:
    judge(made, best_by_trial(made))


@KINDS
def test_no_assignment_of_a_small_group_is_better(shape: str, owners: str) -> None:
    for seed in range(15 * TIMES):
        made = group(seed, member_max=4, topic_max=4, size_max=4, shape=shape, owners=owners)
        judge(made, best_by_trial(made))


@KINDS
def test_no_rack_aware_assignment_of_a_small_group_is_better(shape: str, owners: str) -> None:
    for seed in range(8 * TIMES):
        made = group(seed, member_max=4, topic_max=3, size_max=4, shape=shape, owners=owners)
        made = with_racks(made, seed, rack_max=3)
        judge(made, best_by_trial(made))


@KINDS
def test_or_tools_finds_nothing_better(shape: str, owners: str) -> None:
    for seed in range(10 * TIMES):
        made = group(seed, member_max=40, topic_max=20, size_max=20, shape=shape, owners=owners)
        judge(made, best_by_flow(made, load_limit=made.solve().load_max + 2))


@KINDS
def test_or_tools_finds_nothing_better_with_racks(shape: str, owners: str) -> None:
    for seed in range(5 * TIMES):
        made = group(seed, member_max=30, topic_max=12, size_max=12, shape=shape, owners=owners)
        made = with_racks(made, seed, rack_max=25)
        judge(made, best_by_flow(made, load_limit=made.solve().load_max + 2))


@KINDS
@pytest.mark.parametrize("rack_max", [0, 3])
def test_prices_and_the_guess_that_needs_none_give_one_answer(
    shape: str, owners: str, rack_max: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(20):
        made = group(seed, member_max=20, topic_max=5, size_max=9, shape=shape, owners=owners)
        made = with_racks(made, seed, rack_max=rack_max) if rack_max else made
        answers = []
        for cells_max in (0, 1_000_000):
            monkeypatch.setattr(f"{solve.__module__}.GUESS_CELLS_MAX", cells_max)
            answers.append(made.solve())
        one, other = answers
        assert one.owner.tolist() == other.owner.tolist()
        assert (one.levels, one.load_square_sum) == (other.levels, other.load_square_sum)


def test_the_oracles_agree() -> None:
    for seed, shape in product(range(20), SHAPES):
        made = group(seed, member_max=4, topic_max=3, size_max=4, shape=shape, owners="skewed")
        made = with_racks(made, seed, rack_max=3)
        assert best_by_flow(made) == best_by_trial(made)


def test_every_way_through_the_solver_is_taken() -> None:
    levels, phases = set[int](), set[int]()
    for seed, shape in product(range(20), SHAPES):
        made = group(seed, member_max=40, topic_max=20, size_max=20, shape=shape, owners="skewed")
        solved = made.solve()
        levels.add(solved.levels)
        phases.add(solved.phases)
    assert max(levels) > 3
    assert max(phases) > 3
    assert {0, 1} <= phases


@KINDS
def test_quality_does_not_depend_on_the_numbering(shape: str, owners: str) -> None:
    for seed in range(5 * TIMES):
        made = group(seed, member_max=20, topic_max=8, size_max=9, shape=shape, owners=owners)
        made = with_racks(made, seed, rack_max=3) if seed % 2 else made
        other = renumbered(made, seed)
        assert other.figures(other.solve().owner) == made.figures(made.solve().owner)


@KINDS
def test_an_answer_given_back_as_ownership_stays(shape: str, owners: str) -> None:
    for seed in range(5 * TIMES):
        made = group(seed, member_max=20, topic_max=8, size_max=9, shape=shape, owners=owners)
        made = with_racks(made, seed, rack_max=3) if seed % 2 else made
        answer = made.solve().owner
        again = replace(made, owner=answer).solve()
        assert (again.owner == answer).all()


def test_arguments_are_left_as_they_were() -> None:
    for seed, shape in product(range(5), SHAPES):
        made = group(seed, member_max=9, topic_max=5, size_max=9, shape=shape, owners="skewed")
        made = with_racks(made, seed, rack_max=3)
        for value in made.arguments().values():
            value.setflags(write=False)
        made.solve()
        replace(made, rack=None).solve()


@pytest.mark.parametrize("members", [0, 1, 3])
@pytest.mark.parametrize("sizes", [[], [0], [0, 0], [3], [0, 3]])
@pytest.mark.parametrize("topics", [[], [0]])
def test_empty_things_are_groups_too(members: int, sizes: list[int], topics: list[int]) -> None:
    topics = [topic for topic in topics if topic < len(sizes)]
    made = arrays(sizes, [topics] * members)
    solved = made.solve()
    assert solved.owner.shape == (sum(sizes),)
    assert solved.owner.dtype == np.int32
    judge(made, best_by_trial(made))


def test_members_that_ask_for_nothing_do_not_count_in_the_least_load() -> None:
    solved = arrays([4], [[0], [], [0]]).solve()
    assert (solved.load_min, solved.load_max) == (2, 2)
    assert solved.owner.tolist() == [0, 2, 0, 2]


def test_a_topic_that_nobody_takes_stays_where_nobody_is() -> None:
    made = arrays([2, 3], [[1], [1]], owner=[0, 0, 0, 0, 0])
    assert made.solve().owner.tolist() == [-1, -1, 0, 0, 1]


def test_classes_without_members_take_nothing() -> None:
    made = arrays([2, 2], [[0], [1]])
    alone = replace(made, class_of=np.array([0, 0], dtype=np.int32))
    assert alone.solve().owner.tolist() == [0, 1, -1, -1]
    mixed = arrays([2, 2, 3], [[0], [0, 1], [2]])
    mixed = replace(mixed, class_of=np.array([0, 1, 1], dtype=np.int32))
    judge(mixed, best_by_trial(mixed))


def test_the_place_of_the_ceiling_is_chosen_by_what_it_keeps() -> None:
    # Fixing loads before movement would give the ceiling to member 0 and move a partition.
    made = arrays([3, 2], [[0, 1], [0], [1]], owner=[1, 1, 0, 2, 2])
    assert made.solve().kept == 5


def test_without_racks_on_any_member_racks_are_ignored() -> None:
    made = group(3, member_max=9, topic_max=5, size_max=9, shape="any", owners="random")
    racked = replace(with_racks(made, 3, rack_max=3), rack=np.full(made.member_count, -1, np.int32))
    assert (racked.solve().owner == made.solve().owner).all()


def test_racks_need_all_three_arguments() -> None:
    made = with_racks(arrays([4], [[0], [0]]), 1, rack_max=2)
    half = {**made.arguments(), "replica_set": None}
    assert (solve(**half).owner == replace(made, rack=None).solve().owner).all()


def test_many_rack_sets_are_no_limit() -> None:
    racks = 70
    made = replace(
        arrays([2 * racks], [[0]] * racks),
        rack=np.arange(racks, dtype=np.int32),
        replica_set=np.arange(2 * racks, dtype=np.int32) % racks,
        replica_racks=np.eye(racks, dtype=np.bool_),
    )
    assert made.figures(made.solve().owner)[1] == 0


@given(strategies.integers(0, 2**32))
def test_the_same_input_gives_the_same_answer(seed: int) -> None:
    made = group(seed, member_max=30, topic_max=9, size_max=9, shape="halves", owners="skewed")
    assert (made.solve().owner == made.solve().owner).all()
