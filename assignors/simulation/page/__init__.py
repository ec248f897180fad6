"""One HTML page with the runs of a simulated scenario, protocols side by side.

It is drawn as the report of a replay is: the same charts, tables, styles and script, and the same
content security policy. What the charts show is the ledger of the run: who really consumed what.

* `life`: a run as the rows that the charts are made from
* `figures`: the tables that compare protocols
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from assignors.replay.report import content_security_policy
from assignors.replay.report.formats import count
from assignors.replay.report.templating import own_code, render
from assignors.replay.report.view_model import Limits
from assignors.simulation.page.figures import comparison, differences
from assignors.simulation.page.life import run_details
from assignors.simulation.timed.gallery import GALLERY
from assignors.simulation.timed.scenario import Scenario
from assignors.simulation.timed.scenario.execution import NO_MODEL
from assignors.simulation.timed.simulation import Played, simulate
from assignors.simulation.timed.tables.rows import GIVEN, identity, overridden
from assignors.simulation.timed.tables.summary import summary_rows
from assignors.simulation.timed.tables.variants import compared_by, variant_of

__all__ = ["report_page", "simulation_page"]

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


def report_page(
    scenario: Scenario,
    results: Sequence[Mapping[str, Any]],
    *,
    own_assignors: Collection[str] = (),
    text: str = "",
) -> str:
    """Return the page of the result rows of a scenario, as `simulate --report` writes it.

    The charts are those of the first run of each variant: these runs are played once more, as only
    they keep their history. `text` follows what a named scenario shows. Needs Jinja2.
    """
    first: dict[str, Mapping[str, Any]] = {}
    for row in results:
        if row["error"] is None:
            first.setdefault(variant_of(row), row)
    known = GALLERY.get(scenario.name)
    return simulation_page(
        (_played(scenario, row, own_assignors) for row in first.values()),
        results,
        title=scenario.name or "A scenario on a clock",
        text=text if known is None else f"{known.text}\n\n{text}",
    )


def _played(
    scenario: Scenario, row: Mapping[str, Any], own_assignors: Collection[str]
) -> tuple[Scenario, Played]:
    given = {name: row[name] for name in GIVEN if name != "scenario"}
    given["coordinator_model"] = given["coordinator_model"] or NO_MODEL
    played = overridden(scenario, given, own_assignors)
    return played, simulate(played, keeps_history=True)


def _error(row: Mapping[str, Any]) -> str:
    return f"{variant_of(row)}, seed {row.get('seed')}: {row['error']}"
