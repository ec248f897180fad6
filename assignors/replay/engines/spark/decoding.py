"""Decoding on Spark: each record where it is. Nothing is shuffled or collected, no row is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assignors.replay.decode.batches import DECODED, decode_batches
from assignors.replay.decode.key_columns import KEY, key_columns
from assignors.replay.sources import RAW, SourceError
from assignors.spark import spark_schema, spark_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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
