"""`simulate --traffic`: loads and lags of a group whose partitions are not equal, a line a run.

What the option needs is imported when it is used.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assignors.cli.commands.simulating.option_group import option_group
from assignors.cli.commands.simulating.rounds import require_seeds
from assignors.cli.outputs.cells import cell, clean, console_of
from assignors.cli.outputs.fitted_table import FittedTable
from assignors.cli.outputs.forms import Form, write
from assignors.documents.values import Document
from assignors.names.assignor_names import WITH_TRAFFIC

if TYPE_CHECKING:
    from assignors.simulation.traffic.scenario import TrafficScenario

SHOWN = {
    "moves_per_hour": ("moves/h", 1),
    "rebalances_per_hour": ("rebalances/h", 1),
    "use_over_bound_mean": ("use/bound", 3),
    "lag_p99_s": ("lag p99 s", 1),
}
"""Column of a run -> its heading on a terminal, and digits behind the point."""

traffic_options = option_group(
    click.option(
        "--traffic",
        metavar="NAME|FILE",
        help="Simulate records that arrive at different rates, members that process them, and their"
        " lag: a scenario named noisy, catch-up, steady or day, or a JSON file, - for standard"
        " input. A line for each assignor and seed; --assignor, --seed, --seeds, --processes and"
        " --engine apply to it.",
    ),
)


def simulate_traffic(
    given: str,
    *,
    shows: bool,
    names: Sequence[str],
    first_seed: int,
    seeds: int,
    engine: str,
    processes: int | None,
    form: Form,
) -> int:
    """Simulate the runs and write a line for each, or the scenario; return the exit code."""
    from assignors.cli.inputs.scenarios import row_documents  # noqa: PLC0415 - of this option
    from assignors.cli.outputs.progress import with_progress  # noqa: PLC0415 - as above
    from assignors.simulation.assumptions import of_traffic  # noqa: PLC0415 - as above
    from assignors.simulation.traffic.rows import traffic_rows  # noqa: PLC0415 - as above
    from assignors.simulation.traffic.scenario import (  # noqa: PLC0415 - as above
        document_from_traffic,
    )

    require_seeds(first_seed, seeds)
    text = _read(given)
    if shows:
        click.echo(json.dumps(document_from_traffic(_scenario(text)), indent=1))
        return 0
    chosen = tuple(names) or WITH_TRAFFIC
    rows: Iterator[Mapping[str, Any]]
    if engine == "spark":
        from assignors.cli.commands.simulating.spark import (  # noqa: PLC0415 - needs an extra
            traffic_with_spark,
        )

        rows = traffic_with_spark(text, first_seed, seeds, chosen)
    else:
        runs = ({"scenario": text, "seed": first_seed + number} for number in range(seeds))
        rows = traffic_rows(runs, assignors=chosen, processes=processes or 1)
    counted = with_progress(rows, seeds * len(chosen), "runs")
    assumed = of_traffic(_scenario(text), range(first_seed, first_seed + seeds))
    return write(row_documents(counted), form, show_traffic, assumptions=assumed)


def show_traffic(documents: Iterable[Document]) -> None:
    """Draw a row for each run, with the figures that say most."""
    console = console_of()
    heads = [text for text, _ in SHOWN.values()]
    table = FittedTable("assignor", "seed", *heads, right=("seed", *heads))
    broken: dict[str, None] = {}
    for document in documents:
        if document["error"] is not None:
            error: Any = document["error"]
            console.print(clean(f"{document.get('assignor')}: {error['text']}"), style="red")
            continue
        figures = [f"{document[name]:,.{digits}f}" for name, (_, digits) in SHOWN.items()]
        table.add_row(cell(document["assignor"]), cell(document["seed"]), *figures)
        if document["first_violation"] is not None:
            broken[f"{document['assignor']} breaks {document['first_violation']}"] = None
    console.print(table)
    for words in broken:
        console.print(clean(words), style="red")


def _read(given: str) -> str:
    """Return the scenario as a name, or as JSON that can be simulated.

    Raises `click.UsageError` for a name that there is not, and for a file that cannot be read or
    describes no scenario.
    """
    from assignors.cli.inputs.option_files.json_file import (  # noqa: PLC0415 - of this option
        read_json_file,
    )
    from assignors.names.nearest import question  # noqa: PLC0415 - as above
    from assignors.simulation.traffic.scenario import traffic_from_document  # noqa: PLC0415 - as above
    from assignors.simulation.traffic.worlds import WORLDS  # noqa: PLC0415 - as above

    if given in WORLDS:
        return given
    if given != "-" and not Path(given).is_file():
        words = question(given, WORLDS) or f"; known: {', '.join(WORLDS)}"
        raise click.UsageError(f"--traffic: no file {given!r}, and no scenario{words}")

    def text(document: object) -> str:
        traffic_from_document(document)
        return json.dumps(document)

    return read_json_file("--traffic", given, text)


def _scenario(text: str) -> TrafficScenario:
    """Return a scenario that `_read` has read."""
    from assignors.simulation.traffic.rows import scenario_of  # noqa: PLC0415 - of this option

    return scenario_of({"scenario": text})
