"""Traffic scenarios as rows of a table, and the figures of their runs as rows.

A row has a `scenario` (JSON text, the object that such text has, or a name of `worlds`) and a
`seed`, 0 where it has none. A row that cannot be simulated becomes a row with `error` set; the
other rows are not affected.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from functools import partial
from typing import Any

from assignors.assignor import Assignor
from assignors.documents.failures import NO_ERROR
from assignors.documents.values import DocumentError, ErrorCode
from assignors.registry import assignor_of
from assignors.simulation.processes import Row, failed_row, in_processes, readable, require_names
from assignors.simulation.timed.scenario.kinds import SEED
from assignors.simulation.traffic.results import TrafficResult, result_of
from assignors.simulation.traffic.run import moments
from assignors.simulation.traffic.scenario import TrafficScenario, traffic_from_document
from assignors.simulation.traffic.worlds import WORLDS, world

GIVEN = ("scenario", "seed")
"""Columns of a scenario row."""
IDENTITY = ("scenario", "seed", "assignor")
"""Columns by which every row names its run."""
COLUMNS = (*IDENTITY, *(each.name for each in fields(TrafficResult)), *NO_ERROR)


def traffic_rows(
    rows: Iterable[Row], *, assignors: Sequence[str | Assignor], processes: int | None = 1
) -> Iterator[dict[str, Any]]:
    """Yield the figures of each scenario row under each assignor, in that order; see `figures`.

    Raises `ValueError` for an unknown assignor, before anything is simulated. Cost: that of the
    runs. Memory: one run. With more than one process the calling program must guard its start, as
    in `simulation.processes`.

    >>> small = {"version": 1, "until_s": 600, "topics": {"t": 4}, "members": [{"name": "a"}]}
    >>> [row["moves"] for row in traffic_rows([{"scenario": small}], assignors=["range"])]
    [0]
    """
    require_names(assignors, processes)
    for each in assignors:
        assignor_of(each)
    return in_processes(rows, partial(figures, assignors=tuple(assignors)), processes, 1)


def figures(row: Row, *, assignors: Sequence[str | Assignor]) -> Iterator[dict[str, Any]]:
    """Yield the figures (`COLUMNS`) of a scenario row under each assignor.

    A run that fails is a row with `error` and the columns of `IDENTITY`; a row that is no scenario
    is one row with `error`, and its seed where that can be read.
    """
    try:
        scenario = scenario_of(row)
        seed = 0 if row.get("seed") is None else SEED.read(row["seed"], ("seed",))
    except DocumentError as error:
        yield failed_row(readable(row, {"seed": SEED}), error)
        return
    for assignor in map(assignor_of, assignors):
        named = {"scenario": scenario.name, "seed": seed, "assignor": assignor.full_name}
        try:
            found = result_of(
                moments(scenario, assignor, seed=seed),
                tick_s=scenario.tick_s,
                count_from_s=scenario.count_from_s,
            )
        except Exception as error:  # noqa: BLE001 - our mistake, too, stays in its row
            yield failed_row(named, error)
        else:
            yield {**named, **asdict(found), **NO_ERROR}


def scenario_of(row: Row) -> TrafficScenario:
    """Return the scenario of a row. Raises `DocumentError` with the path of what is wrong.

    >>> scenario_of({"scenario": "noisy"}).until_s
    14400
    """
    given = row.get("scenario")
    if isinstance(given, str) and given in WORLDS:
        return world(given)
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError) as error:
            raise DocumentError(ErrorCode.BAD_JSON, str(error), ("scenario",)) from None
    try:
        return traffic_from_document(given)
    except DocumentError as error:
        raise error.below("scenario") from None
