"""`sweep`: measures execution models of a coordinator under many loads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from assignors.cli.inputs.file_values import read_json_file
from assignors.cli.inputs.run_options import processes_option
from assignors.cli.inputs.scenarios import row_documents
from assignors.cli.outputs.cells import cell, console_of
from assignors.cli.outputs.forms import Form, output_option, write
from assignors.cli.outputs.progress import with_progress
from assignors.cli.outputs.table import Table
from assignors.cli.outputs.tables import figure_cells, print_failed
from assignors.documents.values import Document

if TYPE_CHECKING:
    from assignors.simulation.timed.sweeps.sweep import Sweep

SHOWN = {
    "per_second": ("asked", 0),
    "throughput_per_second": ("handled", 0),
    "p50_ms": ("p50 ms", 2),
    "p99_ms": ("p99 ms", 2),
    "queued_ms": ("queued", 2),
    "lingered_ms": ("linger", 2),
    "parked_ms": ("parked", 2),
    "held_max": ("held", 0),
}
"""Column of a point -> its heading on a terminal, and digits behind the point."""


@click.command()
@click.argument("file", type=click.Path(dir_okay=False, allow_dash=True))
@processes_option
@output_option
@click.pass_context
def sweep(context: click.Context, *, file: str, processes: int | None, form: Form) -> None:
    """Measure execution models of a coordinator under many loads.

    FILE is a JSON document with the values to sweep, - for standard input. Writes a line for each
    combination of them. In Python: assignors.simulation.simulate_coordinators.
    """
    from assignors.simulation.assumptions import of_sweep  # noqa: PLC0415 - not for --help
    from assignors.simulation.timed.sweeps.rows import measured_rows  # noqa: PLC0415 - as above
    from assignors.simulation.timed.sweeps.sweep import sweep_from_document  # noqa: PLC0415 - as above

    found = read_json_file(file, sweep_from_document)
    rows = measured_rows(found.points(), processes=processes)
    documents = row_documents(with_progress(rows, found.count, "points"))
    context.exit(
        write(documents, form, lambda rows: show_sweep(rows, found), assumptions=of_sweep(found))
    )


def show_sweep(documents: Iterable[Document], sweep: Sweep) -> None:
    """Draw a row for each point: what is swept, and the figures that say most."""
    console = console_of()
    swept = [name for name in sweep.over if name not in {"model", "per_second"}]
    heads = [text for text, _ in SHOWN.values()]
    table = Table.of("model", *swept, "sustained", *heads, right=(*swept, *heads))
    for document in documents:
        if document["error"] is not None:
            print_failed(console, document, document.get("model"))
            continue
        keeps_up = "yes" if document["is_sustained"] else "no"
        given = [cell(document.get(name)) for name in swept]
        table.add_row(cell(document["model"]), *given, keeps_up, *figure_cells(document, SHOWN))
    console.print(table)
