"""`simulate --scenario`: rows of timed runs, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assignors import __version__
from assignors.simulation.timed.gallery import GALLERY
from assignors.simulation.timed.tables.rows import figure_of, interval_rows
from tests.cli.running import GROUP, answers, called

SMALL = {
    "version": 1,
    "until_ms": 20_000,
    "topics": {"t": 4},
    "members": [{"name": "c", "count": 2, "topics": ["t"], "assignors": ["java/range"]}],
    "plan": [{"at_ms": 15_000, "do": "stop", "member": "c1"}],
}


def test_there_is_a_row_for_each_protocol_and_seed() -> None:
    rows, code = answers(
        *("simulate", "--scenario", "crash", "--seed", "3", "--seeds", "2"),
        *("--protocol", "consumer", "--protocol", "classic"),
    )
    assert code == 0
    assert [(row["scenario"], row["protocol"], row["seed"]) for row in rows] == [
        ("crash", protocol, seed) for protocol in ("consumer", "classic") for seed in (3, 4)
    ]
    assert all(row["is_settled"] and row["gaps"] == 10 for row in rows)
    assert len({row["scenario_hash"] for row in rows}) == 4
    assert {row["package_version"] for row in rows} == {__version__}


def test_execution_models_are_compared_side_by_side() -> None:
    rows, code = answers(
        *("simulate", "--scenario", "crash", "--coordinator", "blocking, two-stage"),
        *("--coordinator", "none", "--protocol", "consumer", "--protocol", "classic"),
    )
    assert code == 0
    assert [(row["protocol"], row["coordinator_model"]) for row in rows] == [
        (protocol, model)
        for protocol in ("consumer", "classic")
        for model in ("blocking", "two-stage", None)
    ]
    assert all(row["is_settled"] and row["gaps"] == 10 for row in rows)
    assert [figure_of(row, "evictions") for row in rows] == [0, 0, None] * 2
    table = called("simulate", "--scenario", "crash", "--coordinator", "inline", "-o", "table")
    assert b"classic, inline" in table.stdout


def test_an_execution_model_that_is_not_known_gets_the_nearest() -> None:
    done = called("simulate", "--scenario", "crash", "--coordinator", "two-stge")
    assert done.returncode == 2
    assert b"'two-stge' is not one of 'wait-all'," in done.stderr
    assert b"did you mean 'two-stage'?" in done.stderr


def test_models_and_protocols_are_listed_with_commas_or_one_an_option() -> None:
    several = ("--protocol", "--coordinator", "--client")
    names = ("classic,consumer", "none, two-stage", "in_poll,background_thread")
    with_commas = [word for pair in zip(several, names, strict=True) for word in pair]
    one_by_one = [
        word
        for option, listed in zip(several, names, strict=True)
        for name in listed.split(",")
        for word in (option, name.strip())
    ]
    rows, code = answers("simulate", "--scenario", "crash", *with_commas)
    assert code == 0
    assert len(rows) == 8
    assert (rows, code) == answers("simulate", "--scenario", "crash", *one_by_one)
    done = called("simulate", "--scenario", "crash", "--client", "in_poll,background-thread")
    assert done.returncode == 2
    assert b"'background-thread' is not one of" in done.stderr
    assert b"did you mean 'background_thread'?" in done.stderr


def test_settings_of_an_execution_without_a_model_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "small.json"
    file.write_text(json.dumps({**SMALL, "broker": {"execution": {"workers": 8}}}))
    asked = ("simulate", "--scenario", str(file))
    refused = called(*asked)
    assert refused.returncode == 2
    assert b"'workers' has no effect without a model" in refused.stderr
    assert b"at broker.execution" in refused.stderr
    assert called(*asked, "--coordinator", "none").returncode == 2
    assert called(*asked, "--coordinator", "two-stage").returncode == 0


def test_a_coordinator_is_lost_under_a_model_as_without_one() -> None:
    rows, code = answers(
        *("simulate", "--scenario", "coordinator-crash", "--coordinator", "blocking,none")
    )
    assert code == 0
    assert [(row["rounds"], row["failover"]["failovers"]) for row in rows] == [(0, 1), (0, 1)]


@pytest.mark.parametrize(
    "more",
    [
        ("-o", "table"),
        ("--intervals", "-o", "table"),
        ("--history",),
        ("--log", "x.jsonl"),
        ("--shrink", "x.json"),
    ],
)
def test_a_run_that_cannot_be_played_is_one_sentence_in_every_form(more: tuple[str, ...]) -> None:
    asked = ("simulate", "--scenario", "coordinator-crash", "--protocol", "push")
    done = called(*asked, *more)
    assert done.returncode == 2
    shown = (done.stdout + done.stderr).decode()
    assert "the push protocol has no records" in " ".join(shown.split())
    assert "Traceback" not in shown
    assert "settled at the end" not in shown


def test_a_file_is_played_the_same_every_time(tmp_path: Path) -> None:
    file = tmp_path / "small.json"
    file.write_text(json.dumps(SMALL))
    first, code = answers("simulate", "--scenario", str(file))
    assert code == 0
    assert first[0]["moves"] == 2
    assert answers("simulate", "--scenario", str(file))[0] == first


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "Expecting property name"),
        (json.dumps({**SMALL, "members": []}), "a group needs a member at members"),
        (json.dumps({**SMALL, "plan": [{"at_ms": 1, "do": "fly"}]}), "at plan[0].do"),
        (json.dumps(GROUP), "that is a group, not a scenario on a clock; --start plays"),
        (json.dumps({"topics": {"t": 4}, "members": []}), "'version' is missing"),
    ],
)
def test_a_file_that_is_no_scenario_is_refused(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(text)
    done = called("simulate", "--scenario", str(file))
    assert done.returncode == 2
    assert words.encode() in done.stderr


@pytest.mark.parametrize("name", ["rolling-restart", "stale-claims"])
def test_a_scenario_is_shown_as_json_that_can_be_played(name: str) -> None:
    shown = called("simulate", "--scenario", name, "--show").stdout
    assert len(shown) < 8000  # defaults are left out
    assert answers("simulate", "--scenario", "-", given=shown) == answers(
        "simulate", "--scenario", name
    )


def test_an_unknown_name_and_a_file_beside_it_are_refused() -> None:
    done = called("simulate", "--scenario", "nope")
    assert done.returncode == 2
    assert b"--list shows those that have a name" in done.stderr
    assert called("simulate", "--scenario", "crash", "other.jsonl").returncode == 2


def test_the_table_has_a_column_for_each_protocol() -> None:
    both = ("--protocol", "classic", "--protocol", "consumer")
    done = called("simulate", "--scenario", "crash", *both, "-o", "table")
    assert b"classic" in done.stdout
    assert b"partition-seconds without a consumer" in done.stdout
    assert b"figure" in done.stdout
    assert b"median over the seeds" not in done.stdout, "there is one seed"


def test_several_seeds_have_differences_seed_by_seed() -> None:
    table = ("simulate", "--scenario", "crash", "-o", "table")
    both, many = ("--protocol", "classic,consumer"), ("--seeds", "3")
    done = called(*table, *both, *many, COLUMNS="100").stdout.decode()
    medians, differences = done.split("mean difference from classic over the same seeds")
    assert "median over the seeds" in medians
    assert "settled at the end" in medians
    assert "members interrupted" in differences
    assert "-9 (-9 to -9)" in differences
    assert "violations" not in differences, "it is the same everywhere"
    for few in (both, many):
        alone = called(*table, *few)
        assert alone.returncode == 0
        assert b"difference" not in alone.stdout


def test_the_list_has_every_scenario_with_what_it_shows() -> None:
    rows, code = answers("simulate", "--list")
    assert code == 0
    assert [row["scenario"] for row in rows] == list(GALLERY)
    assert rows[0]["text"].startswith("Restart ten members")
    assert rows[0]["expected"]["classic"]["rounds"] == 30
    assert b"rolling-restart" in called("simulate", "--list", "-o", "table").stdout


def test_intervals_are_written_in_place_of_figures() -> None:
    rows, code = answers("simulate", "--scenario", "crash", "--seed", "3", "--intervals")
    assert code == 0
    wanted = interval_rows([{"scenario": "crash", "seed": 3}])
    assert rows == [{"schema": 2, **row} for row in wanted]
    done = called("simulate", "--scenario", "crash", "--intervals", "-o", "table")
    assert b"orders" in done.stdout


def test_without_a_scenario_its_options_are_refused() -> None:
    assert answers("simulate", "--scenarios", "1", "--events", "0", "--seeds", "7") == ([], 2)


def test_a_report_stands_beside_the_figures(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    both = ("--protocol", "classic", "--protocol", "consumer")
    asked = ("simulate", "--scenario", "crash", *both)
    rows, code = answers(*asked, "--report", str(page))
    assert code == 0
    assert rows == answers(*asked)[0]
    html = page.read_text(encoding="utf-8")
    assert "Its partitions stop for the session timeout" in html
    assert html.count('class="figure"') == 2
    assert answers(*asked, "--report", str(page), "--intervals")[1] == 2
    assert answers(*asked, "--report", str(tmp_path / "no" / "page.html")) == ([], 2)


@pytest.mark.parametrize("name", ["run.jsonl", "run.parquet", "run"])
def test_a_run_is_written_as_a_log_that_replay_reads(name: str, tmp_path: Path) -> None:
    file = tmp_path / "small.json"
    file.write_text(json.dumps({**SMALL, "name": "small"}))
    place = tmp_path / name
    (row,), code = answers("simulate", "--scenario", str(file), "--log", str(place))
    assert code == 0
    assert row == answers("simulate", "--scenario", str(file))[0][0]
    documents, code = answers("replay", str(place))
    assert code == 0
    groups = {each["row"]["group"] for each in documents if each.get("table") == "groups"}
    assert groups == {"small"}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--seeds", "2"), b"--log writes one run"),
        (("--protocol", "classic", "--protocol", "consumer"), b"--log writes one run"),
        (("--intervals",), b"--log"),
        (("--protocol", "push"), b"Kafka has no records for groups of the push protocol"),
        ((), b"not an empty folder"),
    ],
)
def test_a_log_that_cannot_be_written_is_refused(
    more: tuple[str, ...], words: bytes, tmp_path: Path
) -> None:
    (tmp_path / "something").touch()
    done = called("simulate", "--scenario", "crash", "--log", str(tmp_path), *more)
    assert done.returncode == 2
    assert words in done.stderr


def test_a_log_whose_name_looks_like_another_file_makes_no_folder(tmp_path: Path) -> None:
    for name in ("run.json.txt", "run.csv"):
        assert answers("simulate", "--scenario", "crash", "--log", str(tmp_path / name))[1] == 2
    assert not [*tmp_path.iterdir()]
    assert answers("simulate", "--scenario", "crash", "--log", "-") == ([], 2)


def test_commits_are_in_the_table_where_there_are_any() -> None:
    shown = called("simulate", "--scenario", "zombie-of-kip-447", "-o", "table").stdout
    assert b"commits refused" in shown
    assert b"commits" not in called("simulate", "--scenario", "crash", "-o", "table").stdout


MODELS = ("in_poll", "heartbeat_thread", "background_thread")
EACH_MODEL = tuple(word for model in MODELS for word in ("--client", model))
STALL = ("simulate", "--scenario", "long-poll-in-one-thread")


def test_client_models_are_compared_side_by_side(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    asked = (*STALL, *EACH_MODEL, "--seeds", "2")
    rows, code = answers(*asked, "--report", str(page))
    assert code == 0
    assert [(row["client_model"], row["seed"], row["moves"]) for row in rows] == [
        (model, seed, 20 if model == "in_poll" else 0) for model in MODELS for seed in (0, 1)
    ]
    assert len({row["scenario_hash"] for row in rows}) == 6
    assert page.read_text(encoding="utf-8").count('<h3 class="variant">classic, ') == 3
    shown = called(*STALL, *EACH_MODEL, "-o", "table").stdout
    assert all(model.encode() in shown for model in MODELS)


def test_without_a_client_model_each_member_has_its_own() -> None:
    (own,), _ = answers(*STALL)
    (asked,), _ = answers(*STALL, "--client", "in_poll")
    assert own == asked
    (mixed,), _ = answers("simulate", "--scenario", "application-stall-of-each-model")
    (plain,), _ = answers("simulate", "--scenario", "crash")
    assert mixed["client_model"] is plain["client_model"] is None


def test_an_unknown_client_model_is_refused_with_the_nearest_one() -> None:
    done = called(*STALL, "--client", "heartbeat-thread")
    assert done.returncode == 2
    assert b"did you mean 'heartbeat_thread'" in done.stderr


def test_a_client_model_that_cannot_be_is_an_error_of_its_run() -> None:
    (row,), code = answers("simulate", "--scenario", "crash", "--protocol", "push", *EACH_MODEL[:2])
    assert code == 2
    assert row["error"]["text"] == "members of the push protocol have no client models"
    assert row["client_model"] == "in_poll"
    fault = {"kind": "stalled_thread", "member": "c0", "from_ms": 1, "until_ms": 2}
    stalled = json.dumps({**SMALL, "faults": [fault]}).encode()
    done = called("simulate", "--scenario", "-", given=stalled)
    assert done.returncode == 2
    assert b"which thread? 'c0' has no client_model at faults[0].kind" in done.stderr
