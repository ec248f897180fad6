"""Writes RESULTS.md: execution models of a coordinator under many loads.

    python -m tests.lab.coordinators.page

Everything is measured on a simulated clock, so the figures are the same on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from assignors.simulation.timed.execution.load import Load
from assignors.simulation.timed.execution.measures import Stage, measure, play
from assignors.simulation.timed.execution.policy import POLICIES, Policy
from assignors.simulation.timed.sweeps.sweep import Point
from tests.docs.source import table
from tests.lab.coordinators import pictures
from tests.lab.coordinators.claims import claims
from tests.lab.coordinators.contract import CONTRACT
from tests.lab.coordinators.debate import BASE
from tests.lab.coordinators.knee import Knee, knee
from tests.lab.coordinators.pictures import EVENT, PICTURES, TIMELINE_LOAD, TIMELINE_MODELS

PAGE = Path(__file__).parent / "RESULTS.md"
LOADS: tuple[tuple[str, Load], ...] = tuple(
    (
        f"{check_ms} ms | {groups:,} | {rate:,}",
        replace(
            BASE,
            requests=1500 if rate < 1000 else 4000,
            per_second=rate,
            groups=groups,
            check_us=1000 * check_ms,
            changes_share=0.2,
        ),
    )
    for check_ms, groups, rate in (
        (0, 1000, 5000),
        (0, 100, 40_000),
        (2, 4, 5000),
        (2, 1000, 40_000),
        (10, 1000, 500),
        (10, 1000, 5000),
        (10, 100, 5000),
    )
)
KNEES = tuple(replace(BASE, requests=1500, changes_share=0.2, check_us=us) for us in (0, 2000))

HEAD = """# How a coordinator should execute requests

A group coordinator handles requests, appends [records](../../../docs/coordinator-log.md) to a
log, and answers once these are replicated. What does a worker do until then? This was debated when
the group coordinator of Kafka 4 was written
([apache/kafka#14705](https://github.com/apache/kafka/pull/14705)): should a worker wait while an
append is checked, or should the check be a stage of its own? Such a check is the verification of a
transaction (KIP-890): before its offsets are appended, the transaction coordinator, another broker,
is asked whether it is still open. Here both answers, and others that were proposed, are execution
models, and all are measured with the same requests.

What is measured is a simulation, with times that are given, not a broker: the figures compare
models, and are the same on any machine. Requests come at random (a Poisson process), so a few more
or fewer than the rate says come in a run; unless said otherwise, each of them is checked.

"""


def page() -> str:
    """Return the page."""
    measured = (timeline(), _costs(), _sweeps(), _lingers(), _knees(), claims())
    parts = (HEAD, models(), *measured, CONTRACT)
    return "".join(parts)


def models() -> str:
    """Return the models, in a table."""
    rows = [
        (
            f"`{name}`",
            policy.text,
            policy.key.value,
            policy.in_check.value,
            policy.in_replication.value,
            policy.applies.value,
        )
        for name, policy in POLICIES.items()
    ]
    head = ("model", "", "key", "held in a check", "held in a replication", "state changes at")
    return (
        "## The models\n\nA key is an offsets partition, or a group. Requests of one key are "
        "handled one after the other. While a request waits, no other request can use "
        "what it holds: its worker and its key, its key alone, or nothing. A state that changes "
        "at the append is ahead of what is replicated, and has to go back if the append fails.\n\n"
        + "\n".join(table(head, rows))
        + "\n"
    )


def timeline() -> str:
    """Return the way of one event through two models, drawn and in figures."""
    ways = {name: play(POLICIES[name], TIMELINE_LOAD).way(EVENT) for name in TIMELINE_MODELS}
    rows = [
        (stage.value, *(_spent(way, stage) for way in ways.values()), text)
        for stage, text in STAGES.items()
    ]
    head = ("stage", *(f"`{name}`, ms" for name in ways), "")
    load = TIMELINE_LOAD
    return (
        f"## One commit on its way\n\nThe same commit under two models: {load.per_second:,} "
        f"requests a second, checks of {load.check_us / 1000:g} ms. Where the worker waits for the "
        "check, this commit waits twice for checks of other commits: before it is handled, and "
        "after it is replicated, because the new high watermark waits in the queue of the "
        "partition too. Where the check is a stage of its own, all commits are checked at the "
        "same time, and this one waits for its own check and the replication only.\n\n"
        "![One commit under two models](timeline.svg)\n\n" + "\n".join(table(head, rows)) + "\n"
    )


def _spent(way: list[tuple[Stage, int, int]], stage: Stage) -> str:
    return f"{sum(end - start for each, start, end in way if each is stage) / 1000:.2f}"


def _costs() -> str:
    head = ("check", "groups", "asked a second", *(f"`{name}`" for name in POLICIES))
    return (
        "## What they cost\n\nFour workers, four offsets partitions, 50 us for a request, 2 ms for "
        "a replication, one request in five changes its group, the others commit offsets. Median "
        "and 99th percentile of the response time; in bold, where a model does not keep up: how "
        "many requests it answers in a second.\n\n"
        + "\n".join([*list(table(head, ()))[:-1], *(row(*each) for each in LOADS), "", ""])
    )


def _sweeps() -> str:
    lines = [SWEEPS]
    for name, picture in PICTURES.items():
        lines += [f"![{picture.title}]({name}.svg)\n", f"{picture.reading}\n"]
    return "\n".join(lines) + "\n"


def _lingers() -> str:
    """Return the latency of commits under fixed lingers and the adaptive one."""
    head = ("linger", *(f"asked {rate:,}" for rate in RATES), "records an append")
    return LINGER + "\n".join(table(head, map(_linger, LINGERS_US))) + "\n"


def _linger(linger_us: int | None) -> tuple[str, ...]:
    base = replace(BASE, requests=1500, append_us=100, linger_us=linger_us)
    found = [measure(POLICIES["two-stage"], replace(base, per_second=rate)) for rate in RATES]
    return (
        "adaptive" if linger_us is None else f"{linger_us / 1000:g} ms",
        *(f"{each.commit_p50_ms:.1f} / {each.commit_p99_ms:.1f} ms" for each in found),
        ", ".join(f"{each.records_per_append:.1f}" for each in found),
    )


def _knees() -> str:
    rows = [
        (f"{load.check_us / 1000:g} ms", f"`{name}`", *_knee_cells(name, load))
        for load in KNEES
        for name in POLICIES
    ]
    head = ("check", "model", "knee", "answers when flooded", "limit by formula", "p99, low", "p99")
    return KNEE + "\n".join(table(head, rows)) + "\n"


def _knee_cells(name: str, load: Load) -> Iterator[str]:
    found: Knee = knee(Point(model=name, load=load))
    for rate in (found.knee_per_second, found.throughput_per_second, found.limit_per_second):
        yield f"{rate:,.0f}/s"
    for time_ms in (found.low_p99_ms, found.knee_p99_ms):
        yield f"{time_ms:.1f} ms"


def row(setting: str, load: Load) -> str:
    """Return a line of the table of costs: one load under each model."""
    cells = (_cell(policy, load) for policy in POLICIES.values())
    return f"| {' | '.join((setting, *cells))} |"


def _cell(policy: Policy, load: Load) -> str:
    measured = measure(policy, load)
    if not measured.is_sustained:
        return f"**{measured.throughput_per_second:,.0f}/s**"
    return f"{measured.p50_ms:.1f} / {measured.p99_ms:.1f} ms"


STAGES = {
    Stage.QUEUED: "waits for its key and a worker",
    Stage.CHECKED: "is checked",
    Stage.EXECUTED: "is handled by a worker",
    Stage.LINGERED: "its batch waits for others",
    Stage.APPENDED: "the local log takes its records",
    Stage.PARKED: "waits for the high watermark, in purgatory",
}

SWEEPS = """## Sweeps

One request in five changes its group; all else is as above unless an axis says otherwise. All axes
are logarithmic. A curve of response times ends where the model no longer keeps up.
"""

RATES = (1000, 5000, 25_000)
LINGERS_US = (None, 0, 1000, 5000, 20_000)

LINGER = """## Commit latency against the linger

`two-stage`, 0.1 ms for an append to the local log: median and 99th percentile of commits, and how
many records are appended together at each rate. The adaptive linger waits for the requests that
were queued when the batch began: no batch waits for a time, and requests share a batch only where
they queue.

"""

KNEE = """## The knee

The knee is the highest rate at which the 99th percentile is at most twice that at a low rate, and
the backlog does not grow; it is found by bisection. Beside it: how many requests the model answers
when it is asked three times its limit, and the limit by formula, from how long a request holds a
worker and a key, and how many of each there are. A backlog that grows by less than one request in
twenty counts as steady, so a knee may be up to 5 % above the limit.

"""

FILES: dict[Path, Callable[[], str]] = {PAGE: page, **pictures.FILES}
"""File -> its text."""

if __name__ == "__main__":
    for path, text in FILES.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text(), encoding="utf-8")
