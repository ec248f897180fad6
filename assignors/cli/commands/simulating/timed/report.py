"""`simulate --scenario --report`: the runs as one HTML page, protocols side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from assignors.cli.commands.simulating.timed.request import TimedRequest
from assignors.cli.inputs.typed.extras import needed_by
from assignors.documents.values import Document
from assignors.simulation.timed.gallery import GALLERY
from assignors.simulation.timed.scenario import Scenario
from assignors.simulation.timed.scenario.execution import NO_MODEL
from assignors.simulation.timed.simulation import Played, simulate
from assignors.simulation.timed.tables.labels import variant_of
from assignors.simulation.timed.tables.rows import GIVEN, overridden


def with_report(
    documents: Iterable[Document], request: TimedRequest, path: str, *, assumptions: str
) -> Iterator[Document]:
    """Yield the results of the runs, and write the page when all of them are there.

    The charts are those of the first seed that runs under each protocol: these runs are played
    once more, as only they keep their history. Raises `click.UsageError` where Jinja2 is missing
    or the file cannot be written.
    """
    with needed_by("--report", "replay"):
        from assignors.simulation.page import simulation_page  # noqa: PLC0415 - an extra
    results: list[Document] = []
    for document in documents:
        results.append(document)
        yield document
    name = request.scenario.name
    known = GALLERY.get(name)
    page = simulation_page(
        _runs(request, results),
        [{**row, "error": _text(row["error"])} for row in results],
        title=name or "A scenario on a clock",
        text=assumptions if known is None else f"{known.text}\n\n{assumptions}",
    )
    try:
        Path(path).write_text(page, encoding="utf-8")
    except OSError as error:
        raise click.UsageError(f"--report: {error}") from None


def _runs(request: TimedRequest, results: Iterable[Document]) -> Iterator[tuple[Scenario, Played]]:
    """Yield the first run without an error of each variant, with its history."""
    first: dict[str, Document] = {}
    for row in results:
        if row["error"] is None:
            first.setdefault(variant_of(row), row)
    for row in first.values():
        given = {name: row[name] for name in GIVEN if name != "scenario"}
        given["coordinator_model"] = given["coordinator_model"] or NO_MODEL
        scenario = overridden(request.scenario, given, request.own_assignors)
        yield scenario, simulate(scenario, keeps_history=True)


def _text(error: Any) -> str | None:  # noqa: ANN401 - an error document or none
    return None if error is None else str(error["text"])
