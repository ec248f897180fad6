"""A broker on which every append is replicated at once: groups, asked one request after the other.

For looking at what groups do with a log, be it simulated or that of a real cluster: who is in which
group, what a member is answered that comes back, what stands in the log afterwards. How requests
wait for each other and for the log, and what goes wrong meanwhile, is for runs (`host`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from assignors.model import Cluster
from assignors.simulation.timed.offsets_partition import offsets_partition
from assignors.simulation.timed.offsets_topic import (
    LogEntry,
    Odd,
    TopicNames,
    key_and_value,
    read_log,
)
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Append,
    Arrived,
    Cancel,
    Committed,
    CoordinatorEvent,
    Effect,
    Fired,
    Record,
    Reply,
    Request,
    Response,
    Schedule,
)
from assignors.simulation.timed.protocols.kafka.consumer_group import ConsumerGroup
from assignors.simulation.timed.protocols.kafka.coordinator import load, step
from assignors.simulation.timed.protocols.kafka.messages import OffsetCommit
from assignors.simulation.timed.protocols.kafka.restore import Restored
from assignors.simulation.timed.protocols.kafka.state import CLOCK_STARTS_MS, GroupCoordinator
from assignors.simulation.timed.protocols.kafka.subscriptions import topics_seen, with_ids
from assignors.simulation.timed.queue import EventQueue
from assignors.simulation.timed.scenario import MIGRATING, BrokerConfig, Scenario
from assignors.simulation.timed.sides import group_coordinator, new_ids


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSettings:
    """Of a broker that coordinates groups."""

    cluster: Cluster
    """The topics with their partition counts, which no record has."""
    broker: BrokerConfig = field(default_factory=BrokerConfig)
    clock_starts_ms: int = CLOCK_STARTS_MS
    """What the broker's clock shows at 0 us, in milliseconds since 1970."""
    seed: int = 0
    """Of the ids that members are given."""


class Due(NamedTuple):
    """A timer of a group has run out."""

    group: str
    fired: Fired


@dataclass(slots=True, kw_only=True)
class Broker:
    """A broker: its groups, the logs of its partitions, its clock."""

    settings: BrokerSettings
    topics: TopicNames
    new_id: Callable[[str], str]
    logs: list[list[list[LogEntry]]]
    """Of each partition of the offsets topic, batch by batch."""
    ends: list[int]
    """Of each partition the offset of its next record."""
    groups: dict[str, GroupCoordinator] = field(default_factory=dict)
    """Name of a group that has been asked for something, or has records -> its coordinator."""
    places: dict[str, int] = field(default_factory=dict)
    """Name of a group -> its partition."""
    answers: dict[int, Response] = field(default_factory=dict)
    """Number of a request -> its answer."""
    timers: EventQueue[Due] = field(default_factory=EventQueue)
    numbers: int = 0

    @classmethod
    def of(
        cls, settings: BrokerSettings, *, partitions: int = 1, topics: TopicNames | None = None
    ) -> Broker:
        """Return a broker whose logs are empty.

        `topics` are the ids that its records have; `None`: those of the settings' cluster.
        """
        return cls(
            settings=settings,
            topics=topics or TopicNames.of_cluster(settings.cluster),
            new_id=new_ids(settings.seed),
            logs=[[] for _ in range(partitions)],
            ends=[0] * partitions,
        )

    def load(self, partition: int, log: Iterable[LogEntry]) -> list[Odd]:
        """Lead a partition from now on, in whose log these records stand, in order.

        Returns the records that no group can be made of; they stay in the log. Cost: O(bytes).
        """
        rows = list(log)
        read = read_log(rows, self.topics)
        self.logs[partition] = [[row] for row in rows]
        self.ends[partition] = rows[-1].offset + 1 if rows else 0
        for name in [each for each, place in self.places.items() if place == partition]:
            self.timers.stop_all(name)
            del self.places[name], self.groups[name]
        for name, found in read.groups.items():
            if found.group is not None or found.offsets.committed:
                self.places[name] = partition
                self._restore(name, found)
        return read.odd

    def send(self, group: str, request: Request) -> int:
        """Send a request to a group; return its number. Its answer stands in `answers`.

        Raises `ValueError` for a commit in a transaction: its markers are not written.
        """
        if isinstance(request, OffsetCommit) and request.is_transactional:
            raise ValueError("a commit in a transaction: its markers are not written")
        self.numbers += 1
        self._happen(group, Arrived(self.numbers, request))
        return self.numbers

    def ask(self, group: str, request: Request) -> Response | None:
        """Send a request to a group; return the answer, `None` as long as it waits for others."""
        return self.answers.get(self.send(group, request))

    def advance(self, ms: int) -> None:
        """Let time pass: timers run out. Cost: that of what they lead to."""
        until = self.timers.now + ms * MILLISECOND
        while (due := self.timers.take(until)) is not None:
            self._happen(due.group, due.fired)
        self.timers.now = until

    def _restore(self, name: str, found: Restored) -> None:
        """Make a group of its records.

        These have a hash of the topics that the group has seen, which is not computed here: they
        are taken to be as they are now.
        """
        coordinator = self._coordinator(name)
        if isinstance(found.group, ConsumerGroup):
            group = found.group
            group.topics_seen = topics_seen(coordinator.cluster, group.counts, group.resolved)
        for timer in load(coordinator, found):
            self._do(name, timer)

    def _coordinator(self, name: str) -> GroupCoordinator:
        """Return the coordinator of a group, a new one if there was none. Cost: O(topics)."""
        known = self.groups.get(name)
        if known is not None:
            return known
        settings = self.settings
        nobody = Scenario(until_ms=0, topics={}, members=(), broker=settings.broker)
        self.places.setdefault(name, offsets_partition(name, len(self.logs)))
        made = self.groups[name] = group_coordinator(nobody, MIGRATING, self.new_id)
        made.config = replace(made.config, clock_starts_ms=settings.clock_starts_ms)
        made.cluster = with_ids(settings.cluster)

        def unused_id(client: str) -> str:
            """Return an id that nobody has: the group may be that of an earlier run."""
            group = made.classic
            while (found := self.new_id(client)) in group.members or found in group.pending_ids:
                pass
            return found

        made.new_id = unused_id
        return made

    def _happen(self, name: str, event: CoordinatorEvent) -> None:
        """Let a group handle an event, and all that follows."""
        coordinator = self._coordinator(name)
        events = [event]
        for each in events:  # which grows
            for effect in step(coordinator, self.timers.now, each):
                if isinstance(effect, Append):
                    self._append(name, effect.records)
                    events.append(Committed(effect.token))
                else:
                    self._do(name, effect)

    def _do(self, name: str, effect: Effect) -> None:
        match effect:
            case Reply(number, response):
                self.answers[number] = response
            case Schedule(key, after_us, data):
                # A member that joined without a rebalance timeout has -1: it is over at once.
                at = self.timers.now + max(after_us, 0)
                self.timers.start((name, key), at, Due(name, Fired(key, data)))
            case Cancel(key):
                self.timers.stop((name, key))
            case _:
                raise AssertionError(effect)

    def _append(self, name: str, records: Iterable[Record]) -> None:
        """Append a batch to the log of the group's partition."""
        place = self.places[name]
        at_ms = self.settings.clock_starts_ms + self.timers.now // MILLISECOND
        batch = [
            LogEntry(offset, at_ms, *key_and_value(record, name, self.topics.id_of))
            for offset, record in enumerate(records, self.ends[place])
        ]
        self.logs[place].append(batch)
        self.ends[place] += len(batch)
