"""Groups for the comparison with others: equal members, all topics, owners balanced by count."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from assignors.arrays import Int32, Int64
from assignors.weighted.bounds import bounds
from assignors.weighted.solve import Search
from assignors.weighting import Balance
from tests.benchmarks.weighted.peers.task import Task

KINDS = ("log-normal", "by topic", "Zipf 0.8", "one hot")


def drawn(members: int, partitions: int, kind: str = "log-normal", seed: int = 3) -> Task:
    """Return a group, its partitions dealt at random, as many to every member."""
    random = np.random.default_rng([seed, members, partitions, KINDS.index(kind)])
    topics = max(1, partitions // 100)
    topic_of = np.sort(random.integers(0, topics, partitions)).astype(np.int32)
    raw = np.ones(partitions)
    if kind == "log-normal":
        raw = random.lognormal(0, 1, partitions)
    elif kind == "by topic":
        raw = random.lognormal(0, 1.5, topics)[topic_of] * random.lognormal(0, 0.3, partitions)
    elif kind == "Zipf 0.8":
        raw = random.permutation(np.arange(1, partitions + 1) ** -0.8)
    else:
        raw = random.uniform(0.5, 1.5, partitions)
        raw[random.integers(partitions)] = 10 + 0.02 * partitions
    return Task(
        weight=np.floor(raw * (1_000_000 / raw.mean())).astype(np.int64),
        owner=random.permutation(np.arange(partitions) % members).astype(np.int32),
        member_count=members,
        topic_of=topic_of,
        seed=seed,
    )


def without_giants(task: Task) -> Task:
    """Return the group with weights above the mean of a member drawn down to those below it.

    A partition above the mean sits alone, and then no assignment comes near the mean: the few
    moves that are left to do say nothing about moves.
    """
    weight = task.weight.copy()
    while (giants := np.flatnonzero(weight > weight.sum() / task.member_count)).size:
        # Others of the same group take their places, from the median up.
        usual = np.sort(weight)[len(weight) // 2 : len(weight) - len(giants)]
        weight[giants] = usual[np.arange(len(giants)) * 7919 % len(usual)]
    return Task(
        weight=weight,
        owner=task.owner,
        member_count=task.member_count,
        topic_of=task.topic_of,
        seed=task.seed,
    )


def search_of(
    task: Task, *, tolerance: Fraction = Fraction(0), budget: int | None = None
) -> Search:
    """Return what `weighted` is asked about the group; the trigger is the tolerance."""
    return Search(
        first=np.array([0, len(task.weight)]),
        takes=np.array([[True]]),
        class_of=np.zeros(task.member_count, dtype=np.int32),
        owner=task.owner,
        weight=task.weight,
        capacity=np.ones(task.member_count, dtype=np.int64),
        budget=budget,
        balance=Balance(tolerance=tolerance, trigger=tolerance),
    )


def bound_of(task: Task) -> Fraction:
    """Return what no assignment of the group is below."""
    return bounds(
        weight=task.weight,
        topic_of=np.zeros(len(task.weight), dtype=np.int32),
        takes=np.array([[True]]),
        class_of=np.zeros(task.member_count, dtype=np.int32),
        capacity=np.ones(task.member_count, dtype=np.int64),
    ).use


def loads(task: Task, owner: Int32) -> Int64:
    """Return what each member has under an assignment, int64[M]."""
    load = np.zeros(task.member_count, dtype=np.int64)
    np.add.at(load, owner, task.weight)
    return load


def moves(task: Task, owner: Int32) -> int:
    """Return how many partitions leave their owner."""
    return int(((task.owner >= 0) & (owner != task.owner)).sum())
