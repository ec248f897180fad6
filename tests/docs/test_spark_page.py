"""docs/spark.md names every function there is, and the fields of its result; needs no Spark."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from assignors.replay.decode.batches import RECORD
from assignors.replay.engines import spark as replay_on_spark
from assignors.replay.engines.spark import SQL_NAME
from assignors.replay.sources.topic_by_spark import CONNECTOR
from assignors.spark.functions import FUNCTIONS
from tests.docs.examples import ROOT

PAGE = (ROOT / "docs" / "spark.md").read_text(encoding="utf-8")
ROWS = dict(re.findall(r"^\| `(kafka_\w+)\(.*\| (.+) \|$", PAGE, flags=re.MULTILINE))
TYPES: dict[str, pa.DataType] = {name: kind for name, (_, kind) in FUNCTIONS.items()} | {
    SQL_NAME: RECORD
}


def test_every_sql_function_has_its_row() -> None:
    assert set(ROWS) == set(TYPES)


@pytest.mark.parametrize("name", TYPES)
def test_the_fields_of_a_result_are_those_of_its_struct(name: str) -> None:
    shown = ROWS[name].strip("`")
    if shown == "the same":
        shown = ROWS["kafka_decode_sticky_user_data"].strip("`")
    assert shown.split(", ") == [field.name for field in TYPES[name]]


def test_the_jars_of_the_connector_are_those_of_the_code() -> None:
    assert [artifact for artifact in CONNECTOR if f"      {artifact}" not in PAGE] == []


def test_every_function_of_dataframes_is_named() -> None:
    # One of them only makes a column, another only registers it: both are in the text.
    assert [name for name in replay_on_spark.__all__ if f"`{name}(" not in PAGE] == []
