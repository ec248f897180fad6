"""Which partitions members have paused, and how often a rebalance ended a pause.

A consumer keeps the pause of a partition for as long as it owns it. Under an eager protocol it
gives everything up in every rebalance, so all pauses end, also of partitions that it gets back;
under a cooperative one and KIP-848 only those of partitions that are revoked.

Source: `SubscriptionState.assignFromSubscribed` of Kafka's Java client. Sarama did the same; since
1.60.1 it pauses a partition anew that comes back to it, which is not played here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from wire import TopicPartitions


@dataclass(slots=True)
class Pauses:
    """The pauses of all members, by name."""

    paused: dict[str, dict[str, frozenset[int]]] = field(default_factory=dict)
    """Member -> topic -> partitions."""
    ended: int = 0
    """Pauses of partitions that a rebalance ended."""

    def pause(self, member: str, topic: str, consumed: Mapping[str, TopicPartitions]) -> None:
        """Pause what a member consumes of a topic."""
        numbers = consumed.get(member, {}).get(topic, ())
        self.paused.setdefault(member, {})[topic] = frozenset(numbers)

    def resume(self, member: str, topic: str) -> None:
        """End a member's pauses of a topic: it asked for that."""
        self.paused.get(member, {}).pop(topic, None)

    def end_process(self, member: str) -> None:
        """Drop a member's pauses with its process."""
        self.paused.pop(member, None)

    def consume(self, member: str, owned: TopicPartitions) -> None:
        """End the pauses of what a member does not own any more. Cost: O(paused partitions)."""
        before = self.paused.get(member)
        if before:
            kept = {topic: was.intersection(owned.get(topic, ())) for topic, was in before.items()}
            self.ended += sum(len(before[topic]) - len(kept[topic]) for topic in before)
            self.paused[member] = kept
