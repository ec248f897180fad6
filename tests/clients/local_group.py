"""A group without a broker: kafka-python's own coordinators, driven through their own methods.

What the broker would do is here: member ids, generations, who leads, which protocol all
use, and whether an unchanged rejoin makes a round. All that a member does is kafka-python's code.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from kafka import KafkaConsumer
from kafka.coordinator.base import Generation, MemberState
from kafka.protocol.consumer.group import JoinGroupResponse

from assignors.clients.kafka_python import Strategy

NOWHERE = "127.0.0.1:9"


class Joined:
    """A member with a real consumer, or one that is only bytes."""

    def __init__(
        self,
        member_id: str,
        *,
        consumer: Any = None,
        blobs: Mapping[str, bytes] | None = None,
        instance_id: str | None = None,
    ) -> None:
        self.member_id = member_id
        self.consumer = consumer
        self.blobs = dict(blobs or {})
        self.instance_id = instance_id
        self.received: bytes | None = None

    @property
    def coordinator(self) -> Any:
        return self.consumer._coordinator

    @property
    def assigned(self) -> set[tuple[str, int]]:
        return {(found.topic, found.partition) for found in self.consumer.assignment()}


class LocalGroup:
    """Members by id; the first leads."""

    def __init__(self, counts: Mapping[str, int], racks: Sequence[str] = ()) -> None:
        self.counts = dict(counts)
        self.racks = list(racks)
        self.generation = 0
        self.members: dict[str, Joined] = {}

    def add(self, member_id: str, strategies: list[Any], topics: Sequence[str]) -> Joined:
        """Let a member with a real consumer in."""
        consumer = KafkaConsumer(
            bootstrap_servers=NOWHERE,
            group_id="g",
            api_version=(2, 8),
            enable_auto_commit=False,
            partition_assignment_strategy=strategies,
        )
        consumer.subscribe(list(topics))
        self.members[member_id] = found = Joined(member_id, consumer=consumer)
        return found

    def add_bytes(
        self, member_id: str, blobs: Mapping[str, bytes], *, instance_id: str | None = None
    ) -> Joined:
        """Let a member in that is only what it sends, by protocol."""
        self.members[member_id] = found = Joined(member_id, blobs=blobs, instance_id=instance_id)
        return found

    def remove(self, member_id: str) -> None:
        found = self.members.pop(member_id)
        if found.consumer is not None:
            found.consumer.close(autocommit=False)

    def close(self) -> None:
        for member_id in list(self.members):
            self.remove(member_id)

    def round(self, *, unheard: Sequence[str] = (), is_confirmed: bool = True) -> dict[str, bytes]:
        """Play one round; `unheard` members never see their answer. It is confirmed after a
        heartbeat interval if nobody has a reason to join again."""
        described: dict[str, list[tuple[str, bytes]]] = {}
        for member in self.members.values():
            if member.consumer is None:
                described[member.member_id] = list(member.blobs.items())
                continue
            self._describe_cluster(member.consumer)
            coordinator = member.coordinator
            if not coordinator._generation.has_member_id():
                coordinator._generation = Generation(-1, member.member_id, None)
            run(
                coordinator._on_join_prepare_async(
                    coordinator._generation.generation_id, member.member_id
                )
            )
            described[member.member_id] = [
                (name, blob if isinstance(blob, bytes) else bytes(blob.encode()))
                for name, blob in coordinator.group_protocols()
            ]
        protocol = self._chosen(described)
        self.generation += 1
        for member in self.members.values():
            if member.consumer is not None:
                generation = Generation(self.generation, member.member_id, protocol)
                member.coordinator._generation = generation
                member.coordinator.state = MemberState.STABLE
        leader = next(member for member in self.members.values() if member.consumer is not None)
        answers = leader.coordinator._perform_assignment(
            leader.member_id,
            protocol,
            [
                JoinGroupResponse.JoinGroupResponseMember(
                    member_id=member.member_id,
                    group_instance_id=member.instance_id,
                    metadata=dict(described[member.member_id])[protocol],
                )
                for member in self.members.values()
            ],
        )
        for member in self.members.values():
            answer = answers.get(member.member_id, b"")
            member.received = answer if isinstance(answer, bytes) else bytes(answer.encode())
            if member.consumer is not None and member.member_id not in unheard:
                member.coordinator.rejoin_needed = False
                run(
                    member.coordinator._on_join_complete_async(
                        self.generation, member.member_id, protocol, member.received
                    )
                )
        if is_confirmed and not self.wants_another():
            confirm(leader.coordinator)
        return dict(answers)

    def settle(self, limit: int = 6) -> int:
        """Play rounds until nobody wants another; return how many."""
        for count in range(1, limit + 1):
            self.round()
            if not self.wants_another():
                return count
        raise AssertionError(f"not settled after {limit} rounds")

    def wants_another(self) -> bool:
        """Whether a member has a reason to join again."""
        return any(
            member.coordinator.need_rejoin()
            for member in self.members.values()
            if member.consumer is not None
        )

    def _chosen(self, described: Mapping[str, list[tuple[str, bytes]]]) -> str:
        common = set.intersection(*({name for name, _ in each} for each in described.values()))
        first = next(iter(described.values()))
        return next(name for name, _ in first if name in common)

    def _describe_cluster(self, consumer: Any) -> None:
        nodes = range(max(len(self.racks), 1))
        cluster = consumer._coordinator._cluster
        cluster._brokers = {
            node: SimpleNamespace(node_id=node, rack=dict(enumerate(self.racks)).get(node))
            for node in nodes
        }
        cluster._partitions = {
            topic: {
                number: SimpleNamespace(leader_id=0, replica_nodes=[number % len(nodes)])
                for number in range(count)
            }
            for topic, count in self.counts.items()
        }
        consumer._coordinator._metadata_snapshot = dict(self.counts)


def confirm(coordinator: Any) -> None:
    """Let a heartbeat interval pass for a leader."""
    for assignor in coordinator._assignors.values():
        if isinstance(assignor, Strategy):
            assignor._confirm(coordinator)


def run(coroutine: Coroutine[Any, Any, Any]) -> None:
    """Run a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration:
        return
    raise AssertionError("it waits for something")
