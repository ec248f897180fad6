"""What is kept of the long run, compared with the models of today, without a broker."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.lab.execution import recordings, report
from tests.lab.execution.closings import Commit, Left
from tests.lab.execution.predicted_commits import FITTED, FITTED_RATE, fit, predict
from tests.lab.execution.rebalances import Cell, Kind
from tests.lab.execution.recordings import Recording

COMPARE = "compare again: python -m tests.lab.execution.report"


@pytest.fixture(scope="module")
def recording() -> Recording:
    return recordings.load()


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(report.RESULTS.read_text("utf-8"))
    return found


def test_the_fitted_point_is_met(recording: Recording, results: dict[str, Any]) -> None:
    constants = fit(recording.commits)
    assert constants._asdict() == results["constants"], COMPARE
    (row,) = (
        row
        for row in recording.commits
        if recordings.server_of(row) == FITTED and row["rate"] == FITTED_RATE
    )
    said = predict(FITTED, FITTED_RATE, constants)
    assert said["p50_us"] == pytest.approx(row["per_mille_us"]["500"], rel=0.02, abs=20)


@pytest.mark.parametrize("linger_ms", [-1, 0, 20])
def test_the_results_are_what_the_models_say_of_commits(
    linger_ms: int, recording: Recording, results: dict[str, Any]
) -> None:
    server = FITTED._replace(linger_ms=linger_ms)
    (kept,) = (
        row
        for row in results["commits"]
        if row["server"] == server._asdict() and row["rate"] == FITTED_RATE
    )
    assert predict(server, FITTED_RATE, fit(recording.commits)) == kept["predicted"], COMPARE


@pytest.mark.parametrize("kind", Kind)
def test_the_results_are_what_the_models_say_of_rebalances(
    kind: Kind, recording: Recording, results: dict[str, Any]
) -> None:
    """Medians over forty phases, so they are not the same to the millisecond for ever."""
    cell = Cell(kind, 1000)
    kept = [row for row in results["rebalances"] if report.cell_of(row) == cell]
    found = list(report.rebalance(cell, recording.rebalances[cell]))
    for row, before in zip(found, kept, strict=True):
        assert row["real_ms"] == before["real_ms"], COMPARE
        close = pytest.approx(before["predicted_ms"][1], rel=0.2, abs=150)
        assert row["predicted_ms"][1] == close, COMPARE


def test_the_results_are_what_the_models_say_of_closings(
    recording: Recording, results: dict[str, Any]
) -> None:
    found = [report.closing(cell, closed) for cell, closed in recording.closings.items()]
    assert found == results["closings"], COMPARE


def test_the_models_of_listeners_call_what_java_calls(
    recording: Recording, results: dict[str, Any]
) -> None:
    """Given what happens to each member: 54 traces, in three protocols."""
    found = list(report.traces(recording.traces))
    assert found == results["traces"], COMPARE
    assert [row for row in found if not row["is_hit"]] == []


def test_a_close_that_may_wait_loses_no_commit(recording: Recording) -> None:
    for cell, closed in recording.closings.items():
        if cell.timeout_ms:
            asked = Left.NOTHING if cell.pending is Commit.NONE else Left.PENDING
            assert {each.left for each in closed} == {Left.PROCESSED if cell.is_auto else asked}


def test_callbacks_run_in_the_application_within_a_call(recording: Recording) -> None:
    for found in recording.traces.values():
        for members in found.values():
            for called in members.values():
                inside = [each for each in called if each.callback not in ("died", "closed")]
                assert {each.thread for each in inside} <= {"application"}
                assert {each.call for each in inside} <= {"poll", "close", "unsubscribe"}


def test_a_member_of_the_consumer_protocol_may_have_partitions_revoked_twice(
    recording: Recording,
) -> None:
    """By `close`, where the callback has run and the rebalance is not over."""
    called = recording.traces[Kind.CONSUMER]["close between revoke and assign"]["a"]
    first, second = (each for each in called if each.callback == "revoked")
    assert (first.call, second.call) == ("poll", "close")
    assert set(first.partitions) < set(second.partitions)
