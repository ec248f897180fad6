"""`traffic`: plays a group whose partitions are not equal, and measures loads and lags."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import click

from assignors.cli.inputs.assignor_names import portable_names
from assignors.cli.inputs.file_values import read_json_file
from assignors.cli.inputs.run_options import (
    assignors_option,
    processes_option,
    refuse,
    seed_option,
    seed_range,
    seeds_option,
)
from assignors.cli.inputs.scenarios import row_documents
from assignors.cli.outputs.cells import cell, clean, console_of
from assignors.cli.outputs.forms import Form, output_option, write
from assignors.cli.outputs.progress import with_progress
from assignors.cli.outputs.table import Table
from assignors.cli.outputs.tables import figure_cells, print_failed
from assignors.documents.values import Document
from assignors.names.assignor_names import WITH_TRAFFIC
from assignors.names.nearest import question

SHOWN = {
    "moves_per_hour": ("moves/h", 1),
    "rebalances_per_hour": ("rebalances/h", 1),
    "use_over_bound_mean": ("use/bound", 3),
    "lag_p99_s": ("lag p99 s", 1),
}
"""Column of a run -> its heading on a terminal, and digits behind the point."""


@click.command()
@click.argument("scenario")
@assignors_option
@seed_option
@seeds_option(1)
@processes_option
@click.option("--show", "shows", is_flag=True, help="Print the scenario as JSON and run nothing.")
@output_option
@click.pass_context
def traffic(
    context: click.Context,
    *,
    scenario: str,
    assignors: tuple[tuple[str, ...], ...],
    seed: int,
    seeds: int,
    processes: int | None,
    shows: bool,
    form: Form,
) -> None:
    """Play a group with uneven partitions; measure loads, moves and lag.

    SCENARIO is noisy, catch-up, steady or day, or a JSON file, - for standard input. Records
    arrive at different rates and members process them as fast as they can; what is not processed
    is lag. Writes a line for each assignor and seed.

    In Python: assignors.simulation.simulate_traffic.
    """
    from assignors.simulation.assumptions import of_traffic  # noqa: PLC0415 - not for --help
    from assignors.simulation.traffic.rows import scenario_of, traffic_rows  # noqa: PLC0415 - as above
    from assignors.simulation.traffic.scenario import document_from_traffic  # noqa: PLC0415 - as above

    given = _read(scenario)
    found = scenario_of({"scenario": given})
    if shows:
        refuse(context, ("assignors", "seed", "seeds", "processes", "form"), "is not for --show")
        click.echo(json.dumps(document_from_traffic(found), indent=1))
        return
    names = portable_names(assignors) or WITH_TRAFFIC
    numbers = seed_range(seed, seeds)
    runs = ({"scenario": given, "seed": number} for number in numbers)
    rows = traffic_rows(runs, assignors=names, processes=processes)
    counted = with_progress(rows, seeds * len(names), "runs")
    assumed = of_traffic(found, numbers)
    context.exit(write(row_documents(counted), form, show_traffic, assumptions=assumed))


def _read(given: str) -> object:
    """Return the name of a scenario, or the document of one that can be played.

    Raises `click.UsageError` for an unknown name, and for a file that cannot be read or describes
    no scenario.
    """
    from assignors.simulation.traffic.scenario import traffic_from_document  # noqa: PLC0415 - as above
    from assignors.simulation.traffic.worlds import WORLDS  # noqa: PLC0415 - as above

    def checked(document: object) -> object:
        traffic_from_document(document)
        return document

    if given in WORLDS:
        return given
    if given != "-" and not Path(given).is_file():
        words = question(given, WORLDS) or f"; known: {', '.join(WORLDS)}"
        raise click.UsageError(f"no file {given!r}, and no scenario{words}")
    return read_json_file(given, checked)


def show_traffic(documents: Iterable[Document]) -> None:
    """Draw a row for each run, with the figures that say most."""
    console = console_of()
    heads = [text for text, _ in SHOWN.values()]
    table = Table.of("assignor", "seed", *heads, right=("seed", *heads))
    broken: dict[str, None] = {}
    for document in documents:
        if document["error"] is not None:
            print_failed(console, document, document.get("assignor"))
            continue
        named = (cell(document[name]) for name in ("assignor", "seed"))
        table.add_row(*named, *figure_cells(document, SHOWN))
        if document["first_violation"] is not None:
            broken[f"{document['assignor']} breaks {document['first_violation']}"] = None
    console.print(table)
    for words in broken:
        console.print(clean(words), style="red")
