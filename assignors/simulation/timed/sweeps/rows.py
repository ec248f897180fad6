"""Points of a sweep as rows of a table, and what was measured of each as a row.

A point row has the fields of a point as columns, `{"model": "blocking", "check_us": 2000}`; what is
absent or null has its default. A row that is no point becomes a row with `error` set; the other
rows are not affected.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from assignors.documents.failures import NO_ERROR
from assignors.documents.values import DocumentError
from assignors.simulation.processes import Row, failed_row, in_processes, known, readable
from assignors.simulation.timed.execution.load import MICRO, Load
from assignors.simulation.timed.execution.measures import Measured, measure
from assignors.simulation.timed.execution.policy import POLICIES, Holds, Key, Policy, Settings
from assignors.simulation.timed.sweeps.sweep import (
    FIELDS,
    KINDS,
    Point,
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
    *NO_ERROR,
)
"""Columns of a row; one that is null is left out, but for those of the error."""


def measured_rows(rows: Iterable[Row], *, processes: int | None = 1) -> Iterator[dict[str, Any]]:
    """Yield what was measured of each point row (`COLUMNS`), in their order.

    Cost: that of the runs, about `requests` / 100,000 seconds a point. With more than one process
    the calling program must guard its start, as in `simulation.processes`.

    >>> points = [{"model": "blocking", "requests": 50}, {"model": "fast"}]
    >>> [row["error"] for row in measured_rows(points)]  # doctest: +ELLIPSIS
    [None, "no execution model 'fast'; known: wait-all, ... at model"]
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
    except (DocumentError, MemoryError) as error:
        return [failed_row(readable(given, KINDS), error)]


def _measured_row(point: Point) -> dict[str, Any]:
    found = measure(POLICIES[point.model], point.load, point.settings)
    columns = {**values_of(point), **asdict(found), **asdict(_beyond(point, found))}
    return {**known(columns), **NO_ERROR}


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


def limit_per_second(policy: Policy, load: Load, settings: Settings) -> float:
    """Return the throughput limit: the load is Poisson, and groups are asked equally often.

    >>> from assignors.simulation.timed.execution.load import MICRO, Load
    >>> from assignors.simulation.timed.execution.policy import POLICIES, Settings
    >>> load = Load(service_us=50, check_us=1950)
    >>> limit_per_second(POLICIES["blocking"], load, Settings(workers=4, partitions=4))
    2000.0
    """
    worker_us, key_us = held_us(policy, load)
    keys = settings.partitions if policy.key is Key.PARTITION else load.groups
    limits = [settings.workers / max(worker_us, 1e-9)]
    if key_us:
        limits.append(keys / (key_us * turns(policy, load)))
    if load.append_us and not policy.has_batches:
        limits.append(settings.partitions / load.append_us)
    return MICRO * min(limits)


def held_us(policy: Policy, load: Load) -> tuple[float, float]:
    """Return how long a request holds its worker and its key, in the mean."""
    # Where the throughput is at its limit, keys are busy and nothing is handled inline.
    worked = float(load.service_us + load.handoff_us)
    waits = (
        (policy.in_check, mean_check_us(load)),
        (policy.in_replication, load.replication_us),
    )
    worker = key = worked
    if not policy.has_batches:
        worker, key = worker + load.append_us, key + load.append_us
    for held, took in waits:
        worker += took if held is Holds.WORKER else 0
        key += took if held is not Holds.NOTHING else 0
    return worker, key


def mean_check_us(load: Load) -> float:
    """Return how long the check of a request takes, in the mean over all requests."""
    slow = load.check_us if load.slow_group_check_us is None else load.slow_group_check_us
    each = load.check_us + (slow - load.check_us) / load.groups
    return load.checks_share * each


def turns(policy: Policy, load: Load) -> float:
    """Return for how many requests, of each that comes, a key is held after all before them.

    Commits that share their key begin together, so a run of them counts once: of requests that
    change their group with probability w, a share w + (1 - w) w begins a turn.
    """
    if not policy.shares_commits:
        return 1.0
    share = load.changes_share
    return max(share * (2 - share), 1e-9)
