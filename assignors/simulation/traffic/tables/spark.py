"""Traffic on Spark: a DataFrame of scenarios in, a DataFrame of figures out.

Works alike on classic Spark, on a cluster whose executors know this package only as a zip
(`assignors.spark.package_zip`), and over Spark Connect.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import assignors.spark  # noqa: F401 - first, as it says which extra is missing
from assignors.registry import assignor_named
from assignors.simulation.traffic.tables import arrow
from assignors.spark import spark_schema

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


def simulate(frame: DataFrame, *, assignors: Sequence[str]) -> DataFrame:
    """Return the figures of the runs in `frame`, one row a scenario row and assignor.

    `frame` has the columns `scenario` (JSON text, or a name of `worlds`) and `seed bigint`. The
    columns of the result are those of `arrow.RESULT`. No shuffle. Made for `frame.transform`.
    Raises `ValueError` for an unknown assignor; a bad row is a row with `error` set.
    """
    for name in assignors:
        assignor_named(name)
    chosen = tuple(assignors)

    def play(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return arrow.simulate(batches, assignors=chosen)

    return frame.mapInArrow(play, spark_schema(arrow.RESULT))
