"""Plots of a run as SVG: a row for each group, a mark for each contender, a logarithmic axis.

Colours change with the reader's light or dark mode; contenders differ in shape too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from tests.benchmarks.peers.contenders import BY_NAME, WORKLOADS, Stage, title
from tests.benchmarks.peers.results import FOLDER, Results
from tests.benchmarks.peers.tables import PEERS, STAGES, figure

LEFT, RIGHT, ROW, TOP, BOTTOM = 290, 60, 26, 96, 34
WIDTH = 960
SUBTITLE = (
    "CPU milliseconds, one member has left; further left is faster; a faint mark did not finish"
)
STYLE = """
text { font: 13px system-ui, sans-serif; fill: #24292f }
.small { font-size: 11px; fill: #57606a }
.line { stroke: #d0d7de } .span { stroke: #d0d7de; stroke-width: 5; stroke-linecap: round }
.c0 { fill: #cf222e } .c1 { fill: #0969da } .c2 { fill: #bf8700 } .c3 { fill: #8250df }
.c4 { fill: #1a7f37 } .c5 { fill: #bc4c00 } .c6 { fill: #0f766e } .c7 { fill: #6e7781 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .small { fill: #9198a1 } .line, .span { stroke: #3d444d }
.c0 { fill: #ff7b72 } .c1 { fill: #58a6ff } .c2 { fill: #e3b341 } .c3 { fill: #bc8cff }
.c4 { fill: #3fb950 } .c5 { fill: #ffa657 } .c6 { fill: #39c5cf } .c7 { fill: #b1bac4 }
}"""
SHAPES = (
    "M0,-7L7,0L0,7L-7,0Z",
    "M-5,-5H5V5H-5Z",
    "M0,-6L6,5H-6Z",
    "M0,6L6,-5H-6Z",
    "M-6,-2H-2V-6H2V-2H6V2H2V6H-2V2H-6Z",
    "M-6,-3L0,-6L6,-3V3L0,6L-6,3Z",
    "M-5,0A5,5 0 1 0 5,0A5,5 0 1 0 -5,0Z",
    "M-6,-2H6V2H-6Z",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One contender in one row."""

    number: int
    label: str
    value: float
    is_finished: bool


def plot(results: Results, stage: Stage) -> str:
    """Return the plot of one stage, one member having left."""
    known = {row.workload for row in results.rows}
    groups = [workload for workload in WORKLOADS if workload in known]
    rows = [list(_marks(results, group, stage)) for group in groups]
    values = [mark.value for row in rows for mark in row]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    height = TOP + ROW * len(groups) + BOTTOM

    def across(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (math.log10(value) - low) / (high - low)

    start = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
    lines = [
        f'{start} aria-label="{escape(STAGES[stage])}">',
        f"<style>{STYLE}</style>",
        f'<text x="12" y="22" font-weight="bold">{escape(STAGES[stage])}</text>',
        f'<text class="small" x="12" y="40">{SUBTITLE}</text>',
        *_legend([_label(name) for name in ("ours", *PEERS[stage])]),
    ]
    for power in range(low, high + 1):
        x = f"{across(10.0**power):.1f}"
        lines.append(f'<line class="line" x1="{x}" x2="{x}" y1="{TOP - 12}" y2="{height - 24}"/>')
        lines.append(
            f'<text class="small" x="{x}" y="{height - 8}" text-anchor="middle">'
            f"{10.0**power:,g}</text>"
        )
    for at, (group, row) in enumerate(zip(groups, rows, strict=True)):
        y = TOP + ROW * at + 4
        ends = sorted(across(mark.value) for mark in row)
        lines.append(f'<text x="12" y="{y + 4}">{escape(title(group))}</text>')
        lines.append(
            f'<line class="span" x1="{ends[0]:.1f}" x2="{ends[-1]:.1f}" y1="{y}" y2="{y}"/>'
        )
        # Ours is drawn last, on top.
        lines += [_drawn(mark, across(mark.value), y) for mark in reversed(row)]
    return "\n".join([*lines, "</svg>", ""])


def _marks(results: Results, group: str, stage: Stage) -> Iterator[Mark]:
    """Yield the marks of one row, ours first."""
    for number, name in enumerate(("ours", *PEERS[stage])):
        row = results.row(group, "leave", name, stage)
        if row is not None:
            yield Mark(
                number=number,
                label=_label(name),
                value=1000 * results.limit_s if row.least_ms is None else row.least_ms,
                is_finished=row.least_ms is not None,
            )


def _label(name: str) -> str:
    return "ours" if name == "ours" else BY_NAME[name].label


def _legend(labels: list[str]) -> Iterator[str]:
    x = 18
    for number, label in enumerate(labels):
        yield f'<path class="c{number}" d="{SHAPES[number]}" transform="translate({x},60)"/>'
        yield f'<text class="small" x="{x + 11}" y="64">{escape(label)}</text>'
        x += 30 + 6 * len(label)


def _drawn(mark: Mark, x: float, y: int) -> str:
    shown = f"{'' if mark.is_finished else 'more than '}{figure(mark.value)} ms"
    faint = "" if mark.is_finished else ' fill-opacity="0.35"'
    return (
        f'<path class="c{mark.number}" d="{SHAPES[mark.number]}"{faint} '
        f'transform="translate({x:.1f},{y})"><title>{escape(mark.label)}: {shown}</title></path>'
    )


def write(results: Results) -> None:
    """Write a plot for each stage beside the results."""
    for stage in STAGES:
        (FOLDER / f"{stage}.svg").write_text(plot(results, stage), encoding="utf-8")
