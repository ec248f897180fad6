"""`classic-only`: the groups that a broker refuses to convert, and no others.

The second opinion is the simulator's coordinator, which the live classes of Kafka 4.4.0 judge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st

from assignors.model import Cluster
from assignors.replay.decode.logged_records import LoggedRecord
from assignors.replay.engines.python import replay_records
from assignors.replay.findings import Selection, Severity
from assignors.replay.findings.upgrade import conversion_answer
from assignors.replay.settings import Settings
from assignors.simulation.timed.protocols.kafka.classic_group import (
    ClassicGroup,
    GroupMember,
    GroupState,
)
from assignors.simulation.timed.protocols.kafka.conversion import upgraded
from assignors.simulation.timed.protocols.kafka.messages import Protocol
from assignors.simulation.timed.protocols.kafka.state import Changes, GroupCoordinator, Refused
from tests.replay.findings import found, lower, upper
from tests.replay.histories import Says, captured, classic, epoch, gone
from wire import (
    Mode,
    Subscription,
    decode_subscription,
    encode_assignment,
    encode_subscription,
)

ONLY = Selection(min_severity=Severity.NOTE, kinds=("classic-only",))
ONLY_USER_DATA = encode_assignment({}, user_data=b"\0\0\0\1")
WITH_USER_DATA = encode_assignment({"t": (0,)}, user_data=b"\0\0\0\1")

CLUSTER = Cluster.of({"t": 4, "gone": 1})
SUBSCRIPTION = encode_subscription(Subscription(version=3, topics=("t",), owned={"t": (0, 1)}))
ASSIGNMENT = encode_assignment({"t": (0, 1)})

subscriptions = st.one_of(
    st.just(SUBSCRIPTION),
    st.integers(0, len(SUBSCRIPTION)).map(lambda size: SUBSCRIPTION[:size]),
    st.sampled_from(
        [
            bytes.fromhex("00010000000100017400000000"),  # version 1 without owned partitions
            bytes.fromhex("00030000000100017400000000000000000000000000" + "0000"),  # rack ""
            b"\xff\xff" + SUBSCRIPTION[2:],
            b"\x00\x09" + SUBSCRIPTION[2:],
            SUBSCRIPTION + b"more",
        ]
    ),
    st.binary(max_size=12),
)
assignments = st.one_of(
    st.sampled_from([b"", ASSIGNMENT, WITH_USER_DATA, encode_assignment({"t": (2,)})]),
    st.sampled_from([encode_assignment({"t": (3,)}), encode_assignment({"gone": (0,)})]),
    st.integers(0, len(ASSIGNMENT)).map(lambda size: ASSIGNMENT[:size]),
    st.binary(max_size=12),
)
members = st.builds(Says, subscription=subscriptions, assignment=assignments)


def is_converted(plan: Mapping[str, Says], protocol_type: str) -> bool:
    """Whether the coordinator of the simulator makes a consumer group of it."""
    group = ClassicGroup(
        state=GroupState.STABLE, generation=1, protocol="range", protocol_type=protocol_type
    )
    for member_id, says in plan.items():
        assert says.subscription is not None
        assert says.assignment is not None
        group.add(
            GroupMember(
                member_id=member_id,
                instance_id=None,
                client_id="c",
                protocols=(Protocol("range", says.subscription),),
                session_timeout_ms=1,
                rebalance_timeout_ms=1,
                assignment=says.assignment,
            ),
            protocol_type,
        )
    cluster = Cluster.of({"t": 4, "gone": 1})
    coordinator = GroupCoordinator(new_id=str, new_uuid=str, group=group, cluster=cluster)
    try:
        upgraded(coordinator, Changes())
    except Refused:
        return False
    return True


@given(
    st.dictionaries(st.sampled_from("abc"), members, min_size=1),
    st.sampled_from(["consumer", "consumer", "connect"]),
)
def test_what_is_not_found_is_what_the_coordinator_converts(
    plan: dict[str, Says], protocol_type: str
) -> None:
    rows = found(classic(0, 1, plan, protocol_type=protocol_type), selection=ONLY)
    assert bool(rows) != is_converted(plan, protocol_type)


@given(subscriptions)
def test_a_subscription_without_notes_is_one_that_kafka_reads(blob: bytes) -> None:
    """So only those with notes are kept, and read once more."""
    if not decode_subscription(blob).notes:
        assert decode_subscription(blob, mode=Mode.STRICT).value is not None


def test_user_data_of_a_leader_is_named_with_its_members() -> None:
    """librdkafka and Sarama leaders hand UserData back; Kafka takes it for a custom assignor's."""
    (row,) = found(
        classic(0, 1, {"a": lower(), "b": upper(), "c": Says(assignment=ONLY_USER_DATA)}),
        selection=ONLY,
    )
    assert (row.kind, row.severity, row.count) == ("classic-only", "note", 1)
    assert row.members == ("c",)
    assert "1 member with UserData in the Assignment" in row.evidence


def test_two_owners_of_a_partition_cannot_be_taken_over() -> None:
    plan = {
        name: Says(subscription=SUBSCRIPTION, assignment=encode_assignment({"t": numbers}))
        for name, numbers in {"a": (0, 1), "b": (1, 2), "c": (3,)}.items()
    }
    (row,) = found(classic(0, 1, plan), selection=ONLY)
    assert (row.members, row.count) == (("a", "b"), 2)
    assert not is_converted(plan, "consumer")


def test_only_the_end_of_the_records_counts() -> None:
    bad = {"a": Says(assignment=WITH_USER_DATA)}
    assert found(classic(0, 1, bad), selection=ONLY)
    assert not found(classic(0, 1, bad), classic(9, 2, {"a": lower()}), selection=ONLY)
    assert not found(classic(0, 1, bad), classic(9, 2, {}), selection=ONLY)
    assert not found(classic(0, 1, bad), gone(9), selection=ONLY)


def test_the_answer_counts_groups_as_they_are_at_the_end() -> None:
    """Nothing but "no findings of kind classic-only" said that all groups can be converted."""
    bad = {"a": Says(assignment=WITH_USER_DATA)}
    entries = [
        classic(0, 1, {"a": lower()}, group="good"),
        classic(0, 1, bad, group="empty"),
        classic(9, 2, {}, group="empty"),
        classic(0, 1, bad, group="ended"),
        gone(9, group="ended"),
    ]

    def answer(*more: LoggedRecord) -> str:
        tables = replay_records([*entries, *more], Settings(selection=ONLY))
        return conversion_answer(tables.groups, tables.findings)

    words = "classic groups can be converted to the consumer protocol (KIP-848)"
    assert answer() == f"2 of 2 {words}"
    assert answer(classic(9, 1, bad, group="bad")) == (
        f"2 of 3 {words}; the findings have the reasons of the other 1"
    )
    assert (
        answer(epoch(9, 1, group="new"))
        == f"2 of 2 {words}; 1 group of the records uses it already"
    )


def test_it_is_a_note_that_nobody_sees_unasked() -> None:
    unasked = found(classic(0, 1, {"a": Says(assignment=WITH_USER_DATA)}))
    assert "classic-only" not in {row.kind for row in unasked}


def test_a_real_group_that_a_broker_converted_is_not_found() -> None:
    """Records of a group up to the tombstone that Kafka 4.4.0 wrote as it converted it."""
    group = [entry for entry in captured("real") if of_group(entry) == "shop.32-migrate"]
    end = next(place for place, entry in enumerate(group) if entry.record.is_tombstone)
    rows = replay_records(group[:end], Settings(selection=ONLY))
    assert [row.kind for row in rows.groups] == ["classic"]
    assert rows.groups[0].member_count == 2
    assert not rows.findings


def test_real_leaders_write_user_data() -> None:
    """At some generation: a broker would have refused members of the other protocol then."""
    entries = [
        entry
        for entry in captured("real")
        if entry.record.name == "GROUP_METADATA" and not entry.record.is_tombstone
    ]
    rows = [
        row
        for entry in entries
        for row in replay_records([entry], Settings(selection=ONLY)).findings
    ]
    causes = Counter("UserData" in row.evidence for row in rows)
    assert causes[True] > 10


def of_group(entry: LoggedRecord) -> str | None:
    """The group that a record is about."""
    key = entry.record.key or {}
    name: str | None = key.get("group", key.get("groupId"))
    return name
