"""A Spark session on this machine, for the command, the demo and tests."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}
"""What a local session has unless it is asked for something else: no page, no network."""


def local_session(master: str = "local[2]", **settings: str) -> SparkSession:
    """Return a classic session on this machine, its workers on this Python.

    Keys of `settings` have underscores for dots (`spark_sql_shuffle_partitions="2"`). Sets
    `PYSPARK_PYTHON` where it is not set, as Spark would start the first `python3` of the PATH.
    Raises PySpark's own errors where there is no Java.
    """
    from pyspark.sql import SparkSession as Session  # noqa: PLC0415 - the extra `spark`

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = Session.builder.master(master).appName("kafka-assignors")
    asked = {key.replace("_", "."): value for key, value in settings.items()}
    for key, value in {**SETTINGS, **asked}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()
