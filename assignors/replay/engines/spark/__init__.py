"""Replay on Spark: DataFrames of raw records in, decoded records and tables out.

Any DataFrame with a binary `key` and `value` is a source: what Spark's Kafka source gives, a
Parquet dump; `read_topic` and `stream_topic` read a live cluster, `json_line_records` and
`segment_records` other files. `decode_records` decodes each record where it is, and so does the
SQL function `kafka_decode_record(key, value)`. `tables` gives the tables of `kafka-assignors
replay` for topics of any size, with the same rows as `engines.python`.

Works on classic sessions and over Connect. Executors on other machines need the package,
`session.addArtifacts(str(assignors.spark.package_zip(path)), pyfile=True)`, numpy and pyarrow.
"""

from __future__ import annotations

import assignors.spark  # noqa: F401 - first, as it says which extra is missing
from assignors.replay.engines.spark.decoding import (
    decode_records,
    record_function,
    register_record_function,
    with_group,
)
from assignors.replay.engines.spark.names import topic_names
from assignors.replay.engines.spark.selection import group_names, records_of_groups
from assignors.replay.engines.spark.sources import json_line_records, segment_records
from assignors.replay.engines.spark.tables import analysed_groups, table, tables
from assignors.replay.sources.topic_by_spark import connector_settings, read_topic, stream_topic

__all__ = [
    "analysed_groups",
    "connector_settings",
    "decode_records",
    "group_names",
    "json_line_records",
    "read_topic",
    "record_function",
    "records_of_groups",
    "register_record_function",
    "segment_records",
    "stream_topic",
    "table",
    "tables",
    "topic_names",
    "with_group",
]
