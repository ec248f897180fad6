"""A broker on which every append is replicated at once: groups, asked one request after the other.

For looking at what groups do with a log, be it simulated or that of a real cluster: who is in which
group, what a member is answered that comes back, what stands in the log afterwards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from assignors.simulation.timed.execution.policy import POLICIES, Settings
from assignors.simulation.timed.execution.port import (
    Append,
    Appended,
    Asked,
    Check,
    Checked,
    Event,
    Linger,
    Lingered,
    Loaded,
    Lost,
    Replicated,
    Request,
    Work,
    Worked,
)
from assignors.simulation.timed.hosting.groups import Ask, GroupTimer, Restarted, Unserved
from assignors.simulation.timed.hosting.host import Host, HostEffect, host_of, step
from assignors.simulation.timed.hosting.live_group import HostSettings, Timer
from assignors.simulation.timed.hosting.loading import Odd, log_of, read_log
from assignors.simulation.timed.hosting.record_bytes import TopicNames
from assignors.simulation.timed.offsets_topic import LogEntry
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Fired,
    Reply,
    Response,
    Schedule,
    TimerKey,
)
from assignors.simulation.timed.protocols.effects import Request as GroupRequest
from assignors.simulation.timed.queue import EventQueue


class Due(NamedTuple):
    """A timer of a group has run out."""

    group: int
    fired: Fired


@dataclass(slots=True, kw_only=True)
class Broker:
    """A broker: its coordinator, the logs of its partitions, its clock."""

    host: Host
    settings: HostSettings
    logs: list[list[list[LogEntry]]]
    """Of each partition of the offsets topic, batch by batch."""
    ends: list[int]
    """Of each partition the offset of its next record."""
    answers: dict[int, Response | Unserved] = field(default_factory=dict)
    """Number of a request -> its answer."""
    timers: EventQueue[Due] = field(default_factory=EventQueue)
    running: dict[int, set[TimerKey]] = field(default_factory=dict)
    """Of each group the timers that it has started."""
    numbers: int = 0

    @classmethod
    def of(
        cls,
        settings: HostSettings,
        *,
        model: str = "two-stage",
        partitions: int = 1,
        topics: TopicNames | None = None,
    ) -> Broker:
        """Return a broker whose logs are empty; `model` is one of `POLICIES`.

        `topics` are the ids that its records have; `None`: those of the settings' cluster.
        """
        host = host_of(POLICIES[model], settings, Settings(partitions=partitions), topics)
        logs: list[list[list[LogEntry]]] = [[] for _ in range(partitions)]
        return cls(host=host, settings=settings, logs=logs, ends=[0] * partitions)

    def load(self, partition: int, log: Iterable[LogEntry]) -> list[Odd]:
        """Lead a partition from now on, in whose log these records stand, in order.

        Returns the records that no group can be made of; they stay in the log. Cost: O(bytes).
        """
        rows = list(log)
        read = read_log(rows, self.host.groups.topics)
        end = rows[-1].offset + 1 if rows else 0
        self.logs[partition] = [[row] for row in rows]
        self.ends[partition] = end
        self._happen(Lost(partition))
        self._happen(Loaded(partition, read.entries, end))
        return read.odd

    def send(self, group: str, request: GroupRequest) -> int:
        """Send a request to a group; return its number. Its answer stands in `answers`."""
        number = self._next_number()
        asked = self.host.groups.request(number, group, self.timers.now, request)
        self._happen(Asked(asked))
        return number

    def ask(self, group: str, request: GroupRequest) -> Response | Unserved | None:
        """Send a request to a group; return the answer, `None` as long as it waits for others."""
        return self.answers.get(self.send(group, request))

    def advance(self, ms: int) -> None:
        """Let time pass: timers run out. Cost: that of what they lead to."""
        until = self.timers.now + ms * MILLISECOND
        while (due := self.timers.take(until)) is not None:
            self.running.get(due.group, set()).discard(due.fired.key)
            ask = Ask(self.timers.now, due.fired)
            self._happen(Asked(Request(self._next_number(), due.group, ask, is_commit=False)))
        self.timers.now = until

    def _next_number(self) -> int:
        self.numbers += 1
        return self.numbers

    def _happen(self, event: Event) -> None:
        """Let the coordinator see an event, and all that follows."""
        events = deque([event])
        while events:
            for effect in step(self.host, events.popleft()):
                events.extend(self._do(effect))

    def _do(self, effect: HostEffect) -> list[Event]:
        match effect:
            case Work(number):
                return [Worked(number)]
            case Check(number):
                return [Checked(number)]
            case Linger(partition, batch):
                return [Lingered(partition, batch)]
            case Append():
                end = self._append(effect)
                return [Appended(effect.token, end), Replicated(effect.partition, end)]
            case Reply(number, response):
                self.answers[number] = response
            case Unserved(number):
                self.answers[number] = effect
            case GroupTimer(group, timer):
                self._set(group, timer)
            case Restarted(group):
                for key in self.running.pop(group, ()):
                    self.timers.stop((group, key))
        return []

    def _append(self, append: Append) -> int:
        """Append a batch to the log of a partition; return its end."""
        place, start = append.partition, self.ends[append.partition]
        at_ms = self.settings.clock_starts_ms + self.timers.now // MILLISECOND
        batch = log_of(append.entries, start, at_ms)
        self.logs[place].append(batch)
        self.ends[place] += len(batch)
        return self.ends[place]

    def _set(self, group: int, timer: Timer) -> None:
        name = (group, timer.key)
        running = self.running.setdefault(group, set())
        if isinstance(timer, Schedule):
            running.add(timer.key)
            # A member that joined without a rebalance timeout has -1: it is over at once.
            at = self.timers.now + max(timer.after_us, 0)
            self.timers.start(name, at, Due(group, Fired(timer.key, timer.data)))
        else:
            running.discard(timer.key)
            self.timers.stop(name)
