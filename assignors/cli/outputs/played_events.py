"""Draw what a simulation in rounds gave: sums of random histories, events that were asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from assignors.cli.outputs.cells import (
    NONE,
    NUMBERS_SHOWN,
    Fields,
    clean,
    console_of,
    most,
)
from assignors.cli.outputs.shown_names import shown_name
from assignors.cli.outputs.table import Table
from assignors.cli.outputs.tables import error_place, error_text, print_notes


def show_simulated(documents: Iterable[Fields]) -> None:
    """Draw a column for each assignor: its figures, added up over all events.

    Of events that were asked for (`asked`) each has a table of its own, with a row an assignor.
    """
    sums: dict[str, dict[str, int]] = {}
    refused: list[str] = []
    explicit: list[Fields] = []
    broken: dict[str, str] = {}
    traces: dict[str, None] = {}
    for document in documents:
        if document["error"] is not None:
            text, _, trace = str(document["error"]).partition("\n")
            refused.append(f"{error_place(document)}{error_text({**document, 'error': text})}")
            traces[trace] = None
            continue
        fields: Fields = document
        if "asked" in fields:
            explicit.append(fields)
            continue
        _add(fields, sums.setdefault(fields["assignor"], dict.fromkeys(FROM_ZERO, 0)))
        if fields["first_violation"] is not None:
            broken.setdefault(fields["assignor"], fields["first_violation"])
    show_asked(explicit)
    if sums:
        _show_sums(sums, broken)
    console = console_of()
    for trace in [trace for trace in traces if trace][: most(TRACES_SHOWN)]:
        for line in trace.splitlines():
            console.print(clean(line), style="dim")
    shown = refused[: most(NUMBERS_SHOWN)]
    for text in shown:
        console.print(f"error: {text}", style="red")
    if len(refused) > len(shown):
        console.print(f"and {len(refused) - len(shown)} more errors", style="red")


def _add(fields: Fields, total: dict[str, int]) -> None:
    total["events"] += 1
    total[WITH_GAP] += not fields["unassigned"]
    for figure, value_of in SUMMED.items():
        total[figure] += value_of(fields)


def _show_sums(sums: Mapping[str, Mapping[str, int]], broken: Mapping[str, str]) -> None:
    headers = [shown_name(name) for name in sums]
    table = Table.of("", *headers, right=headers)
    for figure in ("events", *SUMMED):
        cells = [
            NONE if figure == GAP and not total[WITH_GAP] else f"{total[figure]:,}"
            for total in sums.values()
        ]
        is_bad = figure == "rules broken" and any(total[figure] for total in sums.values())
        table.add_row(figure, *cells, style="red" if is_bad else None)
    console = console_of()
    console.print(table)
    for name, words in broken.items():
        console.print(clean(f"{shown_name(name)} breaks {words}"), style="red")


GAP, WITH_GAP = "balance gap", "events with a balance gap"

TRACES_SHOWN = 3
"""Tracebacks of a user's own assignors on a terminal; equal ones count once."""


def _gap(row: Fields) -> int | None:
    """Return the sum of squared loads above the best; `None` while a partition has no consumer."""
    return None if row["unassigned"] else row["load_square_sum"] - row["optimum"]


SUMMED: dict[str, Callable[[Fields], int]] = {
    "rounds": lambda row: row["rounds"],
    "partitions moved": lambda row: row["moved"],
    "moves to the best balance": lambda row: row["moves_min"],
    GAP: lambda row: _gap(row) or 0,
    "unassigned x rounds": lambda row: row["unassigned_partition_rounds"],
    "events not settled": lambda row: int(not row["is_settled"]),
    "rules broken": lambda row: row["violations"],
}
"""Figures of the summary, each added up over all events; the gap of those that have one."""


def show_asked(rows: Sequence[Fields]) -> None:
    """Draw a table for each event of each group: loads before and after, moves, rounds."""
    console = console_of()
    for played in _by_group(rows):
        start = played[0]
        if start["id"] is not None:
            console.print(clean(f"group {start['id']}"), style="bold")
        for number in sorted({row["event"] for row in played}):
            of_event = [row for row in played if row["event"] == number]
            before, after = (len(of_event[0][key]) for key in ("loads_before", "loads_after"))
            members = f"{before} members" if before == after else f"{before} -> {after} members"
            table = Table.of("ASSIGNOR", *FIGURES, right=tuple(FIGURES))
            table.title = clean(
                f"{of_event[0]['asked'] or 'start, nothing changed yet'}: {members}"
            )
            for row in of_event:
                cells = [figure(row) for figure in FIGURES.values()]
                style = None if row["is_settled"] and not row["violations"] else "red"
                table.add_row(shown_name(row["assignor"]), *cells, style=style)
            console.print(table)
            for row in of_event:
                if row["first_violation"] is not None:
                    words = f"{shown_name(row['assignor'])} breaks {row['first_violation']}"
                    console.print(clean(f"  {words}"), style="red")
        print_notes(console, start)


FROM_ZERO = ("events", WITH_GAP, *SUMMED)
"""Sums for each assignor."""


def _by_group(rows: Sequence[Fields]) -> Iterator[list[Fields]]:
    """Yield the rows of each group, which come one group after the other.

    A group begins where an event and assignor come that it has already.
    """
    group: dict[tuple[str, int], Fields] = {}
    for row in rows:
        key = row["assignor"], row["event"]
        if key in group:
            yield list(group.values())
            group = {}
        group[key] = row
    if group:
        yield list(group.values())


def _span(loads: Fields) -> str:
    """Return the smallest and the largest load, as 2-3; one number where they are equal."""
    low, high = min(loads.values(), default=0), max(loads.values(), default=0)
    return f"{low}" if low == high else f"{low}-{high}"


FIGURES: dict[str, Callable[[Fields], str]] = {
    "LOAD BEFORE": lambda row: _span(row["loads_before"]),
    "LOAD AFTER": lambda row: _span(row["loads_after"]),
    "MOVED": lambda row: f"{row['moved']:,}",
    "TO BALANCE": lambda row: f"{row['moves_min']:,}",
    "ROUNDS": lambda row: f"{row['rounds']}",
    "GAP": lambda row: NONE if _gap(row) is None else f"{_gap(row):,}",
}
"""Figures of one event, as the table has them. GAP: the sum of squared loads above the best.

TO BALANCE: the fewest moves to a best balance; a worse balance may take fewer.
"""
