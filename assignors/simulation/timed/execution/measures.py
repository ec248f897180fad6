"""Play a load on a coordinator, and measure it: rates, response times, stages, memory, backlog.

Events are handled in order of time. The local log of a partition takes appends one by one, and the
high watermark follows after the time of a replication, in order.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from heapq import heappop, heappush
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assignors.simulation.timed.execution.load import (
    MICRO,
    Draws,
    Load,
    draws,
    replications,
)
from assignors.simulation.timed.execution.policy import Lingers, Policy, Settings
from assignors.simulation.timed.execution.port import (
    Answer,
    Append,
    Appended,
    Asked,
    Check,
    Checked,
    Entry,
    Event,
    Handled,
    Lingered,
    Replicated,
    Request,
    State,
    Work,
    Worked,
    make,
)
from assignors.simulation.timed.execution.state import Coordinator
from assignors.simulation.timed.execution.step import step

Times = NDArray[np.int64]
"""Microseconds, one a request."""

NEVER = -1
"""The time of what did not happen to a request."""
WARM_UP = 10
"""One request in so many is not counted, at the begin."""
GROWTH_MAX = 0.05
"""A load is sustained if of its arrivals at most this share is added to the backlog."""
BEFORE, AFTER, WINDOW = 0.4, 0.8, 0.2
"""Where the backlog is compared, and over how much: as parts of all requests."""


class Stage(StrEnum):
    """Where a request is, from its arrival to its answer."""

    QUEUED = "queued"
    """It waits for its key and for a worker."""
    CHECKED = "checked"
    """Its check runs."""
    EXECUTED = "executed"
    """A worker handles it, with the hand-over to that worker."""
    LINGERED = "lingered"
    """It is handled, and its batch waits for others."""
    APPENDED = "appended"
    """The local log takes its records."""
    PARKED = "parked"
    """It waits for the high watermark, in what brokers call purgatory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """When each request was where: microseconds from the begin, `NEVER` where it never was."""

    drawn: Draws
    check_at: Times
    work_at: Times
    work_us: Times
    """How long a worker had it."""
    append_at: Times
    appended_at: Times
    answered_at: Times
    appends: int
    handoffs: int
    """Requests that another thread took over from the one that brought them."""
    held_max: int
    """The most records that a partition's state had applied and the log not replicated."""
    events: int

    def spent(self) -> dict[Stage, Times]:
        """Return how long each request was in each stage; together that is its response time."""
        check, worked = self.check_at, self.work_at + self.work_us
        spent = {
            Stage.CHECKED: np.where(check == NEVER, 0, self.drawn.check_us),
            Stage.EXECUTED: self.work_us,
            Stage.LINGERED: self.append_at - worked,
            Stage.APPENDED: self.appended_at - self.append_at,
            Stage.PARKED: self.answered_at - self.appended_at,
        }
        took = self.answered_at - self.drawn.at_us
        return {Stage.QUEUED: took - sum(spent.values()), **spent}

    def way(self, number: int) -> list[tuple[Stage, int, int]]:
        """Return the stages of one request in their order, each with its begin and its end."""
        answered = int(self.answered_at[number])
        check, work = int(self.check_at[number]), int(self.work_at[number])
        append, appended = int(self.append_at[number]), int(self.appended_at[number])
        worked = work + int(self.work_us[number])
        parts = [
            (Stage.EXECUTED, work, worked),
            (Stage.LINGERED, worked, append),
            (Stage.APPENDED, append, appended),
            (Stage.PARKED, appended, answered),
        ]
        if check != NEVER:
            parts.insert(0, (Stage.CHECKED, check, check + int(self.drawn.check_us[number])))
        found, at = [], int(self.drawn.at_us[number])
        for stage, start, end in parts:
            found += [(Stage.QUEUED, at, start), (stage, start, end)]
            at = end
        return [(stage, start, end) for stage, start, end in found if start < end]


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a load led to. Of times and rates, the first tenth of the requests does not count."""

    throughput_per_second: float
    """Requests that are handled a second, in the middle four fifths of them."""
    is_sustained: bool
    """Whether the coordinator answers as fast as it is asked: at most one request in twenty is
    added to the backlog."""
    backlog_growth: float
    """Requests that are added to the backlog, for each that arrives: 0 where it stays as it is."""
    backlog_max: int
    """The most requests that were on their way at once."""
    mean_ms: float
    """Response time in milliseconds, from the request to its answer: the mean."""
    p50_ms: float
    """The median of the response times."""
    p99_ms: float
    """Their 99th percentile."""
    commit_p50_ms: float | None
    """The median of commits alone; `None` where there were none."""
    commit_p99_ms: float | None
    """The 99th percentile of commits alone."""
    others_p99_ms: float | None
    """The 99th percentile of all groups but group 0; `None` where there is no other."""
    queued_ms: float
    """Mean time that a request waited for its key and for a worker."""
    checked_ms: float
    """Mean time in which its check ran."""
    executed_ms: float
    """Mean time in which a worker handled it, with the hand-over to that worker."""
    lingered_ms: float
    """Mean time that it was handled and its batch waited for others."""
    appended_ms: float
    """Mean time in which the local log took its records."""
    parked_ms: float
    """Mean time that it waited for the high watermark. The six times add up to `mean_ms`."""
    records_per_append: float
    """Records that were appended together, in the mean."""
    handed_off_share: float
    """Share of requests that another thread took over from the one that brought them."""
    held_max: int
    """The most records that a partition's state had applied and the log not replicated: what it
    has to remember in order to go back."""
    held_bytes: int
    """The same in bytes of records."""
    events: int
    """Events that the coordinator handled."""
    end_ms: float
    """When the last request was answered, in milliseconds from the begin."""


def measured(played: Played, load: Load) -> Measured:
    """Return the figures of a load that was played. Cost: O(requests log requests)."""
    drawn, count = played.drawn, len(played.drawn.at_us)
    counted = slice(count // WARM_UP, None)
    took = ((played.answered_at - drawn.at_us) / 1000)[counted]
    stages = {
        f"{stage}_ms": float(spent[counted].mean()) / 1000
        for stage, spent in played.spent().items()
    }
    commits = took[drawn.is_commit[counted]]
    end = int(played.answered_at.max())
    growth, backlog_max = _backlog(played)
    return Measured(
        throughput_per_second=_throughput(played),
        is_sustained=growth <= GROWTH_MAX,
        backlog_growth=growth,
        backlog_max=backlog_max,
        mean_ms=float(took.mean()),
        p50_ms=float(np.percentile(took, 50)),
        p99_ms=float(np.percentile(took, 99)),
        commit_p50_ms=_percentile(commits, 50),
        commit_p99_ms=_percentile(commits, 99),
        others_p99_ms=_percentile(took[drawn.group[counted] != 0], 99),
        **stages,
        records_per_append=count / played.appends,
        handed_off_share=played.handoffs / count,
        held_max=played.held_max,
        held_bytes=played.held_max * load.record_bytes,
        events=played.events,
        end_ms=end / 1000,
    )


def _percentile(values: NDArray[np.float64], percent: int) -> float | None:
    return float(np.percentile(values, percent)) if len(values) else None


def _throughput(played: Played) -> float:
    """Return how many requests are handled a second, without the first tenth of them and the last.

    In the long run as many are answered, but those of a batch all at once.
    """
    done = np.sort(played.work_at + played.work_us)
    first, last = len(done) // WARM_UP, len(done) - 1 - len(done) // WARM_UP
    return (last - first) / max(int(done[last] - done[first]), 1) * MICRO


def _backlog(played: Played) -> tuple[float, int]:
    """Return by how much the backlog grows a request, and the most that it was.

    Each arrival sees those that came before it and are not answered. What the later arrivals see
    more than the earlier ones is what the backlog has grown by.
    """
    count = len(played.answered_at)
    answered = np.searchsorted(np.sort(played.answered_at), played.drawn.at_us, side="right")
    seen = np.arange(count) - answered
    before, after = (
        seen[int(at * count) : max(int((at + WINDOW) * count), int(at * count) + 1)].mean()
        for at in (BEFORE, AFTER)
    )
    return float((after - before) / ((AFTER - BEFORE) * count)), int(seen.max()) + 1


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
    run = _Run.of(load, Coordinator.of(policy, commit, settings))
    _play(run)
    return _played(run)


def commit(_: State, request: Request) -> Handled:
    """Handle a request that commits an offset of its group: its record has its number."""
    return make(Handled, ((make(Entry, (request.group, request.number)),), None))


@dataclass(slots=True)
class _Times:
    """Of each request, by its number."""

    check: list[int]
    work: list[int]
    busy: list[int]
    append: list[int]
    appended: list[int]
    answered: list[int]

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

    @classmethod
    def of(cls, load: Load, coordinator: Coordinator) -> _Run:
        """Return a run of which nothing has happened yet."""
        drawn, partitions = draws(load), len(coordinator.partitions)
        at_us, waits = drawn.at_us.tolist(), load.clients is not None
        columns = zip(
            drawn.group.tolist(),
            repeat(None, load.requests),
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
            run.handoffs += is_handed_off
            times.work[number], times.busy[number] = now, busy
            _put(run, now + busy, make(Worked, (number,)))
        elif kind is Append:
            further += _append(run, now, effect)
        elif kind is Answer:
            times.answered[effect.number] = now
            if run.thoughts:
                _think(run, now)
        elif kind is Check:
            (number,) = effect
            times.check[number] = now
            _put(run, now + run.check_us[number], make(Checked, (number,)))
        else:
            assert run.load.linger_us is not None
            _put(run, now + run.load.linger_us, Lingered(effect.partition, effect.batch))
    return further


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
    times = run.times
    return Played(
        drawn=run.drawn._replace(at_us=np.array(run.at_us)),
        check_at=np.array(times.check),
        work_at=np.array(times.work),
        work_us=np.array(times.busy),
        append_at=np.array(times.append),
        appended_at=np.array(times.appended),
        answered_at=np.array(times.answered),
        appends=run.appends,
        handoffs=run.handoffs,
        held_max=run.coordinator.held_max,
        events=_events(run),
    )
