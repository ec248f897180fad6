"""What a kafka-python member writes when it joins, and what it keeps while it waits."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.base import Generation
from kafka.errors import KafkaConfigurationError

from assignors.clients.kafka_python import cooperative_sticky, strategy
from assignors.clients.kafka_python.adapter import NO_COORDINATOR
from tests.clients.local_group import LocalGroup
from wire import decode_subscription

COOPERATIVE = "cooperative-sticky"


@pytest.fixture
def group() -> Iterator[LocalGroup]:
    made = LocalGroup({"t": 6, "u": 3})
    yield made
    made.close()


def test_an_answer_that_was_lost_is_asked_for_with_the_same_bytes(group: LocalGroup) -> None:
    member = group.add("a", [cooperative_sticky()], ["t"])
    group.settle()
    coordinator = member.coordinator
    (first,), (again,), (third,), (fourth,) = (coordinator.group_protocols() for _ in range(4))
    assert first == again, "the coordinator then repeats its answer without a round"
    assert len({again, third, fourth}) == 3 - (fourth == again)
    assert third != again, "an answer that cannot be applied is not asked for for ever"
    assert fourth != third
    for _, blob in (first, third, fourth):
        read = decode_subscription(blob).value
        assert read is not None
        assert read.owned == {"t": (0, 1, 2, 3, 4, 5)}
        assert read.generation == 1


@pytest.mark.parametrize("cause", ["topics", "metadata"])
def test_a_round_is_waited_for_whatever_started_it(group: LocalGroup, cause: str) -> None:
    """The host stops to wait once the reason for a round is gone, and the reason goes while the
    round is still under way: the member answered no heartbeats and stayed out for ever when
    its `poll()` timed out in between."""
    member = group.add("a", [cooperative_sticky()], ["t"])
    group.settle()
    coordinator = member.coordinator
    if cause == "topics":
        member.consumer.subscribe(["t", "u"])
    else:
        coordinator._metadata_snapshot = {"t": 7}
    assert coordinator.need_rejoin()
    coordinator.group_protocols()
    coordinator._assignment_snapshot = coordinator._metadata_snapshot  # as the leader does
    assert coordinator.need_rejoin(), "the answer is still on its way"
    group.settle()
    assert not coordinator.need_rejoin()


def test_a_refused_round_is_joined_again_with_the_newest_generation(group: LocalGroup) -> None:
    """A group of Kafka 3.1's led by one of them took partitions away from members that joined
    again with the bytes of the round before, as their generation was no longer the highest."""
    member = group.add("a", [cooperative_sticky()], ["t"])
    group.settle()
    coordinator = member.coordinator
    coordinator.group_protocols()
    coordinator._generation = Generation(2, "a", COOPERATIVE)
    coordinator.request_rejoin()  # as the host does when its SyncGroup is refused
    ((_, blob),) = coordinator.group_protocols()
    read = decode_subscription(blob).value
    assert read is not None
    assert read.generation == 2
    assert read.user_data == (2).to_bytes(4, "big")


def test_positions_are_forgotten_where_an_answer_passed_by(group: LocalGroup) -> None:
    """The host consumed again, from where it once was, what somebody else had consumed in the
    round whose answer it missed."""
    member = group.add("a", [strategy("sticky")], ["t"])
    group.settle()
    positions = member.consumer._subscription.assignment
    kept = dict(positions)
    group.round()
    assert kept == {one: positions[one] for one in kept}, "nobody else had them in between"
    group.round(unheard=["a"])
    group.round()
    assert sorted(positions) == sorted(kept)
    assert not any(positions[one] is kept[one] for one in kept)


def test_cooperative_positions_are_kept(group: LocalGroup) -> None:
    member = group.add("a", [cooperative_sticky()], ["t"])
    group.settle()
    positions = member.consumer._subscription.assignment
    kept = dict(positions)
    group.round(unheard=["a"])
    group.round()
    assert all(positions[one] is kept[one] for one in kept)


def test_a_lost_membership_claims_with_the_generation_it_had(group: LocalGroup) -> None:
    member = group.add("a", [cooperative_sticky()], ["t"])
    group.settle()
    member.coordinator.reset_generation()
    ((_, blob),) = member.coordinator.group_protocols()
    read = decode_subscription(blob).value
    assert read is not None
    assert read.generation == 1
    assert read.user_data == (1).to_bytes(4, "big"), "all that a leader of Kafka 3.1 reads"


def test_with_an_eager_neighbour_in_its_list_a_member_claims_nothing(group: LocalGroup) -> None:
    member = group.add("a", [cooperative_sticky(), strategy("range")], ["t"])
    group.settle()
    blobs = dict(member.coordinator.group_protocols())
    read = decode_subscription(blobs[COOPERATIVE]).value
    assert read is not None
    assert (read.owned, read.owned_known) == ({}, True)
    assert read.generation == 1


def test_a_strategy_that_was_not_chosen_writes_the_same_bytes(group: LocalGroup) -> None:
    member = group.add("a", [RangePartitionAssignor(), strategy("sticky")], ["t"])
    for _ in range(3):
        group.settle()
    written = [dict(member.coordinator.group_protocols())["sticky"]]
    group.round()
    written.append(dict(member.coordinator.group_protocols())["sticky"])
    one, other = (decode_subscription(blob).value for blob in written)
    assert one is not None
    assert other is not None
    assert one.version == other.version == 3


def test_a_cooperative_member_whose_consumer_is_unknown_does_not_join() -> None:
    with pytest.raises(KafkaConfigurationError, match="bind"):
        cooperative_sticky().metadata({"t"})
    assert "bind" in NO_COORDINATOR
    assert decode_subscription(strategy("range").metadata({"t"})).value is not None
