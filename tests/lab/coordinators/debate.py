"""The claims of the debate on how a coordinator should execute requests, and where each holds.

The debate is apache/kafka#14705 (2023): may a worker of the group coordinator wait while the append
of a request is checked? Each claim names who made it and one field of the load that decides about
it. The claim is measured at several values of that field, so where it holds is a region and no
single point. Measurements are simulated, so they are the same on any machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from assignors.simulation.timed.execution.load import Load
from assignors.simulation.timed.execution.measures import Measured, measure
from assignors.simulation.timed.execution.policy import POLICIES, Settings
from assignors.simulation.timed.sweeps.rows import limit_per_second

BASE = Load(requests=4000, per_second=5000, groups=1000)
"""Four workers, four offsets partitions, 50 us for a request, 2 ms for a replication."""
CHECKED = replace(BASE, check_us=2000)
FLOOD = 40_000
SHARED = replace(BASE, groups=20, per_second=1000, check_us=100)
"""Few groups that ask seldom, for what a slow one does to the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What was measured at one value of the field."""

    value: Any
    text: str
    holds: bool


Judge = Callable[[Load], tuple[str, bool]]
"""A load -> what was measured of it, and whether the claim holds there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Something that was said, and how to find out where it holds."""

    text: str
    by: str
    base: Load
    over: str
    """The field of the load that decides."""
    values: tuple[Any, ...]
    """Values at which it is measured, in order."""
    holds_at: tuple[Any, ...]
    """Those of them at which it holds: what the test suite measures again."""
    judge: Judge

    def measured(self) -> Iterator[Evidence]:
        """Yield the evidence at each value. Cost: two to four runs a value."""
        for value in self.values:
            changed: dict[str, Any] = {self.over: value}
            text, holds = self.judge(replace(self.base, **changed))
            yield Evidence(value=value, text=text, holds=holds)


@cache
def _of(name: str, load: Load) -> Measured:
    return measure(POLICIES[name], load)


def _free_wait(load: Load) -> tuple[str, bool]:
    blocking, stages = _of("blocking", load), _of("two-stage", load)
    text = f"p99 {blocking.p99_ms:.1f} ms blocking, {stages.p99_ms:.1f} ms in two stages"
    return text, blocking.p99_ms <= 1.1 * stages.p99_ms


def _limit_by_workers(load: Load) -> tuple[str, bool]:
    rate = _of("blocking", replace(load, per_second=FLOOD)).throughput_per_second
    limit = limit_per_second(POLICIES["blocking"], load, Settings())
    text = f"{rate:,.0f} a second; workers / (service + check) = {limit:,.0f}"
    return text, 0.9 * limit <= rate <= 1.01 * limit


def _no_wait_for_replication(load: Load) -> tuple[str, bool]:
    waits, blocks = _of("wait-all", load), _of("blocking", load)
    rate = f"{waits.throughput_per_second:,.0f} of {load.per_second:,} a second"
    return (
        f"{rate}, {blocks.throughput_per_second:,.0f} blocking",
        not waits.is_sustained and blocks.is_sustained,
    )


def _stages_keep_up(load: Load) -> tuple[str, bool]:
    stages, blocks = _of("two-stage", load), _of("blocking", load)
    rate = f"{stages.throughput_per_second:,.0f} of {load.per_second:,} a second"
    text = f"{rate}, blocking {blocks.throughput_per_second:,.0f}"
    return text, stages.is_sustained and not blocks.is_sustained


def _groups_suffice(load: Load) -> tuple[str, bool]:
    alone, stages = _of("per-group", load), _of("two-stage", load)
    if not alone.is_sustained:
        limit = limit_per_second(POLICIES["per-group"], load, Settings())
        return f"{alone.throughput_per_second:,.0f} a second; its limit is {limit:,.0f}", False
    text = f"p99 {alone.p99_ms:.1f} ms, {stages.p99_ms:.1f} ms in two stages"
    return text, alone.p99_ms <= 1.5 * stages.p99_ms


def _commits_share(load: Load) -> tuple[str, bool]:
    shared = _of("per-group", load)
    exclusive = _of("per-group", replace(load, changes_share=1.0))
    text = f"{shared.throughput_per_second:,.0f} a second"
    text += f", {exclusive.throughput_per_second:,.0f} with a lock for each"
    return text, shared.is_sustained and not exclusive.is_sustained


def _slow_group(load: Load) -> tuple[str, bool]:
    calm = replace(load, slow_group_check_us=None)
    (blocked, alone), (free, free_alone) = (
        (_of(name, load).others_p99_ms or 0, _of(name, calm).others_p99_ms or 0)
        for name in ("blocking", "two-stage")
    )
    text = f"p99 of the others {alone:.1f} -> {blocked:,.1f} ms blocking, {free:.1f} in two stages"
    return text, blocked > 2 * alone and free <= 1.2 * free_alone


def _nothing_held(load: Load) -> tuple[str, bool]:
    group, stages = _of("per-group", load), _of("two-stage", load)
    text = f"{group.held_max} records held to go back, {stages.held_max} in two stages"
    return text, group.held_max == 0 < stages.held_max


def _inline_is_faster(load: Load) -> tuple[str, bool]:
    inline, stages = _of("inline", load), _of("two-stage", load)
    text = f"{1 - inline.handed_off_share:.0%} without a hand-over"
    text += f", p50 {stages.p50_ms:.2f} -> {inline.p50_ms:.2f} ms"
    return text, inline.handed_off_share <= 0.5


def _linger_trades(load: Load) -> tuple[str, bool]:
    none, waits = _of("two-stage", replace(load, linger_us=None)), _of("two-stage", load)
    more = waits.records_per_append / none.records_per_append
    text = f"p50 {none.p50_ms:.1f} -> {waits.p50_ms:.1f} ms, {more:.1f} times as many records each"
    return text, waits.p50_ms > none.p50_ms and more >= 2


CLAIMS: tuple[Claim, ...] = (
    Claim(
        text="To wait for the append alone costs nothing.",
        by="the proposal",
        base=BASE,
        over="check_us",
        values=(0, 50, 100, 200, 500, 1000),
        holds_at=(0, 50, 100),
        judge=_free_wait,
    ),
    Claim(
        text="A worker that waits for a check limits the throughput, with any number of groups.",
        by="the reviewers",
        base=CHECKED,
        over="groups",
        values=(40, 400, 4000),
        holds_at=(40, 400, 4000),
        judge=_limit_by_workers,
    ),
    Claim(
        text="To wait for the replication itself disables pipelining.",
        by="the reviewers",
        base=BASE,
        over="replication_us",
        values=(200, 500, 1000, 2000, 5000),
        holds_at=(1000, 2000, 5000),
        judge=_no_wait_for_replication,
    ),
    Claim(
        text="Two stages, check and then write, keep up where a worker that waits does not.",
        by="the reviewers; what Kafka does",
        base=CHECKED,
        over="per_second",
        values=(1000, 2500, 10_000, 40_000, 70_000, 100_000),
        holds_at=(2500, 10_000, 40_000, 70_000),
        judge=_stages_keep_up,
    ),
    Claim(
        text="With the group as the unit of concurrency no pipelining is needed.",
        by="the proposal",
        base=replace(CHECKED, changes_share=1.0),
        over="groups",
        values=(5, 20, 50, 500, 4000),
        holds_at=(4000,),
        judge=_groups_suffice,
    ),
    Claim(
        text="Commits need a read lock on their group only.",
        by="the proposal",
        base=replace(CHECKED, groups=10),
        over="changes_share",
        values=(0.0, 0.05, 0.2, 0.5, 0.8),
        holds_at=(0.0, 0.05, 0.2),
        judge=_commits_share,
    ),
    Claim(
        text="One slow client blocks other clients and groups.",
        by="the reviewers",
        base=SHARED,
        over="slow_group_check_us",
        values=(100, 1000, 5000, 20_000, 50_000),
        holds_at=(5000, 20_000, 50_000),
        judge=_slow_group,
    ),
    Claim(
        text="Without pipelining there is no state to take back.",
        by="the proposal",
        base=BASE,
        over="replication_us",
        values=(500, 2000, 10_000),
        holds_at=(500, 2000, 10_000),
        judge=_nothing_held,
    ),
    Claim(
        text="The thread that brings a request can handle it if nobody else is there.",
        by="the proposal",
        base=replace(BASE, handoff_us=50),
        over="per_second",
        values=(500, 5000, 15_000, 25_000, 35_000, 60_000),
        holds_at=(500, 5000, 15_000, 25_000),
        judge=_inline_is_faster,
    ),
    Claim(
        text="A linger trades latency for fewer appends.",
        by="Kafka 4 (group.coordinator.append.linger.ms)",
        base=BASE,
        over="linger_us",
        values=(500, 1000, 5000, 20_000),
        holds_at=(1000, 5000, 20_000),
        judge=_linger_trades,
    ),
)
