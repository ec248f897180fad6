"""Writes docs/gallery.md: the simulator's named scenarios, and what each shows.

    python -m tests.docs.gallery

Texts come from the scenarios themselves; the charts are those of the report, for some of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path

from assignors.replay.report.view_model import Limits
from assignors.simulation.page import simulation_page
from assignors.simulation.timed.gallery import GALLERY, NamedScenario, named
from assignors.simulation.timed.scenario import GroupProtocol
from assignors.simulation.timed.simulation import simulate
from assignors.simulation.timed.tables.rows import result_row
from tests.docs.incident_picture import drawn
from tests.docs.source import DOCS

PAGE = DOCS / "gallery.md"
CHARTS = DOCS / "gallery"

HEAD = """# Gallery of the simulator

{count} named scenarios on a clock, each with what it shows. Play one, and look at it:

    kafka-assignors simulate crash --protocol classic --report crash.html

`--show` writes a scenario as JSON, to change it into your own. [Groups on a clock](simulator.md)
says what is simulated and how far to trust it, [the reference](simulator-reference.md) has every
field. The test suite plays each scenario under several seeds and holds it to
[its figures](../assignors/simulation/timed/gallery/expected.json). Most begin with ten members on a
topic of a hundred partitions.

In a chart a row is a partition, and a number with its colour is a member. Where a row is empty
nobody consumes the partition; a red outline marks members that consume it at the same time. Of the
hundred partitions, a chart shows those that moved most.
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


def page() -> str:
    """Return the page."""
    lines = [HEAD.format(count=len(GALLERY))]
    for chapter, scenarios in groupby(GALLERY.values(), lambda one: one.chapter):
        lines.append(f"## {chapter}\n")
        for one in scenarios:
            lines += _scenario(one)
    return "\n".join(lines)


def _scenario(one: NamedScenario) -> Iterator[str]:
    yield f"### {one.name}\n"
    yield f"{one.text}\n"
    for name, protocol in DRAWN:
        if name == one.name:
            title = f"{name}: who consumed which partition, under {protocol.value}"
            yield f"![{title}](gallery/{_file(name).name})\n"
    yield f"Protocols: {', '.join(one.expected)}.\n"


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
