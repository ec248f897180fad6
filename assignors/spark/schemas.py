"""Spark's types of our Arrow schemas: derived, never written a second time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from pyspark.sql.types import DataType, StructType


def spark_schema(schema: pa.Schema) -> StructType:
    """Return an Arrow schema as Spark's. Needs no session.

    >>> spark_schema(pa.schema([("at_ms", pa.int64())])).simpleString()
    'struct<at_ms:bigint>'
    """
    from pyspark.sql.pandas.types import from_arrow_schema  # noqa: PLC0415 - the extra `spark`

    return from_arrow_schema(schema)


def spark_type(kind: pa.DataType) -> DataType:
    """Return an Arrow type as Spark's. Needs no session.

    >>> spark_type(pa.list_(pa.int32())).simpleString()
    'array<int>'
    """
    from pyspark.sql.pandas.types import from_arrow_type  # noqa: PLC0415 - as above

    return from_arrow_type(kind)
