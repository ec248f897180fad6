"""Sweeps as documents, their points as rows, on Arrow batches and in processes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from assignors.documents.values import DocumentError
from assignors.simulation import simulate_coordinators
from assignors.simulation.arrow import COORDINATORS
from assignors.simulation.timed.execution.measures import measure
from assignors.simulation.timed.execution.policy import POLICIES
from assignors.simulation.timed.sweeps.rows import COLUMNS, measured_rows
from assignors.simulation.timed.sweeps.sweep import (
    point_from_document,
    sweep_from_document,
    values_of,
)

SMALL = {
    "version": 1,
    "models": ["blocking", "inline"],
    "base": {"requests": 100, "seed": 5},
    "over": {"check_us": [0, 2000], "workers": [1, 2]},
    "seeds": 2,
}


def test_points_are_every_combination_the_last_field_fastest_then_models_then_seeds() -> None:
    sweep = sweep_from_document(SMALL)
    points = list(sweep.points())
    assert len(points) == sweep.count == 16
    assert [(p["check_us"], p["workers"], p["model"], p["seed"]) for p in points] == [
        (check, workers, model, seed)
        for check in (0, 2000)
        for workers in (1, 2)
        for model in ("blocking", "inline")
        for seed in (5, 6)
    ]


def test_without_anything_a_sweep_is_every_model_once() -> None:
    assert [p["model"] for p in sweep_from_document({"version": 1}).points()] == [*POLICIES]


BAD: list[tuple[Any, str, str]] = [
    ([], "$", "expected an object"),
    ({}, "version", "'version' is missing"),
    ({"version": 2}, "version", "this release reads 1"),
    ({"version": True}, "version", "this release reads 1"),
    ({"version": 1, "model": ["inline"]}, "model", "did you mean 'models'?"),
    ({"version": 1, "models": "inline"}, "models", "expected a list"),
    ({"version": 1, "models": []}, "models", "needs a model"),
    ({"version": 1, "models": ["blocking", "inlined"]}, "models[1]", "did you mean 'inline'?"),
    ({"version": 1, "base": {"worker": 2}}, "base.worker", "did you mean 'workers'?"),
    ({"version": 1, "base": {"workers": 0}}, "base.workers", "0 is not between 1 and 10000"),
    ({"version": 1, "base": {"groups": 2.5}}, "base.groups", "expected an integer, found 2.5"),
    ({"version": 1, "base": {"groups": True}}, "base.groups", "expected an integer, found true"),
    ({"version": 1, "base": {"check_us": -1}}, "base.check_us", "-1 is not between"),
    ({"version": 1, "base": {"changes_share": 1.5}}, "base.changes_share", "1.5 is not between"),
    ({"version": 1, "base": {"is_steady": 1}}, "base.is_steady", "expected true or false"),
    ({"version": 1, "base": {"model": "inline"}}, "base.model", "'models' has them"),
    ({"version": 1, "over": {"seed": [1]}}, "over.seed", "'seeds' has that"),
    ({"version": 1, "over": {"groups": []}}, "over.groups", "needs values"),
    ({"version": 1, "over": {"groups": 7}}, "over.groups", "expected a list"),
    ({"version": 1, "over": {"groups": [1, "2"]}}, "over.groups[1]", "expected an integer"),
    ({"version": 1, "over": {"Groups": [1]}}, "over.Groups", "did you mean 'groups'?"),
    ({"version": 1, "seeds": 0}, "seeds", "0 is not between 1"),
    ({"version": 1, "base": {"seed": 2**63 - 1}, "seeds": 2}, "seeds", "beyond 64 bits"),
    (
        {"version": 1, "over": {name: list(range(1, 101)) for name in ("groups", "workers")}}
        | {"seeds": 100},
        "over",
        "6,000,000 points",
    ),
]


@pytest.mark.parametrize(("document", "path", "words"), BAD, ids=lambda each: str(each)[:50])
def test_what_is_no_sweep_is_refused_with_its_place(document: Any, path: str, words: str) -> None:
    with pytest.raises(DocumentError) as refused:
        sweep_from_document(document)
    assert refused.value.path == path
    assert words in refused.value.text


def rows() -> list[dict[str, Any]]:
    """Points of a sweep, and rows that are none."""
    points = [dict(point) for point in sweep_from_document(SMALL).points()]
    bad = [{"model": "fast"}, {**points[0], "groups": 0}, {"model": None}]
    slow = {"model": "blocking", "requests": 100, "groups": 3, "slow_group_check_us": 9000}
    return [points[0], *bad, slow, *points[1:]]


def test_a_row_that_is_no_point_is_an_error_in_its_own_row() -> None:
    found = list(measured_rows(rows()))
    assert {name for row in found for name in row} <= {*COLUMNS}
    assert [row["error"].partition(";")[0] for row in found[1:4]] == [
        "no execution model 'fast'",
        "0 is not between 1 and 1000000 at groups",
        "'model' is missing",
    ]
    assert found[2]["check_us"] == 0
    assert "p99_ms" not in found[2]
    assert "groups" not in found[2]
    assert not [row["error"] for row in (found[0], *found[4:]) if row["error"]]
    point = point_from_document(rows()[0])
    first = measure(POLICIES["blocking"], point.load, point.settings)
    assert found[0]["p99_ms"] == first.p99_ms


def test_a_point_comes_back_with_all_its_fields() -> None:
    for given, row in zip(rows()[4:], list(measured_rows(rows()))[4:], strict=True):
        point = values_of(point_from_document(given))
        assert {name: row.get(name) for name in point} == point


def test_isolation_is_what_a_slow_group_makes_of_the_others() -> None:
    slow = {"model": "blocking", "requests": 2000, "per_second": 1000, "groups": 20}
    slow |= {"check_us": 100, "slow_group_check_us": 50_000}
    blocked, free, without = measured_rows(
        [slow, {**slow, "model": "two-stage"}, {**slow, "slow_group_check_us": None}]
    )
    assert blocked["isolation"] == blocked["others_p99_ms"] / without["others_p99_ms"] > 50
    assert blocked["others_alone_p99_ms"] == without["others_p99_ms"]
    assert free["isolation"] == pytest.approx(1, abs=0.1)
    assert "isolation" not in without


def test_processes_change_neither_rows_nor_their_order() -> None:
    assert list(measured_rows(rows(), processes=2)) == list(measured_rows(rows()))


def test_a_table_has_a_row_a_point(tmp_path: Any) -> None:
    table = simulate_coordinators(SMALL)
    assert len(table) == 16
    assert table.to_arrow().schema == COORDINATORS.results
    assert [COORDINATORS.row(row) for row in table.to_arrow().to_pylist()] == list(table)
    path = tmp_path / "sweep.json"
    path.write_text(json.dumps(SMALL))
    assert list(simulate_coordinators(path)) == list(table)
    with pytest.raises(ValueError, match="groups"):
        simulate_coordinators({"version": 1, "over": {"groups": []}})
