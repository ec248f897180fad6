"""Points of a sweep as rows of a table, and what was measured of each as a row.

A point row has the fields of a point as columns, `{"model": "blocking", "check_us": 2000}`; what is
absent or null has its default. A row that is no point becomes a row with `error` set; the other
rows are not affected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from assignors.documents.values import DocumentError
from assignors.simulation.processes import Row, failure_text, in_processes, known
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
COLUMNS = (
    *POINT_COLUMNS,
    *(each.name for kind in (Measured, Derived) for each in fields(kind)),
    "error",
)
"""Columns of a row; one that is null is left out, but for `error`."""


def measured_rows(rows: Iterable[Row], *, processes: int = 1) -> Iterator[dict[str, Any]]:
    """Yield what was measured of each point row (`COLUMNS`), in their order.

    Cost: that of the runs, about `requests` / 100,000 seconds a point. With more than one process
    the calling program must guard its start, as in `simulation.processes`.

    >>> points = [{"model": "blocking", "requests": 50}, {"model": "fast"}]
    >>> [row["error"] for row in measured_rows(points)]  # doctest: +ELLIPSIS
    [None, "bad-row: model: no execution model 'fast'; known: wait-all, ..."]
    """
    return in_processes(rows, figures, processes, POINTS_A_CHUNK)


def figures(row: Row) -> list[dict[str, Any]]:
    """Return what was measured of a point row, as one row.

    A row that is no point has `error`, and those fields of the point that can be read.
    """
    given = {name: row[name] for name in POINT_COLUMNS if row.get(name) is not None}
    try:
        point = point_from_document(given)
        return [_measured_row(point)]
    except DocumentError as error:
        text = f"bad-row: {error.after_path()}"
    except MemoryError as error:
        text = failure_text(error)
    return [{**_readable(given), "error": text}]


def _measured_row(point: Point) -> dict[str, Any]:
    found = measure(POLICIES[point.model], point.load, point.settings)
    columns = {**values_of(point), **asdict(found), **asdict(_beyond(point, found))}
    return {**known(columns), "error": None}


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


def _readable(given: Row) -> dict[str, Any]:
    found = {}
    for name, value in given.items():
        with suppress(DocumentError):
            found[name] = plain(READERS[name](value, (name,)))
    return found
