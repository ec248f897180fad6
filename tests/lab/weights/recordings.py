"""What was measured, as files, so that its figures can be had again without playing it again."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from tests.lab.weights.world import World


class Run(NamedTuple):
    """A world that a contender has played. Partitions are numbers of `World.partitions`."""

    contender: str
    world: World
    begin_ns: int
    """When the first second began; all times are of one monotonic clock."""
    first: Sequence[int]
    """The offset of each partition's first record of this run."""
    changes: Sequence[tuple[int, int, str, Sequence[int]]]
    """When, which member, `assigned`, `revoked` or `lost`, partitions."""
    done: Sequence[tuple[Sequence[int], Sequence[int], Sequence[int]]]
    """By member: partition, offset and time of each record that it has processed."""
    errors: Sequence[str]
    """What clients complained of."""
    rounds: int
    """Generations of the group after the first record was due."""
    leaders: int
    """How many members led them."""
    machine: dict[str, float]
    """What was used, in processors, and how late records were sent."""


def save(run: Run, path: Path) -> None:
    """Write a run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {**run._asdict(), "world": asdict(run.world)}
    with gzip.open(path, "wt", encoding="utf-8") as file:
        json.dump(document, file)


def load(path: Path) -> Run:
    """Read a run."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        document: dict[str, Any] = json.load(file)
    return Run(**{**document, "world": World(**document["world"])})


def saved(folder: Path) -> Iterator[Run]:
    """Yield all runs of a folder, in the order in which they were played."""
    runs = [load(path) for path in sorted(folder.glob("*.json.gz"))]
    yield from sorted(runs, key=lambda run: run.begin_ns)
