"""Timed runs as rows: one for each scenario row, an error in its own row."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from assignors.ownership.intervals import by_partition, ownerships
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.results import FIGURES, figure_of
from assignors.simulation.timed.scenario import GroupProtocol
from assignors.simulation.timed.scenario_document import document_from_scenario
from assignors.simulation.timed.simulation import simulate
from assignors.simulation.timed.tables.rows import (
    INTERVAL_COLUMNS,
    RESULT_COLUMNS,
    interval_rows,
    result_rows,
    simulate_with_all_figures,
)

CRASH = json.dumps(document_from_scenario(named("crash")))


def test_a_row_has_the_figures_of_its_run() -> None:
    text = {"scenario": CRASH, "seed": 5, "protocol": "consumer"}
    by_text, by_name, by_object = result_rows(
        [text, {**text, "scenario": "crash"}, {**text, "scenario": json.loads(CRASH)}]
    )
    assert by_text == by_name == by_object
    assert set(RESULT_COLUMNS) - set(by_text) == {"failover", "execution", "push"}
    played = simulate_with_all_figures(named("crash", seed=5, protocol=GroupProtocol.CONSUMER))
    for figure, shown in FIGURES.items():
        if shown.feature is None or shown.feature in by_text:
            assert figure_of(by_text, figure) == getattr(played.result, figure)
    assert (by_text["protocol"], by_text["error"]) == ("consumer", None)


def test_seed_and_protocol_are_the_scenarios_own_where_the_row_has_none() -> None:
    scenario = named("crash", seed=9, protocol=GroupProtocol.CONSUMER)
    (row,) = result_rows([{"scenario": json.dumps(document_from_scenario(scenario))}])
    assert (row["seed"], row["protocol"]) == (9, "consumer")


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ({}, "expected an object, found null at scenario"),
        ({"scenario": "no-such"}, "no scenario 'no-such'; known: "),
        ({"scenario": '{"version": 1'}, "Expecting"),
        ({"scenario": "{}"}, "'version' is missing at scenario"),
        ({"scenario": "crash", "seed": "1"}, 'expected an integer of 64 bits, found "1" at seed'),
        ({"scenario": "crash", "protocol": "share"}, "'share' is none of classic"),
        (
            {"scenario": {**json.loads(CRASH), "members": [{"name": "a"}]}},
            "'topics' is missing at scenario.members[0]",
        ),
    ],
)
def test_a_bad_row_is_an_error_with_the_path_and_the_others_are_run(
    row: dict[str, object], error: str
) -> None:
    good = {"scenario": CRASH, "seed": 1}
    first, bad, again, last = result_rows([good, row, row, good])
    assert first == last
    assert first["error"] is None
    assert bad["error"].startswith(error)
    assert again == bad
    assert "moves" not in bad
    assert [each["error"] for each in interval_rows([row])] == [bad["error"]]


def test_an_assignor_that_raises_is_an_error_of_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by nobody")

    monkeypatch.setattr("assignors.simulation.timed.tables.rows.simulate", fails)
    (row,) = result_rows([{"scenario": "crash", "seed": 3}])
    assert row["error"] == "ZeroDivisionError: by nobody"
    assert (row["scenario"], row["seed"], "rounds" in row) == ("crash", 3, False)


def test_intervals_are_those_of_the_ledger() -> None:
    scenario = named("scale-out", seed=2)
    rows = list(interval_rows([{"scenario": "scale-out", "seed": 2}]))
    assert tuple(rows[0]) == INTERVAL_COLUMNS
    changes = simulate(scenario, keeps_history=True).changes
    wanted = by_partition(ownerships(changes))
    assert len(rows) == sum(map(len, wanted.values()))
    partitions = {(row["topic"], row["partition"]) for row in rows}
    for topic, number in partitions:
        mine = [row for row in rows if (row["topic"], row["partition"]) == (topic, number)]
        assert [row["member"] for row in mine] == [one.member_id for one in wanted[topic, number]]
        assert all(before["end_ms"] <= after["start_ms"] for before, after in pairwise(mine))
        assert mine[-1]["end_ms"] is None
