"""Functions for Spark's SQL and columns: `kafka_decode_subscription`, `kafka_assign` and others.

    kafka_decode_subscription(blob)             kafka_decode_sticky_user_data(blob)
    kafka_decode_assignment(blob)               kafka_decode_cooperative_user_data(blob)
    kafka_assign(topics, members, assignor)
    kafka_check(topics, members, assignment, protocol [, withheld])

Each is a function of `assignors.arrow.codecs` or `.groups` as an Arrow UDF, which says what its
columns are; its type is derived from the Arrow type of the result. Every result is a struct
whose `error` is null unless its row could not be answered. A record of `__consumer_offsets` is
decoded by `kafka_decode_record(key, value)`: `assignors.replay.engines.spark` registers it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from assignors.arrow import codecs, groups, schemas
from assignors.spark.schemas import spark_type

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FUNCTIONS: Mapping[str, tuple[Callable[..., pa.Array], pa.DataType]] = {
    "kafka_decode_subscription": (codecs.decoded_subscriptions, schemas.DECODED_SUBSCRIPTION),
    "kafka_decode_assignment": (codecs.decoded_assignments, schemas.DECODED_ASSIGNMENT),
    "kafka_decode_sticky_user_data": (codecs.decoded_sticky_user_data, schemas.DECODED_USER_DATA),
    "kafka_decode_cooperative_user_data": (
        codecs.decoded_cooperative_user_data,
        schemas.DECODED_USER_DATA,
    ),
    "kafka_assign": (groups.assigned_groups, schemas.ASSIGNED),
    "kafka_check": (groups.checked_groups, schemas.CHECKED),
}
"""Name in SQL -> the function, and the type of what it returns."""


def column_functions() -> dict[str, Any]:
    """Return the functions of `FUNCTIONS` by name, for columns: `frame.select(f("blob"))`."""
    return {name: arrow_function(function, kind) for name, (function, kind) in FUNCTIONS.items()}


def arrow_function(function: Callable[..., pa.Array], kind: pa.DataType) -> Any:  # noqa: ANN401 - pyspark's type of a function differs by kind of session
    """Return a function of Arrow arrays as one of columns; `kind` is the type of its result."""
    from pyspark.sql.functions import (  # type: ignore[attr-defined]  # noqa: PLC0415 - the extra `spark`
        arrow_udf,
    )

    return arrow_udf(function, spark_type(kind))


def register(session: SparkSession) -> None:
    """Register the functions of `FUNCTIONS` in a session, for SQL, under their names."""
    for name, function in column_functions().items():
        session.udf.register(name, function)
