"""As many histories of coordinators as you have time for, over processes of their own.

    python -m tests.foreign.deep_coordinators --histories 100000 --seed 1 --processes 2

plays random histories of classic, consumer and mixed groups in turn, ours and Kafka's. The same
arguments play the same ones. Prints what differs, then one line to append to `DEEP.md`. Ends with 1
where anything did.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf
from typing import Any

from tests.foreign import consumer_coordinator, coordinator, mixed_coordinator, plays
from tests.foreign.judge import Judge

History = Callable[[int, int], tuple[dict[str, Any], list[plays.Step]]]
HISTORIES: dict[str, History] = {
    "classic": coordinator.history,
    "consumer": consumer_coordinator.history,
    "mixed": mixed_coordinator.history,
}
LENGTHS = (12, 40, 80, 150)
CHUNK = 300
"""Histories for one process at a time."""
WAVE = 200
FAILURES_MAX = 20
TIMEOUT_S = 600.0
"""How long an answer may take: a run of low priority waits for everything else on its machine."""


@dataclass
class Record:
    """What was tried."""

    histories: Counter[str] = field(default_factory=Counter)
    operations: int = 0
    changes: Counter[str] = field(default_factory=Counter)
    """Conversions of groups, in each direction."""
    failures: list[str] = field(default_factory=list)

    def add(self, other: Record) -> None:
        """Take over what another process has tried."""
        self.histories += other.histories
        self.operations += other.operations
        self.changes += other.changes
        self.failures += other.failures


def main(arguments: Sequence[str] | None = None) -> int:
    """Try, print, and say whether all agreed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--histories", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--minutes", type=float, help="end then, whatever has been played")
    parser.add_argument("--kind", action="append", choices=list(HISTORIES), help="all of them")
    asked = parser.parse_args(arguments)
    kinds: list[str] = asked.kind or list(HISTORIES)
    started = time.monotonic()
    with Judge() as judge:  # also builds what the processes need
        versions = judge.ask({"algo": "versions"})
    chunks = [
        (kinds, asked.seed * 1_000_003 + start, min(CHUNK, asked.histories - start))
        for start in range(0, asked.histories, CHUNK)
    ]
    whole = Record()
    ends = inf if asked.minutes is None else started + 60 * asked.minutes
    with ProcessPoolExecutor(asked.processes) as pool:
        for first in range(0, len(chunks), asked.processes):
            if time.monotonic() >= ends:
                break
            for record in pool.map(chunk, chunks[first : first + asked.processes]):
                whole.add(record)
            words = f"{whole.histories.total()} histories, {len(whole.failures)} failed"
            print(words, file=sys.stderr, flush=True)
    minutes = (time.monotonic() - started) / 60
    for line in whole.failures[:FAILURES_MAX]:
        print(line)
    print(summary(whole, seed=asked.seed, minutes=minutes, versions=versions))
    return 1 if whole.failures or not whole.histories else 0


def chunk(work: tuple[list[str], int, int]) -> Record:
    """Play some histories: their kinds, the first seed, how many."""
    kinds, first, count = work
    record = Record()
    with Judge(timeout_s=TIMEOUT_S) as judge:
        for start in range(first, first + count, WAVE):
            seeds = range(start, min(start + WAVE, first + count))
            _wave(judge, [(kinds[seed % len(kinds)], seed) for seed in seeds], record)
    return record


def _wave(judge: Judge, wave: list[tuple[str, int]], record: Record) -> None:
    played = []
    for kind, seed in wave:
        try:
            request, ours = HISTORIES[kind](seed, LENGTHS[seed // 3 % len(LENGTHS)])
        except (AssertionError, ValueError, KeyError) as error:
            record.failures.append(f"{kind}, seed {seed}: ours fails: {error!r}")
        else:
            played.append((kind, seed, request, ours))
    answers = judge.ask_all([request for _, _, request, _ in played])
    for (kind, seed, request, ours), answer in zip(played, answers, strict=True):
        record.histories[kind] += 1
        record.operations += len(request["ops"])
        record.changes += Counter(plays.conversions(ours))
        found = next(plays.differences(ours, answer["steps"]), None) if "steps" in answer else None
        if "steps" not in answer:
            found = str(answer)
        if found is not None:
            length = len(request["ops"])
            record.failures.append(f"{kind}, seed {seed}, {length} operations: {found}")


def summary(record: Record, *, seed: int, minutes: float, versions: dict[str, str]) -> str:
    """Return one line for `DEEP.md`."""
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(record.histories.items()))
    changes = ", ".join(f"{count:,} {name}" for name, count in sorted(record.changes.items()))
    return (
        f"| {datetime.now(tz=UTC):%Y-%m-%d} | Kafka {versions['kafka']}, JDK {versions['java']} "
        f"| {seed} | {record.histories.total():,} | {record.operations:,} | {changes or 'none'} "
        f"| {len(record.failures)} | {minutes:.0f} min | {kinds} |"
    )


if __name__ == "__main__":
    sys.exit(main())
