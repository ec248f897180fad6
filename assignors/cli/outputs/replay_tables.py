"""Draw the tables of a replay, with the columns of `kafka-consumer-groups.sh` where it has them.

Kafka's tool shows a group as it is now, a replay shows its history: each table has the columns of
the tool first, then those of the history. `show_summary` is for an incident of hundreds of groups:
totals, the leaders that cause findings, and the worst groups. `show_replayed` draws whole tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from assignors.cli.outputs.cells import (
    NONE,
    Fields,
    cell,
    clean,
    console_of,
    partitions_cell,
)
from assignors.cli.outputs.shown_names import shown_name
from assignors.cli.outputs.table import INDENT, Column, Table
from assignors.cli.outputs.tables import print_wrapped
from assignors.replay.analysis.outcome_rows import EVERY_GROUP
from assignors.replay.findings.causes import repetition
from assignors.replay.findings.finding import amount
from assignors.replay.findings.leaders import LeaderFindings, findings_by_leader
from assignors.replay.findings.table import FINDINGS, RANK, Severity
from assignors.replay.tables.rows import Tables

if TYPE_CHECKING:
    from rich.console import Console

CellOf = Callable[[Fields], str]

ROWS_SHOWN = 1000
"""Most rows of one table on a terminal."""

WORST = 10
"""Most groups that a summary shows, and most findings of several groups."""

NAMELESS = ("", 1)
"""Group and life of findings about records that name no group."""

CLIENTS_NAMED = 4
"""Most client ids that are named of one leader."""


def show_replayed(documents: Iterable[Fields], *, limit: int | None = ROWS_SHOWN) -> None:
    """Draw each table of a replay, rows in the given order; groups with the worst findings first.

    Of outcomes only the totals are drawn, not the rows of single generations. A document without
    a row has in `left_out` how many rows of its table are missing.
    """
    console = console_of()
    for name, rows, left_out in _tables_of(documents, limit):
        _show(console, name, rows)
        if left_out:
            console.print(f"  and {left_out:,} more: use --all, --out or -o jsonl", style="yellow")


def show_summary(documents: Iterable[Fields], *, tables: Tables, is_all: bool = False) -> None:
    """Draw the totals of a replay, what each leader causes, the worst groups and their findings.

    With `is_all`, all groups and findings.
    """
    console = console_of()
    listed = {name: rows for name, rows, _ in _tables_of(documents, None)}
    every, findings = listed.get("groups", []), listed.get("findings", [])
    print_wrapped(console, totals(tables), "bold")
    console.print()
    if by_leader := findings_by_leader(tables.findings):
        _show(console, "leaders", [_leader_fields(one) for one in by_leader])
    groups, shown, outcomes = every, findings, listed.get("outcomes", [])
    if not is_all:
        groups = ([row for row in every if row["finding_count"]] or every)[:WORST]
        # What names no group is shown with any.
        names = {NAMELESS, *map(_key, groups)}
        shown = [row for row in findings if _key(row) in names]
        shown = shown[:WORST] if len(groups) > 1 else shown
        tried = {(EVERY_GROUP, 0), *map(_key, every[:WORST])}
        outcomes = [row for row in outcomes if _key(row) in tried]
    for name, rows in (("groups", groups), ("findings", shown), ("outcomes", outcomes)):
        if rows:
            _show(console, name, rows)
    left_out = [
        f"{shown_count:,} of {amount(count, noun)}"
        for shown_count, count, noun in (
            (_group_count(groups), _group_count(every), "group"),
            (len(shown), len(findings), "finding"),
        )
        if shown_count < count
    ]
    if left_out:
        words = (
            f"shown: {', '.join(left_out)}. --all shows all of them, --group NAME one group, "
            "--report FILE writes a page with charts"
        )
        print_wrapped(console, words, "yellow")


def totals(tables: Tables) -> str:
    """Return in a sentence how many groups there are, when they rebalanced, and what was found."""
    names = {row.group for row in tables.groups if row.group}
    times = [row.at_ms for row in tables.generations]
    period = (
        f", rebalances from {time_cell(min(times))} to {time_cell(max(times))}" if times else ""
    )
    found = {row.group for row in tables.findings if row.group}
    counts = [
        f"{count:,} {severity}"
        for severity in Severity
        if (count := sum(row.severity == severity for row in tables.findings))
    ]
    whose = f"{len(found):,} with findings" if found else "findings on the source"
    said = f"; {whose}: {', '.join(counts)}" if counts else ""
    return f"{amount(len(names), 'group')}{period}{said}"


def _tables_of(
    documents: Iterable[Fields], limit: int | None
) -> Iterator[tuple[str, list[Fields], int]]:
    """Yield the name of each table, its rows, at most `limit`, and how many are left out."""
    for name, listed in groupby(documents, key=lambda document: str(document["table"])):
        rows: list[Fields] = []
        left_out = 0
        for document in listed:
            if document["row"] is None:
                left_out += int(str(document["left_out"]))
                continue
            row = document["row"]
            if name == "outcomes" and row["generation"] is not None:
                continue
            # Groups are sorted before the last ones are left out.
            if limit is None or len(rows) < limit or name == "groups":
                rows.append(row)
            else:
                left_out += 1
        if name == "groups":
            rows.sort(key=_worst_first)
            left_out += len(rows[limit:]) if limit is not None else 0
        yield name, rows[:limit], left_out


def _group_count(rows: Sequence[Fields]) -> int:
    return len({row["group"] for row in rows})


def _key(row: Fields) -> tuple[str, int]:
    return row["group"], row["life"]


def _leader_fields(one: LeaderFindings) -> Fields:
    clients = one.client_ids
    more = [f"{len(clients) - CLIENTS_NAMED} more"] if len(clients) > CLIENTS_NAMED else []
    return {
        "leader": one.guess or f"{clients[0]} (not known)",
        "client_ids": [*clients[:CLIENTS_NAMED], *more],
        "group_count": len(one.groups),
        "kinds": one.kinds,
        **one.severities,
    }


def _show(console: Console, name: str, rows: Sequence[Fields]) -> None:
    """Draw one table, and what to do about findings."""
    columns, below = COLUMNS[name], BELOW.get(name)
    table = Table(columns, TITLES[name])
    for row in rows:
        style = SEVERITY_STYLES.get(row["severity"]) if "severity" in row else None
        cells = [column.cell(row) for column in columns]
        table.add_row(*cells, style=style, below=None if below is None else partial(below, row))
    console.print(table)
    if name == "findings":
        _advise(console, rows)


def _advise(console: Console, rows: Sequence[Fields]) -> None:
    """Print what to do about each kind of finding that is listed, in their order."""
    advice = {row["kind"]: FINDINGS[row["kind"]].what_to_do for row in rows if row["what_to_do"]}
    if not advice:
        return
    console.print("what to do", style="bold")
    for kind, text in advice.items():
        print_wrapped(console, f"{kind}: {text}", indent=INDENT)
    console.print()


def _worst_first(row: Fields) -> tuple[int, int]:
    return RANK.get(row.get("severity") or "", len(RANK)), -row["finding_count"]


def _text(name: str) -> CellOf:
    return lambda row: cell(row[name])


def _count(name: str) -> CellOf:
    return lambda row: NONE if row[name] is None else f"{row[name]:,}"


def _time(name: str) -> CellOf:
    return lambda row: time_cell(row[name])


def _time_of_finding(name: str) -> CellOf:
    """Return a cell with a moment; a part of the source that is no record of a group has none."""
    return lambda row: time_cell(row[name] if row["group"] or row[name] else None)


def time_cell(at_ms: int | None) -> str:
    """Return epoch milliseconds as UTC, with the zone: options that take a time read it.

    >>> time_cell(1795220373651), time_cell(None)
    ('2026-11-21 00:19:33.651Z', '-')
    """
    if at_ms is None:
        return NONE
    try:
        moment = datetime.fromtimestamp(at_ms // 1000, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return str(at_ms)
    return f"{moment:%Y-%m-%d %H:%M:%S}.{at_ms % 1000:03d}Z"


def _partitions(name: str) -> CellOf:
    return lambda row: partitions_cell(row[name])


def _if_tried(cell_of: CellOf) -> CellOf:
    """Return nothing in place of figures of an assignor that failed in every round."""
    return lambda row: NONE if row["error"] is not None and not row["rounds"] else cell_of(row)


def _beside(name: str) -> CellOf:
    """Return a cell with the figure of the assignor that was tried, then the actual one."""

    def both(row: Fields) -> str:
        tried, actual = row[name], row[f"actual_{name}"]
        return f"{_figure(tried)} ({_figure(actual)})"

    return both


def _figure(value: int | None) -> str:
    return NONE if value is None else f"{value:,}"


def _seconds(value: int | None) -> str:
    return NONE if value is None else f"{value / 1000:,.1f}"


def _downtime(row: Fields) -> str:
    tried, actual = row["downtime_partition_ms"], row["actual_downtime_partition_ms"]
    return f"{_seconds(tried)} ({_seconds(actual)})"


def _group(row: Fields) -> str:
    """Return the group's name; from the second life on, with the number of the life."""
    if row["group"] == EVERY_GROUP and not row["life"]:
        return "every group"
    return clean(row["group"] if row["life"] == 1 else f"{row['group']} #{row['life']}")


def _loads(row: Fields) -> str:
    return (
        f"{row['load_min']}-{row['load_max']} ({row['actual_load_min']}-{row['actual_load_max']})"
    )


def _uses(row: Fields) -> str:
    """Return the records a second of the busiest member; nothing where no rate is known."""
    tried, actual = row["use_max"], row["actual_use_max"]
    return NONE if tried is None or actual is None else f"{tried:,.0f} ({actual:,.0f})"


def _list(names: Sequence[str]) -> str:
    return clean(", ".join(names)) or NONE


def _evidence(row: Fields, missing: Sequence[str]) -> Iterator[str]:
    """Yield the sentences below a finding, with its time where there is no column for it."""
    at = [_time_of_finding("at_ms")(row)] if "AT" in missing else []
    yield " ".join([*(text for text in at if text != NONE), clean(row["evidence"])])
    places = sum(len(numbers) for _, numbers in row["partitions"])
    more = repetition(row["occurrences"], row["generations"], len(row["members"]), places)
    if more:
        yield f"{more}; above is the worst"


def _failure(row: Fields, _missing: Sequence[str]) -> Iterator[str]:
    """Yield where the assignor failed: figures without these rounds say nothing of it."""
    if row["error"] is not None:
        yield f"failed: {clean(row['error'])}"


TITLES: Mapping[str, str] = {
    "groups": "groups (#2: the second group of this name; #MEMBERS: the most it had)",
    "offsets": "commits",
    "generations": "generations",
    "members": "members of each generation",
    "assignments": "who owned which partition, and when",
    "findings": "findings, worst first (libraries are guessed)",
    "leaders": "findings by leader (libraries are guessed)",
    "outcomes": "what if (actual figures in brackets; downtime in partition-seconds)",
}

BELOW: Mapping[str, Callable[[Fields, Sequence[str]], Iterator[str]]] = {
    "findings": _evidence,
    "outcomes": _failure,
}
"""Table -> the lines below each row, given the headers of the columns that do not fit."""

LEADERS_SEVERITIES = tuple(severity for severity in Severity if severity is not Severity.NOTE)

SEVERITY_STYLES: Mapping[str | None, str] = {
    Severity.CRITICAL: "bold red",
    Severity.HIGH: "red",
    Severity.MEDIUM: "yellow",
}


def _number(header: str, cell_of: CellOf, rank: int) -> Column:
    return Column(header=header, cell=cell_of, rank=rank, is_number=True)


def _name(header: str, cell_of: CellOf, rank: int = 0) -> Column:
    return Column(header=header, cell=cell_of, rank=rank, is_text=True, is_name=True)


def _listed(header: str, cell_of: CellOf, rank: int = 0) -> Column:
    return Column(header=header, cell=cell_of, rank=rank, is_text=True)


def _fixed(header: str, cell_of: CellOf, rank: int = 0) -> Column:
    return Column(header=header, cell=cell_of, rank=rank)


COLUMNS: Mapping[str, Sequence[Column]] = {
    "groups": (
        _name("GROUP", _group),
        _name("ASSIGNMENT-STRATEGY", _text("protocol"), 5),
        _fixed("STATE", _text("state"), 2),
        _number("#MEMBERS", _count("member_count_max"), 3),
        _fixed("KIND", _text("kind"), 6),
        _number("#GENERATIONS", _count("generation_count"), 7),
        _number("#MISSING", _count("generations_missing"), 10),
        _number("MOVED", _count("moved"), 8),
        _number("#COMMITS", _count("commit_count"), 9),
        _number("#FINDINGS", _count("finding_count"), 1),
        _fixed("WORST", _text("severity"), 1),
    ),
    "offsets": (
        _name("GROUP", _text("group")),
        _name("TOPIC", _text("topic")),
        _number("PARTITION", _text("partition"), 1),
        _number("CURRENT-OFFSET", _text("offset"), 0),
        _name("CONSUMER-ID", _text("holder_id"), 3),
        _fixed("AT", _time("at_ms")),
        _listed("METADATA", _text("metadata"), 4),
    ),
    "generations": (
        _name("GROUP", _group),
        _number("GENERATION", _text("generation"), 0),
        _fixed("STATE", _text("state"), 4),
        _name("ASSIGNMENT-STRATEGY", _text("protocol"), 6),
        _number("#MEMBERS", _count("member_count"), 2),
        _fixed("AT", _time("at_ms"), 1),
        _number("JOINED", lambda row: str(len(row["joined"])), 3),
        _number("LEFT", lambda row: str(len(row["left"])), 3),
        _number("MOVED", _count("moved"), 3),
        _fixed("LOAD", lambda row: f"{row['load_min']}-{row['load_max']}", 5),
        _name("LEADER", _text("leader_client_id"), 8),
        _name("LEADER-LIBRARY", _text("leader_guess"), 9),
        _listed("NOTES", lambda row: _list(row["notes"]), 7),
    ),
    "members": (
        _name("GROUP", _group),
        _name("CONSUMER-ID", _text("member_id")),
        _name("GROUP-INSTANCE-ID", _text("instance_id"), 7),
        _fixed("HOST", _text("host"), 6),
        _name("CLIENT-ID", _text("client_id"), 5),
        _number("#PARTITIONS", _count("assigned_count"), 2),
        _listed("ASSIGNMENT", _partitions("assigned"), 3),
        _number("GENERATION", _text("generation"), 1),
        _listed("CLAIMED", _partitions("claimed"), 4),
        _listed("NOTES", lambda row: _list(row["notes"]), 8),
    ),
    "assignments": (
        _name("GROUP", _group),
        _name("TOPIC", _text("topic")),
        _number("PARTITION", _text("partition"), 0),
        _name("CONSUMER-ID", _text("member_id"), 2),
        _fixed("HOST", _text("host"), 6),
        _name("CLIENT-ID", _text("client_id"), 5),
        _fixed("FROM", _time("from_ms"), 1),
        _fixed("TO", _time("to_ms"), 3),
        _fixed("ENDED-BY", _text("ended_by"), 4),
    ),
    "findings": (
        _fixed("SEVERITY", _text("severity")),
        _fixed("KIND", _text("kind")),
        _name("GROUP", _group),
        _fixed("AT", _time_of_finding("at_ms"), 1),
        _fixed("LAST", _time_of_finding("last_ms"), 7),
        _number("#TIMES", _count("occurrences"), 2),
        _number("GENERATION", _text("generation"), 5),
        _name("CLIENT-ID", _text("client_id"), 6),
        _name("LEADER", _text("leader_client_id"), 3),
        _name("LEADER-LIBRARY", _text("leader_guess"), 4),
    ),
    "leaders": (
        _name("LEADER-LIBRARY", _text("leader")),
        *(_number(severity.upper(), _count(severity), 1) for severity in LEADERS_SEVERITIES),
        _number("#GROUPS", _count("group_count"), 2),
        _listed("KINDS", lambda row: _list(row["kinds"]), 3),
        _listed("CLIENT-IDS", lambda row: _list(row["client_ids"]), 4),
    ),
    "outcomes": (
        _name("GROUP", _group),
        _fixed("ASSIGNOR", lambda row: clean(shown_name(row["assignor"]))),
        _number("ROUNDS", _if_tried(_beside("rounds")), 3),
        _number("MOVED", _if_tried(_beside("moved")), 1),
        _fixed("LOAD", _if_tried(_loads), 2),
        _number("GAP", _if_tried(_beside("balance_gap")), 4),
        _fixed("MAX-RECORDS/S", _if_tried(_uses), 6),
        _number("DOWNTIME", _if_tried(_downtime), 5),
    ),
}
"""Table -> its columns, those of Kafka's tool first."""
