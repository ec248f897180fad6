"""One HTML page with the runs of a simulated scenario, protocols side by side.

It is drawn as the report of a replay is: the same charts, tables, styles and script, and the same
content security policy. What the charts show is the ledger of the run: who really consumed what.

* `life`: a run as the rows that the charts are made from
* `figures`: the tables that compare protocols
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assignors.replay.report import content_security_policy
from assignors.replay.report.formats import count
from assignors.replay.report.templating import own_code, render
from assignors.replay.report.view_model import Limits
from assignors.simulation.page.figures import comparison, differences
from assignors.simulation.page.life import run_details
from assignors.simulation.timed.scenario import Scenario
from assignors.simulation.timed.simulation import Played
from assignors.simulation.timed.tables.labels import compared_by, variant_of
from assignors.simulation.timed.tables.rows import identity
from assignors.simulation.timed.tables.summary import summary_rows

__all__ = ["simulation_page"]

LIMITS = Limits()


def simulation_page(
    runs: Iterable[tuple[Scenario, Played]],
    results: Sequence[Mapping[str, Any]],
    *,
    title: str,
    text: str = "",
    limits: Limits = LIMITS,
) -> str:
    """Return the page: HTML text, to be written in UTF-8.

    `runs` are the runs that get a chart, each with its history kept: one a protocol is usual.
    `results` are the result rows of all runs (`tables.rows.result_rows`); of several seeds the
    page shows medians, and differences from the variant of the first row. `text` is what the
    scenario shows, in paragraphs. Needs Jinja2 (the extra `replay`). Cost: linear in the intervals
    of the runs.
    """
    style, script = own_code("page.css"), own_code("page.js")
    columns = compared_by(results)
    compared = [{**row, "variant": variant_of(row, columns)} for row in results]
    order = [row["variant"] for row in compared]
    summary = list(summary_rows(compared, by=(), between="variant", order=order))
    seeds = {row["seed"] for row in results if row["error"] is None}
    html = render(
        "simulation.html",
        title=title,
        policy=content_security_policy(style, script),
        style=style,
        script=script,
        text=[" ".join(paragraph.split()) for paragraph in text.split("\n\n")],
        seed_count=count(len(seeds), "seed"),
        comparison=comparison(summary),
        differences=differences(summary) if len(seeds) > 1 else None,
        errors=[_error(row) for row in results if row["error"]],
        lives=[
            (
                variant_of(identity(scenario), columns),
                run_details(scenario, played, limits, anchor=f"run-{number}"),
            )
            for number, (scenario, played) in enumerate(runs, start=1)
        ],
    )
    return f"{html}\n"


def _error(row: Mapping[str, Any]) -> str:
    return f"{variant_of(row)}, seed {row.get('seed')}: {row['error']}"
