"""`simulate_rounds(...)` and `simulate_timed(...)`: the rows of the command, as tables."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from assignors.documents.groups import group_from_document
from assignors.names.assignor_names import WITH_TRAFFIC
from assignors.simulation import (
    Parameters,
    generate,
    play,
    simulate_group,
    simulate_rounds,
    simulate_timed,
    simulate_traffic,
)
from assignors.simulation.arrow import TIMED
from assignors.simulation.timed.gallery import GALLERY, named
from assignors.simulation.timed.scenario_document import (
    document_from_scenario,
    scenario_from_document,
)
from assignors.simulation.traffic.scenario import document_from_traffic, traffic_from_document
from assignors.simulation.traffic.worlds import WORLDS, world
from tests.cli.running import GROUP, answers
from tests.own_assignors.wrapped import HERE, ROUND_ROBIN, ROUND_ROBIN_RAISES


def printed(*arguments: str) -> list[dict[str, Any]]:
    """Return what a command prints, without the number of its format."""
    documents, code = answers(*arguments)
    assert code == 0
    return [{name: row[name] for name in row if name != "schema"} for row in documents]


def untimed(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return rows without the CPU time that was measured."""
    return [{name: row[name] for name in row if name != "cpu_ms"} for row in rows]


def with_numpy_numbers(value: Any) -> Any:
    """Return a document in which every number is one of numpy."""
    match value:
        case dict():
            return {key: with_numpy_numbers(entry) for key, entry in value.items()}
        case list():
            return [with_numpy_numbers(entry) for entry in value]
        case bool():
            return value
        case int():
            return np.int64(value)
        case float():
            return np.float64(value)
    return value


@pytest.mark.parametrize("name", GALLERY)
def test_a_scenario_may_have_numbers_of_numpy(name: str) -> None:
    document = json.loads(json.dumps(document_from_scenario(named(name))))
    again = scenario_from_document(with_numpy_numbers(document))
    assert json.dumps(document_from_scenario(again)) == json.dumps(document)


@pytest.mark.parametrize("name", WORLDS)
def test_a_scenario_with_traffic_may_have_numbers_of_numpy(name: str) -> None:
    document = json.loads(json.dumps(document_from_traffic(world(name))))
    again = traffic_from_document(with_numpy_numbers(document))
    assert json.dumps(document_from_traffic(again)) == json.dumps(document)


def test_numbers_of_numpy_are_simulated_and_true_is_no_number() -> None:
    document = {"version": 1, "until_s": 600, "topics": {"t": 4}, "members": [{"name": "a"}]}
    ours, theirs = (
        list(simulate_traffic(given, assignors="range"))
        for given in (document, with_numpy_numbers(document))
    )
    assert untimed(ours) == untimed(theirs)
    with pytest.raises(ValueError, match=r"expected an integer, found true at .*until_s"):
        simulate_traffic({**document, "until_s": True}, assignors="range")
    group = {"topics": {"t": 4}, "members": [{"id": "a", "topics": ["t"], "generation": 3}]}
    ours, theirs = (
        list(simulate_group(given, "join:2", assignors="sticky"))
        for given in (group, with_numpy_numbers(group))
    )
    assert untimed(ours) == untimed(theirs)


def test_a_group_and_its_events_are_the_rows_of_the_command(tmp_path: Path) -> None:
    path = tmp_path / "group.json"
    path.write_text(json.dumps(GROUP), encoding="utf-8")
    events = ["join:2", "leave:a", "resize:t:9"]
    expected = printed("what-if", str(path), *events, "--assignor", "range", "--assignor", "sticky")
    for row in expected:
        del row["notes"]  # said of the document
    table = simulate_group(GROUP, events, assignors=["range", "sticky"])
    assert untimed(table) == untimed(expected)
    of_group = simulate_group(group_from_document(GROUP), events, assignors=["range", "sticky"])
    assert untimed(of_group) == untimed(expected)
    arrow = table.to_arrow().to_pylist()
    assert [dict(row["loads_after"]) for row in arrow] == [row["loads_after"] for row in expected]
    assert [row["asked"] for row in arrow] == [None, *events] * 2
    assert table.to_polars().height == len(table.to_pandas()) == 8


def test_an_event_that_cannot_happen_is_refused() -> None:
    with pytest.raises(ValueError, match="leave:c: "):
        simulate_group(GROUP, "leave:c")
    with pytest.raises(ValueError, match="jion:2: no event 'jion'"):
        simulate_group(GROUP, ["jion:2"])


def test_rounds_are_the_rows_of_the_command() -> None:
    sizes = ("--members", "4", "--topics", "2", "--partitions", "9", "--events", "2")
    options = ("--seeds", "3", "--seed", "5", "--assignor", "range", "--assignor", "sticky")
    table = simulate_rounds(
        Parameters(members=4, topics=2, partitions=9, events=2),
        assignors=["range", "sticky"],
        scenarios=3,
        seed=5,
    )
    expected = printed("histories", *sizes, *options)
    assert list(table) == table.to_arrow().to_pylist() == table.to_polars().to_dicts()
    assert untimed(table) == untimed(expected)
    assert len(expected) == 3 * 2 * 3


@pytest.mark.parametrize("options", [(), ("--intervals",)], ids=["results", "intervals"])
def test_a_scenario_on_a_clock_is_the_rows_of_the_command(options: tuple[str, ...]) -> None:
    protocols = ("--protocol", "classic", "--protocol", "consumer")
    expected = printed("simulate", "crash", *protocols, "--seeds", "2", "--seed", "3", *options)
    table = simulate_timed(
        "crash", protocols=("classic", "consumer"), seeds=2, seed=3, intervals=bool(options)
    )
    assert list(table) == expected
    arrow = table.to_arrow().to_pylist()
    if not options:
        maps = ("requests", "fatal_errors")
        arrow = [TIMED.row({**row, **{name: dict(row[name]) for name in maps}}) for row in arrow]
    assert arrow == expected
    assert table.to_polars().height == len(table.to_pandas()) == len(expected) >= 4


def test_figures_are_nested_by_feature_and_absent_where_a_run_has_none() -> None:
    expected = printed("simulate", "zombie-of-kip-447", "--protocol", "classic,consumer")
    table = simulate_timed("zombie-of-kip-447", protocols=("classic", "consumer"))
    assert list(table) == expected
    for row in expected:
        assert row["waiting"]["join_wait_ms"] > 0 < row["waiting"]["commit_wait_ms"]
        assert not {"failover", "execution", "push"} & {*row}
        assert row["processing"]["commits"] > 0
    locked = [row["waiting"]["locked_partition_ms"] for row in expected]
    assert locked[0] > 0 == locked[1]
    (arrow, _) = table.to_arrow().to_pylist()
    assert (arrow["waiting"], arrow["failover"]) == (expected[0]["waiting"], None)


def test_a_scenario_comes_by_name_as_document_file_or_object(tmp_path: Path) -> None:
    text = json.dumps(document_from_scenario(named("crash")), indent=1)
    path = tmp_path / "mine.json"
    path.write_text(text, encoding="utf-8")
    forms = ("crash", json.loads(text), path, str(path), named("crash"))
    first, *others = [list(simulate_timed(given)) for given in forms]
    assert all(other == first for other in others)
    assert first[0]["error"] is None


def test_a_run_that_is_not_possible_is_a_row_with_an_error() -> None:
    rows = simulate_timed("crash", protocols=["classic", "push"]).to_pandas()
    assert list(rows["protocol"]) == ["classic", "push"]
    assert rows["error"].isna().iloc[0]
    assert {str(kind) for kind in rows[["seed", "is_settled"]].dtypes} == {"Int64", "boolean"}


def test_a_column_with_a_null_is_read_as_it_is() -> None:
    """pandas writes NaN for an absent number; a mean over it is a mean of the others."""
    frame = simulate_timed("crash", seeds=2).to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert np.isfinite(frame["unavailable_partition_ms"].mean())


def test_what_cannot_be_simulated_is_refused(tmp_path: Path) -> None:
    no_event: Any = None
    bad = tmp_path / "bad.json"
    bad.write_text("[", encoding="utf-8")
    with pytest.raises(ValueError, match="no assignor"):
        simulate_rounds(assignors="stiky", scenarios=1)
    with pytest.raises(ValueError, match=r"no such name; did you mean 'crash'"):
        simulate_timed("crush")
    with pytest.raises(ValueError, match=r"no such name; timed\.gallery\.GALLERY"):
        simulate_timed(tmp_path)
    with pytest.raises(ValueError, match=r"no file 'noizy', .* did you mean 'noisy'"):
        simulate_traffic("noizy", assignors="range")
    with pytest.raises(ValueError, match=r"expected a string, found null at events\[1\]"):
        simulate_group(GROUP, ["join:1", no_event])
    sizes: Any = {"members": 3}
    with pytest.raises(ValueError, match=r"parameters: expected Parameters\(members=20\), found"):
        simulate_rounds(sizes)
    name: Any = "range"
    with pytest.raises(ValueError, match=r"expected an Assignor, .*, found 'range'"):
        play(generate(3, Parameters(members=3)), name)
    with pytest.raises(ValueError, match="no GroupProtocol 'klassic'; did you mean 'classic'"):
        simulate_timed("crash", protocols="klassic")
    with pytest.raises(ValueError, match="seeds: 0 is less than 1"):
        simulate_timed("crash", seeds=0)
    few: Any = "3"
    with pytest.raises(ValueError, match="seeds: expected an integer, found '3'"):
        simulate_timed("crash", seeds=few)
    with pytest.raises(ValueError, match="members: expected an integer, found '3'"):
        Parameters(members=few)
    with pytest.raises(ValueError, match="scenarios: 0 is less than 1"):
        simulate_rounds(Parameters(members=1), scenarios=0)
    for simulated in (simulate_rounds, partial(simulate_traffic, "noisy")):
        with pytest.raises(ValueError, match="assignors: none is given"):
            simulated(assignors=[])
    own: Any = ROUND_ROBIN
    with pytest.raises(ValueError, match=r"one of your own is named 'package\.module:object'"):
        simulate_timed("crash", assignors=[own])
    with pytest.raises(ValueError, match="assignors: with 2 processes each of them imports"):
        simulate_rounds(assignors=own, processes=2)
    with pytest.raises(ValueError, match="assignors: with 2 processes each of them imports"):
        simulate_traffic("noisy", assignors=["range", own], processes=2)
    with pytest.raises(ValueError, match="no execution model 'two'"):
        simulate_timed("crash", coordinators="two")
    with pytest.raises(ValueError, match="range is for the protocol classic"):
        simulate_timed("crash", protocols="consumer", assignors="range")
    with pytest.raises(ValueError, match="Expecting value"):
        simulate_timed(bad)
    with pytest.raises(ValueError, match="'version' is missing at scenario"):
        simulate_timed({})


def test_traffic_compares_what_the_command_compares_where_nothing_is_chosen() -> None:
    small = {"version": 1, "until_s": 600, "topics": {"t": 4}, "members": [{"name": "a"}]}
    assert [row["assignor"] for row in simulate_traffic(small)] == [*WITH_TRAFFIC]


def test_an_assignor_of_ones_own_is_given_by_name_or_as_it_is() -> None:
    """In a notebook it has no name to import it by."""
    path = f"{HERE}ROUND_ROBIN"
    sizes = Parameters(members=3, events=2)
    small = {"version": 1, "until_s": 600, "topics": {"t": 4}, "members": [{"name": "a"}]}
    for by_name, as_it_is in (
        (simulate_group(GROUP, "join:1", assignors=each) for each in (path, ROUND_ROBIN)),
        (simulate_rounds(sizes, assignors=[each], scenarios=2) for each in (path, ROUND_ROBIN)),
        (simulate_traffic(small, assignors=each) for each in (path, ROUND_ROBIN)),
    ):
        assert untimed(by_name) == untimed(as_it_is)
        assert {row["assignor"] for row in as_it_is} == {"own/spread"}
        assert {row["error"] for row in as_it_is} == {None}
    (failed,) = simulate_group(GROUP, "join:1", assignors=ROUND_ROBIN_RAISES)
    assert failed["error"].startswith("own/spread raised LookupError: nothing for ")


def test_client_models_are_compared_in_one_table() -> None:
    models = ["in_poll", "background_thread"]
    table = simulate_timed("long-poll-in-one-thread", clients=models)
    assert [(row["client_model"], row["moves"]) for row in table] == [
        ("in_poll", 20),
        ("background_thread", 0),
    ]
    with pytest.raises(ValueError, match="inpoll"):
        simulate_timed("crash", clients="inpoll")
