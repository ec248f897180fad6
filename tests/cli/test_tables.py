"""What people see. Tables are looked at for what they must say, not for where it stands."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from assignors.cli.command import command
from assignors.cli.outputs.cells import partitions_cell
from tests.cli.running import COMMAND, GROUP, ROOT
from tests.wire.test_frames import frame_bytes
from tests.wire.vectors import captured
from wire.frames import JOIN_RESPONSE


def table(*arguments: str, given: str = "", columns: int = 200) -> str:
    """Return what `-o table` draws."""
    result = CliRunner().invoke(
        command, [*arguments, "-o", "table"], input=given, env={"COLUMNS": str(columns)}
    )
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout


def test_every_captured_subscription_has_a_row() -> None:
    cases = captured("subscription")
    shown = table("decode", "subscription", given="\n".join(case["hex"] for case in cases))
    assert all(f" {line} " in shown for line in range(1, len(cases) + 1))
    assert "clicks.v2" in shown


@pytest.mark.parametrize("kind", ["assignment", "sticky-userdata", "cooperative-userdata"])
def test_what_cannot_be_read_is_a_row_with_the_reason(kind: str) -> None:
    shown = table("decode", kind, given="zz\n00000007\n")
    assert "no hexadecimal digit (forms that are read: " in shown


def test_an_assignment_is_drawn_with_what_waits_and_why() -> None:
    group: dict[str, Any] = {
        "topics": {"orders": 8},
        "generation": 7,
        "members": [
            {"id": "a", "topics": ["orders"], "owned": {"orders": list(range(8))}, "generation": 9},
            {"id": "b", "topics": ["orders"]},
        ],
    }
    shown = table("assign", "--assignor", "cooperative-sticky", given=json.dumps(group) + "\nx\n")
    assert "orders(0-3)" in shown
    assert "orders(4-7)" in shown
    assert "until the next round" in shown
    assert "generation-in-the-future" in shown
    assert "line 2: Expecting value" in shown
    assert "must start another round" in shown


def test_a_check_is_drawn_with_each_violation() -> None:
    twice = {"a": {"t": [0, 1, 2]}, "b": {"t": [2, 3]}}
    lines = [{**GROUP, "assignment": twice}, {**GROUP, "assignment": {"a": {"t": [0, 1, 2, 3]}}}]
    good = {**GROUP, "assignment": {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}}
    shown = table("check", given="\n".join(map(json.dumps, [*lines, good, "x"])))
    for words in ("assigned-twice", "a, b", "missing-entry", "line 3: no violations", "line 4: "):
        assert words in shown


def test_an_explanation_is_a_sentence_with_its_claims() -> None:
    given = json.dumps(GROUP) + "\nx\n"
    shown = table("explain", "--partition", "t:3", given=given)
    assert "t:3 waits: it is to move from a to b" in shown
    assert "it has the highest generation" in shown
    assert "line 2: " in shown
    fresh = {"topics": {"t": 1}, "members": [{"id": "a", "topics": ["t"]}]}
    assert "no claim to it is read" in table(
        "explain", "--partition", "t:0", given=json.dumps(fresh)
    )


def test_a_simulation_is_summed_up_and_the_registry_listed() -> None:
    shown = table("histories", "--seeds", "2", "--events", "1", "--members", "3")
    for words in ("cooperative-sticky", "balance gap", "rules broken", "moves to the best balance"):
        assert words in shown
    bad = table("histories", "-", given='{"topics": 1}\n' * 20)
    assert "and 8 more errors" in bad
    assert "java/range" in table("assignors")


def test_a_frame_is_said_below_the_table_with_a_row_for_each_part() -> None:
    shown = table("decode", "subscription", given=frame_bytes(JOIN_RESPONSE.name, 9).hex(" "))
    assert "line 1: this is a JoinGroup response v9 of member m-1; its 2 Subscriptions are" in shown
    rows = [line for line in shown.splitlines() if " orders" in line]
    assert [row.split()[-1] for row in rows] == ["m-1", "m-2"]


def test_a_name_cannot_paint_the_screen() -> None:
    group = {"topics": {"t": 1}, "members": [{"id": "\x1b[2J[red]x", "topics": ["t"]}]}
    shown = table("assign", "--assignor", "range", given=json.dumps(group))
    assert "\x1b" not in shown
    assert "\\x1b[2J[red]x" in shown


@given(st.lists(st.integers(-5, 40), unique=True, max_size=30))
def test_folded_runs_name_the_same_numbers(numbers: list[int]) -> None:
    shown = partitions_cell({"t": sorted(numbers)} if numbers else None)
    if not numbers:
        assert shown == "-"
        return
    runs = shown.removeprefix("t(").removesuffix(")").split(",")
    if runs[-1] == "...":
        assert len(runs) == 13
        return
    named: list[int] = []
    for run in runs:
        cut = run.find("-", 1)
        first, last = (run, run) if cut < 0 else (run[:cut], run[cut + 1 :])
        named += range(int(first), int(last) + 1)
    assert named == sorted(numbers)


def test_on_a_terminal_answers_are_tables() -> None:
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, "assign", "--assignor", "range"],
        stdin=subprocess.PIPE,
        stdout=follower,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    ) as running:
        running.communicate(json.dumps(GROUP).encode(), timeout=60)
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(leader)
    assert b"CONSUMER-ID" in shown
