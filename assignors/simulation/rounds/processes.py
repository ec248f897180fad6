"""The plain engine: the same rows as on Spark, with processes and nothing else.

Rows are dealt to processes in chunks and come back in their order, so that the answer does
not depend on how many processes there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from multiprocessing import get_context
from typing import Any

from assignors.registry import assignor_named
from assignors.simulation.rounds.rows import Row, outcome_rows

CHUNK = 50
"""Rows a process is handed at a time: what bounds the memory, together with their sizes."""


def simulate(
    rows: Iterable[Row], *, assignors: Sequence[str], processes: int = 1
) -> Iterator[dict[str, Any]]:
    """Yield the outcome rows of all rows, in their order.

    With more than one process the calling program must guard its start
    (`if __name__ == "__main__"`), as the standard library asks. Raises `ValueError` for an
    unknown assignor. Cost: linear in the rows.

    >>> rows = simulate([{"seed": 3, "members": 2, "events": 0}], assignors=["range"])
    >>> [row["kind"] for row in rows]
    ['start']
    """
    for name in assignors:
        assignor_named(name)
    play = partial(_play, assignors=tuple(assignors))
    if processes <= 1:
        for chunk in _chunks(rows):
            yield from play(chunk)
        return
    with get_context("spawn").Pool(processes) as pool:
        for played in pool.imap(play, _chunks(rows)):
            yield from played


def _play(chunk: list[Row], assignors: Sequence[str]) -> list[dict[str, Any]]:
    return list(outcome_rows(chunk, assignors))


def _chunks(rows: Iterable[Row]) -> Iterator[list[Row]]:
    left = iter(rows)
    while chunk := list(islice(left, CHUNK)):
        yield chunk
