"""What the page about client models shows measured: charts, and whom a stall evicts.

    python -m tests.docs.client_models

writes the charts beside the page.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from statistics import mean
from typing import Any

from assignors.simulation.timed.clients.models import MODELS, Model
from assignors.simulation.timed.clients.timing import MILLISECOND, SECOND, Setting, measure
from assignors.simulation.timed.scenario import (
    ClientModel,
    Fault,
    FaultKind,
    GroupProtocol,
    MemberConfig,
    Scenario,
)
from assignors.simulation.timed.simulation import simulate
from tests.docs.source import DOCS

plots: Any = import_module("notebooks.plots")  # notebooks have no types
CHARTS = DOCS / "client-models"
PHASES = 12
POLLS_S = (0.1, 1.0, 2.0, 4.0, 6.0, 8.0, 10.0)
LOOPS_MS = (0, 10, 25, 50, 75, 100)
TARGETS = {"gains": frozenset({0, 1, 2}), "gives-up": frozenset({1, 2})}
STALLS = {
    FaultKind.LONG_POLL: "the application's thread stands still",
    FaultKind.STALLED_THREAD: "the client's own thread stands still",
    FaultKind.CUT: "its network is cut",
}


def settled_group(model: ClientModel, protocol: GroupProtocol) -> Scenario:
    """Return a group of four to which nothing happens."""
    member = MemberConfig(
        name="c",
        topics=("t",),
        assignors=("java/cooperative-sticky",),
        poll_ms=1000,
        client_model=model,
    )
    return Scenario(
        until_ms=240_000,
        count_from_ms=60_000,
        protocol=protocol,
        topics={"t": 12},
        members=tuple(replace(member, name=f"c{number}") for number in range(4)),
    )


def evicted(kind: FaultKind, model: ClientModel) -> str:
    """Return what becomes of a member of a settled group that has this fault for a minute."""
    found = {}
    for protocol in (GroupProtocol.CLASSIC, GroupProtocol.CONSUMER):
        scenario = settled_group(model, protocol)
        fault = Fault(kind=kind, member="c1", from_ms=80_000, until_ms=140_000)
        found[protocol] = simulate(replace(scenario, faults=(fault,))).result.moves > 0
    assert len(set(found.values())) == 1, "the protocol makes no difference"
    return "evicted" if found[protocol] else "stays"


def rebalance_s(model: Model, poll_s: float, target: frozenset[int]) -> float:
    """Return the mean time of a rebalance over phases of polls and heartbeats, in seconds."""
    poll_us = int(poll_s * SECOND)
    took = []
    for phase in range(PHASES):
        setting = Setting(
            poll_interval_us=poll_us,
            first_poll_us=poll_us * phase // PHASES,
            target=target,
            rebalance_at_us=30 * SECOND + (phase * 7 % PHASES) * 250 * MILLISECOND,
            until_us=90 * SECOND,
        )
        done = measure(model, setting).rebalance_us
        assert done is not None
        took.append(done / SECOND)
    return mean(took)


def _rebalances(target: frozenset[int]) -> str:
    curves = {
        model.name: [(poll_s, rebalance_s(model, poll_s, target)) for poll_s in POLLS_S]
        for model in MODELS
    }
    return _drawn(curves, "seconds from one poll to the next", "rebalance, s")


def _commits() -> str:
    curves = {}
    for model in MODELS:
        settings = [Setting(commits_every=3, loop_us=ms * MILLISECOND) for ms in LOOPS_MS]
        took = [mean(measure(model, each).commits_us) / MILLISECOND for each in settings]
        curves[model.name] = list(zip(map(float, LOOPS_MS), took, strict=True))
    return _drawn(curves, "milliseconds of a turn of the loop", "blocking commit, ms")


def _drawn(curves: dict[str, list[tuple[float, float]]], x_label: str, y_label: str) -> str:
    drawn = plots.lines(curves, x_label=x_label, y_label=y_label)
    return f"{drawn.data}\n".replace("><", ">\n<")


def _file(name: str) -> Path:
    return CHARTS / f"{name}.svg"


FILES: dict[Path, Callable[[], str]] = {
    **{_file(name): partial(_rebalances, target) for name, target in TARGETS.items()},
    _file("commit"): _commits,
}
"""File -> its text."""
