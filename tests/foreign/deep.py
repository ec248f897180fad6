"""As many random groups as you have time for: `python -m tests.foreign.deep --groups 500000`.

Every process has a JVM and dice of its own, so the same arguments try the same groups. Prints
failures as vectors, then one line to append to `DEEP.md`. Ends with 1 where anything failed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from functools import partial
from random import Random

from tests.foreign import blobs, codecs
from tests.foreign.convert import NAMES
from tests.foreign.judge import Judge
from tests.foreign.trial import FAILURES_MAX, Record, as_line, try_groups

CHUNK = 10_000
"""Groups, and the same number of byte strings, for one process at a time."""
WAVE = 1_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Try, print, and say whether all agreed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=500_000)
    parser.add_argument("--blobs", type=int, default=None, help="byte strings; as many as groups")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--algo", action="append", choices=sorted(NAMES), help="all that exist")
    asked = parser.parse_args(arguments)
    algorithms: list[str] = asked.algo or list(NAMES)
    blob_count: int = asked.groups if asked.blobs is None else asked.blobs
    started = time.monotonic()
    with Judge() as judge:  # also builds what the processes need
        versions = judge.ask({"algo": "versions"})
    whole = Record()
    chunks = [
        (asked.seed * 1_000_003 + number, share(asked.groups, number), share(blob_count, number))
        for number in range(-(-max(asked.groups, blob_count) // CHUNK))
    ]
    with ProcessPoolExecutor(asked.processes) as pool:
        for number, record in enumerate(pool.map(partial(chunk, algorithms), chunks), 1):
            whole.add(record)
            failed = whole.failed.total()
            print(f"{number}/{len(chunks)} chunks, {failed} failed", file=sys.stderr, flush=True)
    minutes = (time.monotonic() - started) / 60
    for line in whole.lines[: 4 * FAILURES_MAX]:
        print(line)
    print(summary(whole, seed=asked.seed, minutes=minutes, versions=versions))
    return 1 if whole.failed or not whole.groups else 0


def share(count: int, number: int) -> int:
    """How many of `count` fall to a chunk."""
    return max(0, min(CHUNK, count - number * CHUNK))


def chunk(algorithms: Sequence[str], work: tuple[int, int, int]) -> Record:
    """Try one chunk: seed, groups, byte strings."""
    seed, group_count, blob_count = work
    with Judge() as judge:
        record = try_groups(judge, group_count, seed, algorithms)
        record.add(try_blobs(judge, blob_count, seed))
    return record


def try_blobs(judge: Judge, count: int, seed: int) -> Record:
    """Try `count` random byte strings."""
    dice, record = Random(seed), Record()
    while record.groups.total() < count:
        wave = min(WAVE, count - record.groups.total())
        requests = [blobs.random_request(dice) for _ in range(wave)]
        for request, answer in zip(requests, judge.ask_all(requests), strict=True):
            record.groups[request["algo"]] += 1
            if not codecs.agree(request, answer, codecs.our_answer(request)):
                record.failed[request["algo"]] += 1
                record.lines.append(as_line(request, answer))
    return record


def summary(record: Record, *, seed: int, minutes: float, versions: dict[str, str]) -> str:
    """One line for `DEEP.md`."""
    tried = ", ".join(f"{name} {count:,}" for name, count in sorted(record.groups.items()))
    groups = sum(count for name, count in record.groups.items() if name in NAMES)
    faults = sum(record.faults.values())
    return (
        f"| {datetime.now(tz=UTC):%Y-%m-%d} | Kafka {versions['kafka']}, JDK {versions['java']} "
        f"| {seed} | {groups:,} | {record.groups.total() - groups:,} | {record.failed.total()} "
        f"| {faults} | {record.unanswered} | {minutes:.0f} min | {tried} |"
    )


if __name__ == "__main__":
    sys.exit(main())
