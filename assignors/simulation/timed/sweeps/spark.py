"""Points of a sweep on Spark: a DataFrame of points in, a DataFrame of figures out.

Works alike on classic Spark, on a cluster whose executors know this package only as a zip
(`assignors.spark.package_zip`), and over Spark Connect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from assignors.extras import imported_from

with imported_from("spark"):
    import pyarrow as pa

from assignors.simulation.timed.sweeps import arrow
from assignors.spark import spark_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from assignors.simulation.timed.sweeps.sweep import Sweep

TASKS = 64
"""Tasks of a sweep: more than cores, so that none waits long for the last one."""


def points(session: SparkSession, sweep: Sweep) -> DataFrame:
    """Return the points of a sweep in their order: the columns of `arrow.POINT`, in `TASKS` tasks.

    The plan has the sweep once, whatever the number of points.
    """
    numbers = session.range(sweep.count, numPartitions=min(sweep.count, TASKS))

    def listed(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            rows = [sweep.point(number) for number in batch.column("id").to_pylist()]
            yield pa.RecordBatch.from_pylist(rows, schema=arrow.POINT)

    return numbers.mapInArrow(listed, spark_schema(arrow.POINT))


def measure(frame: DataFrame) -> DataFrame:
    """Return what was measured of each point in `frame`, one row each, with its other columns.

    `frame` has the columns of `arrow.POINT` that differ from their defaults, and `model`; others (a
    factor of an experiment) come back as they are. The columns of the result are those of
    `arrow.MEASURED`; a row that is no point has `error` set. No shuffle. Made for
    `frame.transform`.
    """
    from pyspark.sql.pandas.types import to_arrow_schema  # noqa: PLC0415 - the extra `spark`

    schema = arrow.measured_schema(to_arrow_schema(frame.schema))
    return frame.mapInArrow(_measured, spark_schema(schema))


def _measured(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return arrow.measured(batches)
