"""The claims of the debate on how a coordinator should execute requests, each with its evidence.

The debate is apache/kafka#14705 (2023): may a worker of the group coordinator wait while the append
of a request is checked? Each claim names who made it, the region in which it holds, and a
measurement that says so. Measurements are simulated, so they are the same on any machine.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from assignors.simulation.timed.coordinator.load import MICRO, Load
from assignors.simulation.timed.coordinator.policy import POLICIES
from assignors.simulation.timed.coordinator.run import Measured, measure

WORKERS = 4
BASE = Load(requests=6000, per_second=5000, groups=1000)
CHECKED = replace(BASE, check_us=2000)
FLOODED = replace(CHECKED, requests=12_000, per_second=40_000)
SATURATED = 0.9
"""A model keeps up with a load if it answers this share of its rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was measured."""

    text: str
    holds: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something that was said, and how to find out."""

    text: str
    by: str
    region: str
    """Where it holds."""
    measured: Callable[[], Evidence]


def keeps_up(measured: Measured, load: Load) -> bool:
    """Return whether a coordinator answers as fast as it is asked."""
    return measured.per_second >= SATURATED * load.per_second


def _of(name: str, load: Load) -> Measured:
    return measure(POLICIES[name], load)


def _free_without_checks() -> Evidence:
    blocking, stages = _of("blocking", BASE), _of("two-stage", BASE)
    text = f"p99 {blocking.p99_ms:.1f} ms blocking, {stages.p99_ms:.1f} ms in two stages"
    return Evidence(text=text, holds=blocking.p99_ms <= 1.05 * stages.p99_ms)


def _blocking_is_capped() -> Evidence:
    cap = WORKERS * MICRO / (CHECKED.service_us + CHECKED.check_us)
    rates = [
        _of("blocking", replace(CHECKED, groups=groups)).per_second for groups in (40, 400, 4000)
    ]
    text = (
        f"{min(rates):,.0f} to {max(rates):,.0f} a second with 40 to 4,000 groups; "
        f"workers / (service + check) = {cap:,.0f}"
    )
    return Evidence(text=text, holds=all(0.9 * cap <= rate <= cap for rate in rates))


def _waiting_for_replication_is_worse() -> Evidence:
    waits, blocks = _of("wait-all", BASE), _of("blocking", BASE)
    text = f"{waits.per_second:,.0f} a second, {blocks.per_second:,.0f} without that wait"
    return Evidence(text=text, holds=not keeps_up(waits, BASE) and keeps_up(blocks, BASE))


def _stages_keep_up() -> Evidence:
    stages, blocks = _of("two-stage", FLOODED), _of("blocking", FLOODED)
    text = f"{stages.per_second:,.0f} of 40,000 a second, blocking {blocks.per_second:,.0f}"
    return Evidence(text=text, holds=keeps_up(stages, FLOODED) and not keeps_up(blocks, FLOODED))


def _per_group_needs_groups() -> Evidence:
    changes = replace(CHECKED, changes_share=1.0)
    few, many = replace(changes, groups=10), replace(changes, groups=4000)
    waits_us = changes.service_us + changes.check_us + changes.replication_us
    cap = few.groups * MICRO / waits_us
    measured_few, measured_many = _of("per-group", few), _of("per-group", many)
    text = (
        f"10 groups: {measured_few.per_second:,.0f} a second (groups / (service + check + "
        f"replication) = {cap:,.0f}); 4,000 groups: {measured_many.per_second:,.0f}"
    )
    is_capped = 0.9 * cap <= measured_few.per_second <= cap
    return Evidence(text=text, holds=is_capped and keeps_up(measured_many, many))


def _commits_need_not_wait() -> Evidence:
    few = replace(CHECKED, groups=10)
    shared, exclusive = _of("per-group", few), _of("per-group", replace(few, changes_share=1.0))
    text = (
        f"10 groups: {shared.per_second:,.0f} commits a second, {exclusive.per_second:,.0f} alone"
    )
    return Evidence(text=text, holds=keeps_up(shared, few) and not keeps_up(exclusive, few))


def _slow_tenant(name: str) -> tuple[float, float]:
    """Return the 99th percentile of everybody else, with a tenant of slow checks and without."""
    calm = replace(BASE, groups=20, per_second=1000, check_us=100)
    slow = replace(calm, slow_group_check_us=50_000)
    return _of(name, slow).others_p99_ms, _of(name, calm).others_p99_ms


def _slow_client_blocks_others() -> Evidence:
    blocked, alone = _slow_tenant("blocking")
    free, _ = _slow_tenant("two-stage")
    text = f"p99 of the others {alone:.1f} -> {blocked:.1f} ms blocking, {free:.1f} in two stages"
    return Evidence(text=text, holds=blocked > 5 * alone and free <= 1.2 * alone)


def _no_state_ahead() -> Evidence:
    group, stages = _of("per-group", FLOODED), _of("two-stage", FLOODED)
    text = f"{group.held_max} records held to go back, {stages.held_max} in two stages"
    return Evidence(text=text, holds=group.held_max == 0 < stages.held_max)


def _inline_saves_the_handoff() -> Evidence:
    calm = replace(BASE, per_second=500, requests=3000, handoff_us=200)
    inline, stages = _of("inline", calm), _of("two-stage", calm)
    text = f"p50 {stages.p50_ms:.2f} ms, {inline.p50_ms:.2f} without a hand-off of 0.2 ms"
    return Evidence(text=text, holds=0.1 <= stages.p50_ms - inline.p50_ms <= 0.21)


def _linger_costs_latency() -> Evidence:
    fast = replace(BASE, requests=12_000, per_second=20_000)
    none, five = _of("two-stage", fast), _of("two-stage", replace(fast, linger_us=5000))
    text = f"p50 {none.p50_ms:.1f} ms adaptive, {five.p50_ms:.1f} ms with a linger of 5 ms"
    return Evidence(text=text, holds=2 <= five.p50_ms - none.p50_ms <= 5)


CLAIMS: tuple[Claim, ...] = (
    Claim(
        text="Waiting for the append alone costs nothing.",
        by="the proposal",
        region="as long as nothing under the append takes time",
        measured=_free_without_checks,
    ),
    Claim(
        text="A worker that waits for a check limits the throughput, with any number of groups.",
        by="the reviewers",
        region="wherever checks take longer than requests",
        measured=_blocking_is_capped,
    ),
    Claim(
        text="To wait for the replication itself disables pipelining.",
        by="the reviewers",
        region="everywhere; nobody proposed it",
        measured=_waiting_for_replication_is_worse,
    ),
    Claim(
        text="Two stages, check and then write, keep up.",
        by="the reviewers; what Kafka does",
        region="up to what the workers can handle",
        measured=_stages_keep_up,
    ),
    Claim(
        text="With the group as the unit of concurrency no pipelining is needed.",
        by="the proposal",
        region="many groups; a few busy ones are limited by their own waits",
        measured=_per_group_needs_groups,
    ),
    Claim(
        text="Commits need a read lock on their group only.",
        by="the proposal",
        region="everywhere",
        measured=_commits_need_not_wait,
    ),
    Claim(
        text="One slow client blocks other clients and groups.",
        by="the reviewers",
        region="where a worker waits; partitions that it shares, and in the end all",
        measured=_slow_client_blocks_others,
    ),
    Claim(
        text="Without pipelining there is no state to take back.",
        by="the proposal",
        region="everywhere",
        measured=_no_state_ahead,
    ),
    Claim(
        text="The thread that brings a request can handle it if nobody else is there.",
        by="the proposal",
        region="at low load, where it saves the hand-off",
        measured=_inline_saves_the_handoff,
    ),
    Claim(
        text="A linger trades latency for fewer appends.",
        by="Kafka 4 (group.coordinator.append.linger.ms)",
        region="everywhere; the adaptive one costs hardly anything",
        measured=_linger_costs_latency,
    ),
)
