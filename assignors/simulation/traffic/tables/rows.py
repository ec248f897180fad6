"""Traffic scenarios as rows of a table, and the figures of their runs as rows.

A row has a `scenario` (JSON text, the object that such text has, or a name of `worlds`) and a
`seed`, 0 where it has none. A row that cannot be simulated becomes a row with `error` set; the
other rows are not affected.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from functools import partial
from typing import Any

from assignors.assignor import Assignor
from assignors.documents.values import DocumentError, ErrorCode
from assignors.own_assignors.answers import AssignorError
from assignors.registry import assignor_of
from assignors.simulation.processes import in_processes, require_names
from assignors.simulation.timed.scenario.reading import as_seed
from assignors.simulation.traffic.document import traffic_from_document
from assignors.simulation.traffic.results import TrafficResult, result_of
from assignors.simulation.traffic.run import moments
from assignors.simulation.traffic.scenario import TrafficScenario
from assignors.simulation.traffic.worlds import WORLDS, world

TrafficRow = Mapping[str, Any]
"""Column -> value."""

GIVEN = ("scenario", "seed")
"""Columns of a scenario row."""
IDENTITY = ("scenario", "seed", "assignor")
"""Columns by which every row names its run."""
FIGURES = tuple(each.name for each in fields(TrafficResult))
COLUMNS = (*IDENTITY, *FIGURES, "error")


def traffic_rows(
    rows: Iterable[TrafficRow], *, assignors: Sequence[str | Assignor], processes: int = 1
) -> Iterator[dict[str, Any]]:
    """Yield the figures (`COLUMNS`) of each scenario row under each assignor, in that order.

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
    return in_processes(rows, partial(_played, choices=tuple(assignors)), processes, 1)


def result_row(scenario: TrafficScenario, assignor: Assignor, seed: int) -> dict[str, Any]:
    """Return the figures of a run. Raises what its assignor raises. Cost: that of the run."""
    found = result_of(
        moments(scenario, assignor, seed=seed),
        tick_s=scenario.tick_s,
        count_from_s=scenario.count_from_s,
    )
    name = assignor.full_name
    return {
        "scenario": scenario.name,
        "seed": seed,
        "assignor": name,
        **asdict(found),
        "error": None,
    }


def scenario_of(row: TrafficRow) -> TrafficScenario:
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


def _played(
    rows: Iterable[TrafficRow], choices: Sequence[str | Assignor]
) -> Iterator[dict[str, Any]]:
    assignors = [assignor_of(each) for each in choices]
    for row in rows:
        failed = {**dict.fromkeys(COLUMNS), "seed": _readable_seed(row)}
        try:
            scenario = scenario_of(row)
            seed = 0 if row.get("seed") is None else as_seed(row["seed"], ("seed",))
        except DocumentError as error:
            yield {**failed, "error": f"bad-row: {error.after_path()}"}
            continue
        for assignor in assignors:
            named = {**failed, "scenario": scenario.name, "assignor": assignor.full_name}
            yield _attempt(scenario, assignor, seed, named)


def _attempt(
    scenario: TrafficScenario, assignor: Assignor, seed: int, failed: dict[str, Any]
) -> dict[str, Any]:
    try:
        return result_row(scenario, assignor, seed)
    except MemoryError:
        text = "MemoryError: the run does not fit into the memory of this process"
    except AssignorError as error:
        text = str(error) if error.trace is None else f"{error}\n{error.trace}"
    except Exception as error:  # noqa: BLE001 - our mistake, too, stays in its row
        text = f"{type(error).__name__}: {error}"
    return {**failed, "error": text}


def _readable_seed(row: TrafficRow) -> int | None:
    try:
        return as_seed(row.get("seed"), ("seed",))
    except DocumentError:
        return None
