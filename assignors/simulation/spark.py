"""Every kind of simulation on Spark: a DataFrame of scenarios in, a DataFrame of figures out.

Each function runs what the function of `assignors.simulation` with the same name runs, and gives
the same rows. Columns of the frame that are not part of a scenario, as the factor of an experiment,
come back with every row of its results. A row that cannot be played has `error` set. No function
but `summary` shuffles; each is made for `frame.transform`. Works alike on classic Spark, on a
cluster whose executors know this package only as a zip (`assignors.spark.package_zip`), and over
Spark Connect.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import assignors.spark  # noqa: F401 - first, as it says which extra is missing
from assignors.simulation import arrow
from assignors.simulation.timed.results import FIGURES, NUMBERS
from assignors.spark import spark_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from assignors.simulation.timed.sweeps.sweep import Sweep

TASKS = 64
"""Tasks of a sweep: more than cores, so that none waits long for the last one."""


def simulate_rounds(frame: DataFrame, *, assignors: Sequence[str]) -> DataFrame:
    """Return the outcomes of histories in rounds, one row a scenario, event and assignor.

    A row of `frame` is a scenario (`seed bigint` and any of the sizes `members`, `topics`,
    `partitions`, `events` int, `subscription` string, `faults`, `wire` boolean) or an explicit
    group (`topics map<string, int>`, `members array<struct<id, instance, subscription>>`,
    `seed`, `events`). The columns of the result are those of `arrow.ROUNDS`. Raises `ValueError`
    for an unknown assignor.
    """
    return _played(frame, arrow.ROUNDS, arrow.outcomes(assignors))


def simulate_timed(frame: DataFrame, *, own_assignors: Collection[str] = ()) -> DataFrame:
    """Return the result of each run on a clock, one row each.

    `frame` has the columns `scenario` (JSON text, or a name of the gallery) and, if wanted,
    `seed bigint`, `protocol string`, `coordinator_model string` (`none`: without one),
    `client_model string` and `assignor string` (of all members in a classic group, else the
    broker's), which replace the scenario's own. The columns of the result are those of
    `arrow.TIMED`: figures of a feature are in a struct, `failover.recovery_ms`.

    `own_assignors` are those outside the registry (`package.module:object`) that the rows may name.
    Each worker imports them; where it cannot, the row has `error` set.
    """
    return _played(frame, arrow.TIMED, arrow.timed_result(own_assignors))


def timed_intervals(frame: DataFrame, *, own_assignors: Collection[str] = ()) -> DataFrame:
    """Return who consumed what, when, in each run: the columns of `arrow.INTERVALS`.

    Takes what `simulate_timed` takes, and runs it again.
    """
    return _played(frame, arrow.INTERVALS, arrow.timed_intervals(own_assignors))


def simulate_traffic(frame: DataFrame, *, assignors: Sequence[str]) -> DataFrame:
    """Return the figures of runs with traffic, one row a scenario row and assignor.

    `frame` has the columns `scenario` (JSON text, or a name of `traffic.worlds`) and
    `seed bigint`. The columns of the result are those of `arrow.TRAFFIC`. Raises `ValueError` for
    an unknown assignor.
    """
    return _played(frame, arrow.TRAFFIC, arrow.traffic_figures(assignors))


def simulate_coordinators(frame: DataFrame) -> DataFrame:
    """Return what was measured of each point of a sweep, one row each.

    `frame` has the columns of `arrow.POINT` that differ from their defaults, and `model`;
    `sweep_points` makes one of a sweep. The columns of the result are those of
    `arrow.COORDINATORS`.
    """
    return _played(frame, arrow.COORDINATORS, arrow.measured_point)


def sweep_points(session: SparkSession, sweep: Sweep) -> DataFrame:
    """Return the points of a sweep in their order: the columns of `arrow.POINT`, in `TASKS` tasks.

    The plan has the sweep once, whatever the number of points.
    """
    numbers = session.range(sweep.count, numPartitions=min(sweep.count, TASKS))
    return _played(numbers, arrow.POINTS, arrow.points_of(sweep))


def summary(
    results: DataFrame,
    *,
    by: Sequence[str] = ("scenario",),
    between: str = "protocol",
    figures: Sequence[str] = NUMBERS,
) -> DataFrame:
    """Return the rows of `summary.summary_rows` for results of `simulate_timed`: one shuffle.

    Memory: the rows of one group in one worker. Raises `ValueError` where a column is missing: the
    frame is not what `simulate_timed` returned.
    """
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415 - as below

    columns_of_figures = [FIGURES[figure].feature or figure for figure in figures]
    needed = dict.fromkeys([*by, between, "seed", "error", *columns_of_figures])
    there = {name.lower() for name in results.columns}  # Spark does not tell cases apart
    missing = [name for name in needed if name.lower() not in there]
    if missing:
        listed = ", ".join(results.columns)
        raise ValueError(f"no column {', '.join(missing)} among {listed}: simulate first")
    columns = results.select(*needed)
    schema = arrow.summary_schema(to_arrow_schema(columns.schema), by=by, between=between)

    def summarise(group: pa.Table) -> pa.Table:
        return arrow.summary_table(group, by=by, between=between, figures=figures)

    return columns.groupBy(*by).applyInArrow(summarise, spark_schema(schema))


def _played(frame: DataFrame, kind: arrow.RowKind, play: arrow.Play) -> DataFrame:
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415 - the extra `spark`

    schema = kind.schema(to_arrow_schema(frame.schema))
    return frame.mapInArrow(partial(_batches, kind, play), spark_schema(schema))


def _batches(
    kind: arrow.RowKind, play: arrow.Play, batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    return kind.played(batches, play)
