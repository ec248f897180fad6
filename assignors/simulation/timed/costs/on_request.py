"""Figures that are measured on request: time in calls and waits, and bytes that brokers keep.

What is here sees a run as an observer does, so that a run in which nobody asks for it pays nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from assignors.ownership.changes import Change
from assignors.ownership.intervals import by_partition, ownerships
from assignors.simulation.timed.monitors.rules import CALLBACKS, REVOKED, Seen
from assignors.simulation.timed.offsets_topic import log_entries
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Answered,
    Cancel,
    Command,
    Consume,
    Disconnect,
    Effect,
    Failed,
    Fired,
    GiveUp,
    Record,
    Request,
    Schedule,
    Send,
    TimerKey,
)
from assignors.simulation.timed.protocols.kafka import messages as classic
from assignors.simulation.timed.protocols.kafka.messages import (
    ConsumerHeartbeat,
    OffsetCommit,
    OffsetFetch,
)
from assignors.simulation.timed.protocols.push import messages as push
from wire.records import RECORD_TYPES

CALLS = ("poll", "callback", "commit", "close")
"""The calls, in the order of a result's columns."""
COMMIT: TimerKey = ("blocked",)
"""The timer of a synchronous commit: it runs from the call to its end."""
LIMIT: TimerKey = ("commit-limit",)
"""The timer of a callback that waits for its commit."""


@dataclass(slots=True, kw_only=True)
class _Application:
    """The thread of one application; times are microseconds, `None` where it is in no such call."""

    poll: int | None = None
    commit: int | None = None
    close: int | None = None
    callbacks: dict[TimerKey, int] = field(default_factory=dict)
    """Callbacks that run, and since when."""
    has_partitions: bool = False
    polled: int = 0
    """How long it has been in `poll` without a partition, which counts once it has one."""


@dataclass(slots=True, kw_only=True)
class Blocked:
    """The calls of all applications in a run, in which they process nothing; microseconds.

    `poll` has something to return while the member has a partition; a member that has none is all
    the time in `poll`. Callbacks run in `poll`, and their time counts as theirs, with the commits
    in them; those that `close` runs are part of `close`.

    Source: "nothing but fetch and the first join may block" in the discussion of the New Consumer
    Design (2014). Java's client has the metrics `poll-idle-ratio-avg`,
    `commit-sync-time-ns-total` and the latencies of rebalance callbacks.
    """

    count_from: int
    last: int = 0
    """When the last event was seen."""
    applications: dict[str, _Application] = field(default_factory=dict)
    """Member -> its application, while its process runs."""
    took: Counter[str] = field(default_factory=Counter)

    def see(self, seen: Seen) -> None:
        """Take note of an event. Cost: O(its effects)."""
        name, event, now = seen.member, seen.event, seen.at_us
        self.last = now
        if name is None:
            return
        own = self.applications.get(name)
        if event is Command.START:
            if own is not None:
                self._end(name, own, now)
            self.applications[name] = own = _Application(poll=now)
        if own is None:
            return
        if event is Command.STOP and own.close is None:
            self._leave_poll(own, now)
            own.close = now
        if isinstance(event, Fired):
            self._fired(own, event.key, now, seen.effects)
        for effect in seen.effects:
            self._effect(own, effect, now)
        self._poll_on(own, now)
        if _has_ended(own, seen):
            self._end(name, own, now)

    def close(self, at: int) -> None:
        """Count what lasts at the end of the run."""
        for name, own in list(self.applications.items()):
            self._end(name, own, at)

    def figures(self) -> dict[str, float]:
        """Return what a result says of it: its columns."""
        return {f"{call}_blocked_ms": self.took[call] / MILLISECOND for call in CALLS}

    def _fired(self, own: _Application, key: TimerKey, now: int, effects: Sequence[Effect]) -> None:
        """End a call whose timer has run out, unless it waits for a commit."""
        if key == COMMIT:
            self._committed(own, now)
        elif key in own.callbacks and not _waits(effects):
            self._called_back(own, key, now)

    def _effect(self, own: _Application, effect: Effect, now: int) -> None:
        if isinstance(effect, Schedule):
            if effect.key == COMMIT:
                own.commit = now
            elif effect.key in CALLBACKS:
                self._leave_poll(own, now)
                own.callbacks[effect.key] = now
        elif isinstance(effect, Cancel):
            if effect.key == COMMIT:
                self._committed(own, now)
            elif effect.key == LIMIT:
                self._called_back(own, REVOKED, now)
            else:
                self._called_back(own, effect.key, now)
        elif isinstance(effect, Consume):
            own.has_partitions = any(effect.owned.values())
            if own.has_partitions:
                self._leave_poll(own, now)
                self.took["poll"] += own.polled
                own.polled = 0

    def _poll_on(self, own: _Application, now: int) -> None:
        """Let an application that has no partition, and is in no other call, be in `poll`."""
        is_elsewhere = own.callbacks or own.close is not None or own.commit is not None
        if own.poll is None and not own.has_partitions and not is_elsewhere:
            own.poll = now

    def _leave_poll(self, own: _Application, now: int) -> None:
        if own.poll is not None:
            own.polled += self._since(own.poll, now)
            own.poll = None

    def _committed(self, own: _Application, now: int) -> None:
        if own.commit is not None:
            self.took["commit"] += self._since(own.commit, now)
            own.commit = None

    def _called_back(self, own: _Application, key: TimerKey, now: int) -> None:
        """End a callback, if it runs; what of it was in `close` is part of that."""
        since = own.callbacks.pop(key, None)
        if since is not None:
            until = now if own.close is None else min(own.close, now)
            self.took["callback"] += self._since(since, until)

    def _end(self, name: str, own: _Application, now: int) -> None:
        """End all calls with the process."""
        for key in list(own.callbacks):
            self._called_back(own, key, now)
        self._committed(own, now)
        if own.close is not None:
            self.took["close"] += self._since(own.close, now)
        del self.applications[name]

    def _since(self, begin: int, end: int) -> int:
        return max(end - max(begin, self.count_from), 0)


def _waits(effects: Sequence[Effect]) -> bool:
    """Return whether a callback goes on, as its commit has no answer."""
    return any(isinstance(each, Schedule) and each.key == LIMIT for each in effects)


def _has_ended(own: _Application, seen: Seen) -> bool:
    """Return whether the process is over: by itself, or its `close` is, as the member has left."""
    if seen.event is Command.CRASH or any(isinstance(each, GiveUp) for each in seen.effects):
        return True
    return own.close is not None and _has_closed(own, seen)


def _has_closed(own: _Application, seen: Seen) -> bool:
    """Return whether `close` is over: the member has left, or ended without a word."""
    if any(isinstance(each, Send) and _leaves(each.request) for each in seen.effects):
        return True
    is_on = own.callbacks or any(isinstance(each, Schedule) for each in seen.effects)
    is_its_end = isinstance(seen.event, Fired) and seen.event.key == REVOKED
    return not is_on and (is_its_end or (seen.event is Command.STOP and bool(seen.effects)))


def _leaves(request: Request) -> bool:
    if isinstance(request, ConsumerHeartbeat):
        return request.epoch < 0
    return isinstance(request, classic.LeaveGroup | push.LeaveGroup)


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
    """The waiting of all members in a run, by what they asked for; times are microseconds.

    A classic rebalance is a barrier: members that have joined wait for the last one, then for
    the leader. The partitions that have no consumer meanwhile are locked.

    Source: "the pull lock" in the discussion of the New Consumer Design (2014). Java's client has
    the metrics `join-time` and `sync-time` for the first two.
    """

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


TOKEN_BYTES = 16 + 4 + 16 + 8
"""A token of the push protocol: topic id, partition, member id as a UUID, number of the grant."""
OFFSET_KEYS = frozenset(
    each.number.to_bytes(2, "big") for each in RECORD_TYPES if each.name.endswith("OFFSET_COMMIT")
)
"""How keys of committed offsets begin: with the number of their type, in two bytes."""

Sizes = Iterator[tuple[int, int]]
"""Milliseconds since the run began, and bytes that are kept from then on."""


def state_figures(
    records: Iterable[tuple[int, Record]], changes: Iterable[Change], *, count_from_ms: int
) -> dict[str, int]:
    """Return what a broker keeps for a group: keys and values of its records after compaction.

    Not the frames of records and batches around them, and not the group's id, which is in every
    key. Groups of the push protocol have no records but for offsets: every broker has to remember
    a token for each partition that somebody may read, as the discussion of 2014 objected.

    `records` and `changes` are those of the run in order, their times microseconds; `changes` of a
    group that has tokens, else none. Cost: O(bytes).

    >>> from assignors.simulation.timed.protocols.kafka.records import OffsetRecord
    >>> commits = [(0, OffsetRecord("t", 0, 5)), (1000, OffsetRecord("t", 0, 6))]
    >>> state_figures(commits, [], count_from_ms=0)
    {'state_bytes': 53, 'state_bytes_max': 53, 'offsets_bytes': 53, 'written_bytes': 106}
    """
    kept: dict[bytes, int] = {}
    written = 0

    def of_records() -> Sizes:
        nonlocal written
        total = 0
        for batch in log_entries(records, group=""):
            for entry in batch:
                assert entry.key is not None, "a broker writes a key always"
                size = len(entry.key) + len(entry.value or b"")
                written += size
                total -= kept.pop(entry.key, 0)
                if entry.value is not None:
                    kept[entry.key] = size
                    total += size
            yield batch[0].timestamp_ms, total

    of_log, tokens = list(of_records()), list(_tokens(changes))
    offsets = sum(size for key, size in kept.items() if key[:2] in OFFSET_KEYS)
    return {
        "state_bytes": _last(of_log) + _last(tokens),
        "state_bytes_max": _most(of_log, count_from_ms) + _most(tokens, count_from_ms),
        "offsets_bytes": offsets,
        "written_bytes": written,
    }


def _tokens(changes: Iterable[Change]) -> Sizes:
    """Yield the size of all tokens after each change of what members may read."""
    counts: dict[str, int] = {}
    total = 0
    for change in changes:
        count = sum(map(len, change.owned.values()))
        total += count - counts.get(change.member_id, 0)
        counts[change.member_id] = count
        yield change.at // MILLISECOND, total * TOKEN_BYTES


def _last(sizes: list[tuple[int, int]]) -> int:
    return sizes[-1][1] if sizes else 0


def _most(sizes: list[tuple[int, int]], count_from_ms: int) -> int:
    """Return the most that is kept at a time since costs are counted, and just before."""
    before = _last([size for size in sizes if size[0] < count_from_ms])
    return max([before, *(size for at_ms, size in sizes if at_ms >= count_from_ms)])
