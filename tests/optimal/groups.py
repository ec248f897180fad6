"""Groups as arrays for the tests of the solver: every shape that has been a peer's undoing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np
from hypothesis import strategies

from assignors.optimal.solve import Solved, solve
from assignors.problem import Bool, Int32, Int64


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrays:
    """The arguments of `solve`."""

    first: Int64
    takes: Bool
    class_of: Int32
    owner: Int32
    rack: Int32 | None = None
    replica_set: Int32 | None = None
    replica_racks: Bool | None = None

    @property
    def member_count(self) -> int:
        return len(self.class_of)

    @property
    def topic_of(self) -> Int32:
        sizes = np.diff(self.first)
        return np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)

    def subscribers(self, topic: int) -> list[int]:
        """Return the members that take the topic."""
        return np.flatnonzero(self.takes[self.class_of, topic]).tolist()

    def may_take(self) -> Bool:
        """Return bool[P, M]: who may take each partition."""
        table: Bool = self.takes[self.class_of][:, self.topic_of].T
        return table

    def is_remote(self) -> Bool:
        """Return bool[P, M]: where a member has a rack and the partition no replica there."""
        if self.rack is None or self.replica_set is None or self.replica_racks is None:
            return np.zeros((len(self.owner), self.member_count), dtype=np.bool_)
        local = self.replica_racks[self.replica_set][:, self.rack]
        remote: Bool = ~local & (self.rack >= 0)
        return remote

    def arguments(self) -> dict[str, Any]:
        names = ("first", "takes", "class_of", "owner", "rack", "replica_set", "replica_racks")
        return {name: getattr(self, name) for name in names}

    def solve(self) -> Solved:
        return solve(**self.arguments())

    def figures(self, given: Int32) -> tuple[int, int, int, int]:
        """Return (sum of squared loads, rack mismatches, partitions kept, spread)."""
        held = np.flatnonzero(given >= 0)
        load = np.bincount(given[held], minlength=self.member_count)
        remote = int(self.is_remote()[held, given[held]].sum())
        kept = int(np.count_nonzero(given[held] == self.owner[held]))
        cell = self.topic_of[held].astype(np.int64) * self.member_count + given[held]
        _, count = np.unique(cell, return_counts=True)
        return int(load @ load), remote, kept, int(count @ count)


def arrays(
    sizes: list[int], topics_of_member: list[list[int]], owner: list[int] | None = None
) -> Arrays:
    """Return a group from the sizes of its topics and what each member takes."""
    classes: dict[tuple[int, ...], int] = {}
    class_of = [classes.setdefault(tuple(sorted(set(t))), len(classes)) for t in topics_of_member]
    takes = np.zeros((len(classes), len(sizes)), dtype=np.bool_)
    for topics, number in classes.items():
        takes[number, list(topics)] = True
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Arrays(
        first=first,
        takes=takes,
        class_of=np.array(class_of, dtype=np.int32),
        owner=np.array([-1] * int(first[-1]) if owner is None else owner, dtype=np.int32),
    )


def _any(dice: Random, topics: int, members: int) -> list[list[int]]:
    lists = [dice.sample(range(topics), dice.randint(0, topics)) for _ in range(members)]
    kinds = dice.randint(1, members)
    return [lists[dice.randrange(kinds)] for _ in range(members)]


def _equal(_: Random, topics: int, members: int) -> list[list[int]]:
    return [list(range(topics))] * members


def _equal_beside_idle(dice: Random, topics: int, members: int) -> list[list[int]]:
    return [list(range(topics)) if dice.random() < 0.7 else [] for _ in range(members)]


def _nested(dice: Random, topics: int, members: int) -> list[list[int]]:
    return [list(range(dice.randint(1, topics))) for _ in range(members)]


def _windows(_: Random, topics: int, members: int) -> list[list[int]]:
    starts = [member * max(topics - 1, 1) // members for member in range(members)]
    return [[at, min(at + 1, topics - 1)] for at in starts]


def _buckets(dice: Random, topics: int, members: int) -> list[list[int]]:
    count = dice.randint(1, topics)
    return [[t for t in range(topics) if t % count == m % count] for m in range(members)]


def _one_differs(dice: Random, topics: int, members: int) -> list[list[int]]:
    lists = _equal(dice, topics, members)
    lists[dice.randrange(members)] = [dice.randrange(topics)]
    return lists


def _halves(dice: Random, topics: int, members: int) -> list[list[int]]:
    return [dice.sample(range(topics), (topics + 1) // 2) for _ in range(members)]


SHAPES: dict[str, Callable[[Random, int, int], list[list[int]]]] = {
    "any": _any,
    "equal": _equal,
    "equal beside idle": _equal_beside_idle,
    "nested": _nested,
    "windows": _windows,
    "buckets": _buckets,
    "one differs": _one_differs,
    "halves": _halves,
}
OWNERS = ("nobody", "random", "skewed", "one member", "settled, then changed")


def group(
    seed: int, *, member_max: int, topic_max: int, size_max: int, shape: str, owners: str
) -> Arrays:
    """Return a group of that shape, always the same for a seed."""
    dice = Random(f"{seed} {shape} {owners}")
    members, topics = dice.randint(1, member_max), dice.randint(1, topic_max)
    sizes = [dice.randint(0, size_max) for _ in range(topics)]
    made = arrays(sizes, SHAPES[shape](dice, topics, members))
    return replace(made, owner=_owned(dice, made, owners))


def _owned(dice: Random, made: Arrays, owners: str) -> Int32:
    """Return who owned what before; a few owners do not subscribe to what they own."""
    count = made.member_count
    if owners == "nobody":
        return made.owner
    if owners == "settled, then changed":
        settled = made.solve().owner.copy()
        gone = dice.randrange(count)
        settled[settled == gone] = -1
        for partition in range(len(settled)):
            if dice.random() < 0.1:
                settled[partition] = dice.randrange(count)
        return settled
    chosen: list[int] = []
    for topic in made.topic_of.tolist():
        able = made.subscribers(topic) or [-1]
        pick = {
            "random": dice.choice(able),
            "skewed": able[int(len(able) * dice.random() ** 3)],
            "one member": able[0],
        }[owners]
        roll = dice.random()
        chosen.append(dice.randrange(count) if roll < 0.03 else -1 if roll < 0.1 else pick)
    return np.array(chosen, dtype=np.int32)


def with_racks(made: Arrays, seed: int, *, rack_max: int) -> Arrays:
    """Return the group with racks for most members and replicas in some racks."""
    dice = Random(f"racks {seed}")
    racks = dice.randint(1, rack_max)
    sets = dice.randint(1, 4)
    everything = range(racks)
    replica_racks = np.zeros((sets, racks), dtype=np.bool_)
    for number in range(sets):
        replica_racks[number, dice.sample(everything, dice.randint(0, racks))] = True
    rack = [dice.choice([-1, *everything, *everything]) for _ in range(made.member_count)]
    replica_set = [dice.randrange(sets) for _ in made.owner]
    return replace(
        made,
        rack=np.array(rack, dtype=np.int32),
        replica_set=np.array(replica_set, dtype=np.int32),
        replica_racks=replica_racks,
    )


def renumbered(made: Arrays, seed: int) -> Arrays:
    """Return the same group with members, topics, classes and partitions numbered otherwise."""
    dice = Random(f"renumbered {seed}")
    member_order = dice.sample(range(made.member_count), made.member_count)
    topic_order = dice.sample(range(len(made.first) - 1), len(made.first) - 1)
    class_order = dice.sample(range(len(made.takes)), len(made.takes))
    ranges = [np.arange(made.first[topic], made.first[topic + 1]) for topic in topic_order]
    partitions = np.concatenate([np.array([], dtype=np.int64), *ranges])
    number = np.full(made.member_count + 1, -1, dtype=np.int32)
    number[member_order] = np.arange(made.member_count)
    class_number = np.argsort(class_order).astype(np.int32)
    return replace(
        made,
        first=np.concatenate([[0], np.cumsum([len(part) for part in ranges])]).astype(np.int64),
        takes=made.takes[class_order][:, topic_order],
        class_of=class_number[made.class_of[member_order]],
        owner=number[made.owner[partitions]],
        rack=None if made.rack is None else made.rack[member_order],
        replica_set=None if made.replica_set is None else made.replica_set[partitions],
    )


@strategies.composite
def tiny_groups(draw: strategies.DrawFn, *, partition_max: int = 7) -> Arrays:
    """Groups small enough to try every assignment: owners of all kinds, racks in half of them."""
    members = draw(strategies.integers(1, 4))
    topics = draw(strategies.integers(1, 3))
    subsets = strategies.lists(strategies.integers(0, topics - 1), unique=True)
    sizes: list[int] = []
    for _ in range(topics):
        sizes.append(draw(strategies.integers(0, min(4, partition_max - sum(sizes)))))
    owners = strategies.integers(-1, members - 1)
    count = sum(sizes)
    made = arrays(
        sizes,
        draw(strategies.lists(subsets, min_size=members, max_size=members)),
        draw(strategies.lists(owners, min_size=count, max_size=count)),
    )
    if draw(strategies.booleans()):
        made = with_racks(made, draw(strategies.integers(0, 999)), rack_max=3)
    return made
