"""Runs on a clock as tables: figures by protocol, intervals, and the list of named scenarios."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

from assignors.cli.outputs.cells import Fields, cell, clean, console_of
from assignors.cli.outputs.shown_names import shown_name
from assignors.cli.outputs.table import Table
from assignors.cli.outputs.tables import print_failed, print_wrapped
from assignors.simulation.timed.results import (
    EXPLAINING,
    FIGURES,
    difference_text,
    figure_of,
    figure_text,
    labels_of,
)
from assignors.simulation.timed.tables.summary import summary_rows
from assignors.simulation.timed.tables.variants import VARIANT, compared_by, variant_of

ON_SCREEN = [
    name for name, each in FIGURES.items() if each.label and each.feature not in EXPLAINING
]


def show_results(documents: Iterable[Fields]) -> None:
    """Draw a column for each protocol and model: every figure, of several seeds its median.

    Of several seeds and columns also the differences from the first column.
    """
    played = [each for each in documents if each["error"] is None or _show_error(each)]
    if not played:
        return
    columns = compared_by(played)
    found: dict[str, list[Fields]] = {}
    for document in played:
        found.setdefault(_variant(document, columns), []).append(document)
    has_seeds = any(len(rows) > 1 for rows in found.values())
    table = Table.of("median over the seeds" if has_seeds else "figure", *found, right=[*found])
    shown = labels_of((name, figure_of(row, name)) for row in played for name in ON_SCREEN)
    for figure, label in shown.items():
        table.add_row(label, *(_median(figure, rows) for rows in found.values()))
    settled = [f"{sum(r['is_settled'] for r in rows)} of {len(rows)}" for rows in found.values()]
    table.add_row("settled at the end", *settled)
    console = console_of()
    console.print(table)
    console.print(f"-o jsonl and --report also have: {', '.join(EXPLAINING)}", style="dim")
    for name, rows in found.items():
        first = next((row["first_violation"] for row in rows if row["first_violation"]), None)
        if first is not None:
            print_wrapped(console, clean(f"first violation, {name}: {first}"), "red", indent="  ")
    if len(found) > 1 and has_seeds:
        _show_differences(found, shown)


def _show_differences(found: Mapping[str, list[Fields]], shown: Mapping[str, str]) -> None:
    """Draw how far each column is from the first one, seed by seed, where any is.

    Runs of one seed have the same delays and polls, so a difference says more than two medians.
    """
    baseline, *others = found
    rows = ({**row, "variant": name} for name, listed in found.items() for row in listed)
    compared: dict[str, dict[str, Mapping[str, Any]]] = {figure: {} for figure in shown}
    for each in summary_rows(rows, by=(), between="variant", figures=[*shown], order=found):
        compared[each["figure"]][each["variant"]] = each
    title = f"mean difference from {baseline} over the same seeds, and its 95 % interval"
    table = Table.of("figure", *others, right=others, title=title)
    for figure, label in shown.items():
        summaries = [compared[figure][name] for name in others]
        if any(each["difference"] for each in summaries):
            table.add_row(label, *(difference_text(figure, each) or "-" for each in summaries))
    console_of().print(table)


def _variant(row: Fields, columns: Iterable[str] = VARIANT) -> str:
    """Return the label of a run, with its assignor under the name that was typed."""
    assignor: Any = row.get("assignor")
    return variant_of({**row, "assignor": assignor and shown_name(assignor)}, columns)


def _show_error(document: Fields) -> bool:
    """Print why a run was not played; return `False`, as it has no figures."""
    print_failed(console_of(), document, f"{_variant(document)}, seed {document.get('seed')}")
    return False


def show_intervals(documents: Iterable[Fields]) -> None:
    """Draw a row for each interval in which a member consumed a partition."""
    columns = ("protocol", "seed", "topic", "partition", "member", "start_ms", "end_ms")
    table = Table.of(*columns, "ended_by", right=("seed", "partition", "start_ms", "end_ms"))
    for document in documents:
        if document["error"] is not None:
            _show_error(document)
            continue
        times = [_time(document[name]) for name in ("start_ms", "end_ms")]
        names = [cell(document[name]) for name in columns[:5]]
        table.add_row(*names, *times, cell(document["ended_by"]))
    console_of().print(table)


def show_listed(documents: Iterable[Fields]) -> None:
    """Draw a row for each scenario of the gallery."""
    table = Table.of("NAME", "PROTOCOLS", "WHAT IT SHOWS")
    for document in documents:
        protocols: Any = document["protocols"]
        text = str(document["text"]).split("\n\n")
        table.add_row(str(document["scenario"]), "\n".join(protocols), " ".join(text[0].split()))
    console_of().print(table)


def _median(figure: str, rows: list[Fields]) -> str:
    values = [value for row in rows if (value := figure_of(row, figure)) is not None]
    return figure_text(figure, median(values) if values else None)


def _time(value: Any) -> str:  # noqa: ANN401 - a number or none
    return cell(None) if value is None else f"{value:,.1f}"
