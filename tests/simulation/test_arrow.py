"""Arrow batches give the rows of plain Python, for every kind of simulation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import pyarrow as pa
import pytest

from assignors.simulation import arrow
from assignors.simulation.arrow import ROUNDS, Play, RowKind
from assignors.simulation.rounds.scenario_rows import COLUMNS, simulate_rows
from assignors.simulation.timed.sweeps.rows import measured_rows
from assignors.simulation.timed.tables.rows import RESULT_COLUMNS, interval_rows, result_rows
from assignors.simulation.traffic.rows import traffic_rows

NAMES = ("range", "sticky")
TRAFFIC = '{"version": 1, "until_s": 300, "topics": {"t": 4}, "members": [{"name": "a"}]}'
SIZES = {"members": 3, "topics": 2, "partitions": 6, "events": 1}
RUNS = [
    {"scenario": name, "seed": number % 3}
    for number, name in enumerate(["crash", "no-such", "scale-out", "zombie-of-kip-447"])
]


class Case(NamedTuple):
    kind: RowKind
    play: Play
    plain: Callable[[Iterable[dict[str, Any]]], Iterable[dict[str, Any]]]
    rows: Sequence[dict[str, Any]]


CASES = {
    "rounds": Case(
        ROUNDS,
        arrow.outcomes(NAMES),
        partial(simulate_rows, assignors=NAMES),
        [{"id": "x", "seed": 1, **SIZES}, {"seed": None}, {"id": "y", "seed": 2, **SIZES}],
    ),
    "timed": Case(arrow.TIMED, arrow.timed_result(), result_rows, RUNS),
    "intervals": Case(arrow.INTERVALS, arrow.timed_intervals(), interval_rows, RUNS),
    "traffic": Case(
        arrow.TRAFFIC,
        arrow.traffic_figures(NAMES),
        partial(traffic_rows, assignors=NAMES),
        [{"scenario": TRAFFIC, "seed": 1}, {"scenario": "[]", "seed": 2}, {"scenario": TRAFFIC}],
    ),
    "coordinators": Case(
        arrow.COORDINATORS,
        arrow.measured_point,
        measured_rows,
        [
            {"model": "blocking", "requests": 60},
            {"model": "fast"},
            {"model": "inline", "requests": 50, "slow_group_check_us": 900, "groups": 3},
        ],
    ),
}


def untimed(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: row[name] for name in row if name != "cpu_ms"} for row in rows]


@pytest.mark.parametrize("name", CASES)
def test_batches_give_the_rows_of_plain_python_and_other_columns_as_they_are(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(arrow, "ROWS_A_BATCH", 2)
    kind, play, plain, rows = CASES[name]
    given = [name for name in kind.given if any(name in row for row in rows)]
    batch = pa.RecordBatch.from_pylist(
        [{"factor": n, **dict.fromkeys(given), **row} for n, row in enumerate(rows)]
    )
    made = list(kind.played([batch.slice(0, 2), batch.slice(0, 0), batch.slice(2)], play))
    assert all(part.schema == kind.schema(batch.schema) for part in made)
    assert max(part.num_rows for part in made) == 2 or name in {"timed", "coordinators"}
    found = [row for part in made for row in part.to_pylist(maps_as_pydicts="strict")]
    factors = [row.pop("factor") for row in found]
    assert untimed(map(kind.row, found)) == untimed(plain(rows))
    assert factors == [n for n, row in enumerate(rows) for _ in plain([row])]
    last = kind.results.names[-2]
    with pytest.raises(ValueError, match=f"'{last}' is one of the results"):
        kind.schema(pa.schema([(last, pa.int64())]))


def test_columns_and_types_are_those_that_readers_have_always_had() -> None:
    """The schemas are derived: what they are derived to is written down here once."""
    assert (tuple(ROUNDS.results.names), tuple(arrow.TIMED.results.names)) == (
        COLUMNS,
        RESULT_COLUMNS,
    )
    types = {field.name: str(field.type) for field in ROUNDS.results}
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
        "error_kind",
    }
    assert (types["is_settled"], types["cpu_ms"], types["moved"]) == ("bool", "double", "int64")
    processing = arrow.TIMED.results.field("processing").type
    assert processing.field("commits").type == pa.int64()


def test_an_unknown_assignor_is_refused_before_anything_is_played() -> None:
    for play in (arrow.outcomes, arrow.traffic_figures):
        with pytest.raises(ValueError, match="no assignor 'no-such'"):
            play(["no-such"])
