"""The fewest moves that the program of the benchmark proves, against every assignment."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np

from assignors.weighted.removal import removal_of
from assignors.weighted.solve import solve
from tests.benchmarks.weighted.peers.task import Task
from tests.benchmarks.weighted.room_model import least_by_model
from tests.benchmarks.weighted.workloads import drawn, loads, moves, search_of, without_giants
from tests.weighted.tiny.groups import WEIGHTS, tiny_groups
from tests.weighted.tiny.judged import every_assignment


def task_of(weight: tuple[int, ...], owner: tuple[int, ...], members: int) -> Task:
    """A group of equal members."""
    return Task(
        weight=np.array(weight, dtype=np.int64),
        owner=np.array(owner, dtype=np.int32),
        member_count=members,
        topic_of=np.zeros(len(weight), dtype=np.int32),
        seed=0,
    )


def by_removal(task: Task, use: int) -> int:
    """What members have to give up, whoever receives."""
    capacity = np.ones(task.member_count, dtype=np.int64)
    return removal_of(task.weight, task.owner, capacity).moves_to(Fraction(use))


def test_no_assignment_reaches_a_use_with_fewer_moves_than_are_proved() -> None:
    exact = better = total = 0
    for partitions, members in ((4, 2), (5, 3), (6, 3)):
        groups = (
            group
            for group in tiny_groups(partitions, members, WEIGHTS)
            if set(group.capacity) == {1} and -1 not in group.owner
        )
        for group in islice(groups, 0, 600, 29):
            task = task_of(group.weight, group.owner, members)
            given = every_assignment(partitions, members)
            moved = (given != task.owner).sum(axis=1)
            uses = np.max(
                [((given == m) * task.weight).sum(axis=1) for m in range(members)], axis=0
            )
            for use in np.unique(uses).tolist():
                least = int(moved[uses <= use].min())
                proved = least_by_model(task, use)
                assert proved <= least, (group, use)
                exact += proved == least
                better += proved > by_removal(task, use)
                total += 1
    assert total > 150
    assert exact >= 0.9 * total
    assert better > 0


def test_moves_are_near_the_fewest_that_are_proved() -> None:
    """Frozen: at a tolerance of 5 %, 10, 20 and 100 partitions for each member."""
    for partitions, most in ((200, 1.17), (400, 1.12), (2000, 1.06)):
        done = proved = 0
        for seed in range(3):
            task = without_giants(drawn(20, partitions, seed=seed))
            owner = solve(search_of(task, tolerance=Fraction(1, 20))).owner
            done += moves(task, owner)
            use = int(loads(task, owner).max())
            least = least_by_model(task, use)
            assert least >= by_removal(task, use)
            proved += least
        assert done <= most * proved, (partitions, done, proved)
