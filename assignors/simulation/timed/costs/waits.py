"""How long members wait for answers, by what they asked for, and what that locks.

A classic rebalance is a barrier: whoever has joined waits for the last one to join, then for the
leader. The partitions that have no consumer meanwhile are locked. What is here sees a run as an
observer does, so that a run in which nobody asks for it pays nothing.

Source: "the pull lock" in the discussion of the New Consumer Design (2014). Java's client has the
metrics `join-time` and `sync-time` for the first two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from assignors.ownership.changes import Change
from assignors.ownership.intervals import by_partition, ownerships
from assignors.simulation.timed.monitors.rules import Seen
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Answered,
    Command,
    Disconnect,
    Failed,
    Request,
    Send,
)
from assignors.simulation.timed.protocols.kafka import messages as classic
from assignors.simulation.timed.protocols.kafka.messages import (
    ConsumerHeartbeat,
    OffsetCommit,
    OffsetFetch,
)
from assignors.simulation.timed.protocols.push import messages as push

KINDS: dict[type, str] = {
    classic.JoinGroup: "join",
    push.JoinGroup: "join",
    classic.SyncGroup: "sync",
    OffsetCommit: "commit",
    OffsetFetch: "offset_fetch",
}
"""Type of a request -> what its time counts as."""
BARRIER = frozenset({classic.JoinGroup, classic.SyncGroup})
ENDS = frozenset({Command.STOP, Command.CRASH})


@dataclass(slots=True, kw_only=True)
class Waits:
    """The waiting of all members in a run; times are microseconds."""

    count_from: int
    last: int = 0
    """When the last event was seen."""
    open: dict[tuple[str, int], tuple[int, Request]] = field(default_factory=dict)
    """Member and its number of a request -> when it was sent, and the request."""
    waited: Counter[str] = field(default_factory=Counter)
    barriers: list[tuple[int, int]] = field(default_factory=list)
    """When some member began to wait for JoinGroup or SyncGroup, and its end."""

    def see(self, seen: Seen) -> None:
        """Take note of an event. Cost: O(its effects), plus O(waits) where a process ends."""
        name, event, now = seen.member, seen.event, seen.at_us
        self.last = now
        if name is None:
            return
        if isinstance(event, Answered | Failed):
            self._end(now, name, event.number)
        is_over = isinstance(event, Command) and event in ENDS
        if is_over or any(isinstance(each, Disconnect) for each in seen.effects):
            for member, number in [key for key in self.open if key[0] == name]:
                self._end(now, member, number)
        for each in seen.effects:
            if isinstance(each, Send) and _kind(each.request) is not None:
                self.open[name, each.number] = now + each.after_us, each.request

    def close(self, at: int) -> None:
        """Count what is waited for at the end of the run."""
        for name, number in list(self.open):
            self._end(at, name, number)

    def _end(self, at: int, name: str, number: int) -> None:
        """End one wait, if it is one that counts."""
        since, request = self.open.pop((name, number), (at, None))
        since = max(since, self.count_from)
        if request is None or at <= since:
            return
        kind = _kind(request)
        assert kind is not None, "others are not kept"
        self.waited[kind] += at - since
        if type(request) in BARRIER:
            self.barriers.append((since, at))

    def figures(self, changes: Iterable[Change]) -> dict[str, float]:
        """Return what a result says of it: its columns. Cost: that of `locked`."""
        found = {f"{kind}_wait_ms": self.waited[kind] / MILLISECOND for kind in KINDS.values()}
        lost = locked(self.barriers, _gaps(changes, self.count_from))
        return {**found, "locked_partition_ms": lost / MILLISECOND}


def _kind(request: Request) -> str | None:
    """Return what the time of a request counts as; a heartbeat counts where it joins."""
    if isinstance(request, ConsumerHeartbeat):
        return "join" if request.epoch == 0 else None
    return KINDS.get(type(request))


def _gaps(changes: Iterable[Change], count_from: int) -> list[tuple[int, int]]:
    """Return the times in which partitions had no consumer, between two that they had.

    Cost: O(I log I) for I ownerships.
    """
    found: list[tuple[int, int]] = []
    for listed in by_partition(ownerships(changes)).values():
        until = listed[0].until
        for one in listed[1:]:
            if one.start > max(until, count_from):
                found.append((max(until, count_from), one.start))
            until = max(until, one.until)
    return found


def locked(barriers: Sequence[tuple[int, int]], gaps: Sequence[tuple[int, int]]) -> int:
    """Return partitions times microseconds of the `gaps` in which some barrier was up.

    Both are (begin, end). Cost: O(B log B + G log B) for B barriers and G gaps.

    >>> locked([(0, 10), (5, 20), (30, 40)], [(15, 35), (50, 60), (0, 1)])
    11
    """
    if not barriers or not gaps:
        return 0
    edges: list[int] = []
    for begin, end in sorted(barriers):
        if not edges or begin > edges[-1]:
            edges += begin, end
        else:
            edges[-1] = max(edges[-1], end)
    at = np.array(edges, dtype=np.float64)
    up = np.zeros(len(edges))
    up[1::2] = np.cumsum(at[1::2] - at[::2])
    up[2::2] = up[1:-1:2]
    begins, ends = np.array(gaps, dtype=np.float64).T
    return round(float((np.interp(ends, at, up) - np.interp(begins, at, up)).sum()))
