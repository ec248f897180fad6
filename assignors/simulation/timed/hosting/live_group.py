"""One group as its coordinator runs it: made of its records, and compared with them again.

A group that runs knows more than its records: who waits for an answer, ids that were given out and
not used. What its records contain it knows from them alone, so it is made anew wherever they are
not those that it has seen: after an append that failed, and at the next coordinator. Then what it
knew besides is lost, as in a failover (`protocols.kafka.coordinator.load`).

A step may ask for records and, once these are replicated, for more. Here that follows at once: the
whole group runs ahead of the log, and its answers wait. Kafka keeps a classic group in
CompletingRebalance until the record of its assignment is replicated, and refuses commits so long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from assignors.model import Cluster
from assignors.simulation.timed.execution.port import Entry
from assignors.simulation.timed.hosting.record_bytes import TopicNames, is_offset, read_record
from assignors.simulation.timed.offsets_topic import key_and_value
from assignors.simulation.timed.protocols.effects import (
    Append,
    Arrived,
    Cancel,
    Committed,
    CoordinatorEvent,
    Fired,
    Reply,
    Schedule,
)
from assignors.simulation.timed.protocols.kafka.consumer_group import ConsumerGroup
from assignors.simulation.timed.protocols.kafka.coordinator import load as load_coordinator
from assignors.simulation.timed.protocols.kafka.coordinator import step
from assignors.simulation.timed.protocols.kafka.records import OffsetRecord
from assignors.simulation.timed.protocols.kafka.restore import Restored, apply
from assignors.simulation.timed.protocols.kafka.state import (
    CLOCK_STARTS_MS,
    GroupCoordinator,
    Offsets,
)
from assignors.simulation.timed.protocols.kafka.subscriptions import topics_seen, with_ids
from assignors.simulation.timed.scenario import MIGRATING, BrokerConfig, Scenario
from assignors.simulation.timed.sides import group_coordinator
from wire import WireError

Timer = Schedule | Cancel
Records = Mapping[Any, bytes]
"""What is left of a group's records: key -> value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostSettings:
    """Of a broker that coordinates many groups."""

    cluster: Cluster
    broker: BrokerConfig = field(default_factory=BrokerConfig)
    clock_starts_ms: int = CLOCK_STARTS_MS
    """What the broker's clock shows at 0 us, in milliseconds since 1970."""
    seed: int = 0
    """Of the ids that members are given."""


class Done(NamedTuple):
    """What an event led to."""

    entries: tuple[Entry, ...]
    replies: tuple[Reply, ...]
    timers: tuple[Timer, ...]
    dropped: tuple[int, ...]
    """Numbers of requests that the group answers no more: the member has asked again, or left."""


@dataclass(slots=True, kw_only=True)
class LiveGroup:
    """A group at its coordinator."""

    name: str
    coordinator: GroupCoordinator
    settings: HostSettings
    topics: TopicNames
    seen: dict[bytes, bytes] = field(default_factory=dict)
    """Its records as of the last event."""
    waiting: set[int] = field(default_factory=set)
    """Numbers of requests that it has taken and not answered."""


def live_group(
    name: str, settings: HostSettings, topics: TopicNames, new_id: Callable[[str], str]
) -> LiveGroup:
    """Return a group of which there are no records yet. Cost: O(topics)."""
    nobody = Scenario(until_ms=0, topics={}, members=(), broker=settings.broker)
    coordinator = group_coordinator(nobody, MIGRATING, new_id)
    coordinator.config = replace(coordinator.config, clock_starts_ms=settings.clock_starts_ms)
    coordinator.cluster = with_ids(settings.cluster)
    coordinator.offsets.check_ms = settings.broker.offsets_check_ms

    def unused_id(client: str) -> str:
        """Return an id that nobody in the group has: its records may be those of an earlier run."""
        group = coordinator.classic
        while (made := new_id(client)) in group.members or made in group.pending_ids:
            pass
        return made

    coordinator.new_id = unused_id
    return LiveGroup(name=name, coordinator=coordinator, settings=settings, topics=topics)


def restored_group(
    records: Iterable[tuple[bytes, bytes | None]], topics: TopicNames
) -> tuple[Restored, list[tuple[bytes, str]]]:
    """Return what the records of one group contain, and the keys of those that cannot be, with why.

    Cost: O(bytes).
    """
    found, odd = Restored(), []
    for key, value in records:
        try:
            apply(found, read_record(key, value, topics).record)
        except (WireError, ValueError) as error:
            odd.append((key, str(error)))
    return found, odd


def load(live: LiveGroup, records: Records) -> list[Schedule]:
    """Make the group anew of its records; return the timers that start.

    The records have a hash of the topics that the group has seen, which is not computed here: they
    are taken to be as they are now. Cost: O(bytes).
    """
    found, _ = restored_group(records.items(), live.topics)
    group, cluster = found.group, live.coordinator.cluster
    if isinstance(group, ConsumerGroup):
        group.topics_seen = topics_seen(cluster, group.counts, group.resolved)
    timers = load_coordinator(live.coordinator, found)
    live.seen = dict(records)
    live.waiting.clear()
    return timers


def is_current(live: LiveGroup, records: Records) -> bool:
    """Return whether the group is as its records are; committed offsets are brought up to them.

    Cost: O(its records), each a comparison of references where nothing has changed.
    """
    if records == live.seen:
        return True
    differing = {key for key in (*records, *live.seen) if records.get(key) != live.seen.get(key)}
    if not all(map(is_offset, differing)):
        return False
    for record in (read_record(key, records.get(key), live.topics).record for key in differing):
        assert isinstance(record, OffsetRecord)
        _put_offset(live.coordinator.offsets, record)
    live.seen = dict(records)
    return True


def _put_offset(state: Offsets, record: OffsetRecord) -> None:
    state.table.apply(record)
    partition = (record.topic, record.partition)
    if record.offset is None:
        state.replicated.pop(partition, None)
    else:
        state.replicated[partition] = record.offset


def play(live: LiveGroup, at_us: int, event: Arrived | Fired) -> Done:
    """Let a group handle an event, and return what it leads to.

    Cost: that of the group's step, and O(members) while requests wait for others.
    """
    entries: list[Entry] = []
    replies: list[Reply] = []
    timers: list[Timer] = []
    following: list[CoordinatorEvent] = [event]
    for each in following:  # which grows
        for effect in step(live.coordinator, at_us, each):
            match effect:
                case Append(records, token):
                    entries += (
                        Entry(*key_and_value(record, live.name, live.topics.id_of))
                        for record in records
                    )
                    following.append(Committed(token))
                case Reply():
                    replies.append(effect)
                case Schedule() | Cancel():
                    timers.append(effect)
                case _:
                    raise AssertionError(effect)
    dropped = _see(live, event, entries, replies)
    return Done(tuple(entries), tuple(replies), tuple(timers), dropped)


def _see(
    live: LiveGroup, event: Arrived | Fired, entries: list[Entry], replies: list[Reply]
) -> tuple[int, ...]:
    """Keep the records as they will be, and who waits; return who does so no more."""
    for key, value in entries:
        assert isinstance(key, bytes)
        if value is None:
            live.seen.pop(key, None)
        else:
            live.seen[key] = value
    if isinstance(event, Arrived):
        live.waiting.add(event.number)
    live.waiting -= {each.number for each in replies}
    if not live.waiting:
        return ()
    dropped = live.waiting - set(live.coordinator.awaited())
    live.waiting -= dropped
    return tuple(sorted(dropped))
