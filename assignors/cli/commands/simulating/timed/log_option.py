"""`simulate --scenario --log`: writes the run as records of `__consumer_offsets`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assignors.cli.inputs.typed.extras import require_package
from assignors.cli.inputs.typed.new_file import NO_DASH
from assignors.cli.outputs.progress import with_progress
from assignors.documents.values import SCHEMA, Document
from assignors.simulation.timed.offsets_topic import log_entries
from assignors.simulation.timed.scenario import GroupProtocol
from assignors.simulation.timed.tables.rows import row_of, simulate_with_all_figures

if TYPE_CHECKING:
    from assignors.cli.commands.simulating.timed.request import TimedRequest

STARTS_AT_MS = 1_767_225_600_000
"""When a run begins, in milliseconds since 1970: the first of January 2026."""


def log_documents(request: TimedRequest, path: str) -> Iterator[Document]:
    """Write the one run that is asked for; yield its result.

    Raises `click.UsageError` for more runs than one, and for what cannot be written.
    """
    if request.count != 1 or request.engine != "python":
        raise click.UsageError("--log writes one run: one seed, one protocol, one model, no Spark")
    from assignors.replay.sources import SourceError, is_json_lines  # noqa: PLC0415 - as above
    from assignors.replay.sources.writing import write_records  # noqa: PLC0415 - as above
    from assignors.simulation.serving import raws_of  # noqa: PLC0415 - only who asks pays for it

    (scenario,) = request.scenarios()
    if scenario.protocol is GroupProtocol.PUSH:
        raise click.UsageError("--log: Kafka has no records for groups of the push protocol")
    if path == "-":
        raise click.UsageError(f"--log: {NO_DASH}")
    place = Path(path)
    is_file = is_json_lines(place) or place.suffix == ".parquet"
    if place.suffix and not (is_file or place.is_dir() or path.endswith("/")):
        words = "ends neither in .jsonl nor in .parquet; a folder ends in /, or has no ending"
        raise click.UsageError(f"--log: {path}: {words}")
    if place.suffix == ".parquet":
        require_package("pyarrow", "--log", "replay")
    played = simulate_with_all_figures(scenario)
    group = scenario.name or "simulated"
    batches = log_entries(played.records, group=group, starts_at_ms=STARTS_AT_MS)
    try:
        write_records(place, map(raws_of, with_progress(batches, None, "batches")))
    except (SourceError, OSError) as error:
        raise click.UsageError(f"--log: {error}") from None
    yield {"schema": SCHEMA, **row_of(scenario, played.result)}
