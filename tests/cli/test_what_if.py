"""`what-if`: what happens to my group if ..."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from assignors.cli.command import command
from assignors.names.assignor_names import BEST
from assignors.simulation.rounds.scenario_rows import COLUMNS
from tests.cli.running import GROUP, answers
from tests.cli.test_given_groups import GROUPS, MEMBERS
from tests.cli.test_histories import figures

WHAT_IF = "what-if"
KEYS = ["schema", *COLUMNS, "asked", "notes", "loads_before", "loads_after"]


def test_what_is_asked_is_played_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "group.json"
    file.write_text(json.dumps(GROUP), "utf-8")
    asked = ("join:5", "leave:a", "resize:t:8")
    documents, code = answers(WHAT_IF, str(file), *asked)
    assert code == 0
    assert [(row["assignor"], row["asked"]) for row in documents] == [
        (name, text) for name in BEST.values() for text in (None, "join:5", "leave:a", "resize:t:8")
    ]
    assert all(list(row) == KEYS for row in documents)
    assert {row["seed"] for row in documents} == {None}
    join = documents[1]
    assert join["loads_before"] == {"a": 2, "b": 2}
    assert sorted(join["loads_after"]) == ["a", "b", *(f"new-{n}" for n in range(1, 6))]
    assert documents[2]["loads_before"]["a"] == join["loads_after"]["a"]
    assert sum(documents[3]["loads_after"].values()) == 8
    # the same, however it is asked
    for arguments, given in (
        ((WHAT_IF, "-", *asked), json.dumps(GROUP)),
        ((WHAT_IF, "-"), json.dumps({**GROUP, "events": ["join:5", "leave:a", "resize:t:8"]})),
    ):
        again, _ = answers(*arguments, given=given)
        assert figures(again) == figures(documents)


def test_described_groups_are_played_by_name() -> None:
    documents, code = answers(WHAT_IF, MEMBERS, "join:5", "--assignor", "sticky")
    assert (code, [row["id"] for row in documents[::2]]) == (0, GROUPS)
    (start, join), code = answers(
        WHAT_IF, MEMBERS, "--group", "shop", "join:6", "--assignor", "sticky"
    )
    assert (code, start["moved"], join["moved"], join["moves_min"]) == (0, 0, 6, 6)
    codes = [note["code"] for note in start["notes"]]
    assert {"subscriptions-assumed", "member-ids-assumed"} <= set(codes)
    assert join["notes"] == []


def test_an_event_that_one_group_alone_can_have_is_an_error_of_the_others() -> None:
    documents, code = answers(WHAT_IF, MEMBERS, "leave:till-2", "--assignor", "sticky")
    assert code == 2
    assert [(row["id"], row["error"] is None) for row in documents] == [
        *((name, False) for name in GROUPS[:-1]),
        ("shop", True),
        ("shop", True),
    ]


def test_a_line_that_cannot_happen_leaves_the_next_one() -> None:
    lines = [
        {**GROUP, "id": 1, "events": ["leave:z"]},
        {**GROUP, "id": 2, "events": ["leave:a"]},
        {**GROUP, "id": 3, "events": "leave:a"},
        {**GROUP, "id": 4, "events": [5]},
    ]
    given = "\n".join(map(json.dumps, lines))
    documents, code = answers(WHAT_IF, "-", "--assignor", "sticky", given=given)
    assert code == 2
    assert [(row["id"], row["asked"]) for row in documents if row["error"] is None] == [
        (2, None),
        (2, "leave:a"),
    ]
    errors = [row for row in documents if row["error"] is not None]
    assert [row["error_at"]["path"] for row in errors] == ["events", "events", "events[0]"]
    assert errors[0]["error"].startswith("leave:z: no member 'z'")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("join:5",), "name a GROUP, - for standard input, or --sample"),
        (("shops.txt", "join:5"), "no file 'shops.txt': name a GROUP"),
        (("docs", "join:5"), "'docs' is a directory"),
        ((MEMBERS, "--seed", "7"), "No such option '--seed'"),
        ((MEMBERS, "--group", "shops"), "no group 'shops'; did you mean 'shop'?"),
    ],
)
def test_what_cannot_be_is_refused(arguments: tuple[str, ...], words: str) -> None:
    result = CliRunner().invoke(command, [WHAT_IF, *arguments])
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


@pytest.mark.parametrize("line", [{**GROUP, "joins": 5}, {**GROUP, "event": "x"}])
def test_a_key_that_asks_for_nothing_is_refused(line: dict[str, Any]) -> None:
    """`"joins": 5` was read over, and five joins never happened."""
    (row,), code = answers(WHAT_IF, "-", given=json.dumps(line))
    assert (code, row["error_kind"]) == (2, "unknown")
    assert "is no key here" in row["error"]


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ({"seed": 1, "members": 20}, "members"),
        ({**GROUP, "events": ["leave:a"]}, "events"),
    ],
)
def test_events_need_a_group_and_are_said_once(line: dict[str, Any], path: str) -> None:
    (row,), code = answers(WHAT_IF, "-", "join:1", given=json.dumps(line))
    assert (code, row["error_at"]["path"]) == (2, path)


def test_a_table_for_each_event_fits_80_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    arguments = [WHAT_IF, MEMBERS, "--group", "shop", "join:5", "-o", "table"]
    shown = CliRunner().invoke(command, arguments).stdout
    assert "group shop" in shown
    assert "join:5: 3 -> 8 members" in shown
    assert "note: new members are called new-1" in shown
    rows = [line.split() for line in shown.splitlines() if line.split()[:1] == ["sticky"]]
    assert rows == [
        ["sticky", "3", "3", "0", "0", "1", "0"],
        ["sticky", "3", "1-2", "5", "5", "1", "0"],
    ]
    assert max(map(len, shown.splitlines())) <= 80
