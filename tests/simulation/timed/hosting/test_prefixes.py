"""What the first records of a log make of its groups, for every number of them, and cleaned logs.

The recipe is that of Kafka's `GroupCoordinatorShardCompactionReplayTest`: a log with the borders of
its batches is captured, and every part of it, cleaned up to every border, is replayed.
"""

from __future__ import annotations

from functools import cache
from random import Random

import pytest

from assignors.jvm.offsets_partition import offsets_partition
from assignors.simulation.timed.execution.policy import POLICIES
from assignors.simulation.timed.execution.port import Entry, State, fold
from assignors.simulation.timed.hosting.broker import Broker
from assignors.simulation.timed.hosting.loading import log_of
from assignors.simulation.timed.hosting.record_bytes import TopicNames, group_of
from assignors.simulation.timed.offsets_topic import key_and_value
from assignors.simulation.timed.protocols.effects import Record
from assignors.simulation.timed.protocols.kafka.messages import (
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
    ErrorCode,
    OffsetCommit,
    OffsetCommitResponse,
    OffsetFetch,
    OffsetFetchResponse,
)
from assignors.simulation.timed.protocols.kafka.records import (
    CurrentRecord,
    GroupEpochRecord,
    GroupTombstone,
    GroupTopicsTombstone,
    MemberRecord,
    OffsetRecord,
    PatternRecord,
    TargetEpochRecord,
    TargetRecord,
)
from tests.simulation.timed.execution.histories import settings_of
from tests.simulation.timed.execution.log import Log
from tests.simulation.timed.execution.world import FAILING
from tests.simulation.timed.hosting.facts import agrees, facts_of, is_same
from tests.simulation.timed.hosting.histories import moves_of, play
from tests.simulation.timed.hosting.world import CLUSTER, GROUPS, SETTINGS, World

TOPICS = TopicNames.of_cluster(CLUSTER)


@cache
def played(model: str, seed: int) -> World:
    """A history with failed appends and failovers, to its end."""
    random, policy = Random(seed), POLICIES[model]
    settings = settings_of(random, policy)
    return play(policy, FAILING, settings, moves_of(random, fails_over=True, length=300))


HISTORIES = pytest.mark.parametrize(
    ("model", "seed"), [("two-stage", 1), ("two-stage", 2), ("per-group", 3), ("blocking", 4)]
)


@HISTORIES
def test_the_first_n_records_make_what_the_groups_were_when_they_had_written_n(
    model: str, seed: int
) -> None:
    world = played(model, seed)
    compared = 0
    for log in world.logs:
        ends = {id(entry): end for end, entry in enumerate(log.entries, start=1)}
        for made in world.made.values():
            end = ends.get(id(made.entries[-1])) if made.entries else None
            if end is not None:
                said = facts_of(made.group, log.entries[:end], TOPICS)
                assert is_same(made.after, said), (end, made)
                compared += 1
    assert compared > 10


@HISTORIES
def test_a_coordinator_goes_on_from_every_batch(model: str, seed: int) -> None:
    """A log that is lost ends behind a batch: brokers copy whole ones."""
    world = played(model, seed)
    for number, log in enumerate(world.logs):
        for end in world.ends(number):
            broker = loaded(log.entries[:end], model)
            groups = broker.host.groups
            assert all(agrees(each, log.entries[:end]) for each in groups.live.values())
            joins = ConsumerHeartbeat("new", 0, topics=("t",), owned={}, rebalance_timeout_ms=5000)
            for name in GROUPS:
                answer = broker.ask(name, joins)
                assert isinstance(answer, ConsumerHeartbeatResponse)
            broker.advance(300_000)  # nobody else comes back
            entries = [Entry(e.key, e.value) for batch in broker.logs[0] for e in batch]
            assert all(agrees(each, entries) for each in groups.live.values())


def loaded(entries: list[Entry], model: str = "two-stage") -> Broker:
    """A broker that has read these entries."""
    broker = Broker.of(SETTINGS, model=model)
    assert not broker.load(0, log_of(entries, 0, 0))
    return broker


@HISTORIES
def test_every_cleaned_log_makes_the_same_groups(model: str, seed: int) -> None:
    world = played(model, seed)
    for log, batches in zip(world.logs, world.batches, strict=True):
        whole = {name: facts_of(name, log.entries, TOPICS) for name in GROUPS}
        assert {name: facts_of(name, as_log(fold(log.entries)), TOPICS) for name in GROUPS} == whole
        borders = [batch[0].offset for batch in batches] + [log.end]
        for until in borders:
            for dropped in {0, until // 2, until}:
                left = list(log.compacted(until, dropped))
                assert {name: facts_of(name, left, TOPICS) for name in GROUPS} == whole
                again = Log(entries=left)
                twice = list(again.compacted(again.end, again.end))
                assert {name: facts_of(name, twice, TOPICS) for name in GROUPS} == whole


def as_log(state: State) -> list[Entry]:
    """What is left if a log is cleaned to the end, in the order in which keys first came."""
    return [Entry(key, value) for key, value in state.items()]


def entries_of(*records: Record, group: str = "g") -> list[Entry]:
    return [Entry(*key_and_value(record, group)) for record in records]


TOMBSTONES: tuple[Record, ...] = (
    OffsetRecord("t", 0, None),
    CurrentRecord("m"),
    TargetRecord("m", None),
    TargetEpochRecord(None),
    MemberRecord("m", None),
    PatternRecord("t.*"),
    GroupTopicsTombstone(),
    GroupEpochRecord(None),
    GroupTombstone(),
)
HEARTBEAT = ConsumerHeartbeat("n", 0, topics=("t",), owned={}, rebalance_timeout_ms=5000)


@pytest.mark.parametrize("model", POLICIES)
def test_kafka_17306_tombstones_of_what_is_not_known_do_nothing(model: str) -> None:
    # A broker that read them first made a group, or failed to load the partition.
    for records in [TOMBSTONES, *((each,) for each in TOMBSTONES)]:
        broker = loaded(entries_of(*records), model)
        assert not any(agrees_to_exist(broker, name) for name in ("g", "other"))
        first = broker.ask("g", HEARTBEAT)
        alone = loaded([], model).ask("g", HEARTBEAT)
        assert first == alone
        assert isinstance(first, ConsumerHeartbeatResponse)
        assert first.error is ErrorCode.NONE


def agrees_to_exist(broker: Broker, name: str) -> bool:
    groups = broker.host.groups
    live = groups.live.get(groups.numbers.get(name, -1))
    return live is not None and live.coordinator.group is not None


@pytest.mark.parametrize("model", POLICIES)
def test_kafka_19862_commits_may_stand_before_their_group(model: str) -> None:
    # The first commit, of a consumer outside the group, makes a classic group without members; what
    # follows is a consumer group of that name, whose loading failed.
    member = ("m", ("t",))
    records = (
        OffsetRecord("t", 0, 7),
        MemberRecord(*member),
        GroupEpochRecord(4),
        TargetRecord("m", {"t": (0, 1, 2, 3)}),
        TargetEpochRecord(4, 9),
        CurrentRecord("m", 4, 3, "Stable", {"t": dict.fromkeys(range(4), 4)}),
    )
    broker = loaded(entries_of(*records), model)
    beat = broker.ask("g", ConsumerHeartbeat("m", 4))
    assert beat == ConsumerHeartbeatResponse(ErrorCode.NONE, "m", 4)
    fetched = broker.ask("g", OffsetFetch((("t", 0),), "m", 4))
    assert fetched == OffsetFetchResponse(ErrorCode.NONE, (("t", 0, 7),))
    committed = broker.ask("g", OffsetCommit("m", 4, (("t", 0, 8),)))
    assert committed == OffsetCommitResponse(ErrorCode.NONE)


@pytest.mark.parametrize("model", POLICIES)
@pytest.mark.parametrize("first", range(5))
def test_kafka_20254_any_record_may_be_the_first_of_its_group(model: str, first: int) -> None:
    # A cleaner leaves the last record of each key: where a member is may stand before what it asks
    # for, its target before the group.
    records: list[Record] = [
        MemberRecord("m", ("t",), client_id="c"),
        GroupEpochRecord(4),
        TargetRecord("m", {"t": (0, 1, 2, 3)}),
        TargetEpochRecord(4, 9),
        CurrentRecord("m", 4, 3, "Stable", {"t": dict.fromkeys(range(4), 4)}),
    ]
    turned = records[first:] + records[:first]
    broker = loaded(entries_of(*turned), model)
    assert not broker.host.groups.live[broker.host.groups.numbers["g"]].waiting
    beat = broker.ask("g", ConsumerHeartbeat("m", 4, client_id="c"))
    assert beat == ConsumerHeartbeatResponse(ErrorCode.NONE, "m", 4)
    joined = broker.ask("g", HEARTBEAT)
    assert isinstance(joined, ConsumerHeartbeatResponse)
    assert joined.epoch == 5


def test_groups_of_the_histories_are_in_both_partitions() -> None:
    assert {offsets_partition(name, 2) for name in GROUPS} == {0, 1}
    world = played("two-stage", 1)
    for number, log in enumerate(world.logs):
        names = {group_of(entry.key) for entry in log.entries if isinstance(entry.key, bytes)}
        assert {offsets_partition(name or "", 2) for name in names} == {number}
