"""`simulate --sweep`: execution models of a coordinator under many loads, a line a point.

What the option needs is imported when it is used.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import click

from assignors.cli.commands.simulating.option_group import option_group
from assignors.cli.outputs.cells import cell, clean, console_of
from assignors.cli.outputs.fitted_table import FittedTable
from assignors.cli.outputs.forms import Form, write
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

sweep_options = option_group(
    click.option(
        "--sweep",
        type=click.Path(dir_okay=False, allow_dash=True),
        metavar="FILE",
        help="Measure execution models of a coordinator under many loads: a JSON file with the"
        " values to sweep, - for standard input. A line for each point; --processes and --engine"
        " apply to it.",
    ),
)


def simulate_sweep(path: str, *, engine: str, processes: int | None, form: Form) -> int:
    """Measure the points of a sweep and write a line for each; return the exit code."""
    sweep = _read(path)
    from assignors.cli.inputs.scenarios import row_documents  # noqa: PLC0415 - of this option
    from assignors.cli.outputs.progress import with_progress  # noqa: PLC0415 - as above
    from assignors.simulation.assumptions import of_sweep  # noqa: PLC0415 - as above
    from assignors.simulation.processes import usable_processors  # noqa: PLC0415 - as above

    rows: Iterator[Mapping[str, Any]]
    if engine == "spark":
        from assignors.cli.commands.simulating.spark import (  # noqa: PLC0415 - needs an extra
            sweep_with_spark,
        )

        rows = sweep_with_spark(sweep)
    else:
        from assignors.simulation.timed.sweeps.rows import measured_rows  # noqa: PLC0415 - as above

        together = processes or (usable_processors() if sweep.count >= MANY else 1)
        rows = measured_rows(sweep.points(), processes=together)
    counted = with_progress(rows, sweep.count, "points")
    return write(
        row_documents(counted),
        form,
        lambda found: show_sweep(found, sweep),
        assumptions=of_sweep(sweep),
    )


MANY = 100
"""Points from which on each processor gets a process: fewer take seconds."""


def show_sweep(documents: Iterable[Document], sweep: Sweep) -> None:
    """Draw a row for each point: what is swept, and the figures that say most."""
    console = console_of()
    swept = [name for name in sweep.over if name not in {"model", "per_second"}]
    heads = [text for text, _ in SHOWN.values()]
    table = FittedTable("model", *swept, "sustained", *heads, right=(*swept, *heads))
    for document in documents:
        if document["error"] is not None:
            error: Any = document["error"]
            console.print(clean(f"{document.get('model')}: {error['text']}"), style="red")
            continue
        figures = [f"{document[name]:,.{digits}f}" for name, (_, digits) in SHOWN.items()]
        keeps_up = "yes" if document["is_sustained"] else "no"
        given = [cell(document.get(name)) for name in swept]
        table.add_row(cell(document["model"]), *given, keeps_up, *figures)
    console.print(table)


def _read(path: str) -> Sweep:
    """Return the sweep of a file. Raises `click.UsageError` for one that cannot be read."""
    from assignors.cli.inputs.option_files.json_file import (  # noqa: PLC0415 - of this option
        read_json_file,
    )
    from assignors.simulation.timed.sweeps.sweep import (  # noqa: PLC0415 - as above
        sweep_from_document,
    )

    return read_json_file("--sweep", path, sweep_from_document)
