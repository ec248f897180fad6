"""Simulate on a local Spark: rows of histories, runs of a timed scenario, sweeps, and traffic."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import TYPE_CHECKING, Any

import click

from assignors.cli.inputs.typed.extras import needed_by
from assignors.simulation.processes import Row

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from assignors.simulation.arrow import RowKind
    from assignors.simulation.timed.sweeps.sweep import Sweep

TASKS = 64
"""Tasks of timed runs: more than cores, so that none waits long for the last one."""

SCENARIO_COLUMNS = {
    "id": "string",
    "seed": "bigint",
    "members": "int",
    "topics": "int",
    "partitions": "int",
    "subscription": "string",
    "events": "int",
    "faults": "boolean",
    "wire": "boolean",
}
"""Columns of a row with a seed and sizes."""
GROUP_COLUMNS = {
    "id": "string",
    "seed": "bigint",
    "events": "int",
    "topics": "map<string, int>",
    "members": "array<struct<id: string, instance: string, subscription: binary>>",
}
"""Columns of a row with an explicit group."""


def simulate_with_spark(rows: Iterator[Row], names: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the outcome rows of scenario rows, in order, as the engine python does."""
    with _session() as session:
        from assignors.simulation import arrow, spark  # noqa: PLC0415  # need the extra

        # A column has one type, and `members` has two: rows of one kind at a time.
        for is_group, sort in groupby(rows, key=lambda row: isinstance(row.get("members"), list)):
            columns = GROUP_COLUMNS if is_group else SCENARIO_COLUMNS
            table = [tuple(row.get(name) for name in columns) for row in sort]
            ddl = ", ".join(f"{name} {kind}" for name, kind in columns.items())
            frame = session.createDataFrame(table, ddl)
            yield from _rows(spark.simulate_rounds(frame, assignors=names), arrow.ROUNDS)


def timed_with_spark(
    variants: Sequence[Mapping[str, str | None]],
    first_seed: int,
    seeds: int,
    *,
    has_intervals: bool,
    own_assignors: Collection[str],
) -> Iterator[Mapping[str, Any]]:
    """Yield the results of a scenario, or the intervals, as the engine python does.

    Variants are scenario rows without a seed: each is in the plan once, whatever the number of
    runs.
    """
    with _session() as session:
        from pyspark.sql import functions as f  # noqa: PLC0415  # an extra

        from assignors.simulation import arrow, spark  # noqa: PLC0415  # need that extra

        runs = seeds * len(variants)
        place = (f.col("id") / seeds).cast("int")
        frame = session.range(runs, numPartitions=min(runs, TASKS)).select(
            (f.lit(first_seed) + f.col("id") % seeds).alias("seed"),
            *(
                f.get(f.array(*(f.lit(each[name]) for each in variants)), place)
                .cast("string")
                .alias(name)
                for name in variants[0]
            ),
        )
        if has_intervals:
            found = spark.timed_intervals(frame, own_assignors=own_assignors)
            yield from _rows(found, arrow.INTERVALS)
        else:
            found = spark.simulate_timed(frame, own_assignors=own_assignors)
            yield from _rows(found, arrow.TIMED)


def sweep_with_spark(sweep: Sweep) -> Iterator[Mapping[str, Any]]:
    """Yield what was measured of the points of a sweep, as the engine python does."""
    with _session() as session:
        from assignors.simulation import arrow, spark  # noqa: PLC0415  # need the extra

        frame = spark.sweep_points(session, sweep)
        yield from _rows(spark.simulate_coordinators(frame), arrow.COORDINATORS)


def traffic_with_spark(
    text: str, first_seed: int, seeds: int, names: Sequence[str]
) -> Iterator[Mapping[str, Any]]:
    """Yield the figures of a traffic scenario by seed and assignor, as the engine python does."""
    with _session() as session:
        from pyspark.sql import functions as f  # noqa: PLC0415  # an extra

        from assignors.simulation import arrow, spark  # noqa: PLC0415  # need that extra

        frame = session.range(seeds, numPartitions=min(seeds, TASKS)).select(
            f.lit(text).alias("scenario"), (f.lit(first_seed) + f.col("id")).alias("seed")
        )
        yield from _rows(spark.simulate_traffic(frame, assignors=names), arrow.TRAFFIC)


def _rows(frame: DataFrame, kind: RowKind) -> Iterator[Mapping[str, Any]]:
    for row in frame.toLocalIterator():
        yield kind.row(row.asDict(recursive=True))


@contextmanager
def _session() -> Iterator[SparkSession]:
    """Start a local Spark and stop it. Raises `click.UsageError` where it cannot start."""
    with needed_by("--engine spark", "spark"):
        from pyspark.errors import PySparkException  # noqa: PLC0415  # an extra

        from assignors.spark import local_session  # noqa: PLC0415  # needs that extra
    try:
        session = local_session("local[*]")
    except PySparkException as error:
        raise click.UsageError(f"Spark does not start; it needs Java 17 ({error})") from None
    try:
        yield session
    finally:
        session.stop()
