"""What is proven without a search is what the search finds."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from assignors import Cluster, Group, Member
from assignors.optimal.bounds import optimum
from assignors.optimal.solve import solve
from assignors.problem import (
    NOBODY,
    Int32,
    Problem,
    assignment_of,
    lawful_owners,
    problem_of,
)
from assignors.simulation.dice import Dice
from assignors.simulation.rounds.consumption import (
    Counts,
    Least,
    asked_of,
    consumed,
    proven_least,
)
from tests.conftest import DEEP
from tests.optimal.groups import OWNERS, SHAPES, Arrays
from tests.optimal.groups import group as drawn_group

CASES = 60 * DEEP


def named(made: Arrays) -> tuple[Group, Problem, Int32]:
    """Return the group as members, as a problem, and who may keep what they owned."""
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
    group = Group(cluster=cluster, members=members)
    problem = problem_of(group)
    return group, problem, lawful_owners(problem, owned)


def counts_of(group: Group, problem: Problem, before: Int32, after: Int32) -> Counts:
    """Return what a settlement counts that leads from one assignment to the other."""
    first, last = (consumed(group, assignment_of(problem, one)) for one in (before, after))
    assert first.is_sound
    assert last.is_sound
    return Counts(asked=asked_of(group), first=first, last=last, is_sound=True)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_proof_and_a_search_agree(shape: str) -> None:
    seen: Counter[tuple[str, bool]] = Counter()
    for seed, owners in product(range(CASES), OWNERS):
        made = drawn_group(seed, member_max=7, topic_max=4, size_max=5, shape=shape, owners=owners)
        group, problem, before = named(made)
        first, takes, class_of = problem.first, problem.takes, problem.class_of
        best = optimum(first, takes, class_of, before)
        searched = Least(load_square_sum=best.load_square_sum, moves_min=best.moves_min)
        after = solve(first=first, takes=takes, class_of=class_of, owner=before).owner
        for kind, assigned in (("best", after), ("changed", changed(seed, problem, after))):
            found = proven_least(counts_of(group, problem, before, assigned))
            assert found in (None, searched)
            seen[kind, found is not None] += 1
    is_equal = shape in {"equal", "equal beside idle"}
    assert (seen["best", False] == seen["changed", False] == 0) == is_equal
    assert seen["best", True] > CASES


def changed(seed: int, problem: Problem, owner: Int32) -> Int32:
    """Return another allowed assignment: some partitions go to others, or to nobody."""
    dice = Dice(seed)
    changed = owner.copy()
    for partition, topic in enumerate(problem.topic_of.tolist()):
        if dice.chance(20):
            takers = np.flatnonzero(problem.takes[problem.class_of, topic]).tolist()
            changed[partition] = dice.pick([NOBODY, *takers])
    return changed
