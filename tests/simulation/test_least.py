"""What is proven without a search is what the search finds."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from assignors import Cluster, Group, Member
from assignors.optimal.bounds import optimum
from assignors.optimal.solve import solve
from assignors.problem import NOBODY, Int32, Problem, lawful_owners, problem_of
from assignors.simulation.dice import Dice
from assignors.simulation.rounds.least import Least, least, without_search
from tests.optimal.groups import OWNERS, SHAPES, Arrays, group

CASES = 150


def named(made: Arrays) -> tuple[Problem, Int32]:
    """Return the group as a problem, and who may keep what they owned."""
    sizes = np.diff(made.first).tolist()
    names = [f"t{topic:02d}" for topic in range(len(sizes))]
    takes = made.takes[made.class_of]
    members = tuple(
        Member(member_id=f"m{m:02d}", topics=tuple(names[t] for t in np.flatnonzero(row)))
        for m, row in enumerate(takes)
    )
    owned: dict[str, dict[str, tuple[int, ...]]] = {member.member_id: {} for member in members}
    number = np.arange(len(made.owner)) - made.first[made.topic_of]
    for owner, topic, n in zip(made.owner, made.topic_of, number.tolist(), strict=True):
        if owner != NOBODY:
            share = owned[members[owner].member_id]
            share[names[topic]] = (*share.get(names[topic], ()), n)
    cluster = Cluster.of(dict(zip(names, sizes, strict=True)))
    problem = problem_of(Group(cluster=cluster, members=members))
    return problem, lawful_owners(problem, owned)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_proof_and_a_search_agree(shape: str) -> None:
    seen: Counter[tuple[str, bool]] = Counter()
    for seed, owners in product(range(CASES), OWNERS):
        made = group(seed, member_max=7, topic_max=4, size_max=5, shape=shape, owners=owners)
        problem, before = named(made)
        arguments = problem.first, problem.takes, problem.class_of
        best = optimum(*arguments, before)
        searched = Least(load_square_sum=best.load_square_sum, moves_min=best.moves_min)
        first, takes, class_of = arguments
        after = solve(first=first, takes=takes, class_of=class_of, owner=before).owner
        for kind, assigned in (("best", after), ("changed", changed(seed, problem, after))):
            found = without_search(problem, before, assigned)
            assert found in (None, searched)
            seen[kind, found is not None] += 1
        assert least(problem, before, after) == searched
    is_equal = shape in {"equal", "equal beside idle"}
    assert (seen["best", False] == seen["changed", False] == 0) == is_equal
    assert seen["best", True] > CASES


def changed(seed: int, problem: Problem, owner: Int32) -> Int32:
    """Return another assignment: some partitions go to others, or to nobody."""
    dice = Dice(seed)
    changed = owner.copy()
    for partition in range(len(owner)):
        if dice.chance(20):
            changed[partition] = dice.below(problem.member_count + 1) - 1
    return changed


def test_equal_subscriptions_need_no_search_whatever_was_assigned() -> None:
    cluster = Cluster.of({"t": 4, "u": 1})
    members = tuple(Member(member_id=name, topics=("t", "u")) for name in "ab")
    problem = problem_of(Group(cluster=cluster, members=members))
    nothing = np.full(problem.partition_count, NOBODY, dtype=np.int32)
    assert without_search(problem, nothing, nothing) == Least(load_square_sum=13, moves_min=0)
