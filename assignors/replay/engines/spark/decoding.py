"""Decoding on Spark: each record where it is. Nothing is shuffled or collected, no row is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assignors.replay.decode.batches import DECODED, RECORD, decode_batches, decoded_records
from assignors.replay.decode.key_columns import KEY, key_columns
from assignors.replay.sources import SourceError
from assignors.replay.sources.arrow import RAW
from assignors.spark import spark_schema, spark_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SQL_NAME = "kafka_decode_record"
"""The name of `record_function` in SQL."""


def decode_records(frame: DataFrame) -> DataFrame:
    """Return each record decoded, as `batches.DECODED` has it; a bad one has `error` set.

    Made for `frame.transform(decode_records)`. Columns of `sources.RAW` that are missing are
    null in the result; raises `SourceError` where `key` or `value` is.
    """
    missing = [name for name in ("key", "value") if name not in frame.columns]
    if missing:
        raise SourceError(f"no column {' and '.join(missing)} among {', '.join(frame.columns)}")
    wanted = [name for name in RAW.names if name in frame.columns]
    return frame.select(*wanted).mapInArrow(decode_batches, spark_schema(DECODED))


def record_function() -> Any:  # noqa: ANN401 - pyspark's type of a function differs by kind of session
    """Return the function that decodes one record, for columns: `frame.select(f("key", "value"))`.

    Its result is a struct, `batches.RECORD`: the columns of `decode_records` without those that
    say where the record was. A record that cannot be read has `error` set.
    """
    from pyspark.sql.functions import (  # type: ignore[attr-defined]  # noqa: PLC0415 - the extra `spark`
        arrow_udf,
    )

    return arrow_udf(decoded_records, spark_type(RECORD))


def register_record_function(session: SparkSession) -> None:
    """Register `record_function` in a session, for SQL: `kafka_decode_record(key, value)`."""
    session.udf.register(SQL_NAME, record_function())


def with_group(frame: DataFrame) -> DataFrame:
    """Return the raw records with the columns `type` and `group`, which every key begins with.

    All records of a group have one `group`, so this is what to group or repartition by. Both are
    null where the key is too short to have them. No shuffle; only keys go to Python's workers.
    """
    from pyspark.sql.functions import (  # type: ignore[attr-defined]  # noqa: PLC0415 - the extra `spark`
        arrow_udf,
        col,
    )

    start_of = arrow_udf(key_columns, spark_type(KEY))
    started = frame.withColumn("start of key", start_of("key"))
    fields = {name: col("start of key")[name] for name in KEY.names}
    return started.withColumns(fields).drop("start of key")
