"""Simulate a table of scenarios in this process, or in several on this machine.

The rows are those that Spark gives. They go to processes in chunks and come back in their order,
so the answer does not depend on how many processes there are. Rows are read only a few chunks
ahead of the outcomes, so memory does not depend on how many rows there are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from multiprocessing import get_context
from threading import Semaphore
from typing import Any

from assignors.registry import assignor_named
from assignors.simulation.rounds.scenario_rows import Row, outcome_rows

CHUNK = 50
"""Rows that a process gets at a time."""

CHUNKS_AHEAD = 4
"""Chunks for each process that are read before their outcomes are taken."""


def simulate_rows(
    rows: Iterable[Row], *, assignors: Sequence[str], processes: int = 1, chunk: int = CHUNK
) -> Iterator[dict[str, Any]]:
    """Yield the outcomes of all scenario rows, in their order; both as in `outcome_rows`.

    With more than one process the calling program must guard its start
    (`if __name__ == "__main__"`), as `multiprocessing` asks; each gets `chunk` rows at a time.
    Raises `ValueError` for an unknown assignor; a bad row is a row with `error` set. Cost: linear
    in the rows. Memory: one scenario and its outcomes with one process; with several, the rows
    and outcomes of `CHUNKS_AHEAD` chunks for each.

    >>> rows = simulate_rows([{"seed": 3, "members": 2, "events": 0}], assignors=["range"])
    >>> [row["kind"] for row in rows]
    ['start']
    """
    for name in assignors:
        assignor_named(name)
    if processes <= 1:
        yield from outcome_rows(rows, assignors)
        return
    play = partial(_play, assignors=tuple(assignors))
    ahead = _Ahead(_chunks(rows, chunk), CHUNKS_AHEAD * processes)
    with get_context("spawn").Pool(processes) as pool:
        try:
            for played in pool.imap(play, ahead):
                ahead.release()
                yield from played
        finally:
            ahead.stop()


def usable_processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Ahead:
    """Chunks of rows for the thread that feeds the processes: a limited number at a time.

    The thread waits in here until the caller has taken an outcome; `stop` ends that wait, as the
    pool waits for its thread when it is closed.
    """

    def __init__(self, chunks: Iterator[list[Row]], limit: int) -> None:
        self._chunks = chunks
        self._permits = Semaphore(limit)
        self._is_stopped = False

    def __iter__(self) -> Iterator[list[Row]]:
        while True:
            self._permits.acquire()
            if self._is_stopped:
                return
            chunk = next(self._chunks, None)
            if chunk is None:
                return
            yield chunk

    def release(self) -> None:
        """Allow one more chunk."""
        self._permits.release()

    def stop(self) -> None:
        """Give no more chunks."""
        self._is_stopped = True
        self._permits.release()


def _play(chunk: list[Row], assignors: Sequence[str]) -> list[dict[str, Any]]:
    return list(outcome_rows(chunk, assignors))


def _chunks(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    left = iter(rows)
    while chunk := list(islice(left, size)):
        yield chunk
