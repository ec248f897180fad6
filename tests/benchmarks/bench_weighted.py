"""Assignment by weight: how near to the bound, how many moves, how long, how much memory.

    python -m tests.benchmarks.bench_weighted [sizes] [moves] [peers]

prints the tables that are named, or all. Weights are log-normal where no other kind is named, and
owners balanced by count, as they are under every other assignor.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from assignors.weighted.bounds import bounds
from assignors.weighted.removal import removal_of
from assignors.weighted.solve import Search, solve
from assignors.weighting import Balance
from tests.benchmarks.weighted import beside_peers, least_moves

SEED = 1
MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A group."""

    members: int
    partitions: int
    topics: int
    classes: int = 1
    has_capacities: bool = False

    @property
    def name(self) -> str:
        """As it stands in the table."""
        mixed = f", {self.classes} classes, capacities 1, 2, 4" if self.classes > 1 else ""
        return f"{self.members:,} x {self.partitions:,}{mixed}"


SIZES = (
    Size(members=20, partitions=200, topics=5),
    Size(members=100, partitions=2000, topics=20),
    Size(members=100, partitions=10_000, topics=20),
    Size(members=1000, partitions=10_000, topics=100),
    Size(members=200, partitions=5000, topics=100, classes=30, has_capacities=True),
    Size(members=1000, partitions=10_000, topics=100, classes=200, has_capacities=True),
    Size(members=2000, partitions=MILLION, topics=500),
)


def group(size: Size) -> Search:
    """Return a group whose owners are balanced by count."""
    random = np.random.default_rng(SEED)
    takes = random.random((size.classes, size.topics)) < 0.2
    takes[random.integers(0, size.classes, size.topics), np.arange(size.topics)] = True
    class_of = random.integers(0, size.classes, size.members).astype(np.int32)
    class_of[: size.classes] = np.arange(size.classes)
    first = np.linspace(0, size.partitions, size.topics + 1).astype(np.int64)
    topic = np.repeat(np.arange(size.topics), np.diff(first))
    owner = np.zeros(size.partitions, dtype=np.int32)
    for number in range(size.topics):
        partitions = np.flatnonzero(topic == number)
        members = np.flatnonzero(takes[class_of, number])
        begun = int(random.integers(0, len(members)))
        dealt = begun + random.permutation(len(partitions))
        owner[partitions] = members[dealt % len(members)]
    capacity = random.choice([1, 2, 4], size.members) if size.has_capacities else 1
    return Search(
        first=first,
        takes=takes,
        class_of=class_of,
        owner=owner,
        weight=(random.lognormal(0, 1, size.partitions) * 1000).astype(np.int64),
        capacity=np.broadcast_to(capacity, size.members).astype(np.int64),
    )


def row(size: Size, tolerance: Fraction) -> str:
    """Return what one group comes to, as a row of a table."""
    search = replace(group(size), balance=Balance(tolerance=tolerance, trigger=tolerance))
    best = None
    for _ in range(3):
        begun = time.process_time_ns()
        found = solve(search)
        spent = time.process_time_ns() - begun
        best = spent if best is None else min(best, spent)
    load = np.bincount(found.owner, search.weight, size.members) / search.capacity
    before = np.bincount(search.owner, search.weight, size.members) / search.capacity
    bound = float(
        bounds(
            weight=search.weight,
            topic_of=np.repeat(np.arange(size.topics, dtype=np.int32), np.diff(search.first)),
            takes=search.takes,
            class_of=search.class_of,
            capacity=search.capacity,
        ).use
    )
    removal = removal_of(search.weight, search.owner, search.capacity)
    least = removal.moves_to(Fraction(float(load.max())))
    moved = int((found.owner != search.owner).sum())
    return (
        f"| {size.name} | {float(tolerance):.0%} | {before.max() / bound:.2f} "
        f"| {load.max() / bound:.4f} | {moved:,} | {least:,} | {(best or 0) / 1e6:,.1f} |"
    )


def sizes() -> str:
    """Return the table of groups from small to large, and the peak of memory."""
    lines = [
        "| members x partitions | tolerance | before | after | moves | no fewer | ms |",
        "|---|---|---|---|---|---|---|",
    ]
    for size in SIZES:
        lines += [row(size, tolerance) for tolerance in (Fraction(1, 20), Fraction(1, 100))]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    return "\n".join([*lines, "", f"peak {peak} MB"])


PARTS: dict[str, Callable[[], str]] = {
    "sizes": sizes,
    "moves": least_moves.table,
    "peers": beside_peers.table,
}


def main(names: list[str]) -> None:
    """Print tables."""
    for name in names or PARTS:
        print(f"{PARTS[name]()}\n", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
