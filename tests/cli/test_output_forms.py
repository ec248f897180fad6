"""Answers are tables, in pipes and files too, unless somebody asks for JSON."""

from __future__ import annotations

import json
import shlex
import sys
from typing import Any

import pytest

from tests.cli.running import GROUP, called

CHECKED = {**GROUP, "assignment": {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}}
BLOB = "00000000000100017400000000"
RECORD = "0001000473686f7000066f726465727300000004 -"
SMALL = ("--members", "2", "--seeds", "1", "--events", "1", "--assignor", "range")
OURS = shlex.join([sys.executable, "-m", "assignors.conformance"])
SWEEP = {"version": 1, "models": ["blocking"], "base": {"requests": 60}}

COMMANDS: dict[str, tuple[tuple[str, ...], str]] = {
    "assign": (("assign", "--assignor", "range"), json.dumps(GROUP)),
    "compare": (("assign", "--compare", "range,sticky"), json.dumps(GROUP)),
    "check": (("check",), json.dumps(CHECKED)),
    "explain": (("explain", "--partition", "t:3"), json.dumps(GROUP)),
    "subscription": (("decode", "subscription"), BLOB),
    "assignment": (("decode", "assignment"), "zz"),
    "sticky user data": (("decode", "sticky-userdata"), "-"),
    "cooperative user data": (("decode", "cooperative-userdata"), "00000007"),
    "record": (("decode", "offsets-record"), RECORD),
    "rounds": (("histories", *SMALL), ""),
    "start": (("what-if", "-", "join:1"), json.dumps(GROUP)),
    "clock": (("simulate", "crash", "--protocol", "classic"), ""),
    "intervals": (
        ("simulate", "crash", "--protocol", "classic", "--intervals"),
        "",
    ),
    "list": (("simulate", "--list"), ""),
    "sweep": (("sweep", "-"), json.dumps(SWEEP)),
    "replay": (("replay", "--sample"), ""),
    "conform": (("conform", "--only", "coop-0005", "--command", OURS), ""),
    "assignors": (("assignors",), ""),
}


def printed(arguments: tuple[str, ...], given: str, form: str = "", columns: str = "") -> str:
    """What a command prints to no terminal, with `KAFKA_ASSIGNORS_OUTPUT=form`."""
    done = called(*arguments, given=given, KAFKA_ASSIGNORS_OUTPUT=form, COLUMNS=columns)
    assert done.returncode in {0, 1, 2}
    return done.stdout.decode()


@pytest.mark.parametrize("name", COMMANDS)
def test_an_answer_is_a_table_without_a_terminal_and_json_where_it_is_asked_for(name: str) -> None:
    arguments, given = COMMANDS[name]
    table = printed(arguments, given)
    assert table.strip()
    assert not [line for line in table.splitlines() if line.startswith(("{", "["))]
    assert "\x1b" not in table
    lines = [json.loads(line) for line in printed(arguments, given, "jsonl").splitlines()]
    assert lines
    assert all(line["schema"] == 2 for line in lines)
    assert printed((*arguments, "-o", "table"), given, "jsonl") == table


def test_another_value_of_the_variable_is_refused_with_its_name() -> None:
    done = called("assignors", KAFKA_ASSIGNORS_OUTPUT="yaml")
    assert done.returncode == 2
    assert b"(env var: 'KAFKA_ASSIGNORS_OUTPUT'): 'yaml' is not one of" in done.stderr


WIDE: dict[str, Any] = {
    "id": "orders " * 30,
    "topics": {"t": 40, "u": 40},
    "members": [{"id": f"{name}-" * 60, "topics": ["t", "u"]} for name in "abc"],
}
"""Long names, and members that have more than twelve ranges of partitions each."""


def test_a_table_at_full_width_is_whole() -> None:
    given = json.dumps({**WIDE, "members": [*WIDE["members"], {"id": "ghost", "topics": ["none"]}]})
    whole = printed(("assign", "--assignor", "roundrobin"), given)
    (row,) = [line for line in whole.splitlines() if line.startswith("a-")]
    assert row.split()[0] == "a-" * 60
    assert all(f"{number}" in row.split("t(")[1] for number in range(0, 40, 3))
    assert "..." not in whole
    assert "group " + "orders " * 29 + "orders" in whole
    (note,) = [line for line in whole.splitlines() if "topic-not-described" in line]
    assert note.endswith("(topic-not-described)")
    narrow = printed(("assign", "--assignor", "roundrobin"), given, columns="80")
    assert max(map(len, narrow.splitlines())) <= 80
    assert "..." in narrow


def test_a_value_and_every_column_are_whole_at_full_width() -> None:
    metadata = "x" * 300
    key = "0001" + "0001" + "67" + "0001" + "74" + "00000000"
    value = "0003" + f"{7:016x}" + "ffffffff" + f"{300:04x}" + metadata.encode().hex() + "00" * 8
    whole = printed(("decode", "offsets-record"), f"{key} {value}")
    assert metadata in whole
    assert metadata not in printed(("decode", "offsets-record"), f"{key} {value}", columns="900")
    tables = printed(("replay", "--sample", "--table", "members", "--table", "generations"), "")
    assert "not shown at" not in tables
    assert "GROUP-INSTANCE-ID" in tables


def test_every_member_of_a_comparison_has_a_row_at_full_width() -> None:
    members = [{"id": f"m{number:02}", "topics": ["t"]} for number in range(60)]
    given = json.dumps({"topics": {"t": 60}, "members": members})
    whole = printed(("assign", "--compare", "range,sticky"), given)
    assert all(f"\nm{number:02} " in whole for number in range(60))
    assert "more members" in printed(("assign", "--compare", "range,sticky"), given, columns="90")


READERS = (("check",), ("explain", "--partition", "t:0"), ("what-if", "-", "join:1"))


@pytest.mark.parametrize("columns", ["", "40", "200"])
@pytest.mark.parametrize("asked", [("--assignor", "range"), ("--compare", "range,sticky")])
@pytest.mark.parametrize("reader", READERS)
def test_a_table_in_place_of_json_is_refused_in_one_sentence(
    reader: tuple[str, ...], asked: tuple[str, ...], columns: str
) -> None:
    for identity in ({}, {"id": "a name of several words that a narrow table has on two lines"}):
        shown = printed(("assign", *asked), json.dumps({**GROUP, **identity}), columns=columns)
        done = called(*reader, *(() if "-" in reader else ("-",)), given=shown)
        assert done.returncode == 2
        assert done.stdout == b""
        assert done.stderr.decode().splitlines()[-1] == (
            "Error: standard input is a table of kafka-assignors: write it with -o jsonl"
        )


@pytest.mark.parametrize("form", ["", "jsonl"])
def test_assign_with_group_is_what_check_reads(form: str) -> None:
    asked = ("assign", "--assignor", "range", "--with-group")
    refused = called(*asked, "-o", "table", given=json.dumps(GROUP))
    assert b"--with-group is for -o jsonl" in refused.stderr
    chosen = ("-o", form) if form else ()
    given = printed((*asked, *chosen), json.dumps(GROUP))
    done = called("check", given=given, KAFKA_ASSIGNORS_OUTPUT="")
    assert done.returncode == 0
    assert done.stdout.startswith(b"line 1: no violations")


def test_what_only_begins_like_a_title_is_answered_line_by_line() -> None:
    done = called("check", given="line 1\nx\n\ny\nz\nw\n")
    assert done.returncode == 2
    assert len(done.stdout.splitlines()) == 6
