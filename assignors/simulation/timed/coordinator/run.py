"""Play a load on a coordinator: when each request is checked, handled, appended and answered.

Events are handled in order of time. The local log of a partition takes appends one by one, and the
high watermark follows after the time of a replication, in order.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from typing import Any

import numpy as np

from assignors.simulation.timed.coordinator.load import Draws, Load, draws, replications
from assignors.simulation.timed.coordinator.log import Entry, State
from assignors.simulation.timed.coordinator.machine import step
from assignors.simulation.timed.coordinator.measures import NEVER, Measured, Played, measured
from assignors.simulation.timed.coordinator.policy import Policy
from assignors.simulation.timed.coordinator.port import (
    Answer,
    Append,
    Appended,
    Asked,
    Background,
    Check,
    Checked,
    Compute,
    Computed,
    Event,
    Handled,
    Linger,
    Lingered,
    Park,
    Replicated,
    Request,
    TimedOut,
    Work,
    Worked,
)
from assignors.simulation.timed.coordinator.settings import Lingers, Settings
from assignors.simulation.timed.coordinator.state import Coordinator


def measure(policy: Policy, load: Load, settings: Settings | None = None) -> Measured:
    """Play a load, and return what it led to.

    Cost: O(events log events); about five events a request.
    """
    return measured(play(policy, load, settings), load)


def play(policy: Policy, load: Load, settings: Settings | None = None) -> Played:
    """Play a load, and return when each of its requests was where. Cost: as `measure`."""
    settings = settings or Settings()
    if load.linger_us is not None:
        settings = replace(settings, linger=Lingers.TIMED if load.linger_us else Lingers.NOT)
    if load.timeout_us is not None:
        settings = replace(settings, has_timeout=True)
    run = _Run(
        load=load,
        drawn=draws(load),
        coordinator=Coordinator.of(policy, commit, settings),
        ends=[0] * settings.partitions,
        appended_at=[0] * settings.partitions,
        replicated_at=[0] * settings.partitions,
        latencies=replications(load, load.requests).tolist(),
        times=_Times.of(load.requests),
    )
    _play(run)
    return _played(run)


def commit(state: State, request: Request) -> Handled:
    """Handle a request that commits an offset of its group: its record has its number.

    Work that it leaves behind is about its group, and stale once the group has another record.
    """
    entries = (Entry(request.group, request.number),)
    if not request.what:
        return Handled(entries, None)
    group = request.group
    work = Background(
        key=group,
        seen=state.get(group),
        look=lambda now: now.get(group),
        finish=lambda _, __: Handled((Entry(("target", group), NEVER),), None),
    )
    return Handled(entries, None, work)


@dataclass(slots=True)
class _Times:
    """Of each request, by its number."""

    check: list[int]
    work: list[int]
    busy: list[int]
    append: list[int]
    appended: list[int]
    answered: list[int]
    failed: list[bool]

    @classmethod
    def of(cls, count: int) -> _Times:
        never = [NEVER] * count
        return cls(
            check=never.copy(),
            work=never.copy(),
            busy=[0] * count,
            append=never.copy(),
            appended=never.copy(),
            answered=never,
            failed=[False] * count,
        )


@dataclass(slots=True, kw_only=True)
class _Run:
    load: Load
    drawn: Draws
    coordinator: Coordinator
    ends: list[int]
    """Of the partitions' logs."""
    appended_at: list[int]
    """When each local log has taken what it was asked to append."""
    replicated_at: list[int]
    """When what is in each log will be replicated."""
    latencies: list[int]
    times: _Times
    heap: list[tuple[int, int, Event]] = field(default_factory=list)
    order: int = 0
    events: int = 0
    appends: int = 0
    handoffs: int = 0


def _play(run: _Run) -> None:
    drawn, heap = run.drawn, run.heap
    at_us, groups = drawn.at_us.tolist(), drawn.group.tolist()
    commits, checked = drawn.is_commit.tolist(), drawn.is_checked.tolist()
    check_us = drawn.check_us.tolist()
    works = (drawn.has_work & run.load.is_offloaded).tolist()
    coordinator = run.coordinator
    number, count = 0, len(at_us)
    event: Event
    while number < count or heap:
        if number < count and (not heap or at_us[number] <= heap[0][0]):
            now = at_us[number]
            event = Asked(
                Request(number, groups[number], works[number], checked[number], commits[number])
            )
            number += 1
        else:
            now, _, event = heappop(heap)
        run.events += 1
        effects = step(coordinator, event)
        while effects:
            effects = _do(run, now, effects, check_us)


def _do(run: _Run, now: int, effects: list[Any], check_us: list[int]) -> list[Any]:
    """Do what the coordinator asks for; return what it asks for in answer to appends."""
    load, times, further = run.load, run.times, []
    for effect in effects:
        kind = type(effect)
        if kind is Work:
            _put(run, now + _work(run, now, effect), Worked(effect.number))
        elif kind is Append:
            further += _append(run, now, effect)
        elif kind is Answer:
            times.answered[effect.number] = now
            times.failed[effect.number] = effect.failure is not None
        elif kind is Check:
            times.check[effect.number] = now
            _put(run, now + check_us[effect.number], Checked(effect.number))
        else:
            after_us, event = _timed(load, effect)
            _put(run, now + after_us, event)
    return further


def _timed(load: Load, effect: Linger | Park | Compute) -> tuple[int, Event]:
    """Return what follows, and after what time, where that is a setting."""
    if isinstance(effect, Linger):
        assert load.linger_us is not None
        return load.linger_us, Lingered(effect.partition, effect.batch)
    if isinstance(effect, Park):
        assert load.timeout_us is not None
        return load.timeout_us, TimedOut(effect.number)
    return load.background_us, Computed(effect.token)


def _work(run: _Run, now: int, work: Work) -> int:
    """Return how long a worker is busy with a request, or with the result of background work."""
    load, number = run.load, work.number
    busy = load.service_us + work.is_handed_off * load.handoff_us
    if number >= 0:
        if not load.is_offloaded and run.drawn.has_work[number]:
            busy += load.background_us
        run.handoffs += work.is_handed_off
        run.times.work[number], run.times.busy[number] = now, busy
    return busy


def _append(run: _Run, now: int, append: Append) -> list[Any]:
    """Append behind what the log takes already; return what a completion at once leads to."""
    load, times, partition = run.load, run.times, append.partition
    end = run.ends[partition] = run.ends[partition] + len(append.entries)
    done = run.appended_at[partition] = max(run.appended_at[partition], now) + load.append_us
    for entry in append.entries:
        if entry.value == NEVER:
            continue  # the result of background work
        times.append[entry.value], times.appended[entry.value] = now, done
    latency = run.latencies[run.appends % len(run.latencies)]
    run.appends += 1
    at = run.replicated_at[partition] = max(run.replicated_at[partition], done + latency)
    if done > now:
        _put(run, done, Appended(append.token, end))
    _put(run, at, Replicated(partition, end))
    if done > now:
        return []
    run.events += 1
    return step(run.coordinator, Appended(append.token, end))


def _put(run: _Run, at: int, event: Event) -> None:
    run.order += 1
    heappush(run.heap, (at, run.order, event))


def _played(run: _Run) -> Played:
    times, executor = run.times, run.coordinator.executor
    return Played(
        drawn=run.drawn,
        check_at=np.array(times.check),
        work_at=np.array(times.work),
        work_us=np.array(times.busy),
        append_at=np.array(times.append),
        appended_at=np.array(times.appended),
        answered_at=np.array(times.answered),
        is_failed=np.array(times.failed),
        appends=run.appends,
        handoffs=run.handoffs,
        held_max=run.coordinator.held_max,
        background_done=executor.taken,
        background_stale=executor.stale,
        events=run.events,
    )
