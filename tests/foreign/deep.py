"""As many random groups, byte strings and histories of coordinators as you have time for.

    python -m tests.foreign.deep --groups 500000 --blobs 500000
    python -m tests.foreign.deep --histories 100000 --seed 1 --processes 2

Every process has a JVM and dice of its own, so the same arguments try the same cases. Prints what
differs, groups as vectors, then a line for each part to append to `DEEP.md`. Ends with 1 where
anything differs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from math import inf
from random import Random

from tests.foreign import blobs, codecs, plays
from tests.foreign.convert import NAMES
from tests.foreign.histories import HISTORIES
from tests.foreign.judge import Judge
from tests.foreign.trial import FAILURES_MAX, Record, as_line, try_groups

WAVE = 200
TIMEOUT_S = 600.0
"""How long an answer may take: a run of low priority waits for everything else on its machine."""
LENGTHS = (12, 40, 80, 150)


def try_chosen(algorithms: Sequence[str], judge: Judge, count: int, seed: int) -> Record:
    """Try `count` random groups."""
    return try_groups(judge, count, seed, algorithms)


def try_blobs(judge: Judge, count: int, seed: int) -> Record:
    """Try `count` random byte strings."""
    dice, record = Random(seed), Record()
    for wave in _waves(range(count)):
        requests = [blobs.random_request(dice) for _ in wave]
        for request, answer in zip(requests, judge.ask_all(requests), strict=True):
            record.groups[request["algo"]] += 1
            if not codecs.agree(request, answer, codecs.our_answer(request)):
                record.failed[request["algo"]] += 1
                record.lines.append(as_line(request, answer))
    return record


def try_histories(kinds: Sequence[str], judge: Judge, count: int, seed: int) -> Record:
    """Play `count` histories of these kinds in turn."""
    record = Record()
    for wave in _waves(range(seed, seed + count)):
        played = []
        for number in wave:
            kind = kinds[number % len(kinds)]
            try:
                request, ours = HISTORIES[kind](number, LENGTHS[number // 3 % len(LENGTHS)])
            except (AssertionError, ValueError, KeyError) as error:
                record.failed[kind] += 1
                record.lines.append(f"{kind}, seed {number}: ours fails: {error!r}")
            else:
                played.append((kind, number, request, ours))
        answers = judge.ask_all([request for _, _, request, _ in played])
        for (kind, number, request, ours), answer in zip(played, answers, strict=True):
            record.groups[kind] += 1
            length = len(request["ops"])
            record.faults += Counter({"operations": length, **Counter(plays.conversions(ours))})
            found = [str(answer)]
            if "steps" in answer:
                found = list(plays.differences(ours, answer["steps"]))
            if found:
                record.failed[kind] += 1
                record.lines.append(f"{kind}, seed {number}, {length} operations: {found[0]}")
    return record


def _waves(numbers: range) -> Iterator[range]:
    for start in range(0, len(numbers), WAVE):
        yield numbers[start : start + WAVE]


Try = Callable[[Judge, int, int], Record]
"""What tries so many cases from a seed."""


@dataclass(frozen=True, slots=True)
class Part:
    """What is tried, and how much of it by one process at a time."""

    name: str
    tries: Try
    count: int
    chunk: int


def main(arguments: Sequence[str] | None = None) -> int:
    """Try, print, and say whether all agreed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=0)
    parser.add_argument("--blobs", type=int, default=0, help="byte strings")
    parser.add_argument("--histories", type=int, default=0, help="of coordinators")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--minutes", type=float, help="end then, whatever has been tried")
    parser.add_argument("--algo", action="append", choices=sorted(NAMES), help="all that exist")
    parser.add_argument("--kind", action="append", choices=list(HISTORIES), help="all of them")
    asked = parser.parse_args(arguments)
    parts = (
        Part("groups", partial(try_chosen, asked.algo or list(NAMES)), asked.groups, 10_000),
        Part("byte strings", try_blobs, asked.blobs, 10_000),
        Part("histories", partial(try_histories, asked.kind or list(HISTORIES)),
             asked.histories, 300),
    )  # fmt: skip
    ends = inf if asked.minutes is None else time.monotonic() + 60 * asked.minutes
    with Judge() as judge:  # also builds what the processes need
        versions = judge.ask({"algo": "versions"})
    with_failures = 0
    with ProcessPoolExecutor(asked.processes) as pool:
        for part in parts:
            started, whole = time.monotonic(), Record()
            for works in _turns(part, asked.seed, asked.processes):
                if time.monotonic() >= ends:
                    break
                for record in pool.map(partial(_chunk, part.tries), works):
                    whole.add(record)
                words = f"{whole.groups.total()} {part.name}, {whole.failed.total()} failed"
                print(words, file=sys.stderr, flush=True)
            for line in whole.lines[: 4 * FAILURES_MAX]:
                print(line)
            if part.count:
                minutes = (time.monotonic() - started) / 60
                print(summary(whole, seed=asked.seed, minutes=minutes, versions=versions))
            with_failures += bool(whole.failed) or (not whole.groups and part.count > 0)
    return 1 if with_failures else 0


def _turns(part: Part, seed: int, processes: int) -> Iterator[list[tuple[int, int]]]:
    """Yield the work of all processes at a time: count and seed of each."""
    works = [
        (min(part.chunk, part.count - start), seed * 1_000_003 + start)
        for start in range(0, part.count, part.chunk)
    ]
    for first in range(0, len(works), processes):
        yield works[first : first + processes]


def _chunk(tries: Try, work: tuple[int, int]) -> Record:
    with Judge(timeout_s=TIMEOUT_S) as judge:
        return tries(judge, *work)


def summary(record: Record, *, seed: int, minutes: float, versions: dict[str, str]) -> str:
    """Return one line for `DEEP.md`."""
    tried = ", ".join(f"{name} {count:,}" for name, count in sorted(record.groups.items()))
    met = ", ".join(f"{count:,} {name}" for name, count in sorted(record.faults.items()))
    return (
        f"| {datetime.now(tz=UTC):%Y-%m-%d} | Kafka {versions['kafka']}, JDK {versions['java']} "
        f"| {seed} | {record.groups.total():,} | {met or 'none'} | {record.failed.total()} "
        f"| {record.unanswered} | {minutes:.0f} min | {tried} |"
    )


if __name__ == "__main__":
    sys.exit(main())
