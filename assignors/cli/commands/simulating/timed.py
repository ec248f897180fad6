"""`simulate --scenario`: plays a scenario on a clock, for some seeds and protocols."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from statistics import median
from typing import Any

import click

from assignors.cli.inputs.json_text import parse_json
from assignors.cli.outputs.cells import console_of, table_of
from assignors.documents.answers import SCHEMA
from assignors.documents.values import Document, DocumentError
from assignors.simulation.timed.gallery import GALLERY, named
from assignors.simulation.timed.scenario import GroupProtocol, Scenario
from assignors.simulation.timed.scenario_document import scenario_from_document, scenario_hash
from assignors.simulation.timed.simulation import simulate

SECONDS = 1000.0
FIGURES: dict[str, str] = {
    "rounds": "rounds or epochs",
    "moves": "partitions moved",
    "unavailable_partition_ms": "partition-seconds without a consumer",
    "longest_gap_ms": "longest of them, s",
    "round_ms_median": "rebalance, median, s",
    "round_ms_max": "rebalance, longest, s",
    "double_partition_ms": "partition-seconds with two consumers",
    "unowned": "without a consumer at the end",
    "events": "events",
}
"""Figure -> how the table names it."""


def chosen(text: str) -> Scenario:
    """Return the scenario of this name, or the one that a file describes.

    Raises `click.UsageError` for a name that is not in the gallery and no file, and for a file
    that cannot be read or describes none.
    """
    if text in GALLERY:
        return named(text)
    path = Path(text)
    if not path.is_file():
        known = ", ".join(GALLERY)
        raise click.UsageError(f"--scenario: no file {text!r}, and no scenario; known: {known}")
    try:
        return scenario_from_document(parse_json(path.read_bytes()))
    except (DocumentError, OSError) as error:
        raise click.UsageError(f"--scenario: {text}: {error}") from None


def timed_documents(
    scenario: Scenario, *, first_seed: int, seeds: int, protocols: Iterable[str]
) -> Iterator[Document]:
    """Yield the result of each protocol and seed; without protocols, the scenario's own."""
    for name in tuple(protocols) or (scenario.protocol.value,):
        for seed in range(first_seed, first_seed + seeds):
            run = replace(scenario, seed=seed, protocol=GroupProtocol(name))
            yield {
                "schema": SCHEMA,
                **asdict(simulate(run).result),
                "protocol": name,
                "scenario_hash": scenario_hash(run),
                "error": None,
            }


def show_timed(documents: Iterable[Document]) -> None:
    """Draw a column for each protocol: the median of every figure over the seeds."""
    found: dict[str, list[dict[str, Any]]] = {}
    for document in documents:
        found.setdefault(str(document["protocol"]), []).append(document)
    table = table_of("median over the seeds", *found, right=list(found))
    for figure, label in FIGURES.items():
        cells = [_cell(figure, median(row[figure] for row in rows)) for rows in found.values()]
        table.add_row(label, *cells)
    settled = [f"{sum(r['is_settled'] for r in rows)} of {len(rows)}" for rows in found.values()]
    table.add_row("settled at the end", *settled)
    console_of().print(table)


def _cell(figure: str, value: float) -> str:
    return f"{value / SECONDS:,.2f}" if "_ms" in figure else f"{value:,.0f}"
