"""Writes docs/gallery.md: the simulator's named scenarios, what each shows, and its figures.

    python -m tests.docs.gallery

Texts and figures come from the scenarios themselves, whose figures the suite holds every run to;
the charts are those of the report, for some of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path

from assignors.replay.report.view_model import Limits
from assignors.replay.simulated import simulation_page
from assignors.simulation.timed.gallery import GALLERY, NamedScenario, named
from assignors.simulation.timed.scenario import GroupProtocol
from assignors.simulation.timed.simulation import simulate
from assignors.simulation.timed.tables.labels import LABELS, figure_text
from assignors.simulation.timed.tables.rows import result_row
from tests.docs.incident_picture import drawn
from tests.docs.source import DOCS, table

PAGE = DOCS / "gallery.md"
CHARTS = DOCS / "gallery"

HEAD = """# Gallery of the simulator

What happens to a group when ...: {count} named scenarios on a clock, each with what it shows and
the figures that come out, whatever the seed: one number is the same for every seed, `601 to 1,800`
are bounds for all of them. Play one, and look at it:

    kafka-assignors simulate crash --protocol classic --report crash.html

`--show` writes a scenario as JSON, to change it into your own. [Groups on a clock](simulator.md)
says what is simulated and how far to trust it, [the reference](simulator-reference.md) has every
field. The test suite plays all of them and holds them to these figures. Most begin with ten
members on a topic of a hundred partitions. The scenarios are JSON files in the package, in
`assignors/simulation/timed/gallery/scenarios`. `python -m tests.docs.gallery` writes this page.

In a chart a row is a partition, and a number with its colour is a member. Where a row is empty
nobody consumes the partition; a red outline marks members that consume it at the same time. Of the
hundred partitions those are drawn that moved most.
"""
DRAWN: tuple[tuple[str, GroupProtocol], ...] = (
    ("rolling-restart", GroupProtocol.CONSUMER),
    ("scale-out", GroupProtocol.CLASSIC),
    ("crash", GroupProtocol.CLASSIC),
    ("frozen-member", GroupProtocol.CLASSIC),
)
"""Scenarios that have a chart, and under which protocol."""
ALONE = {
    "gaps": "times in which a partition had no consumer",
    "is_settled": "settled at the end",
    "lag_records": "records that are not committed at the end",
    "longest_gap_ms": "longest time of a partition without a consumer, s",
    "moves_beyond_optimum": "of these, more than the best balance needs",
    "unowned": "partitions without a consumer at the end",
}
"""Labels of figures that have none, or one that needs the rows above it."""
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
    protocols = list(one.expected)
    figures = dict.fromkeys(figure for each in one.expected.values() for figure in each)
    head = ("figure", *(f"`{protocol.value}`" for protocol in protocols))
    rows = [
        (_label(figure), *(_value(figure, one, protocol) for protocol in protocols))
        for figure in figures
    ]
    if rows:
        yield from table(head, rows)
    else:
        yield f"Protocols: {', '.join(head[1:])}.\n"


def _label(figure: str) -> str:
    """Return a figure's label, times in seconds."""
    return ALONE.get(figure) or LABELS[figure]


def _value(figure: str, one: NamedScenario, protocol: GroupProtocol) -> str:
    if figure not in one.expected[protocol]:
        return ""
    value = one.expected[protocol][figure]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return " to ".join(figure_text(figure, bound) for bound in value)
    return figure_text(figure, value) if isinstance(value, int | float) else str(value)


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
