"""What the first records of a log make of its groups, for every number of them, and cleaned logs.

The recipe is that of Kafka's `GroupCoordinatorShardCompactionReplayTest`: a log with the borders of
its batches is captured, and every part of it, cleaned up to every border, is replayed.
"""

from __future__ import annotations

from functools import cache

import pytest

from assignors.simulation.timed.broker import Broker
from assignors.simulation.timed.execution.port import Entry, State, fold
from assignors.simulation.timed.offsets_partition import offsets_partition
from assignors.simulation.timed.offsets_topic import TopicNames, group_of, key_and_value
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
from tests.simulation.timed.broker.facts import agrees, facts_of, is_same, log_of
from tests.simulation.timed.broker.histories import CLUSTER, GROUPS, SETTINGS, History
from tests.simulation.timed.execution.log import Log

TOPICS = TopicNames.of_cluster(CLUSTER)


@cache
def played(seed: int) -> History:
    """A history, to its end."""
    return History(seed).play(200)


HISTORIES = pytest.mark.parametrize("seed", range(4))


@HISTORIES
def test_the_first_n_records_make_what_the_groups_were_when_they_had_written_n(seed: int) -> None:
    history = played(seed)
    logs = [history.entries(place) for place in (0, 1)]
    for name, end, after in history.made:
        said = facts_of(name, logs[history.broker.places[name]][:end], TOPICS)
        assert is_same(after, said), (name, end)
    assert len(history.made) > 10


@HISTORIES
def test_a_coordinator_goes_on_from_every_batch(seed: int) -> None:
    """A log that is lost ends behind a batch: brokers copy whole ones."""
    history = played(seed)
    for place, batches in enumerate(history.broker.logs):
        entries = history.entries(place)
        for batch in batches[::4]:
            first = entries[: batch[-1].offset + 1]
            broker = loaded(first)
            assert all(agrees(broker, each, first) for each in broker.groups)
            joins = ConsumerHeartbeat("new", 0, topics=("t",), owned={}, rebalance_timeout_ms=5000)
            for name in GROUPS:
                answer = broker.ask(name, joins)
                assert isinstance(answer, ConsumerHeartbeatResponse)
            broker.advance(300_000)  # nobody else comes back
            now = [Entry(e.key, e.value) for batch in broker.logs[0] for e in batch]
            assert all(agrees(broker, each, now) for each in broker.groups)


def loaded(entries: list[Entry]) -> Broker:
    """A broker that has read these entries."""
    broker = Broker.of(SETTINGS)
    assert not broker.load(0, log_of(entries))
    return broker


@HISTORIES
def test_every_cleaned_log_makes_the_same_groups(seed: int) -> None:
    history = played(seed)
    for place, batches in enumerate(history.broker.logs):
        log = Log(entries=history.entries(place))
        whole = {name: facts_of(name, log.entries, TOPICS) for name in GROUPS}
        assert {name: facts_of(name, as_log(fold(log.entries)), TOPICS) for name in GROUPS} == whole
        borders = [batch[0].offset for batch in batches[::8]] + [log.end]
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


def test_kafka_17306_tombstones_of_what_is_not_known_do_nothing() -> None:
    # A broker that read them first made a group, or failed to load the partition.
    for records in [TOMBSTONES, *((each,) for each in TOMBSTONES)]:
        broker = loaded(entries_of(*records))
        assert not any(agrees_to_exist(broker, name) for name in ("g", "other"))
        first = broker.ask("g", HEARTBEAT)
        alone = loaded([]).ask("g", HEARTBEAT)
        assert first == alone
        assert isinstance(first, ConsumerHeartbeatResponse)
        assert first.error is ErrorCode.NONE


def agrees_to_exist(broker: Broker, name: str) -> bool:
    return name in broker.groups and broker.groups[name].group is not None


def test_kafka_19862_commits_may_stand_before_their_group() -> None:
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
    broker = loaded(entries_of(*records))
    beat = broker.ask("g", ConsumerHeartbeat("m", 4))
    assert beat == ConsumerHeartbeatResponse(ErrorCode.NONE, "m", 4)
    fetched = broker.ask("g", OffsetFetch((("t", 0),), "m", 4))
    assert fetched == OffsetFetchResponse(ErrorCode.NONE, (("t", 0, 7),))
    committed = broker.ask("g", OffsetCommit("m", 4, (("t", 0, 8),)))
    assert committed == OffsetCommitResponse(ErrorCode.NONE)


@pytest.mark.parametrize("first", range(5))
def test_kafka_20254_any_record_may_be_the_first_of_its_group(first: int) -> None:
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
    broker = loaded(entries_of(*turned))
    beat = broker.ask("g", ConsumerHeartbeat("m", 4, client_id="c"))
    assert beat == ConsumerHeartbeatResponse(ErrorCode.NONE, "m", 4)
    joined = broker.ask("g", HEARTBEAT)
    assert isinstance(joined, ConsumerHeartbeatResponse)
    assert joined.epoch == 5


def test_groups_of_the_histories_are_in_both_partitions() -> None:
    assert {offsets_partition(name, 2) for name in GROUPS} == {0, 1}
    history = played(1)
    for place in (0, 1):
        names = {group_of(e.key) for e in history.entries(place) if isinstance(e.key, bytes)}
        assert {offsets_partition(name or "", 2) for name in names} == {place}
