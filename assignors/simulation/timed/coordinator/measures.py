"""What is measured of a load that was played: rates, response times, stages, memory, backlog."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from assignors.simulation.timed.coordinator.load import MICRO, Draws, Load

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
    is_failed: NDArray[np.bool_]
    appends: int
    handoffs: int
    """Requests that another thread took over from the one that brought them."""
    held_max: int
    """The most records that a partition's state had applied and the log not replicated."""
    background_done: int
    background_stale: int
    events: int

    def spent(self) -> dict[Stage, Times]:
        """Return how long each request was in each stage; together that is its response time.

        What goes on after the answer, as that of a request that has timed out, does not count.
        """
        answered = self.answered_at
        check, work, append = self.check_at, self.work_at, self.append_at
        checked, worked = check + self.drawn.check_us, work + self.work_us
        spent = {
            Stage.CHECKED: _between(check, checked, answered),
            Stage.EXECUTED: _between(work, worked, answered),
            Stage.LINGERED: np.where(append == NEVER, 0, _between(work, append, answered))
            - np.where(append == NEVER, 0, _between(work, worked, answered)),
            Stage.APPENDED: _between(append, self.appended_at, answered),
            Stage.PARKED: _between(np.where(append == NEVER, work, self.appended_at), answered),
        }
        # What wrote nothing is parked from the end of its work on.
        spent[Stage.PARKED] -= np.where(append == NEVER, spent[Stage.EXECUTED], 0)
        took = answered - self.drawn.at_us
        return {Stage.QUEUED: took - sum(spent.values()), **spent}

    def way(self, number: int) -> list[tuple[Stage, int, int]]:
        """Return the stages of one request in their order, each with its begin and its end."""
        answered = int(self.answered_at[number])
        check, work = int(self.check_at[number]), int(self.work_at[number])
        append, appended = int(self.append_at[number]), int(self.appended_at[number])
        worked = work + int(self.work_us[number])
        parts = []
        if check != NEVER:
            parts.append((Stage.CHECKED, check, check + int(self.drawn.check_us[number])))
        if work != NEVER:
            parts.append((Stage.EXECUTED, work, worked))
        if append != NEVER:
            parts += [(Stage.LINGERED, worked, append), (Stage.APPENDED, append, appended)]
        if work != NEVER:
            parts.append((Stage.PARKED, max(worked, appended), answered))
        found, at = [], int(self.drawn.at_us[number])
        for stage, start, end in parts:
            found += [(Stage.QUEUED, at, start), (stage, start, min(end, answered))]
            at = end
        return [(stage, start, end) for stage, start, end in found if start < end]


def _between(start: Times, end: Times, until: Times | None = None) -> Times:
    """Return how long it is from one time to the other, up to a third; 0 from `NEVER`."""
    last = end if until is None else np.minimum(end, until)
    return np.where(start == NEVER, 0, np.maximum(last - start, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a load led to. Of times and rates, the first tenth of the requests does not count."""

    answered: int
    """Requests that were answered, with an error or without."""
    failed: int
    """Of these, those with an error."""
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
    background_done: int
    """Work that the background executor has done: one of a group at a time."""
    background_stale: int
    """Results of these whose group had another record by then."""
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
    records = int((played.append_at != NEVER).sum())
    return Measured(
        answered=count,
        failed=int(played.is_failed.sum()),
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
        records_per_append=records / max(played.appends, 1),
        handed_off_share=played.handoffs / count,
        held_max=played.held_max,
        held_bytes=played.held_max * load.record_bytes,
        background_done=played.background_done,
        background_stale=played.background_stale,
        events=played.events,
        end_ms=end / 1000,
    )


def _percentile(values: NDArray[np.float64], percent: int) -> float | None:
    return float(np.percentile(values, percent)) if len(values) else None


def _throughput(played: Played) -> float:
    """Return how many requests are handled a second, without the first tenth of them and the last.

    In the long run as many are answered, but those of a batch all at once.
    """
    worked = played.work_at + played.work_us
    done = np.sort(np.where(played.work_at == NEVER, played.answered_at, worked))
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
