"""Draw the tables of a replay, with the columns of `kafka-consumer-groups.sh` where it has them.

Kafka's tool shows a group as it is now, a replay shows its history: each table has the columns of
the tool first, then those of the history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby

from assignors.cli.outputs.cells import (
    NONE,
    Fields,
    cell,
    clean,
    console_of,
    partitions_cell,
    table_of,
)
from assignors.documents.values import Document
from assignors.replay.analysis.what_if import EVERY_GROUP

CellOf = Callable[[Fields], str]

ROWS_SHOWN = 1000
"""Most rows of one table on a terminal."""


def show_replayed(documents: Iterable[Document]) -> None:
    """Draw each table of a replay, rows in the given order.

    Of outcomes only the totals are drawn, not the rows of single generations. A document without
    a row has in `left_out` how many rows of its table are missing.
    """
    console = console_of()
    for name, listed in groupby(documents, key=lambda document: str(document["table"])):
        headers = COLUMNS[name]
        table = table_of(*headers, right=[header for header in headers if header in NUMBERS])
        left_out = 0
        for document in listed:
            if document["row"] is None:
                left_out += int(str(document["left_out"]))
                continue
            row: Fields = document["row"]  # type: ignore[assignment]
            if name == "outcomes" and row["generation"] is not None:
                continue
            if table.row_count < ROWS_SHOWN:
                table.add_row(*(cell_of(row) for cell_of in headers.values()))
            else:
                left_out += 1
        table.title = TITLES[name]
        console.print(table)
        if left_out:
            console.print(f"  and {left_out:,} more: use --out or -o jsonl", style="yellow")


def _text(name: str) -> CellOf:
    return lambda row: cell(row[name])


def _count(name: str) -> CellOf:
    return lambda row: NONE if row[name] is None else f"{row[name]:,}"


def _time(name: str) -> CellOf:
    return lambda row: time_cell(row[name])


def time_cell(at_ms: int | None) -> str:
    """Return epoch milliseconds as UTC.

    >>> time_cell(1795220373651), time_cell(None)
    ('2026-11-21 00:19:33.651', '-')
    """
    if at_ms is None:
        return NONE
    try:
        moment = datetime.fromtimestamp(at_ms // 1000, tz=UTC)
    except (OverflowError, ValueError, OSError):
        return str(at_ms)
    return f"{moment:%Y-%m-%d %H:%M:%S}.{at_ms % 1000:03d}"


def _partitions(name: str) -> CellOf:
    return lambda row: partitions_cell(row[name])


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


def _list(names: Sequence[str]) -> str:
    return clean(", ".join(names)) or NONE


TITLES: Mapping[str, str] = {
    "groups": "groups (#2: the second group of this name)",
    "offsets": "commits",
    "generations": "generations",
    "members": "members of each generation",
    "assignments": "who owned which partition, and when",
    "anomalies": "anomalies",
    "outcomes": "what if (actual figures in brackets; downtime in partition-seconds)",
}

COLUMNS: Mapping[str, Mapping[str, CellOf]] = {
    "groups": {
        "GROUP": _group,
        "ASSIGNMENT-STRATEGY": _text("protocol"),
        "STATE": _text("state"),
        "#MEMBERS": _count("member_count"),
        "KIND": _text("kind"),
        "#GENERATIONS": _count("generation_count"),
        "#MISSING": _count("generations_missing"),
        "MOVED": _count("moved"),
        "#COMMITS": _count("commit_count"),
        "#ANOMALIES": _count("anomaly_count"),
    },
    "offsets": {
        "GROUP": _text("group"),
        "TOPIC": _text("topic"),
        "PARTITION": _text("partition"),
        "CURRENT-OFFSET": _text("offset"),
        "CONSUMER-ID": _text("holder_id"),
        "AT": _time("at_ms"),
        "METADATA": _text("metadata"),
    },
    "generations": {
        "GROUP": _group,
        "GENERATION": _text("generation"),
        "STATE": _text("state"),
        "ASSIGNMENT-STRATEGY": _text("protocol"),
        "#MEMBERS": _count("member_count"),
        "AT": _time("at_ms"),
        "JOINED": lambda row: str(len(row["joined"])),
        "LEFT": lambda row: str(len(row["left"])),
        "MOVED": _count("moved"),
        "LOAD": lambda row: f"{row['load_min']}-{row['load_max']}",
        "LEADER": _text("leader_guess"),
        "NOTES": lambda row: _list(row["notes"]),
    },
    "members": {
        "GROUP": _group,
        "CONSUMER-ID": _text("member_id"),
        "GROUP-INSTANCE-ID": _text("instance_id"),
        "HOST": _text("host"),
        "CLIENT-ID": _text("client_id"),
        "#PARTITIONS": _count("assigned_count"),
        "ASSIGNMENT": _partitions("assigned"),
        "GENERATION": _text("generation"),
        "CLAIMED": _partitions("claimed"),
        "NOTES": lambda row: _list(row["notes"]),
    },
    "assignments": {
        "GROUP": _group,
        "TOPIC": _text("topic"),
        "PARTITION": _text("partition"),
        "CONSUMER-ID": _text("member_id"),
        "HOST": _text("host"),
        "CLIENT-ID": _text("client_id"),
        "FROM": _time("from_ms"),
        "TO": _time("to_ms"),
        "ENDED-BY": _text("ended_by"),
    },
    "anomalies": {
        "GROUP": _group,
        "GENERATION": _text("generation"),
        "AT": _time("at_ms"),
        "KIND": _text("kind"),
        "CLIENT-ID": _text("client_id"),
        "EVIDENCE": _text("evidence"),
    },
    "outcomes": {
        "GROUP": _group,
        "ASSIGNOR": _text("assignor"),
        "ROUNDS": _beside("rounds"),
        "MOVED": _beside("moved"),
        "LOAD": _loads,
        "GAP": _beside("balance_gap"),
        "DOWNTIME": _downtime,
        "ERROR": _text("error"),
    },
}
"""Table -> header -> what makes its cell of a row."""

NUMBERS = frozenset(
    {
        *("PARTITION", "CURRENT-OFFSET", "GENERATION"),
        *("#MEMBERS", "#GENERATIONS", "#MISSING", "MOVED", "#COMMITS", "#ANOMALIES"),
        *("#PARTITIONS", "JOINED", "LEFT", "ROUNDS", "GAP", "DOWNTIME"),
    }
)
