"""Numbers of hidden names, in whatever order Spark brings the names; needs no session."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from assignors.replay.analysis.redact import Hidden, numbered
from assignors.replay.decode.key_columns import key_columns
from assignors.replay.decode.logged_records import logged_records
from assignors.replay.engines.spark.names import (
    FOUND,
    NUMBERED,
    label_of,
    names_found,
    numbers_of_kind,
)
from assignors.replay.history.timeline import timeline
from assignors.replay.sources import open_source
from assignors.replay.sources.arrow import batched
from tests.spark.dumps import some_groups


def test_names_have_the_numbers_of_plain_python_in_any_order(tmp_path: Path) -> None:
    dump = tmp_path / "dump.jsonl"
    dump.write_bytes(some_groups())
    records = pa.Table.from_batches(batched(open_source(dump)))
    starts = key_columns(records["key"].combine_chunks())
    records = records.append_column("group", pc.struct_field(starts, "group"))
    groups = records["group"].unique().to_pylist()
    assert len(groups) > 4
    found = pa.concat_tables(names_found(of(records, "group", group)) for group in groups)
    order = random.Random(7).sample(range(found.num_rows), found.num_rows)
    mixed = found.take(pa.array(order))
    kinds = [of(mixed, "what", what.value) for what in Hidden]
    numbers = pa.concat_tables(map(numbers_of_kind, kinds))
    assert (mixed.schema, numbers.schema) == (FOUND, NUMBERED)
    expected = numbered(timeline(logged_records(open_source(dump)))).numbers
    assert len(expected) > 30
    assert label_of(numbers).numbers == expected


def of(table: pa.Table, column: str, value: str | None) -> pa.Table:
    """The rows with this value, as a worker has them."""
    is_value = pc.is_null(table[column]) if value is None else pc.equal(table[column], value)
    return table.filter(is_value)
