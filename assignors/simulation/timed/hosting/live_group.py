"""One group as its coordinator runs it: made of its records, and compared with them again.

A group that runs knows more than its records: who waits for an answer, ids that were given out and
not used. What its records contain it knows from them alone, so it is made anew wherever they are
not those that it has seen: after an append that failed, and at the next coordinator. Then what it
knew besides is lost, as in a failover (`protocols.failover`).

A step may ask for records and, once these are replicated, for more. Here that follows at once: the
whole group runs ahead of the log, and its answers wait. Kafka keeps a classic group in
CompletingRebalance until the record of its assignment is replicated, and refuses commits so long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from assignors.model import Cluster
from assignors.simulation.timed.execution.port import Entry
from assignors.simulation.timed.hosting.record_bytes import TopicNames, is_offset, read_record
from assignors.simulation.timed.migration.sides import mixed_sides, short_ids
from assignors.simulation.timed.offsets_topic import key_and_value
from assignors.simulation.timed.protocols.consumer.assignment.topics import topics_seen, with_ids
from assignors.simulation.timed.protocols.consumer.group import ConsumerGroup
from assignors.simulation.timed.protocols.consumer.step import CLOCK_STARTS_MS
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Append,
    Arrived,
    Cancel,
    Committed,
    CoordinatorEvent,
    Effect,
    Fired,
    Reply,
    Schedule,
)
from assignors.simulation.timed.protocols.failover import load_mixed, load_offsets
from assignors.simulation.timed.protocols.mixed.coordinator import MixedCoordinator
from assignors.simulation.timed.protocols.mixed.coordinator import step as group_step
from assignors.simulation.timed.protocols.offsets.access import GroupAccess
from assignors.simulation.timed.protocols.offsets.coordinator import (
    OffsetsConfig,
    OffsetsCoordinator,
)
from assignors.simulation.timed.protocols.offsets.coordinator import step as offsets_step
from assignors.simulation.timed.protocols.offsets.messages import OffsetRecord
from assignors.simulation.timed.protocols.offsets.mixed_access import mixed_access
from assignors.simulation.timed.protocols.restore import Restored, apply
from assignors.simulation.timed.scenario import BrokerConfig, Scenario
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
    mixed: MixedCoordinator
    offsets: OffsetsCoordinator
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
    broker = settings.broker
    nobody = Scenario(until_ms=0, topics={}, members=(), broker=broker)
    mixed = mixed_sides(nobody).coordinator
    assert isinstance(mixed, MixedCoordinator)
    mixed.consumer.cluster = with_ids(settings.cluster)
    mixed.new_uuid = short_ids(new_id)

    def unused_id(client: str) -> str:
        """Return an id that nobody in the group has: its records may be those of an earlier run."""
        group = mixed.classic.group
        while (made := new_id(client)) in group.members or made in group.pending_ids:
            pass
        return made

    mixed.classic.new_id = unused_id
    config = OffsetsConfig(
        retention_ms=broker.offsets_retention_ms,
        check_ms=broker.offsets_check_ms,
        clock_starts_ms=settings.clock_starts_ms,
    )
    offsets = OffsetsCoordinator(group=_access(mixed, settings), inner=mixed, config=config)
    return LiveGroup(name=name, mixed=mixed, offsets=offsets, settings=settings, topics=topics)


def _access(
    mixed: MixedCoordinator, settings: HostSettings, since_ms: int | None = None
) -> GroupAccess:
    later_us = (settings.clock_starts_ms - CLOCK_STARTS_MS) * MILLISECOND

    def play(at_us: int, event: CoordinatorEvent) -> list[Effect]:
        return group_step(mixed, at_us + later_us, event)

    starts_ms = settings.clock_starts_ms
    return mixed_access(mixed, clock_starts_ms=starts_ms, play=play, since_ms=since_ms)


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
    group, consumer = found.group, live.mixed.consumer
    if isinstance(group, ConsumerGroup):
        group.topics_seen = topics_seen(consumer.cluster, group.counts, group.resolved)
    timers = load_mixed(live.mixed, found)
    access = _access(live.mixed, live.settings, found.since_ms)
    timers += load_offsets(live.offsets, access, found)
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
        _put_offset(live.offsets, record)
    live.seen = dict(records)
    return True


def _put_offset(state: OffsetsCoordinator, record: OffsetRecord) -> None:
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
        for effect in offsets_step(live.offsets, at_us, each):
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
    members = live.mixed.classic.group.members.values()
    known = {each.waiting_join for each in members} | {each.waiting_sync for each in members}
    dropped = live.waiting - known
    live.waiting -= dropped
    return tuple(sorted(dropped))
