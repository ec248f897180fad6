"""Records of groups as bytes and back: nothing is lost but what no byte has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.model import Cluster
from assignors.simulation.timed.broker import Broker, BrokerSettings
from assignors.simulation.timed.offsets_topic import (
    TopicNames,
    is_offset,
    key_and_value,
    read_record,
)
from assignors.simulation.timed.protocols.effects import Record
from assignors.simulation.timed.protocols.kafka.messages import (
    ErrorCode,
    JoinGroup,
    JoinGroupResponse,
    OffsetCommit,
    OffsetCommitResponse,
    Protocol,
    SyncGroup,
)
from assignors.simulation.timed.protocols.kafka.records import (
    CurrentRecord,
    GroupEpochRecord,
    MemberRecord,
    OffsetRecord,
)
from tests.conftest import cases
from tests.foreign.histories import HISTORIES
from wire import Subscription, encode_subscription
from wire.records import encode_key, encode_value

TOPICS = TopicNames.of({name: f"AAAAAAAAAAAAAAAAAAAA{name}Q" for name in ("t", "v", "y")})
SUBSCRIPTION = encode_subscription(Subscription(version=1, topics=("t",)))
JOIN = JoinGroup("c", "", None, 6000, 6000, (Protocol("range", SUBSCRIPTION),))


def comparable(record: Record) -> Record:
    """The record without what its bytes do not have: topics, of which they have a hash."""
    return record._replace(topics=frozenset()) if isinstance(record, GroupEpochRecord) else record


@pytest.mark.parametrize("kind", HISTORIES)
@cases(15)
@given(seed=st.integers(0, 2**32))
def test_what_is_written_is_read(kind: str, seed: int) -> None:
    written: list[Record] = []
    history: Callable[..., Any] = HISTORIES[kind]
    history(seed, 80, lambda ours: written.extend(ours.records))
    outside = [
        each for each in written if not isinstance(each, OffsetRecord) or each.producer_id == -1
    ]
    for record in outside:
        key, value = key_and_value(record, "shop", TOPICS.id_of)
        assert read_record(key, value, TOPICS) == ("shop", comparable(record))
        assert is_offset(key) == isinstance(record, OffsetRecord)


def test_a_topic_whose_name_is_not_known_keeps_its_id() -> None:
    held = CurrentRecord("m", 4, 3, "Stable", {"t": {0: 4}})
    key, value = key_and_value(held, "g", TOPICS.id_of)
    read = read_record(key, value, TopicNames()).record
    assert read == held._replace(assigned={"id:AAAAAAAAAAAAAAAAAAAAtQ": {0: 4}})
    assert key_and_value(read, "g", TopicNames().id_of) == (key, value)


def test_partitions_without_epochs_have_that_of_their_member() -> None:
    # Brokers before KIP-1251 wrote no `assignmentEpochs`.
    parts = [{"topicId": TOPICS.ids["t"], "partitions": [0, 2]}]
    value = encode_value(
        "CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT",
        0,
        {
            "memberEpoch": 4,
            "previousMemberEpoch": 3,
            "state": 0,
            "assignedPartitions": parts,
            "partitionsPendingRevocation": [],
        },
    )
    key = encode_key("CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT", {"groupId": "g", "memberId": "m"})
    read = read_record(key, value, TOPICS).record
    assert read == CurrentRecord("m", 4, 3, "Stable", {"t": {0: 4, 2: 4}})


def test_old_versions_are_read() -> None:
    offset_key = {"group": "g", "topic": "t", "partition": 0}
    legacy = {"offset": 5, "metadata": "", "commitTimestamp": 7}
    key = encode_key("LEGACY_OFFSET_COMMIT", offset_key)
    value = encode_value("LEGACY_OFFSET_COMMIT", 0, legacy)
    assert read_record(key, value, TOPICS) == ("g", OffsetRecord("t", 0, 5, 7))
    assert is_offset(key)
    member = {
        "memberId": "m",
        "clientId": "c",
        "clientHost": "/h",
        "sessionTimeout": 6000,
        "subscription": b"s",
        "assignment": b"a",
    }
    group = {
        "protocolType": "consumer",
        "generation": 3,
        "protocol": "range",
        "leader": "m",
        "members": [member],
    }
    blob = encode_value("GROUP_METADATA", 0, group)
    read: Any = read_record(encode_key("GROUP_METADATA", {"group": "g"}), blob, TOPICS).record
    assert (read.generation, read.since_ms) == (3, -1)
    (only,) = read.members
    assert (only.session_timeout_ms, only.rebalance_timeout_ms, only.instance_id) == (
        6000,
        6000,  # the first version has no timeout of its own for a rebalance
        None,
    )


def test_a_member_without_the_tag_of_the_classic_protocol_has_empty_metadata() -> None:
    key, value = key_and_value(MemberRecord("m", ("t",)), "g")
    assert value is not None
    assert value.endswith(bytes.fromhex("01 00 01 00"))  # one tag: its number, its size, a null
    read: Any = read_record(key, value[:-4] + b"\0", TOPICS).record
    assert read.classic.protocols == ()
    assert read_record(key, value, TOPICS).record == MemberRecord("m", ("t",))


def test_a_member_gets_an_id_that_nobody_has_also_after_a_log_of_the_same_seed() -> None:
    settings = BrokerSettings(cluster=Cluster.of({"t": 2}), seed=3)
    first = Broker.of(settings)
    one = joined(first)
    log = [each for batch in first.logs[0] for each in batch]
    second = Broker.of(settings)
    assert second.load(0, log) == []
    assert second.groups["g"].classic.members.keys() == {one}
    other = second.ask("g", JOIN)
    assert isinstance(other, JoinGroupResponse)
    assert other.member_id not in {one, ""}


def joined(broker: Broker) -> str:
    """Let a member join a classic group of its own, and get an assignment."""
    given = broker.ask("g", JOIN)
    assert isinstance(given, JoinGroupResponse)
    broker.send("g", JOIN._replace(member_id=given.member_id))
    broker.advance(3000)
    broker.send("g", SyncGroup(given.member_id, None, 1, "range", ((given.member_id, b"\0\1"),)))
    return given.member_id


def test_a_commit_in_a_transaction_is_refused() -> None:
    broker = Broker.of(BrokerSettings(cluster=Cluster.of({"t": 2})))
    commit = OffsetCommit("", -1, (("t", 0, 1),), producer_id=7)
    with pytest.raises(ValueError, match="its markers are not written"):
        broker.ask("g", commit)
    assert broker.logs == [[]]
    assert broker.ask("g", commit._replace(producer_id=-1)) == OffsetCommitResponse(ErrorCode.NONE)
