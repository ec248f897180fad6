"""Spark, through PySpark alone: sessions, shipping this package, functions for SQL and columns.

Nothing here asks for the SparkContext or the JVM, so the same calls work on classic Spark, on a
cluster whose executors know this package only as a zip, and over Spark Connect. What is done
with whole DataFrames is in the package that does it: `assignors.simulation.spark` plays scenarios,
`assignors.replay.engines` reads `__consumer_offsets`. Needs the extra `spark`.
"""

from __future__ import annotations

from assignors.extras import imported_from

with imported_from("spark"):
    import pyarrow as pa  # noqa: F401 - what all of this needs
    import pyspark  # noqa: F401 - as above

from assignors.spark.functions import column_functions, register
from assignors.spark.schemas import spark_schema, spark_type
from assignors.spark.session import local_session
from assignors.spark.shipping import package_zip

__all__ = [
    "column_functions",
    "local_session",
    "package_zip",
    "register",
    "spark_schema",
    "spark_type",
]
