"""Bytes that the client cannot read or apply are read and applied as far as possible.

The client's own decoders are back when the last strategy is gone.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import kafka.coordinator.consumer as host
import pytest
from aiokafka.consumer.group_coordinator import GroupCoordinator
from aiokafka.coordinator.protocol import ConsumerProtocol
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

from assignors.clients import aiokafka, kafka_python
from tests.clients.local_group import LocalGroup, run
from tests.clients.test_kafka_python import GARBAGE
from tests.interop.odd_bytes import assignment
from wire import encode_assignment


@pytest.fixture
def group() -> Iterator[LocalGroup]:
    found = LocalGroup({"t": 6})
    yield found
    found.close()


ODD_ASSIGNMENTS: dict[str, tuple[bytes, set[tuple[str, int]]]] = {
    "zero bytes, as for a member that was left out": (b"", set()),
    "one byte": (b"\0", set()),
    "topics null": (assignment(1, None), set()),
    "numbers null": (assignment(1, [("t", None)]), set()),
    "version -1": (assignment(-1, [("t", [2])]), {("t", 2)}),
    "user data cut off": (assignment(1, [("t", [2])])[:-4], {("t", 2)}),
    "cut in a number": (assignment(1, [("t", [2, 3])])[:-6], {("t", 2)}),
    "a topic that is no UTF-8": (assignment(1, [("t", [2]), (b"\xff", [0])]), {("t", 2)}),
    "0xff for ever": (b"\xff" * 40, set()),
}


@pytest.mark.parametrize(("blob", "applied"), ODD_ASSIGNMENTS.values(), ids=ODD_ASSIGNMENTS)
@pytest.mark.parametrize("name", ["range", "cooperative-sticky"])
def test_an_assignment_the_host_cannot_read_is_applied_as_far_as_it_goes(
    group: LocalGroup,
    caplog: pytest.LogCaptureFixture,
    name: str,
    blob: bytes,
    applied: set[tuple[str, int]],
) -> None:
    """The host raised out of `poll()` and consumed on what was somebody else's by then."""
    member = group.add("a", [kafka_python.strategy(name)], ["t"])
    group.settle()
    assert len(member.assigned) == 6
    run(member.coordinator._on_join_complete_async(9, "a", name, blob))
    assert member.assigned == applied
    assert "odd assignment" in caplog.text


@pytest.mark.parametrize(("blob", "applied"), ODD_ASSIGNMENTS.values(), ids=ODD_ASSIGNMENTS)
def test_an_assignment_the_host_cannot_read_does_not_end_an_aiokafka_member(
    blob: bytes, applied: set[tuple[str, int]]
) -> None:
    """The host's task that takes part in the group ended, and the consumer never joined again."""
    made = aiokafka.strategy("range")
    read = ConsumerProtocol.ASSIGNMENT.decode(blob)
    assert set(map(tuple, read.partitions())) == applied
    made.on_assignment(read)


class Calling(GroupCoordinator):  # type: ignore[misc]  # the host has no types
    """As much of the host's coordinator as an assignment meets on its way in."""

    generation = 5

    def __init__(self, assignor: Any, topics: set[str]) -> None:
        self._assignors = [assignor]
        self._subscription = SimpleNamespace(subscription=SimpleNamespace(topics=topics))
        self.rejoins = 0

    def __del__(self) -> None:
        """Nothing was started."""

    def request_rejoin(self) -> None:
        self.rejoins += 1

    def take(self, blob: bytes) -> set[tuple[str, int]]:
        read = ConsumerProtocol.ASSIGNMENT.decode(blob)
        self._assignors[0].on_assignment(read)
        return set(map(tuple, read.partitions()))


def test_topics_outside_the_subscription_are_refused_and_rejoined_for_once() -> None:
    """A static member that comes back with fewer topics is given the old ones: the host's task
    that takes part in the group ended over them."""
    calling = Calling(aiokafka.strategy("range"), {"t"})
    blob = encode_assignment({"t": (1,), "u": (0, 1)})
    assert calling.take(blob) == {("t", 1)}
    assert calling.rejoins == 1
    assert calling.take(blob) == {("t", 1)}
    assert calling.rejoins == 1, "a leader that insists is not asked for ever"
    assert calling.take(encode_assignment({"t": (1,)})) == {("t", 1)}
    assert calling.take(blob) == {("t", 1)}
    assert calling.rejoins == 2


def test_consumers_of_others_are_left_alone() -> None:
    kept = aiokafka.strategy("range")
    blob = encode_assignment({"t": (1,), "u": (0,)})
    calling = Calling(SimpleNamespace(on_assignment=lambda _: None), {"t"})
    assert calling.take(blob) == {("t", 1), ("u", 0)}
    assert kept.name == "range"


def test_other_assignors_see_the_hosts_own_objects(group: LocalGroup) -> None:
    seen: list[Any] = []

    class Watching(RangePartitionAssignor):  # type: ignore[misc]  # the host has no types
        def assign(self, cluster: Any, members: Any) -> Any:
            seen.extend(member.metadata for member in members)
            return super().assign(cluster, members)

    group.add("a", [Watching(), kafka_python.strategy("sticky")], ["t"])
    group.add_bytes("odd", {"range": GARBAGE["v1 without owned partitions"]})
    group.settle()
    assert all(isinstance(found, ConsumerProtocolSubscription) for found in seen)
    assert [found.topics for found in seen] == [["t"], ["t"]]


def test_decoding_is_the_hosts_own_again_when_the_last_strategy_is_gone() -> None:
    gc.collect()
    assert host.ConsumerProtocolSubscription is ConsumerProtocolSubscription
    one, other = kafka_python.cooperative_sticky(), kafka_python.strategy("range")
    assert host.ConsumerProtocolSubscription is not ConsumerProtocolSubscription
    del one
    gc.collect()
    assert host.ConsumerProtocolSubscription is not ConsumerProtocolSubscription
    assert host.ConsumerProtocolAssignment is not ConsumerProtocolAssignment
    assert host.ConsumerProtocolAssignment(1, [], b"").partitions() == []
    del other
    gc.collect()
    assert host.ConsumerProtocolSubscription is ConsumerProtocolSubscription
    assert host.ConsumerProtocolAssignment is ConsumerProtocolAssignment
