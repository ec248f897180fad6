"""How the cost of an optimal answer grows: `python -m tests.benchmarks.cost > COST.new`.

One size is varied at a time. CPU milliseconds of the solver alone, the least of a few runs; peak
memory as numpy and Python allocate it, beyond the arguments. The exponent is the slope of the last
three points between logarithms: 1 means proportional. Takes about two minutes.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from tests.optimal.groups import Arrays
from tests.optimal.slow_groups import FOUND, group_of

Maker = Callable[[int], Arrays]


def main() -> None:
    """Print the tables in Markdown."""
    for title, name, sizes, make in GROWTH:
        print(f"\n### {title}\n")
        print(f"| {name} | rows x members | CPU ms | peak MB | phases | ways | steps |")
        print("|---|---|---|---|---|---|---|")
        points = []
        for size in sizes:
            made = make(size)
            spent, peak, figures = measured(made)
            points.append((size, spent))
            print(
                f"| {size:,} | {cells(made):,} | {spent:,.1f} | {peak:,.1f} | {figures} |",
                flush=True,
            )
        print(f"\nExponent of the last points: {exponent(points[-3:]):.2f}")
    print("\n### The slowest that `tests.optimal.slow_search` found\n")
    print("| recipe | rows x members | CPU ms | peak MB | phases | ways | steps |")
    print("|---|---|---|---|---|---|---|")
    for recipe, _ in FOUND:
        made = group_of(recipe)
        spent, peak, figures = measured(made)
        name = (
            f"{recipe.style}, {recipe.members} x {recipe.topics}, {recipe.sizes} {recipe.size}, "
            f"owners {recipe.owners}, racks {recipe.racks}"
        )
        print(f"| {name} | {cells(made):,} | {spent:,.1f} | {peak:,.1f} | {figures} |", flush=True)


def measured(made: Arrays) -> tuple[float, float, str]:
    """Return CPU ms, peak MB, and what was searched."""
    best = float("inf")
    begin = time.perf_counter()
    while best == float("inf") or time.perf_counter() - begin < 0.5:
        started = time.process_time_ns()
        solved = made.solve()
        best = min(best, (time.process_time_ns() - started) / 1e6)
    tracemalloc.start()
    made.solve()
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    return best, peak, f"{solved.phases} | {solved.ways} | {solved.steps:,}"


def exponent(points: Sequence[tuple[int, float]]) -> float:
    """Return the slope between logarithms, by least squares."""
    sizes, times = (np.log([point[i] for point in points]) for i in (0, 1))
    return float(np.polyfit(sizes, times, 1)[0])


def cells(made: Arrays) -> int:
    """Return the size of the table at most: topics that differ in their subscribers x members."""
    patterns = {made.takes[:, topic].tobytes() for topic in range(made.takes.shape[1])}
    sets = 1 if made.replica_racks is None else len(made.replica_racks)
    return len(patterns) * sets * made.member_count


def equal(members: int, partitions: int, *, has_joined: bool) -> Arrays:
    """Everybody takes 100 topics; one member has just joined, or one has left."""
    owner = np.arange(partitions, dtype=np.int64) % (members - 1 if has_joined else members + 1)
    owner[owner == members] = -1
    return Arrays(
        first=np.linspace(0, partitions, 101).astype(np.int64),
        takes=np.ones((1, 100), dtype=np.bool_),
        class_of=np.zeros(members, dtype=np.int32),
        owner=owner.astype(np.int32),
    )


def half(members: int, topics: int, partitions: int, *, is_settled: bool) -> Arrays:
    """Everybody takes a random half of the topics; all owners random, or one member joined."""
    dice = np.random.default_rng(1)
    takes = dice.random((members, topics)).argsort(axis=1) < topics // 2
    first = np.linspace(0, partitions, topics + 1).astype(np.int64)
    owner = np.full(partitions, -1, dtype=np.int32)
    for topic in range(topics):
        able = np.flatnonzero(takes[:-1, topic])
        owner[first[topic] : first[topic + 1]] = dice.choice(able, first[topic + 1] - first[topic])
    class_of = np.arange(members, dtype=np.int32)
    made = Arrays(first=first, takes=takes, class_of=class_of, owner=owner)
    if not is_settled:
        return made
    before = replace(made, takes=takes[:-1], class_of=class_of[:-1]).solve().owner
    return replace(made, owner=before)


def growth() -> Iterator[tuple[str, str, Sequence[int], Maker]]:
    """Yield (title, what grows, sizes, how a group of that size is made)."""
    partitions = (10_000, 100_000, 1_000_000, 10_000_000)
    for has_joined, words in ((False, "one has left"), (True, "one has joined")):

        def at_1000(size: int, *, has_joined: bool = has_joined) -> Arrays:
            return equal(1_000, size, has_joined=has_joined)

        yield f"Equal subscriptions, 1,000 members, {words}", "partitions", partitions, at_1000
    members = (100, 1_000, 10_000, 100_000)

    def at_million(size: int) -> Arrays:
        return equal(size, 1_000_000, has_joined=False)

    title = "Equal subscriptions, 1,000,000 partitions, one has left"
    yield title, "members", members, at_million
    for is_settled, words in ((True, "one has joined"), (False, "all owners random")):
        make = partial(half, is_settled=is_settled)

        def by_partitions(size: int, make: Callable[[int, int, int], Arrays] = make) -> Arrays:
            return make(1_000, 200, size)

        def by_members(size: int, make: Callable[[int, int, int], Arrays] = make) -> Arrays:
            return make(size, 200, 20_000)

        def by_topics(size: int, make: Callable[[int, int, int], Arrays] = make) -> Arrays:
            return make(1_000, size, 20_000)

        sizes = (10_000, 50_000, 250_000, 1_000_000)
        title = f"Random half of 200 topics, 1,000 members, {words}"
        yield title, "partitions", sizes, by_partitions
        title = f"Random half of 200 topics, 20,000 partitions, {words}"
        yield title, "members", (250, 500, 1_000, 2_000, 4_000), by_members
        title = f"Random half of the topics, 1,000 members, 20,000 partitions, {words}"
        yield title, "topics", (50, 100, 200, 400, 800), by_topics


GROWTH = tuple(growth())

if __name__ == "__main__":
    main()
