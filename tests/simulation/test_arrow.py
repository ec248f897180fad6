"""Scenarios and outcomes in Arrow."""

from __future__ import annotations

import pyarrow as pa

from assignors.simulation.arrow import OUTCOME, simulate
from assignors.simulation.rounds.scenario_rows import COLUMNS


def test_outcomes_come_in_the_declared_schema() -> None:
    rows = pa.RecordBatch.from_pylist([{"seed": 1, "members": 3, "events": 1}, {"seed": None}])
    played = list(simulate([rows], assignors=["sticky", "range"]))
    assert all(batch.schema == OUTCOME for batch in played)
    assert tuple(OUTCOME.names) == COLUMNS
    outcomes = [row for batch in played for row in batch.to_pylist()]
    assert [row["error"] is None for row in outcomes] == [True] * 4 + [False]


def test_types_of_outcomes_are_those_that_readers_have_always_had() -> None:
    """The schema is derived: what it is derived to is written down here once."""
    types = {name: str(kind) for name, kind in zip(OUTCOME.names, OUTCOME.types, strict=True)}
    assert {name for name, kind in types.items() if kind == "int32"} == {
        "event",
        "rounds",
        "withheld_rounds",
    }
    assert {name for name, kind in types.items() if kind == "string"} == {
        "id",
        "kind",
        "assignor",
        "first_violation",
        "error",
    }
    assert (types["is_settled"], types["cpu_ms"], types["moved"]) == ("bool", "double", "int64")
