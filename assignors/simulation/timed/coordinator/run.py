"""Play a load on a coordinator, and measure it.

Events are handled in order of time. Appends are in the local log at once, and the high watermark
follows after the time of a replication, in order.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from typing import Any

import numpy as np

from assignors.simulation.timed.coordinator.load import MICRO, Draws, Load, draws, replications
from assignors.simulation.timed.coordinator.log import Entry, State
from assignors.simulation.timed.coordinator.machine import step
from assignors.simulation.timed.coordinator.policy import Policy
from assignors.simulation.timed.coordinator.port import (
    Answer,
    Append,
    Appended,
    Asked,
    Check,
    Checked,
    Event,
    Handled,
    Linger,
    Lingered,
    Replicated,
    Request,
    Work,
    Worked,
)
from assignors.simulation.timed.coordinator.settings import Lingers, Settings
from assignors.simulation.timed.coordinator.state import Coordinator


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a load led to. Times are milliseconds; requests count from a tenth of them on."""

    answered: int
    per_second: float
    """Answers a second, from the first request to the last answer."""
    p50_ms: float
    p99_ms: float
    others_p99_ms: float
    """Of the requests of all groups but group 0."""
    held_max: int
    """The most records that a partition's state had applied and the log not replicated."""
    events: int
    end_ms: float


def commit(_: State, request: Request) -> Handled:
    """Handle a request that commits an offset of its group."""
    return Handled((Entry(request.group, request.number),), None)


def measure(policy: Policy, load: Load, settings: Settings | None = None) -> Measured:
    """Play a load, and return what it led to.

    Cost: O(events log events); about five events a request.
    """
    settings = settings or Settings()
    if load.linger_us is not None:
        settings = replace(settings, linger=Lingers.TIMED if load.linger_us else Lingers.NOT)
    run = _Run(
        load=load,
        drawn=draws(load),
        coordinator=Coordinator.of(policy, commit, settings),
        ends=[0] * settings.partitions,
        replicated_at=[0] * settings.partitions,
        latencies=replications(load, load.requests).tolist(),
    )
    _play(run)
    return _measured(run)


@dataclass(slots=True, kw_only=True)
class _Run:
    load: Load
    drawn: Draws
    coordinator: Coordinator
    ends: list[int]
    """Of the partitions' logs."""
    replicated_at: list[int]
    """When what is in each log will be replicated."""
    latencies: list[int]
    answered_at: dict[int, int] = field(default_factory=dict)
    heap: list[tuple[int, int, Event]] = field(default_factory=list)
    order: int = 0
    events: int = 0
    appends: int = 0


def _play(run: _Run) -> None:
    drawn, heap = run.drawn, run.heap
    at_us, groups = drawn.at_us.tolist(), drawn.group.tolist()
    commits, checked = drawn.is_commit.tolist(), drawn.is_checked.tolist()
    check_us = drawn.check_us.tolist()
    coordinator = run.coordinator
    number, count = 0, len(at_us)
    event: Event
    while number < count or heap:
        if number < count and (not heap or at_us[number] <= heap[0][0]):
            now = at_us[number]
            event = Asked(Request(number, groups[number], None, checked[number], commits[number]))
            number += 1
        else:
            now, _, event = heappop(heap)
        run.events += 1
        effects = step(coordinator, event)
        while effects:
            effects = _do(run, now, effects, check_us)


def _do(run: _Run, now: int, effects: list[Any], check_us: list[int]) -> list[Any]:
    """Do what the coordinator asks for; return what it asks for in answer to appends."""
    load, further = run.load, []
    for effect in effects:
        kind = type(effect)
        if kind is Work:
            busy = load.service_us + effect.is_handed_off * load.handoff_us
            _put(run, now + busy, Worked(effect.number))
        elif kind is Append:
            partition = effect.partition
            end = run.ends[partition] = run.ends[partition] + len(effect.entries)
            latency = run.latencies[run.appends % len(run.latencies)]
            run.appends += 1
            at = max(run.replicated_at[partition], now + latency)
            run.replicated_at[partition] = at
            _put(run, at, Replicated(partition, end))
            run.events += 1
            further += step(run.coordinator, Appended(effect.token, end))
        elif kind is Answer:
            run.answered_at[effect.number] = now
        elif kind is Check:
            _put(run, now + check_us[effect.number], Checked(effect.number))
        else:
            assert kind is Linger, effect
            assert load.linger_us is not None
            _put(run, now + load.linger_us, Lingered(effect.partition, effect.batch))
    return further


def _put(run: _Run, at: int, event: Event) -> None:
    run.order += 1
    heappush(run.heap, (at, run.order, event))


def _measured(run: _Run) -> Measured:
    drawn, count = run.drawn, len(run.drawn.at_us)
    answered = np.array([run.answered_at[number] for number in range(count)])
    took = (answered - drawn.at_us)[count // 10 :] / 1000
    others = took[drawn.group[count // 10 :] != 0]
    end = int(answered.max())
    return Measured(
        answered=count,
        per_second=count / (end - int(drawn.at_us[0])) * MICRO,
        p50_ms=float(np.percentile(took, 50)),
        p99_ms=float(np.percentile(took, 99)),
        others_p99_ms=float(np.percentile(others, 99)) if len(others) else 0.0,
        held_max=run.coordinator.held_max,
        events=run.events,
        end_ms=end / 1000,
    )
