"""Points of a sweep as rows of a table, and what was measured of each as a row.

A point row has the fields of a point as columns, `{"model": "blocking", "check_us": 2000}`; what is
absent or null has its default. A row that is no point becomes a row with `error` set; the other
rows are not affected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from operator import attrgetter
from typing import Any

from assignors.documents.values import DocumentError
from assignors.simulation.processes import in_processes
from assignors.simulation.timed.execution.measures import Measured, measure
from assignors.simulation.timed.execution.policy import POLICIES
from assignors.simulation.timed.sweeps.limits import limit_per_second
from assignors.simulation.timed.sweeps.points import (
    FIELDS,
    READERS,
    Point,
    plain,
    point_from_document,
    values_of,
)

PointRow = Mapping[str, Any]
"""Column -> value."""

POINTS_A_CHUNK = 8
"""Points that a process gets at a time: about a second of work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """What is measured of a point beyond its own run."""

    limit_per_second: float
    """The throughput limit of the model by formula, in requests a second."""
    others_alone_p99_ms: float | None
    """The 99th percentile of all groups but group 0 while the checks of group 0 are as fast as
    theirs, in milliseconds; `None` where `slow_group_check_us` is not given."""
    isolation: float | None
    """`others_p99_ms` over `others_alone_p99_ms`: 1 where a slow group slows down nobody else."""


POINT_COLUMNS = ("model", *FIELDS)
MEASURED_COLUMNS = tuple(each.name for each in fields(Measured))
DERIVED_COLUMNS = tuple(each.name for each in fields(Derived))
COLUMNS = (*POINT_COLUMNS, *MEASURED_COLUMNS, *DERIVED_COLUMNS, "error")
_measured = attrgetter(*MEASURED_COLUMNS)
_derived = attrgetter(*DERIVED_COLUMNS)


def measured_rows(rows: Iterable[PointRow], *, processes: int = 1) -> Iterator[dict[str, Any]]:
    """Yield what was measured of each point row (`COLUMNS`), in their order.

    Cost: that of the runs, about `requests` / 100,000 seconds a point. With more than one process
    the calling program must guard its start, as in `simulation.processes`.

    >>> points = [{"model": "blocking", "requests": 50}, {"model": "fast"}]
    >>> [row["error"] for row in measured_rows(points)]  # doctest: +ELLIPSIS
    [None, "bad-row: model: no execution model 'fast'; known: wait-all, ..."]
    """
    return in_processes(rows, partial(_played, measured_row), processes, POINTS_A_CHUNK)


def measured_row(point: Point) -> dict[str, Any]:
    """Return what was measured of a point, as a row."""
    found = measure(POLICIES[point.model], point.load, point.settings)
    return {
        **values_of(point),
        **dict(zip(MEASURED_COLUMNS, _measured(found), strict=True)),
        **dict(zip(DERIVED_COLUMNS, _derived(_beyond(point, found)), strict=True)),
        "error": None,
    }


def _beyond(point: Point, found: Measured) -> Derived:
    policy = POLICIES[point.model]
    alone = isolation = None
    if point.load.slow_group_check_us is not None and found.others_p99_ms is not None:
        calm = replace(point.load, slow_group_check_us=None)
        alone = measure(policy, calm, point.settings).others_p99_ms
        isolation = None if not alone else found.others_p99_ms / alone
    return Derived(
        limit_per_second=limit_per_second(policy, point.load, point.settings),
        others_alone_p99_ms=alone,
        isolation=isolation,
    )


def _played(
    play: Callable[[Point], dict[str, Any]], rows: Iterable[PointRow]
) -> list[dict[str, Any]]:
    return [_attempt(play, row) for row in rows]


def _attempt(play: Callable[[Point], dict[str, Any]], row: PointRow) -> dict[str, Any]:
    try:
        return play(point_from_document({name: row.get(name) for name in POINT_COLUMNS}))
    except DocumentError as error:
        return {**_failed(row), "error": f"bad-row: {error.after_path()}"}
    except MemoryError:
        text = "MemoryError: the run does not fit into the memory of this process"
        return {**_failed(row), "error": text}


def _failed(row: PointRow) -> dict[str, Any]:
    """Return a row without figures, with those values of the point that can be read."""
    found = dict.fromkeys(COLUMNS)
    for name in POINT_COLUMNS:
        try:
            if row.get(name) is not None:
                found[name] = plain(READERS[name](row[name], (name,)))
        except DocumentError:
            continue
    return found
