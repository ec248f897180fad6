"""Writes docs/gallery.md: the simulator's named scenarios, what each shows, and its figures.

    python -m tests.docs.gallery

Texts and figures come from the scenarios themselves, whose figures the suite holds every run to;
the charts are those of the report, for some of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from inspect import getdoc
from pathlib import Path

from assignors.replay.report.view_model import Limits
from assignors.replay.simulated import simulation_page
from assignors.simulation.timed import gallery
from assignors.simulation.timed.gallery import GALLERY, named
from assignors.simulation.timed.gallery.story import Figures, Story
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

    kafka-assignors simulate --scenario crash --protocol classic --report crash.html

`--show` writes a scenario as JSON, to change it into your own. [Groups on a clock](simulator.md)
says what is simulated and how far to trust it, [the reference](simulator-reference.md) has every
field. The test suite plays all of them and holds them to these figures. Most begin with ten
members on a topic of a hundred partitions. This page is written by `python -m tests.docs.gallery`,
from the scenarios.

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
CHAPTERS = (
    gallery.restarts,
    gallery.changes,
    gallery.failures,
    gallery.failovers,
    gallery.rounds,
    gallery.zombies,
    gallery.outages,
    gallery.migrations,
    gallery.clients,
    gallery.threads,
    gallery.pushing,
    gallery.execution,
)


def page() -> str:
    """Return the page."""
    shown = [name for chapter in CHAPTERS for name in chapter.STORIES]
    assert shown == [*GALLERY], "a file of scenarios is missing here"
    lines = [HEAD.format(count=len(GALLERY))]
    for chapter in CHAPTERS:
        lines.append(f"## {(getdoc(chapter) or '').splitlines()[0].rstrip('.')}\n")
        for name, story in chapter.STORIES.items():
            lines += _scenario(name, story)
    return "\n".join(lines)


def _scenario(name: str, story: Story) -> Iterator[str]:
    yield f"### {name}\n"
    yield f"{story.text}\n"
    for drawn_name, protocol in DRAWN:
        if drawn_name == name:
            title = f"{name}: who consumed which partition, under {protocol.value}"
            yield f"![{title}](gallery/{_file(name).name})\n"
    protocols = list(story.expected)
    figures = dict.fromkeys(
        [*story.everywhere, *(figure for each in story.expected.values() for figure in each)]
    )
    head = ("figure", *(f"`{protocol.value}`" for protocol in protocols))
    rows = [
        (_label(figure), *(_value(figure, story, protocol) for protocol in protocols))
        for figure in figures
    ]
    if rows:
        yield from table(head, rows)
    else:
        yield f"Protocols: {', '.join(head[1:])}.\n"


def _label(figure: str) -> str:
    """Return a figure's label, times in seconds."""
    return ALONE.get(figure) or LABELS[figure]


def _value(figure: str, story: Story, protocol: GroupProtocol) -> str:
    values: Figures = {**story.everywhere, **story.expected[protocol]}
    if figure not in values:
        return ""
    value = values[figure]
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return " to ".join(figure_text(figure, one) for one in value)
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
