"""Writes docs/gallery.md: the simulator's named scenarios, and what each shows.

    python -m tests.docs.gallery

Texts come from the scenarios themselves; the charts are those of the report, for some of them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import groupby
from pathlib import Path

from assignors.replay.report.view_model import Limits
from assignors.simulation.page import simulation_page
from assignors.simulation.timed.gallery import GALLERY, named
from assignors.simulation.timed.scenario import GroupProtocol
from assignors.simulation.timed.simulation import simulate
from assignors.simulation.timed.tables.rows import result_row
from tests.docs.incident_picture import drawn
from tests.docs.source import DOCS, table

PAGE = DOCS / "gallery.md"
CHARTS = DOCS / "gallery"

HEAD = """# Gallery of the simulator

{count} named scenarios on a clock. Play one under its protocols, and look at it:

    kafka-assignors simulate crash --protocol classic,consumer --report crash.html

The report says why its figures are what they are; `--show` prints a scenario as JSON, to change it
into your own. Most have ten members that commit every five seconds, and a topic of a hundred
partitions. The test suite plays each one under several seeds and compares it with
[its figures](../assignors/simulation/timed/gallery/expected.json). Read on:
[groups on a clock](simulator.md), [every field](simulator-reference.md).
"""
DRAWN: tuple[tuple[str, GroupProtocol], ...] = (
    ("rolling-restart", GroupProtocol.CONSUMER),
    ("scale-out", GroupProtocol.CLASSIC),
    ("crash", GroupProtocol.CLASSIC),
    ("frozen-member", GroupProtocol.CLASSIC),
)
"""Scenarios that have a chart, and under which protocol."""
ROWS = 20
"""Partitions of a chart."""


CHART_TEXT = """A row is a partition, a number with its colour a member. Where a row is empty nobody
consumes the partition; a red outline marks members that consume it at the same time. The charts
show the {rows} partitions that moved most.
"""


def page() -> str:
    """Return the page."""
    lines = [HEAD.format(count=len(GALLERY))]
    for chapter, scenarios in groupby(GALLERY.values(), lambda one: one.chapter):
        lines.append(f"## {chapter}\n")
        rows = [(f"`{one.name}`", one.shows, ", ".join(one.expected)) for one in scenarios]
        lines += table(("scenario", "what happens", "protocols"), rows)
    lines += ["## Four of them drawn\n", CHART_TEXT.format(rows=ROWS)]
    for name, protocol in DRAWN:
        title = f"{name}: who consumed which partition, under {protocol.value}"
        lines += [f"{GALLERY[name].why}\n", f"![{title}](gallery/{_file(name).name})\n"]
    return "\n".join(lines)


def chart(name: str, protocol: GroupProtocol) -> str:
    """Return who consumed which partition in a scenario, as SVG."""
    scenario = named(name, protocol=protocol)
    run = (scenario, simulate(scenario, keeps_history=True))
    limits = Limits(partitions=ROWS)
    html = simulation_page([run], [result_row(scenario)], title=name, limits=limits)
    return drawn(html, f"{name}: who consumed which partition, under {protocol.value}")


def _file(name: str) -> Path:
    return CHARTS / f"{name}.svg"


FILES: dict[Path, Callable[[], str]] = {
    PAGE: page,
    **{_file(name): partial(chart, name, protocol) for name, protocol in DRAWN},
}
"""File -> its text."""

if __name__ == "__main__":
    for path, text in FILES.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(), encoding="utf-8")
