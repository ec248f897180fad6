"""Every engine gives the same rows: plain Python, processes, and three kinds of Spark."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from assignors.simulation.arrow import COORDINATORS
from assignors.simulation.rounds.scenario_rows import simulate_rows
from assignors.simulation.timed.sweeps.rows import measured_rows
from assignors.simulation.timed.sweeps.sweep import sweep_from_document
from assignors.simulation.timed.tables.summary import summary_rows
from tests.spark.conftest import EVERY_KIND, SparkAnswers
from tests.spark.simulations import ASSIGNORS, CASES, SWEEP, group_rows, size_rows


def in_any_order(rows: Iterable[dict[str, Any]]) -> list[str]:
    """The rows as text, without the time they took."""
    kept = ({name: row[name] for name in row if name != "cpu_ms"} for row in rows)
    return sorted(json.dumps(row, sort_keys=True) for row in kept)


def plain(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return list(simulate_rows(rows, assignors=ASSIGNORS))


def test_processes_do_not_change_the_rows_or_their_order() -> None:
    rows = size_rows() * 3
    alone = [{**row, "cpu_ms": None} for row in simulate_rows(rows, assignors=ASSIGNORS)]
    shared = [
        {**row, "cpu_ms": None} for row in simulate_rows(rows, assignors=ASSIGNORS, processes=2)
    ]
    assert alone == shared


def test_a_bad_row_is_an_error_in_its_own_row_and_the_others_are_all_there() -> None:
    rows = plain(size_rows())
    errors = {row["id"]: row["error"] for row in rows if row["error"]}
    assert set(errors) == {"no seed", "too few", "no shape"}
    assert errors["no seed"] == "expected an integer, found null at seed"
    assert "-1" in errors["too few"]
    assert "ring" in errors["no shape"]
    played = Counter(row["id"] for row in rows if not row["error"])
    assert played == {f"s{seed}": 4 * len(ASSIGNORS) for seed in range(30)}
    groups = plain(group_rows())
    errors = {row["id"]: row["error"] for row in groups if row["error"]}
    assert set(errors) == {"null topics", "twice", "no bytes"}
    assert sum(row.get("violations", 0) for row in rows + groups) == 0


def test_an_unknown_assignor_is_refused_before_anything_is_played() -> None:
    with pytest.raises(ValueError, match="no assignor 'no-such'"):
        list(simulate_rows([], assignors=["no-such"]))


@pytest.mark.spark
@pytest.mark.usefixtures("java")
@EVERY_KIND
def test_spark_gives_the_rows_of_plain_python(
    kind: str, tmp_path: Path, spark_answers: SparkAnswers
) -> None:
    answers = spark_answers("job", kind, tmp_path)
    for name, case in CASES.items():
        found = map(case.kind.row, answers["cases"][name])
        assert in_any_order(found) == in_any_order(case.expected()), name
    swept = [COORDINATORS.row(row) for row in answers["swept"]]
    assert swept == list(measured_rows(sweep_from_document(SWEEP).points()))
    summary = summary_rows(CASES["timed"].expected(), by=("scenario", "factor"))
    assert in_any_order(answers["summary"]) == in_any_order(summary)
    assert answers["refused"].startswith("no column SCENARIO, protocol, seed, error, ")
    _columns_are_right(answers)
    if kind == "cluster":
        assert all(".zip" in path for path in answers["paths"]), answers["paths"]


def _columns_are_right(answers: dict[str, Any]) -> None:
    read, null = (row["value"] for row in answers["columns"])
    assert null is None
    assert [note["code"] for note in read["notes"]] == ["cut"]
    (sql,) = answers["sql"]
    assert sql["subscription"]["topics"] == ["t"]
    assert [note["code"] for note in sql["subscription"]["notes"]] == ["owned-missing"]
    assert (sql["assignment"]["version"], sql["assignment"]["partitions"]) == (1, [])
    assert sql["sticky"]["generation"] is None
    assert sql["cooperative"]["generation"] == 7
    (assign,) = answers["assign"]
    given = [{"member": "a", "partitions": [{"topic": "t", "partitions": [0, 1, 2]}]}]
    assert assign["answer"]["assignment"] == given
    assert "no assignor 'no-such'" in assign["refused"]["error"]
    assert (assign["checked"]["violations"], assign["checked"]["balance_gap"]) == ([], 0)
    assert assign["cooperative"]["violations"] == []
    waiting = [violation["rule"] for violation in assign["waiting"]["violations"]]
    assert waiting == ["missing-entry", *["withheld-without-reason"] * 3]
    rules = [violation["rule"] for violation in assign["bad"]["violations"]]
    assert rules == ["missing-entry", "unassigned", "unassigned", "unassigned"]
    assert assign["wrong"]["error"]
