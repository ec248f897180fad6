"""The log of a real cluster, loaded into a coordinator of ours, which goes on with its groups.

What its groups are is compared with what the broker itself answered just before the dump.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from assignors.cli.command import command
from assignors.model import Cluster
from assignors.replay.sources import Raw, open_source
from assignors.replay.sources.writing import write_records
from assignors.simulation.serving import Served, served, written
from assignors.simulation.timed.broker import Broker, BrokerSettings
from assignors.simulation.timed.offsets_partition import offsets_partition
from assignors.simulation.timed.offsets_topic import LogEntry, group_of, topic_ids
from assignors.simulation.timed.protocols.kafka.consumer_group import ConsumerGroup, partitions_of
from assignors.simulation.timed.protocols.kafka.messages import (
    ConsumerHeartbeat,
    ConsumerHeartbeatResponse,
    ErrorCode,
    Heartbeat,
    HeartbeatResponse,
    JoinGroup,
    JoinGroupResponse,
    OffsetCommit,
    OffsetCommitResponse,
    OffsetFetch,
    OffsetFetchResponse,
    Protocol,
    SyncGroup,
    SyncGroupResponse,
)
from assignors.simulation.timed.protocols.kafka.state import GroupCoordinator
from tests.replay.histories import DATA, state
from wire import TopicPartitions, decode_assignment, encode_assignment
from wire.records import decode_record, encode_key

COUNTS = {"orders": 6, "payments": 4, "clicks.v2": 3, "tiny": 1}
ABORTED = {
    (3, at)
    for a, b in ((657, 662), (688, 693), (1127, 1132), (1148, 1153))
    for at in range(a, b + 1)
}
"""Commits of transactions that were aborted: JSON lines do not say so (`data/README.md`)."""
NOW_MS = 1_795_230_000_000
SETTINGS = BrokerSettings(cluster=Cluster.of(COUNTS), clock_starts_ms=NOW_MS, seed=7)


@cache
def rows() -> tuple[Raw, ...]:
    found = open_source(DATA / "real.jsonl.gz")
    return tuple(row for row in found if (row.partition, row.offset) not in ABORTED)


def serve(listed: Sequence[Raw] | None = None) -> Served:
    return served(rows() if listed is None else listed, SETTINGS)


@pytest.fixture(scope="module")
def real() -> Served:
    return serve()


def owned(group: GroupCoordinator) -> dict[str, TopicPartitions]:
    """Who owns what, whatever the group's protocol."""
    if isinstance(group.group, ConsumerGroup):
        members = group.group.members.values()
        return {each.member_id: partitions_of(each.assigned) for each in members}
    found = {}
    for each in group.classic.members.values():
        value = decode_assignment(each.assignment).value
        assert value is not None
        found[each.member_id] = value.partitions
    return found


def pairs(partitions: TopicPartitions) -> set[tuple[str, int]]:
    return {(topic, number) for topic, numbers in partitions.items() for number in numbers}


def test_groups_are_what_the_broker_said_they_were(real: Served) -> None:
    answered = state()
    for name, said in answered.items():
        group = real.broker.groups[name]
        assert isinstance(group.group, ConsumerGroup) == (said["type"] == "CONSUMER"), name
        assert {member: pairs(share) for member, share in owned(group).items()} == {
            each["id"]: {tuple(pair) for pair in each["assignment"]} for each in said["members"]
        }
        known = {each: value.offset for each, value in group.offsets.table.committed.items()}
        if "offsets" in said:
            assert known == {(topic, n): offset for topic, n, offset, *_ in said["offsets"]}, name
    exists = {name for name, each in real.broker.groups.items() if each.group is not None}
    assert exists >= answered.keys()


def test_groups_are_in_the_partition_that_kafka_gives_them() -> None:
    placed = {(group_of(row.key), row.partition) for row in rows() if group_of(row.key)}
    assert len(placed) > 30
    assert all(offsets_partition(name or "", 4) == partition for name, partition in placed)


def test_a_consumer_group_goes_on() -> None:
    broker = serve().broker
    partition = offsets_partition("live.new", 4)
    group, read = broker.groups["live.new"], len(broker.logs[partition])
    assert isinstance(group.group, ConsumerGroup)
    before = dict(group.group.members)
    (one, *_) = before.values()
    beat = broker.ask(
        "live.new", ConsumerHeartbeat(one.member_id, one.epoch, client_id=one.client_id)
    )
    assert beat == ConsumerHeartbeatResponse(ErrorCode.NONE, one.member_id, one.epoch)
    late = broker.ask("live.new", ConsumerHeartbeat(one.member_id, one.epoch + 5))
    assert isinstance(late, ConsumerHeartbeatResponse)
    assert late.error is ErrorCode.FENCED_MEMBER_EPOCH
    place = next(iter(pairs(partitions_of(one.assigned))))
    commit = OffsetCommit(one.member_id, one.epoch, ((*place, 4711),))
    assert broker.ask("live.new", commit) == OffsetCommitResponse(ErrorCode.NONE)
    fetched = broker.ask("live.new", OffsetFetch((place,), one.member_id, one.epoch))
    assert isinstance(fetched, OffsetFetchResponse)
    assert fetched.offsets == ((*place, 4711),)
    joins = ConsumerHeartbeat(
        "newcomer", 0, topics=tuple(COUNTS), owned={}, rebalance_timeout_ms=5000
    )
    joined = broker.ask("live.new", joins)
    assert isinstance(joined, ConsumerHeartbeatResponse)
    assert joined.epoch == one.epoch + 1
    settle(broker, "live.new")
    assert topics_of(broker.logs[partition][read:]) == COUNTS.keys()
    shares = owned(broker.groups["live.new"])
    assert shares.keys() == {*before, "newcomer"}
    assert all(shares.values())
    everything = [pair for share in shares.values() for pair in pairs(share)]
    assert sorted(everything) == sorted((t, n) for t, c in COUNTS.items() for n in range(c))


def topics_of(batches: list[list[LogEntry]]) -> set[str]:
    """The topics of targets, by the ids that committed offsets in the log have."""
    names = {
        topic_id: name for name, topic_id in topic_ids((r.key, r.value) for r in rows()).items()
    }
    values = [decode_record(e.key, e.value).value or {} for batch in batches for e in batch]
    return {names[each["topicId"]] for value in values for each in value.get("topicPartitions", ())}


def settle(broker: Broker, name: str) -> None:
    """Every member gives up what it has to, and takes what it is given."""
    for _ in range(4):
        group = broker.groups[name].consumer
        assert group is not None
        for member in list(group.members.values()):
            beat = ConsumerHeartbeat(
                member.member_id, member.epoch, owned=partitions_of(member.assigned)
            )
            answer = broker.ask(name, beat)
            assert isinstance(answer, ConsumerHeartbeatResponse)
            assert answer.error is ErrorCode.NONE


def join_all(broker: Broker, name: str) -> dict[str, JoinGroupResponse]:
    """A newcomer joins a classic group, and everybody joins again; return their answers."""
    group = broker.groups[name].classic
    assert group.protocol is not None
    (known, *_) = group.members.values()
    blob = known.metadata(group.protocol)
    asked = JoinGroup("newcomer", "", None, 45_000, 60_000, (Protocol(group.protocol, blob),))
    given = broker.ask(name, asked)
    assert isinstance(given, JoinGroupResponse)
    assert given.error is ErrorCode.MEMBER_ID_REQUIRED
    numbers = {given.member_id: broker.send(name, asked._replace(member_id=given.member_id))}
    for member in list(group.members.values()):
        if member.member_id not in numbers:
            again = asked._replace(
                client_id=member.client_id,
                member_id=member.member_id,
                instance_id=member.instance_id,
                protocols=member.protocols,
            )
            numbers[member.member_id] = broker.send(name, again)
    found = {member_id: broker.answers[number] for member_id, number in numbers.items()}
    joined = {m: each for m, each in found.items() if isinstance(each, JoinGroupResponse)}
    assert joined.keys() == found.keys()
    return joined


@pytest.mark.parametrize("name", ["live.range", "live.coop"])
def test_a_classic_group_goes_on(name: str) -> None:
    broker = serve().broker
    group = broker.groups[name].classic
    generation, before = group.generation, set(group.members)
    for member_id in sorted(before):
        beat = broker.ask(name, Heartbeat(member_id, None, generation))
        assert beat == HeartbeatResponse(ErrorCode.NONE)
        commit = OffsetCommit(member_id, generation, (("orders", 0, 99),))
        assert broker.ask(name, commit) == OffsetCommitResponse(ErrorCode.NONE)
    stale = broker.ask(name, OffsetCommit(min(before), generation - 1, (("orders", 0, 5),)))
    assert stale == OffsetCommitResponse(ErrorCode.ILLEGAL_GENERATION)
    joined = join_all(broker, name)
    assert {each.generation for each in joined.values()} == {generation + 1}
    assert len(joined) == len(before) + 1
    finish(broker, name, joined)
    assert broker.groups[name].classic.generation == generation + 1
    assert all(owned(broker.groups[name]).values())


def finish(broker: Broker, name: str, joined: dict[str, JoinGroupResponse]) -> None:
    """The leader deals out the partitions of `orders`, one after the other."""
    (leader,) = (each for each in joined.values() if each.members)
    ids = [each.member_id for each in leader.members]
    shares = {each: {"orders": tuple(range(n, 6, len(ids)))} for n, each in enumerate(ids)}
    plan = tuple((each, encode_assignment(share)) for each, share in shares.items())
    for member_id, answer in joined.items():
        mine = plan if member_id == leader.member_id else ()
        sync = SyncGroup(member_id, None, answer.generation, answer.protocol, mine)
        broker.send(name, sync)
    synced = [each for each in broker.answers.values() if isinstance(each, SyncGroupResponse)]
    assert len(synced) == len(ids)


def test_what_it_writes_then_is_read_by_the_command(tmp_path: Path) -> None:
    broker = serve().broker
    partition = offsets_partition("live.coop", 4)
    finish(broker, "live.coop", join_all(broker, "live.coop"))
    generation = broker.groups["live.coop"].classic.generation
    for form in ("log.jsonl", "log.parquet", "log"):
        write_records(tmp_path / form, written(broker, partition))
        found = run(tmp_path / form, "generations", "--group", "live.coop")
        assert found[-1]["generation"] == generation
        assert [each.rsplit("-", 5)[0] for each in found[-1]["joined"]] == ["newcomer"]
        assert found[-1]["member_count"] == 5


def run(path: Path, table: str, *options: str) -> list[dict[str, Any]]:
    arguments = ["replay", str(path), "--table", table, "-o", "jsonl", *options]
    result = CliRunner().invoke(command, arguments)
    assert result.exit_code in {0, 1}, result.output
    return [json.loads(line)["row"] for line in result.stdout.splitlines()]


ODD = {
    "a type that nobody knows": (b"\x7f\xff\0\1g", b"x"),
    "a value of no version": (encode_key("GROUP_METADATA", {"group": "live.coop"}), b"\0"),
    "a value that ends early": (
        encode_key("OFFSET_COMMIT", {"group": "live.coop", "topic": "orders", "partition": 0}),
        b"\0\4\0\0",
    ),
    "a key that ends early": (b"\0\1\0\x09live", b"\0\4"),
    "no key": (None, b"x"),
    "a member in a state that is none": (
        encode_key(
            "CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT", {"groupId": "live.new", "memberId": "m"}
        ),
        bytes.fromhex("0000 00000001 00000000 63 01 01 00"),
    ),
    "a consumer group's record of a classic group": (
        encode_key("CONSUMER_GROUP_METADATA", {"groupId": "live.coop"}),
        bytes.fromhex("0000 00000007 00"),
    ),
}


def test_odd_records_are_named_and_lose_no_neighbour(real: Served) -> None:
    listed = rows()
    ends = {place: max(r.offset or 0 for r in listed if r.partition == place) for place in range(4)}
    place = offsets_partition("live.coop", 4)
    after = [
        Raw(key=key, value=value, partition=place, offset=ends[place] + n, topic=listed[0].topic)
        for n, (key, value) in enumerate(ODD.values(), start=1)
    ]
    broken = Raw(partition=1, offset=5, topic=listed[0].topic, error="line 7: not JSON")
    other = serve([broken, *after, *listed])
    assert len(other.odd) == len(real.odd) + len(ODD) + 1
    told = {(each.partition, each.offset): each.reason for each in other.odd}
    assert told[1, 5] == "line 7: not JSON"
    reasons = [told[place, row.offset] for row in after]
    for reason, part in zip(
        reasons,
        ("type 32767", "no version", "offset", "group", "null", "number 99", "of a classic group"),
        strict=True,
    ):
        assert part in reason
    for name in state():
        one, two = real.broker.groups[name], other.broker.groups[name]
        assert owned(one) == owned(two)
        assert one.offsets.table.committed == two.offsets.table.committed


def test_records_of_groups_that_nobody_plays_are_named(real: Served) -> None:
    assert {each.reason.split(" is of ")[0].split()[1].split("_")[0] for each in real.odd} == {
        "SHARE",
        "STREAMS",
    }
    assert len(real.odd) == 54


def test_commits_of_transactions_that_did_not_end_well_are_left_out() -> None:
    key = encode_key("OFFSET_COMMIT", {"group": "g", "topic": "t", "partition": 0})
    row = next(row for row in rows() if row.key and row.key[:2] == b"\0\1" and row.value)
    commits = [
        replace(row, key=key, partition=0, offset=n, transaction=how)
        for n, how in enumerate(("committed", "aborted", None))
    ]
    found = serve(commits)
    assert found.aborted == 1
    assert [each[0].offset for each in found.broker.logs[0]] == [0, 2]


def test_rows_of_two_topics_are_no_log() -> None:
    with pytest.raises(ValueError, match="rows of more than one topic: a, b"):
        serve([Raw(topic="a"), Raw(topic="b")])
