"""Timed runs as rows: one for each scenario row, an error in its own row, long runs apart."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assignors.ownership.intervals import by_partition, ownerships
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.scenario import GroupProtocol
from assignors.simulation.timed.scenario_document import document_from_scenario
from assignors.simulation.timed.simulation import simulate
from assignors.simulation.timed.tables import arrow
from assignors.simulation.timed.tables.cost import cost_of, shared_out
from assignors.simulation.timed.tables.rows import (
    INTERVAL_COLUMNS,
    RESULT_COLUMNS,
    interval_rows,
    result_rows,
)

CRASH = json.dumps(document_from_scenario(named("crash")))


def test_a_row_has_the_figures_of_its_run() -> None:
    text = {"scenario": CRASH, "seed": 5, "protocol": "consumer"}
    by_text, by_name, by_object = result_rows(
        [text, {**text, "scenario": "crash"}, {**text, "scenario": json.loads(CRASH)}]
    )
    assert by_text == by_name == by_object
    assert tuple(by_text) == RESULT_COLUMNS
    result = simulate(named("crash", seed=5, protocol=GroupProtocol.CONSUMER)).result
    figures = {name: by_text[name] for name in RESULT_COLUMNS if hasattr(result, name)}
    assert TimedResult(**figures) == result
    assert (by_text["protocol"], by_text["error"]) == ("consumer", None)


def test_seed_and_protocol_are_the_scenarios_own_where_the_row_has_none() -> None:
    scenario = replace(named("crash"), seed=9, protocol=GroupProtocol.CONSUMER)
    (row,) = result_rows([{"scenario": json.dumps(document_from_scenario(scenario))}])
    assert (row["seed"], row["protocol"]) == (9, "consumer")


@pytest.mark.parametrize(
    ("row", "error"),
    [
        ({}, "bad-row: scenario: expected an object"),
        ({"scenario": "no-such"}, "bad-row: scenario: no scenario 'no-such'; known: "),
        ({"scenario": '{"version": 1'}, "bad-row: scenario: Expecting"),
        ({"scenario": "{}"}, "bad-row: scenario.version: "),
        ({"scenario": "crash", "seed": "1"}, "bad-row: seed: "),
        ({"scenario": "crash", "protocol": "share"}, "bad-row: protocol: "),
        (
            {"scenario": {**json.loads(CRASH), "members": [{"name": "a"}]}},
            "bad-row: scenario.members[0].topics: ",
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
    assert bad["moves"] is None
    assert [each["error"] for each in interval_rows([row])] == [bad["error"]]


def test_an_assignor_that_raises_is_an_error_of_its_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError("by nobody")

    monkeypatch.setattr("assignors.simulation.timed.tables.rows.simulate", fails)
    (row,) = result_rows([{"scenario": "crash", "seed": 3}])
    assert row["error"] == "ZeroDivisionError: by nobody"
    assert (row["scenario"], row["seed"], row["rounds"]) == ("crash", 3, None)


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


def test_arrow_gives_the_same_rows_and_the_other_columns_as_they_are() -> None:
    names = ["crash", *["no-such"] * 57, "scale-out", "crash"]
    given_rows = [
        {"factor": number, "scenario": name, "seed": number % 3}
        for number, name in enumerate(names)
    ]
    batch = pa.RecordBatch.from_pylist(given_rows)
    made = list(arrow.results([batch, batch.slice(0, 0)]))
    assert [part.num_rows for part in made] == [arrow.RUNS_A_BATCH, 10]
    assert made[0].schema == arrow.result_schema(batch.schema)
    rows = [row for part in made for row in part.to_pylist(maps_as_pydicts="strict")]
    assert [row.pop("factor") for row in rows] == list(range(60))
    assert rows == list(result_rows(given_rows))
    intervals = [row for part in arrow.intervals([batch]) for row in part.to_pylist()]
    assert intervals == list(interval_rows(given_rows))


def test_a_column_that_would_hide_a_result_is_refused() -> None:
    with pytest.raises(ValueError, match="'moves' is one of the results"):
        arrow.result_schema(pa.schema([("scenario", pa.string()), ("moves", pa.int64())]))


costs = st.lists(st.integers(1, 1000), max_size=60)


@example([5], 3, 2)
@given(costs, st.integers(1, 7), st.integers(0, 6))
def test_no_task_gets_more_than_the_mean_and_one_run_on_top(
    listed: list[int], tasks: int, first: int
) -> None:
    chosen = shared_out(listed, tasks, first=first % tasks)
    loads = [0] * tasks
    for cost, task in zip(listed, chosen, strict=True):
        loads[task] += cost
    assert max(loads) <= sum(listed) / tasks + max(listed, default=0)
    if len(listed) == 1:
        assert chosen == [first % tasks]


@given(st.lists(st.integers(1, 20), max_size=7))
def test_the_longest_task_is_at_most_a_third_longer_than_the_best_possible(
    listed: list[int],
) -> None:
    def longest(chosen: Sequence[int]) -> int:
        return max(sum(c for c, t in zip(listed, chosen, strict=True) if t == k) for k in range(3))

    best = min(longest(chosen) for chosen in product(range(3), repeat=len(listed)))
    assert longest(shared_out(listed, 3)) <= 4 / 3 * best


def test_the_estimate_is_near_to_the_number_of_events() -> None:
    for name in ("rolling-restart", "crash", "topic-growth"):
        for protocol in GroupProtocol:
            scenario = named(name, protocol=protocol)
            events = simulate(scenario).result.events
            assert events / 3 < cost_of(scenario) < events * 2
    batch = pa.RecordBatch.from_pylist([{"scenario": "crash"}, {"scenario": "?"}])
    (tasked,) = arrow.tasked([batch], tasks=5)
    assert len(set(tasked.column(arrow.TASK).to_pylist())) == 2
