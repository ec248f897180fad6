"""A recorded source as if it were live: its records in the order of their time, with ticks."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge

from assignors.replay.decode.logged_records import LoggedRecord
from assignors.replay.history.log_ends import LogEnds
from assignors.watch.group_state import Cluster
from assignors.watch.machine import SECOND, Input, Tick

BATCH = 1_000
"""Inputs between two looks at the clock, at most."""


def in_order_of_time(entries: Iterable[LoggedRecord]) -> list[LoggedRecord]:
    """Return records by time, those of one partition in their order whatever their times.

    A broker's clock that runs back stands still. Memory: the records. Cost: O(N log N).
    """
    latest: dict[int | None, int] = {}
    timed: list[tuple[int, int, LoggedRecord]] = []
    for number, entry in enumerate(entries):
        at_ms = max(entry.at_ms, latest.get(entry.partition, entry.at_ms))
        latest[entry.partition] = at_ms
        timed.append((at_ms, number, entry))
    return [entry for *_, entry in sorted(timed, key=lambda one: one[:2])]


def played(
    entries: Iterable[LoggedRecord],
    *,
    counts: Mapping[str, int],
    log_ends: Sequence[LogEnds] = (),
    speed: float | None = None,
) -> Iterator[Sequence[Input]]:
    """Yield the inputs of a recorded source, batch by batch, a tick behind the last.

    `counts` has partition counts and `log_ends` the ends of partitions, where they are known. With
    `speed` a batch comes when so many times the time since the first record has passed; without,
    at once. Memory: the records.
    """
    first = [Cluster(at_ms=0, counts=counts)] if counts else []
    ends = sorted(log_ends, key=lambda one: one.at_ms)
    said = [Cluster(at_ms=one.at_ms, counts=counts, ends=one.log_ends) for one in ends]
    inputs: Iterator[Input] = merge(in_order_of_time(entries), said, key=lambda one: one.at_ms)
    yield first
    batch: list[Input] = []
    begun_s, begun_ms, now_ms = time.monotonic(), None, 0
    for given in inputs:
        now_ms = max(now_ms, given.at_ms)
        begun_ms = now_ms if begun_ms is None else begun_ms
        is_later = bool(batch) and speed is not None and given.at_ms > batch[-1].at_ms
        if len(batch) >= BATCH or is_later:
            yield batch
            batch = []
        while speed is not None:
            passed_ms = int((time.monotonic() - begun_s) * SECOND * speed)
            wait_ms = now_ms - begun_ms - passed_ms
            if wait_ms <= 0:
                break
            # Ticks go on while no record comes, as in a live watch.
            yield [Tick(begun_ms + passed_ms)]
            time.sleep(min(wait_ms / speed / SECOND, 0.25))
        batch.append(given)
    yield batch
    yield [Tick((now_ms // SECOND + 1) * SECOND)]
