"""Writes the charts of RESULTS.md: sweeps of execution models, and the way of one event.

    python -m tests.lab.coordinators.pictures

The charts are those of the notebooks. All is measured on a simulated clock, so the files are the
same on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from assignors.simulation.timed.execution.load import Load
from assignors.simulation.timed.execution.measures import Played, Stage, play
from assignors.simulation.timed.execution.policy import POLICIES, Settings
from assignors.simulation.timed.sweeps.rows import measured_rows
from assignors.simulation.timed.sweeps.sweep import sweep_from_document

plots: Any = import_module("notebooks.plots")  # notebooks have no types
FOLDER = Path(__file__).parent
FLOOD = 60_000
"""A rate that is above every limit, or nearly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A chart: one figure of the points of a sweep, a curve for each model or other field."""

    title: str
    reading: str
    """What to see in it."""
    sweep: Mapping[str, Any]
    x: str
    y: str
    x_label: str
    y_label: str
    by: str = "model"
    x_scale: float = 1.0
    is_steady_alone: bool = False
    """Whether points whose load is not sustained are left out."""


def _sweep(over: Mapping[str, Any], models: tuple[str, ...] = (), **base: Any) -> dict[str, Any]:
    return {
        "version": 1,
        "models": list(models or POLICIES),
        "base": {"requests": 1500, "changes_share": 0.2, **base},
        "over": over,
    }


CHECKS_US = [50, 200, 500, 1000, 2000, 5000, 20_000]
PICTURES: dict[str, Picture] = {
    "throughput-check": Picture(
        title="Throughput against the time of a check",
        reading=(
            "A worker that waits for checks answers `workers / (service + check)` requests a "
            "second, so checks that take longer than the service decide. Under `two-stage` the "
            "time of a check does not change the throughput."
        ),
        sweep=_sweep({"check_us": CHECKS_US}, per_second=FLOOD, requests=3000),
        x="check_us",
        y="throughput_per_second",
        x_scale=1e-3,
        x_label="check, ms",
        y_label=f"answers a second, asked {FLOOD:,}",
    ),
    "p99-check": Picture(
        title="Response time against the time of a check",
        reading=(
            "At a low rate the response time is the check and the replication, under every "
            "model, as long as the model keeps up."
        ),
        sweep=_sweep({"check_us": CHECKS_US}, per_second=500),
        x="check_us",
        y="p99_ms",
        x_scale=1e-3,
        x_label="check, ms",
        y_label="99th percentile of the response time, ms; asked 500 a second",
        is_steady_alone=True,
    ),
    "p99-rate": Picture(
        title="The knee",
        reading=(
            "Up to its knee a model answers about as fast as at a low rate; beyond it, requests "
            "queue."
        ),
        sweep=_sweep(
            {"per_second": [200, 500, 1000, 1700, 3000, 10_000, 30_000, 60_000, 75_000]},
            check_us=2000,
        ),
        x="per_second",
        y="p99_ms",
        x_label="requests a second",
        y_label="99th percentile of the response time, ms; checks of 2 ms",
        is_steady_alone=True,
    ),
    "throughput-replication": Picture(
        title="Throughput against the time of a replication",
        reading=(
            "A longer replication lowers the throughput only where a worker or a group waits "
            "for it. The response time grows under every model."
        ),
        sweep=_sweep(
            {"replication_us": [200, 500, 1000, 2000, 5000, 20_000]},
            per_second=FLOOD,
            requests=3000,
        ),
        x="replication_us",
        y="throughput_per_second",
        x_scale=1e-3,
        x_label="replication, ms",
        y_label=f"answers a second, asked {FLOOD:,}; no checks",
    ),
    "throughput-groups": Picture(
        title="Throughput against the number of groups",
        reading=(
            "A model that handles one request of a group at a time (`per-group`) needs many "
            "groups: each change of a group waits for its check and its replication before the "
            "next one."
        ),
        sweep=_sweep(
            {"groups": [4, 16, 64, 256, 1024, 4096]},
            per_second=FLOOD,
            check_us=2000,
            requests=3000,
        ),
        x="groups",
        y="throughput_per_second",
        x_label="groups",
        y_label=f"answers a second, asked {FLOOD:,}; checks of 2 ms",
    ),
    "throughput-workers": Picture(
        title="Throughput against the number of workers",
        reading=(
            "Where workers wait, the throughput grows with their number; elsewhere it grows "
            "until there are as many workers as offsets partitions."
        ),
        sweep=_sweep(
            {"workers": [1, 2, 4, 8, 16]},
            per_second=FLOOD,
            check_us=2000,
            partitions=16,
            requests=3000,
        ),
        x="workers",
        y="throughput_per_second",
        x_label="workers",
        y_label=f"answers a second, asked {FLOOD:,}; checks of 2 ms, 16 offsets partitions",
    ),
    "linger": Picture(
        title="Commit latency against the linger",
        reading=(
            "A commit that is alone in its batch waits for all of the linger. Where many share a "
            "batch, which is so at high rates, the median waits for about half of it. A batch that "
            "is full does not wait."
        ),
        sweep=_sweep(
            {"per_second": [1000, 5000, 25_000], "linger_us": [500, 1000, 2000, 5000, 10_000]},
            models=("two-stage",),
        ),
        x="linger_us",
        y="commit_p50_ms",
        by="per_second",
        x_scale=1e-3,
        x_label="linger, ms",
        y_label="median latency of a commit, ms; by requests a second",
    ),
    "isolation": Picture(
        title="What one slow group does to all others",
        reading=(
            "One group in twenty has slow checks. Where a worker waits for a check, all "
            "requests behind it wait too."
        ),
        sweep=_sweep(
            {"slow_group_check_us": [200, 1000, 5000, 20_000, 50_000]},
            groups=20,
            per_second=1000,
            check_us=100,
        ),
        x="slow_group_check_us",
        y="isolation",
        x_scale=1e-3,
        x_label="check of the slow group, ms",
        y_label="99th percentile of all other groups, as a multiple of that without a slow one",
    ),
    "handover": Picture(
        title="What the hand-over to another thread costs",
        reading=(
            "Under `inline` the thread that brings a request handles it if the partition is "
            "free, and saves the hand-over: always at a low rate, less often the busier the "
            "partitions are."
        ),
        sweep=_sweep(
            {"per_second": [200, 1000, 5000, 10_000, 20_000, 30_000]},
            models=("two-stage", "inline"),
            handoff_us=50,
        ),
        x="per_second",
        y="p50_ms",
        x_label="requests a second",
        y_label="median response time, ms; a hand-over takes 0.05 ms",
        is_steady_alone=True,
    ),
    "held": Picture(
        title="Memory held in uncommitted state",
        reading=(
            "What a state that is ahead of the log has to remember, on each offsets partition: "
            "the requests that arrive while one is replicated. `wait-all` and `per-group` "
            "remember nothing."
        ),
        sweep=_sweep(
            {"replication_us": [500, 1000, 2000, 5000, 10_000, 20_000]},
            models=("blocking", "pipelined", "two-stage"),
            per_second=20_000,
            requests=3000,
        ),
        x="replication_us",
        y="held_bytes",
        x_scale=1e-3,
        x_label="replication, ms",
        y_label="bytes of one offsets partition at most; asked 20,000 a second, 100 bytes a record",
    ),
}


def chart(picture: Picture) -> str:
    """Return the chart of a sweep."""
    curves: dict[str, list[tuple[float, float]]] = {}
    for row in measured_rows(sweep_from_document(picture.sweep).points()):
        assert row["error"] is None, row["error"]
        curve = curves.setdefault(_name(row[picture.by]), [])
        if row["is_sustained"] or not picture.is_steady_alone:
            curve.append((row[picture.x] * picture.x_scale, row[picture.y]))
    drawn = plots.lines(curves, x_label=picture.x_label, y_label=picture.y_label, is_log=True)
    return f"{drawn.data}\n".replace("><", ">\n<")


def _name(value: object) -> str:
    return f"{value:,}/s" if isinstance(value, int) else str(value)


# The way of one event

TIMELINE_LOAD = Load(
    requests=400, per_second=2400, groups=40, check_us=1500, append_us=100, changes_share=0.2
)
TIMELINE_MODELS = ("blocking", "two-stage")
EVENT = 123
"""The request whose way is drawn."""


def timeline() -> str:
    """Return the way of one request through two models, with those around it."""
    panels = {
        name: list(spans(play(POLICIES[name], TIMELINE_LOAD), EVENT)) for name in TIMELINE_MODELS
    }
    drawn = plots.events(panels, lanes=list(Stage), label="One commit, from its arrival on; others")
    return f"{drawn.data}\n".replace("><", ">\n<")


def spans(played: Played, event: int) -> Iterator[tuple[str, float, float, bool]]:
    """Yield stage, begin, end in milliseconds from the arrival of an event; and if it is that one.

    Others are those of the same offsets partition that are on their way meanwhile.
    """
    asked, answered = played.drawn.at_us, played.answered_at
    begin, end = int(asked[event]), int(answered[event])
    partition = played.drawn.group % Settings().partitions
    near = (partition == partition[event]) & (answered > begin) & (asked < end)
    for number in np.flatnonzero(near):
        for stage, start, until in played.way(int(number)):
            low, high = max(start, begin), min(until, end)
            if low < high:
                yield str(stage), (low - begin) / 1000, (high - begin) / 1000, number == event


def _file(name: str) -> Path:
    return FOLDER / f"{name}.svg"


FILES: dict[Path, Callable[[], str]] = {
    **{_file(name): partial(chart, picture) for name, picture in PICTURES.items()},
    _file("timeline"): timeline,
}
"""File -> its text."""

if __name__ == "__main__":
    for path, text in FILES.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(), encoding="utf-8")
