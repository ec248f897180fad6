"""Draw several assignors' answers to one group: who gets what, then balance and moves.

Members are rows and assignors columns. Where columns would be too narrow each member has a row an
assignor instead. Of many members only those are shown that assignors treat differently.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from assignors.cli.outputs.cells import (
    NONE,
    Fields,
    cell,
    clean,
    console_of,
    is_full_width,
    partitions_cell,
)
from assignors.cli.outputs.shown_names import short_ids, shown_name
from assignors.cli.outputs.table import Table
from assignors.cli.outputs.tables import answered, print_notes

MEMBERS_SHOWN = 40
"""Most members that have a row on a terminal."""

NARROWEST = 14
"""Characters of a column below which members have a row an assignor."""

FIGURES = (
    "load_max",
    "load_min",
    "balance_gap",
    "moved",
    "moved_minimum",
    "unassigned",
    "topic_spread",
    "topic_spread_minimum",
    "topic_spread_max",
    "rack_mismatches",
)
"""Figures of a comparison, as `checks.distance` names them."""

FIGURES_BY_WEIGHT = (
    "use_max",
    "use_min",
    "use_bound",
    "use_bound_budget",
    "weight_moved",
    "moves_least",
)
"""Figures of a group with weights."""

OTHER = "* "
"""Before a cell that is not what the first assignor gives."""


def show_compared(documents: Iterable[Fields], *, reasons: bool = False) -> None:
    """Draw the comparison of each group; with `reasons` also why partitions go where they go."""
    console = console_of()
    for name, document in answered(console, documents):
        columns = document["compared"]
        console.print(name, style="bold")
        _show_members(document, [each for each in columns if each["assignment"] is not None])
        _show_figures(columns)
        for column in columns:
            if column["failure"] is not None:
                console.print(
                    clean(f"  {shown_name(column['name'])} fails: {column['failure']}"), style="red"
                )
            if column["first_violation"] is not None:
                words = f"  {shown_name(column['name'])} breaks {column['first_violation']}"
                console.print(clean(words), style="red")
        hint = "" if reasons or not document["different"] else "; --reasons says why"
        console.print(f"  {document['different']} partitions differ{hint}", style="bold")
        for partition in document["partitions"] if reasons else ():
            for assignor, answer in partition["answers"].items():
                console.print(clean(f"  {shown_name(assignor)}: {answer['why']}"))
        print_notes(console, document)


def _show_members(document: Fields, columns: Sequence[Fields]) -> None:
    """Draw who has and gets what, side by side if the terminal is wide enough."""
    if not columns:
        return
    rows = {
        member_id: [_partitions(owned), *(_partitions(_given(each, member_id)) for each in columns)]
        for member_id, owned in document["owned"].items()
    }
    chosen = _chosen(rows)
    if any(column["withheld"] for column in columns):
        chosen["(withheld)"] = ["", *(_partitions(column["withheld"]) for column in columns)]
    names = short_ids(chosen)
    label = max(map(len, names.values()), default=0)
    is_owned = any(document["owned"].values())
    headers = [*(["OWNED"] if is_owned else []), *(shown_name(each["name"]) for each in columns)]
    console = console_of()
    if (console.width - label) // (len(headers) + 1) < NARROWEST:
        table = Table.of("CONSUMER-ID", "ASSIGNOR", "ASSIGNMENT")
        for member_id, cells in chosen.items():
            name = clean(names[member_id])
            for header, text in zip(headers, _marked(cells)[not is_owned :], strict=True):
                table.add_row(name, header, text)
                name = ""
    else:
        table = Table.of("CONSUMER-ID", *headers)
        for member_id, cells in chosen.items():
            table.add_row(clean(names[member_id]), *_marked(cells)[not is_owned :])
    console.print(table)
    if len(chosen) < len(rows):
        words = f"  {len(rows) - len(chosen)} more members, most of them alike under all assignors"
        console.print(words, style="dim")
    if any(OTHER in text for cells in chosen.values() for text in _marked(cells)):
        console.print(f"  {OTHER}other partitions than under {headers[is_owned]}", style="dim")


def _chosen(rows: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Return the rows that are shown: all, or the first that differ between assignors."""
    if len(rows) <= MEMBERS_SHOWN or is_full_width():
        return dict(rows)
    differing = [member_id for member_id, cells in rows.items() if len(set(cells[1:])) > 1]
    return {member_id: rows[member_id] for member_id in differing[:MEMBERS_SHOWN]}


def _marked(cells: Sequence[str]) -> list[str]:
    """Return the cells of a member with marks before the lines that the first assignor has not."""
    owned, first, *others = cells
    same = set(first.split("\n"))
    marked = [owned, first]
    for text in others:
        lines = [line if line in same else f"{OTHER}{line}" for line in text.split("\n")]
        if text != first and not any(line.startswith(OTHER) for line in lines):
            lines[0] = f"{OTHER}{lines[0]}"
        marked.append("\n".join(lines))
    return marked


def _given(column: Fields, member_id: str) -> Fields:
    given: Fields = column["assignment"].get(member_id, {})
    return given


def _partitions(partitions: Fields) -> str:
    """Return a line a topic, topics sorted, with a space after each comma: there lines break."""
    lines = [
        partitions_cell({topic: sorted(partitions[topic])}).replace(",", ", ")
        for topic in sorted(partitions)
        if partitions[topic]
    ]
    return "\n".join(lines) or NONE


def _show_figures(columns: Sequence[Fields]) -> None:
    table = Table.of("", *(shown_name(column["name"]) for column in columns))
    gaps: list[Fields] = [column["gaps"] or {} for column in columns]
    by_weight = (name for name in FIGURES_BY_WEIGHT if any(name in each for each in gaps))
    for figure in (*FIGURES, *by_weight):
        table.add_row(figure, *(cell(each.get(figure)) for each in gaps))
    table.add_row("violations", *(str(column["violations"]) for column in columns))
    console_of().print(table)
