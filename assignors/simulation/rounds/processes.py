"""Simulate a table of scenarios in this process, or in several on this machine.

The rows are those that Spark gives. They go to processes in chunks and come back in their order,
so the answer does not depend on how many processes there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from multiprocessing import get_context
from typing import Any

from assignors.registry import assignor_named
from assignors.simulation.rounds.scenario_rows import Row, outcome_rows

CHUNK = 50
"""Rows that a process gets at a time."""


def simulate_rows(
    rows: Iterable[Row], *, assignors: Sequence[str], processes: int = 1
) -> Iterator[dict[str, Any]]:
    """Yield the outcomes of all scenario rows, in their order; both as in `outcome_rows`.

    With more than one process the calling program must guard its start
    (`if __name__ == "__main__"`), as `multiprocessing` asks. Raises `ValueError` for an
    unknown assignor; a bad row is a row with `error` set. Cost: linear in the rows. Memory:
    one scenario and its outcomes with one process; with several, rows are read ahead without a
    bound.

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
    with get_context("spawn").Pool(processes) as pool:
        for played in pool.imap(play, _chunks(rows)):
            yield from played


def _play(chunk: list[Row], assignors: Sequence[str]) -> list[dict[str, Any]]:
    return list(outcome_rows(chunk, assignors))


def _chunks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    left = iter(rows)
    while chunk := list(islice(left, CHUNK)):
        yield chunk
