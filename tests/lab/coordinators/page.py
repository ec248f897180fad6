"""RESULTS.md: execution models of a coordinator under many loads.

Everything is measured on a simulated clock, so the figures are the same on any machine.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from assignors.simulation.timed.execution.load import Load
from assignors.simulation.timed.execution.measures import measure
from assignors.simulation.timed.execution.policy import POLICIES, Policy
from tests.docs.source import table

PAGE = Path(__file__).parent / "RESULTS.md"
BASE = Load(requests=4000, per_second=5000, groups=1000)
"""Four workers, four offsets partitions, 50 us for a request, 2 ms for a replication."""
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
RATES = (1000, 5000, 25_000)
LINGERS_US = (None, 0, 1000, 5000, 20_000)

HEAD = """# What each execution model of a coordinator costs

A simulation with given times, no broker: the figures compare [the models](../../../docs/models.md).
Requests come at random (a Poisson process), and each of them is checked. Four workers, four offsets
partitions, 50 us for a request, 2 ms for a replication; one request in five changes its group, the
others commit offsets.

Median and 99th percentile of the response time; in bold, where a model does not keep up: how many
requests it answers in a second.

"""
LINGER = """
## Commit latency against the linger

`two-stage`, 0.1 ms for an append to the local log: median and 99th percentile of commits, and how
many records are appended together at each rate. The adaptive linger waits for the requests that
were queued when the batch began.

"""


def page() -> str:
    """Return the page."""
    costs_head = ("check", "groups", "asked a second", *(f"`{name}`" for name in POLICIES))
    linger_head = ("linger", *(f"asked {rate:,}" for rate in RATES), "records an append")
    costs = [*list(table(costs_head, ()))[:-1], *(row(*each) for each in LOADS), ""]
    lingers = table(linger_head, map(_linger, LINGERS_US))
    return HEAD + "\n".join(costs) + LINGER + "\n".join(lingers) + "\n"


def row(setting: str, load: Load) -> str:
    """Return a line of the table of costs: one load under each model."""
    cells = (_cell(policy, load) for policy in POLICIES.values())
    return f"| {' | '.join((setting, *cells))} |"


def _cell(policy: Policy, load: Load) -> str:
    measured = measure(policy, load)
    if not measured.is_sustained:
        return f"**{measured.throughput_per_second:,.0f}/s**"
    return f"{measured.p50_ms:.1f} / {measured.p99_ms:.1f} ms"


def _linger(linger_us: int | None) -> tuple[str, ...]:
    base = replace(BASE, requests=1500, append_us=100, linger_us=linger_us)
    found = [measure(POLICIES["two-stage"], replace(base, per_second=rate)) for rate in RATES]
    return (
        "adaptive" if linger_us is None else f"{linger_us / 1000:g} ms",
        *(f"{each.commit_p50_ms:.1f} / {each.commit_p99_ms:.1f} ms" for each in found),
        ", ".join(f"{each.records_per_append:.1f}" for each in found),
    )
