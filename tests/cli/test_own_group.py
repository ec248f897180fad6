"""`simulate --set`: a group of yours on a clock, in one line; in Python the same line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assignors.documents.values import DocumentError
from assignors.simulation import simulate_timed
from assignors.simulation.timed.group_protocols import GroupProtocol
from assignors.simulation.timed.own_group import own_group_document
from assignors.simulation.timed.scenario_document import scenario_from_document
from tests.cli.running import GROUP, answers, called

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
    document = shown("--start", SHOP, "--set", "away=5s", "every=20s")
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
    assert (member.session_timeout_ms, member.auto_commit_ms) == (6000, 5000)
    assert scenario.processing.records_per_second == 10


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("pol=2s", "'pol' is no field here; did you mean 'poll'?"),
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


def test_what_has_no_effect_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="'members' are those of the group"):
        simulate_timed("members=3", start=GROUP)
    done = called("simulate", "--set", "away=1s", "--event", "join:1")
    assert b"--start goes with --set" in done.stderr
    two = tmp_path / "two.jsonl"
    two.write_text(f"{json.dumps(GROUP)}\n{json.dumps(GROUP)}\n", encoding="utf-8")
    done = called("simulate", "--set", "away=1s", "--start", str(two))
    assert b"--start: 2 groups in" in done.stderr
