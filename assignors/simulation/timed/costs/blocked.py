"""How long calls of the client keep applications' threads, by call.

An application calls `poll`, `commitSync` and `close`, and its client calls it back. Each of these
takes time in which the application processes nothing. What is here sees a run as an observer does,
so that a run in which nobody asks for it pays nothing.

`poll` has something to return while the member has a partition; a member that has none is all the
time in `poll`. Time in callbacks is theirs, though they run in `poll`, and the commits in them take
theirs; those that `close` runs are part of `close`.

Source: "nothing but fetch and the first join may block" in the discussion of the New Consumer
Design (2014). Java's client has the metrics `poll-idle-ratio-avg`, `commit-sync-time-ns-total` and
the latencies of rebalance callbacks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from assignors.simulation.timed.monitors.rules import CALLBACKS, REVOKED, Seen
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Cancel,
    Command,
    Consume,
    Effect,
    Fired,
    GiveUp,
    Request,
    Schedule,
    Send,
    TimerKey,
)
from assignors.simulation.timed.protocols.kafka import messages as classic
from assignors.simulation.timed.protocols.kafka.messages import ConsumerHeartbeat
from assignors.simulation.timed.protocols.push import messages as push

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
    """The calls of all applications in a run; times are microseconds."""

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
