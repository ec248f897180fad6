"""Timed runs on Spark: a DataFrame of scenarios in, DataFrames of results out.

Works alike on classic Spark, on a cluster whose executors know this package only as a zip
(`assignors.spark.package_zip`), and over Spark Connect.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

import assignors.spark  # noqa: F401 - first, as it says which extra is missing
from assignors.simulation.timed.tables import arrow
from assignors.simulation.timed.tables.summary import FIGURES
from assignors.spark import spark_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


def spread(frame: DataFrame, *, tasks: int, own_assignors: Collection[str] = ()) -> DataFrame:
    """Return the same rows in `tasks` partitions that take about the same time to run.

    What a run costs is estimated from its scenario, so that no task gets all the long ones. One
    shuffle of the scenarios. Made for `frame.transform`, before `simulate`, with the same
    `own_assignors`.
    """
    from pyspark.sql.types import IntegerType, StructField  # noqa: PLC0415 - the extra `spark`

    names = tuple(own_assignors)

    def deal(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return arrow.tasked(batches, tasks=tasks, own_assignors=names)

    schema = type(frame.schema)([*frame.schema.fields, StructField(arrow.TASK, IntegerType())])
    dealt = frame.mapInArrow(deal, schema)
    return dealt.repartitionById(tasks, arrow.TASK).drop(arrow.TASK)


def simulate(
    frame: DataFrame, *, own_assignors: Collection[str] = (), all_figures: bool = False
) -> DataFrame:
    """Return the result of each run in `frame`, one row each, with the frame's other columns.

    `frame` has the columns `scenario` (JSON text, or a name of the gallery) and, if wanted,
    `seed bigint`, `protocol string`, `coordinator_model string` (`none`: without one),
    `client_model string` and `assignor string` (of all members in a classic group, else the
    broker's), which replace the scenario's own; others (a factor of an experiment) come back as
    they are. The columns of the result are those of
    `arrow.RESULT`; a row that cannot be run has `error` set. No shuffle. Made for
    `frame.transform`.

    `own_assignors` are those outside the registry (`package.module:object`) that the rows may name.
    Each worker imports them; where it cannot, the row has `error` set. With `all_figures` those too
    that are measured on request.
    """
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415 - the extra `spark`

    schema = arrow.result_schema(to_arrow_schema(frame.schema))
    play = partial(_results, tuple(own_assignors), all_figures=all_figures)
    return frame.mapInArrow(play, spark_schema(schema))


def intervals(frame: DataFrame, *, own_assignors: Collection[str] = ()) -> DataFrame:
    """Return who consumed what, when, in each run of `frame`: the columns of `arrow.INTERVAL`.

    Takes what `simulate` takes, and runs it again. No shuffle.
    """
    play = partial(_intervals, tuple(own_assignors))
    return frame.mapInArrow(play, spark_schema(arrow.INTERVAL))


def summary(
    results: DataFrame,
    *,
    by: Sequence[str] = ("scenario",),
    between: str = "protocol",
    figures: Sequence[str] = FIGURES,
) -> DataFrame:
    """Return the rows of `summary.summary_rows` for a DataFrame of results: one shuffle by group.

    Memory: the rows of one group in one worker. Made for `results.transform`. Raises `ValueError`
    where a column is missing: the frame is not what `simulate` returned.
    """
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415 - as above

    needed = dict.fromkeys([*by, between, "seed", "error", *figures])
    known = {name.lower() for name in results.columns}  # Spark does not tell cases apart
    missing = [name for name in needed if name.lower() not in known]
    if missing:
        listed = ", ".join(results.columns)
        raise ValueError(f"no column {', '.join(missing)} among {listed}: simulate first")
    columns = results.select(*needed)
    schema = arrow.summary_schema(to_arrow_schema(columns.schema), by=by, between=between)

    def summarise(group: pa.Table) -> pa.Table:
        return arrow.summary_table(group, by=by, between=between, figures=figures)

    return columns.groupBy(*by).applyInArrow(summarise, spark_schema(schema))


def _results(
    own_assignors: tuple[str, ...], batches: Iterable[pa.RecordBatch], *, all_figures: bool
) -> Iterator[pa.RecordBatch]:
    return arrow.results(batches, own_assignors=own_assignors, all_figures=all_figures)


def _intervals(
    own_assignors: tuple[str, ...], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    return arrow.intervals(batches, own_assignors=own_assignors)
