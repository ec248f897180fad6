"""Simulate a table of scenarios in this process, or in several on this machine.

The rows are those that Spark gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from assignors.assignor import Assignor
from assignors.registry import assignor_of
from assignors.simulation.processes import in_processes, require_names
from assignors.simulation.rounds.scenario_rows import Row, outcome_rows

CHUNK = 50
"""Rows that a process gets at a time."""


def simulate_rows(
    rows: Iterable[Row],
    *,
    assignors: Sequence[str | Assignor],
    processes: int = 1,
    chunk: int = CHUNK,
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
    require_names(assignors, processes)
    for each in assignors:
        assignor_of(each)
    if processes <= 1:
        yield from outcome_rows(rows, assignors)
    else:
        play = partial(outcome_rows, assignors=tuple(assignors))
        yield from in_processes(rows, play, processes, chunk)
