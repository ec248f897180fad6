"""All groups under watch, and the inputs in the order in which they came.

Each group goes its own way through `machine.step`; nothing of one group decides anything for
another. Groups that are not read at the moment are packed.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, islice

from assignors.replay.decode.logged_records import NO_GROUP, LoggedRecord, group_in
from assignors.replay.history.fold import COMMITS
from assignors.watch.events import Alert
from assignors.watch.group_state import Cluster, GroupWatch
from assignors.watch.life_cycle import still_open
from assignors.watch.machine import NOTHING, SECOND, Input, Tick, step
from assignors.watch.reach import OwnState, Reach, own_step
from assignors.watch.rules import Rules

UNPACKED = 200
"""Groups whose whole state is in memory; of the others the last commits are."""


@dataclass(slots=True)
class Watch:
    """Every group that has a record, and when each has to be looked at."""

    rules: Rules = field(default_factory=Rules)
    since_ms: int = 0
    """Events before are not given out."""
    groups: dict[str, GroupWatch] = field(default_factory=dict)
    cluster: Cluster = NOTHING
    clock_ms: int = 0
    """The greatest time of a record or tick."""
    record_count: int = 0
    unreadable_count: int = 0
    own: OwnState = field(default_factory=OwnState)
    """What is wrong with the watch itself."""
    _dues: list[tuple[int, str]] = field(default_factory=list)
    """A heap: when a group is due. Entries that are not `_planned` are out of date."""
    _planned: dict[str, int] = field(default_factory=dict)
    _unpacked: dict[str, None] = field(default_factory=dict)
    _folded: dict[str, None] = field(default_factory=dict)
    """Groups with a new record that is no commit, for whoever takes them."""

    def add(self, given: Input | Reach) -> list[Alert]:
        """Add an input, and return what happened. Cost: as `machine.step`.

        A tick costs as much as the groups that are due by it; what the cluster says goes to all.
        """
        match given:
            case LoggedRecord():
                self.record_count += 1
                self.clock_ms = max(self.clock_ms, given.at_ms)
                self.unreadable_count += given.record.error is not None
                group = group_in(given.record.key) or NO_GROUP
                if given.record.name not in COMMITS:
                    self._folded[group] = None
                return self._step(group, given)
            case Tick():
                self.clock_ms = max(self.clock_ms, given.at_ms)
                return [*chain.from_iterable(self._due(given))]
            case Cluster():
                self.clock_ms = max(self.clock_ms, given.at_ms)
                groups = [*self.groups]
                events = [*chain.from_iterable(self._step(group, given) for group in groups)]
                self.cluster = given
                return events

            case Reach():
                return [*own_step(self.own, given, self.rules)]

    def restore(self, watch: GroupWatch) -> None:
        """Go on with a group from its state."""
        self.groups[watch.group] = watch
        self._folded[watch.group] = None
        self._plan(watch)

    def still_open(self) -> list[Alert]:
        """Return the alerts that are open, as repeated: for receivers after a restart."""
        found = [*still_open("", self.own.alerts, self.clock_ms, self.rules)]
        for group, watch in self.groups.items():
            if watch.is_any_open:
                alerts = watch.looked_at().alerts
                found += still_open(group, alerts, self.clock_ms, self.rules)
        return found

    def take_folded(self, limit: int) -> list[GroupWatch]:
        """Return groups that have a new record which is no commit, each once, at most `limit`."""
        taken = [*islice(self._folded, limit)]
        for group in taken:
            del self._folded[group]
        return [self.groups[group] for group in taken if group in self.groups]

    def _plan(self, watch: GroupWatch) -> None:
        """Note when a group is due, if that is sooner than was known."""
        due = min((at for at in (watch.due_ms, watch.silent_ms) if at is not None), default=None)
        if due is not None and due < self._planned.get(watch.group, due + 1):
            self._planned[watch.group] = due
            heapq.heappush(self._dues, (due, watch.group))

    def _due(self, tick: Tick) -> Iterator[list[Alert]]:
        while self._dues and self._dues[0][0] <= tick.at_ms:
            due, group = heapq.heappop(self._dues)
            if self._planned.get(group) == due:
                del self._planned[group]
                yield self._step(group, tick)

    def _step(self, group: str, given: Input) -> list[Alert]:
        watch = self.groups.get(group)
        if watch is None:
            watch = self.groups[group] = GroupWatch(group)
        events = step(watch, given, self.rules, self.cluster, self.since_ms)
        self._plan(watch)
        if watch.is_forgotten:
            del self.groups[group]
        elif watch.rest is not None:
            self._unpacked.pop(group, None)
            self._unpacked[group] = None
            if len(self._unpacked) > UNPACKED:
                oldest = next(iter(self._unpacked))
                del self._unpacked[oldest]
                if oldest in self.groups:
                    self.groups[oldest].pack()
        return events


def end_tick(watch: Watch) -> Tick:
    """Return the tick behind the last record: every group is looked at once more."""
    return Tick((watch.clock_ms // SECOND + 1) * SECOND)


def as_live(entries: Iterable[LoggedRecord], rules: Rules | None = None) -> list[Alert]:
    """Return the events that these records would have raised, in order of time and group.

    `entries` are in the order of each partition; partitions may be mixed in any way.
    """
    watch = Watch(rules=rules or Rules())
    events = [event for entry in entries for event in watch.add(entry)]
    events += watch.add(end_tick(watch))
    return sorted(events, key=lambda one: (one.at_ms, one.group))
