"""`simulate`: rows of runs on a clock, what is written in their place, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from assignors import __version__
from assignors.cli.command import command
from assignors.documents.values import DocumentError
from assignors.simulation import simulate_timed
from assignors.simulation.timed.gallery import GALLERY
from assignors.simulation.timed.group_protocols import GroupProtocol
from assignors.simulation.timed.own_group import own_group_document
from assignors.simulation.timed.scenario_document import scenario_from_document
from assignors.simulation.timed.tables.rows import interval_rows
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
        *("simulate", "crash", "--seed", "3", "--seeds", "2"),
        *("--protocol", "consumer", "--protocol", "classic"),
    )
    assert code == 0
    assert [(row["scenario"], row["protocol"], row["seed"]) for row in rows] == [
        ("crash", protocol, seed) for protocol in ("consumer", "classic") for seed in (3, 4)
    ]
    assert all(row["is_settled"] and row["gaps"] == 10 for row in rows)
    assert len({row["scenario_hash"] for row in rows}) == 4
    assert {row["package_version"] for row in rows} == {__version__}


def test_settings_of_an_execution_without_a_model_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "small.json"
    file.write_text(json.dumps({**SMALL, "broker": {"execution": {"workers": 8}}}))
    refused = called("simulate", str(file))
    assert refused.returncode == 2
    assert b"'workers' has no effect without a model" in refused.stderr
    assert b"at broker.execution" in refused.stderr


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
    asked = ("simulate", "coordinator-crash", "--protocol", "push")
    done = called(*asked, *more)
    assert done.returncode == 2
    shown = (done.stdout + done.stderr).decode()
    assert "the push protocol has no records" in " ".join(shown.split())
    assert "Traceback" not in shown
    assert "settled at the end" not in shown


def test_a_file_is_played_the_same_every_time(tmp_path: Path) -> None:
    file = tmp_path / "small.json"
    file.write_text(json.dumps(SMALL))
    first, code = answers("simulate", str(file))
    assert code == 0
    assert first[0]["moves"] == 2
    assert answers("simulate", str(file))[0] == first


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "Expecting property name"),
        (json.dumps({**SMALL, "members": []}), "a group needs a member at members"),
        (json.dumps({**SMALL, "plan": [{"at_ms": 1, "do": "fly"}]}), "at plan[0].do"),
        (json.dumps(GROUP), "that is a group: --set away=15s every=30s plays it on a clock"),
        (json.dumps({"topics": {"t": 4}, "members": []}), "'version' is missing"),
        ('{"seed": 7, "members": 20}', "kafka-assignors histories FILE plays it"),
    ],
)
def test_a_file_that_is_no_scenario_is_refused(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "bad.json"
    file.write_text(text)
    done = called("simulate", str(file))
    assert done.returncode == 2
    assert words.encode() in done.stderr


@pytest.mark.parametrize("name", ["rolling-restart", "stale-claims"])
def test_a_scenario_is_shown_as_json_that_can_be_played(name: str) -> None:
    shown = called("simulate", name, "--show").stdout
    assert len(shown) < 8000  # defaults are left out
    assert answers("simulate", "-", given=shown) == answers("simulate", name)


def test_an_unknown_name_and_a_file_beside_it_are_refused() -> None:
    done = called("simulate", "nope")
    assert done.returncode == 2
    assert b"--list shows those that have a name" in done.stderr
    assert called("simulate", "crash", "other.jsonl").returncode == 2


def test_the_table_has_a_column_for_each_protocol() -> None:
    both = ("--protocol", "classic", "--protocol", "consumer")
    done = called("simulate", "crash", *both, "-o", "table")
    assert b"classic" in done.stdout
    assert b"partition-seconds without a consumer" in done.stdout
    assert b"figure" in done.stdout
    assert b"median over the seeds" not in done.stdout, "there is one seed"


def test_several_seeds_have_differences_seed_by_seed() -> None:
    table = ("simulate", "crash", "-o", "table")
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
    rows, code = answers("simulate", "crash", "--seed", "3", "--intervals")
    assert code == 0
    wanted = interval_rows([{"scenario": "crash", "seed": 3}])
    assert rows == [{"schema": 2, **row} for row in wanted]
    done = called("simulate", "crash", "--intervals", "-o", "table")
    assert b"orders" in done.stdout


def test_a_report_stands_beside_the_figures(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    both = ("--protocol", "classic", "--protocol", "consumer")
    asked = ("simulate", "crash", *both)
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
    (row,), code = answers("simulate", str(file), "--log", str(place))
    assert code == 0
    assert row == answers("simulate", str(file))[0][0]
    documents, code = answers("replay", str(place))
    assert code == 0
    groups = {each["row"]["group"] for each in documents if each.get("table") == "groups"}
    assert groups == {"small"}


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--seeds", "2"), b"--log is for one run"),
        (("--protocol", "classic", "--protocol", "consumer"), b"--log is for one run"),
        (("--intervals",), b"--log"),
        (("--protocol", "push"), b"Kafka has no records for groups of the push protocol"),
        ((), b"not an empty folder"),
    ],
)
def test_a_log_that_cannot_be_written_is_refused(
    more: tuple[str, ...], words: bytes, tmp_path: Path
) -> None:
    (tmp_path / "something").touch()
    done = called("simulate", "crash", "--log", str(tmp_path), *more)
    assert done.returncode == 2
    assert words in done.stderr


def test_a_log_whose_name_looks_like_another_file_makes_no_folder(tmp_path: Path) -> None:
    for name in ("run.json.txt", "run.csv"):
        assert answers("simulate", "crash", "--log", str(tmp_path / name))[1] == 2
    assert not [*tmp_path.iterdir()]
    assert answers("simulate", "crash", "--log", "-") == ([], 2)


def test_commits_are_in_the_table_where_there_are_any() -> None:
    shown = called("simulate", "zombie-of-kip-447", "-o", "table").stdout
    assert b"commits refused" in shown
    none = ("simulate", "--set", "members=2 topics=t:2 do=nothing rate=0", "-o", "table")
    assert b"commits" not in called(*none).stdout


TWICE = "tests.own_assignors.wrapped:TWICE"


def test_assignors_and_protocols_are_compared_side_by_side(tmp_path: Path) -> None:
    page = tmp_path / "restart.html"
    asked = (
        *("simulate", "rolling-restart", "--protocol", "classic,consumer"),
        *("--assignor", "range", "--assignor", "cooperative-sticky", "--report", str(page)),
    )
    rows, code = answers(*asked)
    assert code == 0
    names = [(row["protocol"], row["assignor"]) for row in rows]
    assert names == [
        ("classic", "java/range"),
        ("classic", "optimal/cooperative-sticky"),
        ("consumer", "server/uniform"),
    ]
    assert rows[0]["moves"] > rows[1]["moves"] == rows[2]["moves"]
    text = page.read_text()
    assert all(f">{protocol}, {assignor}</h3>" in text for protocol, assignor in names)
    eager, _ = answers("simulate", "rolling-restart-eager")
    assert rows[0]["moves"] == eager[0]["moves"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("--protocol", "consumer", "--assignor", "range"), "range is for the protocol classic"),
        (("--assignor", "server/uniform"), "it is for the protocols consumer and push"),
        (("--assignor", "range", "--show"), "--assignor is not for --show"),
        (("--protocol", "consumer", "--assignor", TWICE), f"{TWICE} is for the protocol classic"),
        (("--own-assignor", "range"), "'range' is not package.module:object"),
        (("--own-assignor", "no.such:X"), "cannot import 'no.such:X': No module named 'no'"),
    ],
)
def test_an_assignor_that_no_run_can_have_is_refused(asked: tuple[str, ...], words: str) -> None:
    done = called("simulate", "crash", *asked)
    assert done.returncode == 2
    assert words in done.stderr.decode()


def test_a_brokers_assignor_is_played_where_the_broker_assigns() -> None:
    rows, code = answers(
        *("simulate", "crash", "--protocol", "classic,consumer"),
        *("--assignor", "server/range", "--assignor", "server/uniform"),
    )
    assert code == 0
    assert [(row["protocol"], row["assignor"]) for row in rows] == [
        ("classic", "java/cooperative-sticky"),
        ("consumer", "server/range"),
        ("consumer", "server/uniform"),
    ]


def test_own_assignors_are_compared_with_those_of_the_registry(tmp_path: Path) -> None:
    page = tmp_path / "own.html"
    asked = ("simulate", "crash", "--assignor", f"{TWICE},range")
    (twice, known), code = answers(*asked, "--report", str(page))
    assert code == 1
    assert (twice["assignor"], known["assignor"]) == (TWICE, "java/range")
    assert twice["double_partition_ms"] > 0 == known["violations"]
    assert f">classic, {TWICE}</h3>" in page.read_text()


def test_a_file_names_an_own_assignor_that_the_command_line_allows() -> None:
    member = {"name": "c", "topics": ["t"], "count": 2, "assignors": [TWICE]}
    scenario = {"version": 1, "until_ms": 9000, "topics": {"t": 4}, "members": [member]}
    asked, given = ("simulate", "-"), json.dumps(scenario)
    refused = called(*asked, given=given.encode())
    assert refused.returncode == 2
    assert f"'{TWICE}' is not imported, as scenarios are data" in refused.stderr.decode()
    assert refused.stderr.decode().strip().endswith("at members[0].assignors[0]")
    for leave in (("--own-assignor", TWICE), ("--own-assignor", TWICE, "--assignor", TWICE)):
        (row,), code = answers(*asked, *leave, given=given)
        assert (code, row["assignor"], row["error"]) == (1, TWICE, None)
    shown = CliRunner().invoke(command, [*asked, "--own-assignor", TWICE, "--show"], input=given)
    assert json.loads(shown.stdout)["members"][0]["assignors"] == [TWICE]


def test_a_violation_is_shown_in_words_and_made_small(tmp_path: Path) -> None:
    story = ("simulate", "generation-from-user-data", "--seed", "3")
    done = called(*story, "--history")
    history = done.stdout.decode().splitlines()
    assert done.returncode == 1
    assert history[-1].startswith("given-while-owned at event ")
    file = tmp_path / "small.json"
    rows, code = answers(*story, "--shrink", str(file))
    assert code == 1
    assert rows[0]["first_violation"].startswith("given-while-owned")
    assert len(file.read_text()) < 2000, "defaults are left out"
    again = called("simulate", str(file), "--seed", "3", "--history")
    assert again.stdout.decode().splitlines()[-1] == rows[0]["first_violation"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--history", "--seeds", "2"), "--history is for one run"),
        (("--shrink", "small.json"), "no monitor finds anything"),
    ],
)
def test_violations_of_none_or_of_many_runs_are_refused(
    options: tuple[str, ...], words: str
) -> None:
    done = called("simulate", "crash", *options)
    assert done.returncode == 2
    assert words.encode() in done.stderr


def test_where_the_time_goes_is_in_the_report_and_not_on_a_terminal(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    asked = ("simulate", "scale-out", "--protocol", "classic,consumer")
    shown = called(*asked, "--report", str(page), "-o", "table").stdout.decode()
    for words in ("waiting for JoinGroup", "waiting for SyncGroup", "locked meanwhile"):
        assert words in " ".join(page.read_text(encoding="utf-8").split())
        assert words not in shown
    assert "-o jsonl and --report also have: waiting, blocked, state" in shown


SHOP = "assignors/documents/sample/shop.txt"


def shown(*arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(called("simulate", *arguments, "--show").stdout)
    return found


def test_one_line_is_a_rolling_restart_of_a_group() -> None:
    words = ["members=12", "away=15s", "every=1m", "poll=2s", "topics=orders:48,payments:24"]
    document = shown("--set", *words)
    assert document["topics"] == {"orders": 48, "payments": 24}
    assert document["members"] == [
        {
            "name": "c",
            "count": 12,
            "starts_every_ms": 100,
            "topics": ["orders", "payments"],
            "poll_ms": 2000,
        }
    ]
    assert document["plan"] == [
        {"at_ms": 60_000, "do": "rolling_restart", "away_ms": 15_000, "every_ms": 60_000}
    ]
    assert document["until_ms"] == 60_000 + 11 * 60_000 + 15_000 + 120_000


def test_settings_are_one_word_each_or_one_text_or_one_option_each() -> None:
    assert shown("--set", "members=3", "away=1s") == shown("--set", "members=3 away=1s")
    assert shown("--set", "members=3", "away=1s") == shown("--set", "members=3", "--set", "away=1s")


def test_the_run_has_as_many_restarts_as_members() -> None:
    (row,), code = answers("simulate", "--set", "members=3", "topics=t:6", "away=5s", "every=30s")
    assert (code, row["scenario"], row["moves"], row["is_settled"]) == (0, "own group", 12, True)


def test_a_described_group_is_what_the_run_starts_from() -> None:
    document = shown(SHOP, "--set", "away=5s", "every=20s")
    assert document["topics"] == {"orders": 6, "payments": 3}
    names = [each["name"].split("-fef9")[0] for each in document["members"]]
    assert names[0] == "till-2"
    assert [each["instance_id"] for each in document["members"]] == ["till-2", None, None]
    assert len(scenario_from_document(document, protocols=tuple(GroupProtocol)).plan) == 6


@pytest.mark.parametrize("name", ["cooperative-sticky", "sticky"])
@pytest.mark.parametrize("package", ["java", "optimal"])
def test_members_keep_what_they_own_in_the_described_group(package: str, name: str) -> None:
    """But for the fair share of a member that has nothing."""
    owned = {"a": [1, 2, 5], "b": [0, 3, 4], "c": []}
    members = [
        {"id": one, "topics": ["t"], "owned": [["t", numbers]]} for one, numbers in owned.items()
    ]
    start = {"topics": {"t": 6}, "members": members}
    table = simulate_timed("do=nothing", start=start, intervals=True, assignors=f"{package}/{name}")
    assert all(row["error"] is None for row in table)
    first = {row["partition"]: row["member"] for row in reversed(list(table))}
    assert len(first) == 6
    assert all(member == "c" or number in owned[member] for number, member in first.items())
    assert sorted(first.values()) == ["a", "a", "b", "b", "c", "c"]


def test_python_takes_the_same_line_and_a_group() -> None:
    line = "away=5s every=20s"
    table = simulate_timed(line, start=GROUP, protocols=["classic", "consumer"])
    assert [row["protocol"] for row in table] == ["classic", "consumer"]
    assert all(row["error"] is None and row["is_settled"] for row in table)
    with pytest.raises(ValueError, match="only a line of settings"):
        simulate_timed("crash", start=GROUP)


@pytest.mark.parametrize(
    ("settings", "do", "last_ms"),
    [
        ("do=crash_loop times=3 every=1m away=5s", "crash_loop", 60_000 + 2 * 60_000 + 5000),
        ("do=scale_out new=4 every=2s", "scale_out", 60_000 + 3 * 2000),
        ("members=2 every=500ms away=100ms", "rolling_restart", 60_600),
    ],
)
def test_the_run_goes_on_after_the_last_action(settings: str, do: str, last_ms: int) -> None:
    document: dict[str, Any] = own_group_document(settings)
    assert document["plan"][0]["do"] == do
    scenario = scenario_from_document(document, protocols=tuple(GroupProtocol))
    assert scenario.plan[-1].at_ms == last_ms
    assert scenario.until_ms == last_ms + 120_000


def test_other_settings_are_those_of_members_and_broker() -> None:
    document = own_group_document("static=yes rate=10 heartbeat=1s session=6s do=nothing")
    scenario = scenario_from_document(document, protocols=tuple(GroupProtocol))
    assert scenario.plan == ()
    assert scenario.broker.consumer_heartbeat_interval_ms == 1000
    assert scenario.broker.consumer_session_timeout_ms == 6000
    (member, *_) = scenario.members
    assert (member.instance_id, member.heartbeat_interval_ms) == ("c0", 1000)
    assert (member.session_timeout_ms, member.commits_every_ms) == (6000, 5000)
    assert scenario.processing.records_per_second == 10


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("pol=2s", "'pol' is no key here; did you mean 'poll'?"),
        ("poll=2", 'expected a time with its unit, as 15s or 100ms, found "2" at poll'),
        ("members=many", 'expected an integer, found "many" at members'),
        ("topics=orders", 'expected topics as orders:48,payments:24, found "orders" at topics'),
        ("static=maybe", 'expected yes or no, found "maybe" at static'),
        ("do=scale-out", "'scale-out' is none of rolling_restart, crash_loop, scale_out, nothing;"),
        ("do=scale_out away=3s", "scale_out has no 'away' at away"),
        ("times=3", "rolling_restart has no 'times' at times"),
        ("away=1s away=2s", "'away' is given twice"),
        ("members=0", "a group needs a member at members"),
        ("members=3 fast", "'fast' is no KEY=VALUE; keys: members, topics, static, poll"),
    ],
)
def test_what_cannot_be_is_refused(settings: str, message: str) -> None:
    done = called("simulate", "--set", settings)
    assert done.returncode == 2
    assert f"Error: --set: {message}" in done.stderr.decode()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("--history", "--log", "x"), "--log is not for --history"),
        (("--list",), "SCENARIO is not for --list"),
        (("--show", "--seed", "2"), "--seed is not for --show"),
        (("--intervals", "--report", "x.html"), "--report is not for --intervals"),
        (("--set", "away=1s"), "--set is for a group of yours; crash has its own"),
        (("--group", "shop"), "--group is for --set"),
    ],
)
def test_an_option_without_effect_is_refused(asked: tuple[str, ...], words: str) -> None:
    done = called("simulate", "crash", *asked)
    assert (done.returncode, done.stdout) == (2, b"")
    assert words in done.stderr.decode()


def test_a_run_starts_from_one_group(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="'members' are those of the group"):
        simulate_timed("members=3", start=GROUP)
    two = tmp_path / "two.jsonl"
    two.write_text(f"{json.dumps(GROUP)}\n{json.dumps(GROUP)}\n", encoding="utf-8")
    done = called("simulate", str(two), "--set", "away=1s")
    assert b"2 groups in" in done.stderr
    done = called("simulate")
    assert b"name a SCENARIO" in done.stderr
