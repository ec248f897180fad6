"""Simulate scenario rows on a local Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import click

from assignors.simulation.rounds.scenario_rows import Row

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
    try:
        from pyspark.errors import PySparkException  # noqa: PLC0415  # an extra

        from assignors.simulation.spark import simulate  # noqa: PLC0415  # needs that extra
        from assignors.spark import local_session  # noqa: PLC0415  # needs that extra
    except ModuleNotFoundError as error:
        words = f"{error.name} is missing; pip install 'kafka-assignors[spark]'"
        raise click.UsageError(words) from None
    try:
        session = local_session("local[*]")
    except PySparkException as error:
        raise click.UsageError(f"Spark does not start; it needs Java 17 ({error})") from None
    try:
        # A column has one type, and `members` has two: rows of one kind at a time.
        for is_group, sort in groupby(rows, key=lambda row: isinstance(row.get("members"), list)):
            columns = GROUP_COLUMNS if is_group else SCENARIO_COLUMNS
            table = [tuple(row.get(name) for name in columns) for row in sort]
            ddl = ", ".join(f"{name} {kind}" for name, kind in columns.items())
            frame = session.createDataFrame(table, ddl)
            for outcome in simulate(frame, assignors=names).toLocalIterator():
                yield outcome.asDict()
    finally:
        session.stop()
