"""The tables of `replay` at 80, 100 and 140 columns: what fits, whole, with the worst first."""

from __future__ import annotations

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from assignors.cli.command import command
from assignors.cli.outputs.replay_tables import COLUMNS, TITLES
from assignors.cli.outputs.table import Column, Table, cell_width, wrapped
from assignors.replay.findings import FINDINGS
from assignors.replay.tables.rows import TABLES

REAL = str(Path(__file__).parent.parent / "replay" / "data" / "real.jsonl.gz")
WIDTHS = (80, 100, 140)
JOINING = r"\-._,/"


SAID = {"times", "members", "member", "partitions", "partition", "generations", "group", "of"}
"""Words of the table's own."""


@cache
def every_table(width: int) -> dict[str, list[str]]:
    """The lines of each table, as a terminal of this width shows it."""
    tables = [argument for name in TABLES for argument in ("--table", name)]
    arguments = ["replay", REAL, *tables, "--what-if", "sticky", "-o", "table"]
    result = CliRunner().invoke(command, arguments, env={"COLUMNS": str(width)})
    assert result.exit_code == 1
    found: dict[str, list[str]] = {}
    titles = {title: name for name, title in TITLES.items()}
    for line in result.stdout.splitlines():
        name = titles.get(line)
        if name is None:
            found[list(found)[-1]].append(line)
        else:
            found[name] = [line]
    assert list(found) == list(TABLES)
    return found


def drawn(table: str, width: int) -> list[str]:
    """The lines of one table."""
    return every_table(width)[table]


@cache
def every_row() -> dict[str, list[dict[str, Any]]]:
    """The rows of each table, as JSON has them."""
    tables = [argument for name in TABLES for argument in ("--table", name)]
    result = CliRunner().invoke(command, ["replay", REAL, *tables, "-o", "jsonl"])
    found: dict[str, list[dict[str, Any]]] = {}
    for document in map(json.loads, result.stdout.splitlines()):
        found.setdefault(document["table"], []).append(document["row"])
    return found


def rows_of(table: str) -> list[dict[str, Any]]:
    """The rows of one table."""
    return every_row()[table]


@pytest.mark.parametrize("width", [40, 60])
def test_a_terminal_that_is_very_narrow_shows_few_columns_and_cuts_no_word(width: int) -> None:
    result = CliRunner().invoke(
        command, ["replay", "--sample", "--all", "-o", "table"], env={"COLUMNS": str(width)}
    )
    assert max(map(len, result.stdout.splitlines())) <= width
    for word in ("unassigned", "rebalance-", "cooperative-", "shop.32-", "1795220333"):
        assert word in result.stdout


@pytest.mark.parametrize("table", ["members", "generations", "assignments", "findings", "groups"])
def test_at_80_columns_fewer_are_there_and_the_others_are_named(table: str) -> None:
    lines = drawn(table, 80)
    left_out = " ".join(lines).partition("not shown at 80 columns: ")[2]
    assert left_out
    named = re.sub(r"\s+", " ", left_out.partition(" (-o jsonl")[0]).split(", ")
    assert set(named) < {column.header for column in COLUMNS[table]}
    assert not set(named) & set(lines[2].split())


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("table", ["groups", "assignments", "findings", "generations"])
def test_no_name_is_cut_in_the_middle_of_a_word(table: str, width: int) -> None:
    """What stands in a line begins and ends where a word does, or a part that signs join."""
    pieces = set(SAID)
    for row in rows_of(table):
        for value in row.values():
            text = " ".join(map(str, value)) if value and isinstance(value, list) else str(value)
            pieces.update(re.findall(rf"[^\s{JOINING}]+", text))
    wanted = {piece for piece in pieces if len(piece) > 3}
    printed = set(re.findall(rf"[^\s{JOINING}]+", "\n".join(drawn(table, width))))
    assert max(map(len, drawn(table, width))) <= width
    cut = {
        word
        for word in printed - pieces
        if any(len(word) > 3 and word != full and full.startswith(word) for full in wanted)
    }
    assert not {word for word in cut if not word.isdigit()}, cut


@pytest.mark.parametrize("width", [80, 120, 200])
@pytest.mark.parametrize("table", ["groups", "findings", "generations", "assignments"])
def test_columns_are_left_out_before_a_name_is_broken(table: str, width: int) -> None:
    """At 120 columns names took up to three lines, so that every column was there."""
    result = CliRunner().invoke(
        command,
        ["replay", "--sample", "--group", "chaos", "--table", table, "-o", "table"],
        env={"COLUMNS": str(width)},
    )
    assert max(map(len, result.stdout.splitlines())) <= width
    assert "chaos-cooperative-sticky-franz-2-1795220333" in result.stdout
    assert not re.search(r"1795220333", result.stdout.replace("franz-2-1795220333", ""))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("table", ["findings", "generations", "assignments", "offsets"])
def test_times_have_their_zone_at_every_width(table: str, width: int) -> None:
    times = re.findall(r"2026-11-2\d \d\d:\d\d:\d\d\S*", "\n".join(drawn(table, width)))
    assert times
    assert all(re.fullmatch(r".*\.\d\d\dZ", time) for time in times)


def test_groups_and_findings_come_worst_first() -> None:
    order = ["critical", "high", "medium", "low", "note", "-"]
    worst = [line.split()[-1] for line in drawn("groups", 80)[4:] if line[:1].isalpha()]
    shown = [order.index(word) for word in worst if word in order]
    assert shown == sorted(shown)
    assert len(set(shown)) == 4
    findings = [line.split()[0] for line in drawn("findings", 80) if line[:1].isalpha()]
    ranks = [order.index(word) for word in findings if word in order]
    assert ranks == sorted(ranks)
    assert len(ranks) == len(rows_of("findings"))


def test_below_a_finding_stands_how_often_and_at_the_end_what_to_do() -> None:
    text = re.sub(r"\s+", " ", " ".join(drawn("findings", 80)))
    assert "2 times; 2 members, 4 partitions; above is the worst" in text
    advice = text.partition("what to do ")[2]
    for kind in {row["kind"] for row in rows_of("findings")}:
        assert f"{kind}: {FINDINGS[kind].what_to_do}" in advice


def test_totals_say_which_findings_are_on_no_group() -> None:
    """A line that cannot be read was counted as `0 with findings: 1 high`."""
    dump = Path(REAL).parent / "pasted" / "dump-log.txt"
    given = dump.read_text() + "what is this\n"
    result = CliRunner(env={"COLUMNS": "200"}).invoke(command, ["replay", "-"], input=given)
    assert "; findings on the source: 1 high\n" in result.stdout


@pytest.mark.parametrize("width", [80, 120, 200])
def test_a_summary_has_totals_leaders_and_the_ten_worst_groups(width: int) -> None:
    """A topic of 234 groups filled 2,425 lines."""
    rows = [row for row in rows_of("groups") if row["finding_count"]]
    assert len(rows) > 20
    result = CliRunner().invoke(
        command, ["replay", REAL, "-o", "table"], env={"COLUMNS": str(width)}
    )
    text = result.stdout
    lines = text.splitlines()
    assert len(lines) < 110
    assert max(map(len, lines)) <= width
    flat = re.sub(r"\s+", " ", text)
    counts = Counter(row["severity"] for row in rows_of("findings"))
    assert flat.startswith("43 groups, rebalances from 2026-11-21 00:19:")
    assert (
        f"findings: {counts['high']} high, {counts['medium']} medium, {counts['low']} low" in flat
    )
    headings = [text.index(title) for title in ("findings by leader", "groups (#2", "findings, wo")]
    assert headings == sorted(headings)
    listed = text[headings[1] : headings[2]]
    names = [line.split("  ")[0] for line in listed.splitlines() if line.startswith("shop.")]
    assert len(names) == 10
    assert set(names) <= {
        row["group"] + (f" #{row['life']}" if row["life"] > 1 else "") for row in rows
    }
    assert f"10 of {len(rows_of('findings'))} findings. --all shows all of them" in flat


def test_with_all_every_group_and_finding_is_shown() -> None:
    result = CliRunner().invoke(
        command, ["replay", REAL, "--all", "-o", "table"], env={"COLUMNS": "200"}
    )
    starts = [line.split()[0] for line in result.stdout.splitlines() if line.strip()]
    assert sum(word in {"high", "medium", "low"} for word in starts) == len(rows_of("findings"))
    for row in rows_of("groups"):
        assert row["group"] in starts
    assert "--all" not in result.stdout


def test_of_one_group_every_finding_is_shown() -> None:
    result = CliRunner().invoke(
        command, ["replay", "--sample", "--group", "chaos", "-o", "table"], env={"COLUMNS": "120"}
    )
    for kind in ("unassigned", "rebalance-loop", "rebalance-storm", "needless-moves"):
        assert re.search(rf"^(high|medium|low) +{kind} ", result.stdout, re.MULTILINE)
    assert "shown:" not in result.stdout


WORDS = st.text(st.sampled_from("ab-._,/ \u4e2d"), max_size=60)


@given(WORDS, st.integers(2, 40))
def test_wrapping_loses_nothing_and_keeps_to_the_width(text: str, width: int) -> None:
    lines = wrapped(text, width)
    assert "".join("".join(lines).split()) == "".join(text.split())
    assert all(cell_width(line) <= width for line in lines)


@given(
    st.lists(st.tuples(WORDS, WORDS, WORDS), max_size=5),
    st.tuples(*[st.booleans()] * 3),
    st.integers(20, 90),
)
def test_whatever_stands_in_a_table_its_lines_keep_to_the_width(
    rows: list[tuple[str, str, str]], are_text: tuple[bool, bool, bool], width: int
) -> None:
    columns = [
        Column(header=f"C{place}", rank=place, is_text=is_text or not place)
        for place, is_text in enumerate(are_text)
    ]
    table = Table(columns)
    for row in rows:
        table.add_row(*row)
    lines = [line for line, _ in table.lines(width)]
    assert lines[1].startswith("C0")
    assert all(cell_width(line) <= width for line in lines)
