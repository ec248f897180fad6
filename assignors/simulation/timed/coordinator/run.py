"""Play a load on a coordinator: when each request is checked, handled, appended and answered.

Events are handled in order of time. The local log of a partition takes appends one by one, and the
high watermark follows after the time of a replication, in order.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from typing import Any

import numpy as np

from assignors.simulation.timed.coordinator.load import (
    Draws,
    Load,
    computations,
    draws,
    replications,
)
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
    make,
)
from assignors.simulation.timed.coordinator.settings import Lingers, Settings
from assignors.simulation.timed.coordinator.state import Coordinator

NEXT = None
"""What happens where the next request comes."""
FAR = 2**62
"""When a request comes that waits for an answer: not yet."""


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
    run = _Run.of(load, Coordinator.of(policy, commit, settings))
    _play(run)
    return _played(run)


def commit(_: State, request: Request) -> Handled:
    """Handle a request that commits an offset of its group: its record has its number.

    Work that it leaves behind is about its group, and stale once the group has another record.
    """
    entries = (make(Entry, (request.group, request.number)),)
    if not request.what:
        return make(Handled, (entries, None, None))
    group = request.group
    work = Background(
        key=group,
        seen=request.number,
        look=lambda now: now.get(group),
        finish=lambda *_: Handled((Entry(("target", group), NEVER),), None),
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
    requests: list[Request]
    at_us: list[int]
    """When each request comes; where clients wait for answers, when it came."""
    thoughts: list[int]
    """How long clients think before they ask, from the last request to the first; of requests that
    come whatever has been answered there are none."""
    check_us: list[int]
    busy_us: tuple[int, int]
    """How long a worker has a request that it got from its own thread, or from another one."""
    works_us: list[int] | None
    """What is added to that, where workers do what requests leave behind."""
    computations: list[int]
    """How long work in the background takes."""
    ends: list[int]
    """Of the partitions' logs."""
    appended_at: list[int]
    """When each local log has taken what it was asked to append."""
    replicated_at: list[int]
    """When what is in each log will be replicated."""
    latencies: list[int]
    times: _Times
    heap: list[tuple[int, int, Event | None]] = field(default_factory=list)
    order: int = 0
    at_once: int = 0
    """Appends that were complete at once."""
    appends: int = 0
    handoffs: int = 0
    computed: int = 0

    @classmethod
    def of(cls, load: Load, coordinator: Coordinator) -> _Run:
        """Return a run of which nothing has happened yet."""
        drawn, partitions = draws(load), len(coordinator.partitions)
        at_us, waits = drawn.at_us.tolist(), load.clients is not None
        computing = computations(load, load.requests)
        work = None if load.is_offloaded else (computing * drawn.has_work).tolist()
        columns = zip(
            drawn.group.tolist(),
            (drawn.has_work & load.is_offloaded).tolist(),
            drawn.is_checked.tolist(),
            drawn.is_commit.tolist(),
            drawn.is_transactional.tolist(),
            strict=True,
        )
        return cls(
            load=load,
            drawn=drawn,
            coordinator=coordinator,
            requests=[Request(number, *each) for number, each in enumerate(columns)],
            at_us=[FAR] * len(at_us) if waits else at_us,
            thoughts=at_us[::-1] if waits else [],
            check_us=drawn.check_us.tolist(),
            busy_us=(load.service_us, load.service_us + load.handoff_us),
            works_us=work,
            computations=computing.tolist(),
            ends=[0] * partitions,
            appended_at=[0] * partitions,
            replicated_at=[0] * partitions,
            latencies=replications(load, load.requests).tolist(),
            times=_Times.of(load.requests),
        )


def _play(run: _Run) -> None:
    heap, coordinator, requests = run.heap, run.coordinator, run.requests
    at_us, count = run.at_us, len(requests)
    if run.load.clients is not None:
        for _ in range(min(run.load.clients, count)):
            _think(run, 0)
    number = 0
    event: Event | None
    while number < count or heap:
        if heap and (number == count or heap[0][0] < at_us[number]):
            now, _, event = heappop(heap)
        else:
            now, event = at_us[number], NEXT
        if event is NEXT:
            at_us[number] = now
            event = make(Asked, (requests[number],))
            number += 1
        effects = step(coordinator, event)
        while effects:
            effects = _do(run, now, effects)


def _think(run: _Run, now: int) -> None:
    """Let a client ask once it has thought."""
    if run.thoughts:
        _put(run, now + run.thoughts.pop(), NEXT)


def _do(run: _Run, now: int, effects: list[Any]) -> list[Any]:
    """Do what the coordinator asks for; return what it asks for in answer to appends."""
    times, further = run.times, []
    for effect in effects:
        kind = type(effect)
        if kind is Work:
            number, is_handed_off = effect
            busy = run.busy_us[is_handed_off]
            if number >= 0:
                if run.works_us is not None:
                    busy += run.works_us[number]
                run.handoffs += is_handed_off
                times.work[number], times.busy[number] = now, busy
            _put(run, now + busy, make(Worked, (number,)))
        elif kind is Append:
            further += _append(run, now, effect)
        elif kind is Answer:
            number, _, failure = effect
            times.answered[number] = now
            if failure is not None:
                times.failed[number] = True
            if run.thoughts:
                _think(run, now)
        elif kind is Check:
            (number,) = effect
            times.check[number] = now
            _put(run, now + run.check_us[number], make(Checked, (number, True)))
        else:
            after_us, event = _timed(run, effect)
            _put(run, now + after_us, event)
    return further


def _timed(run: _Run, effect: Linger | Park | Compute) -> tuple[int, Event]:
    """Return what follows, and after what time."""
    load = run.load
    if isinstance(effect, Linger):
        assert load.linger_us is not None
        return load.linger_us, Lingered(effect.partition, effect.batch)
    if isinstance(effect, Park):
        assert load.timeout_us is not None
        return load.timeout_us, TimedOut(effect.number)
    run.computed += 1
    return run.computations[run.computed % len(run.computations)], Computed(effect.token)


def _append(run: _Run, now: int, append: Append) -> list[Any]:
    """Append behind what the log takes already; return what a completion at once leads to."""
    token, partition, entries = append
    end = run.ends[partition] = run.ends[partition] + len(entries)
    done = now
    if run.load.append_us:
        done = max(run.appended_at[partition], now) + run.load.append_us
        run.appended_at[partition] = done
    asked, appended = run.times.append, run.times.appended
    for _, number in entries:
        if number != NEVER:  # else it is the result of background work
            asked[number], appended[number] = now, done
    latency = run.latencies[run.appends % len(run.latencies)]
    run.appends += 1
    at = run.replicated_at[partition] = max(run.replicated_at[partition], done + latency)
    if done > now:
        _put(run, done, Appended(token, end))
    _put(run, at, make(Replicated, (partition, end)))
    if done > now:
        return []
    run.at_once += 1
    return step(run.coordinator, make(Appended, (token, end)))


def _put(run: _Run, at: int, event: Event | None) -> None:
    run.order += 1
    heappush(run.heap, (at, run.order, event))


def _events(run: _Run) -> int:
    """Return how many there were; each but those that were complete at once was put somewhere."""
    came = 0 if run.load.clients is not None else len(run.requests)
    return came + run.order + run.at_once


def _played(run: _Run) -> Played:
    times, executor = run.times, run.coordinator.executor
    return Played(
        drawn=run.drawn._replace(at_us=np.array(run.at_us)),
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
        events=_events(run),
    )
