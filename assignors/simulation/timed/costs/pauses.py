"""Which partitions members have paused, and how often a rebalance ended a pause.

A Java consumer keeps the pause of a partition for as long as it owns it. Under an eager protocol it
gives everything up in every rebalance, so all pauses end, also of partitions that it gets back;
under a cooperative one and KIP-848 only those of partitions that are revoked.

Other clients keep a pause until the application ends it (`MemberConfig.keeps_pauses`): a partition
that comes back is paused anew. Only one that goes to somebody else is read on.

Source: `SubscriptionState.assignFromSubscribed` of Kafka's Java client. `consumer.addChild` of
Sarama from 1.60.1 on (its pull request 3681; up to 1.60.0 it did as Java's client does).
`PauseFetchPartitions` of franz-go. librdkafka, where a rebalance resumes what the library itself
has paused (`RD_KAFKA_TOPPAR_F_LIB_PAUSE`), not what the application has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from assignors.ownership.changes import TopicPartition, pairs
from wire import TopicPartitions


@dataclass(slots=True, kw_only=True)
class Pauses:
    """The pauses of all members, by name."""

    keepers: frozenset[str] = frozenset()
    """Whose client keeps pauses of what it has lost."""
    paused: dict[str, dict[str, frozenset[int]]] = field(default_factory=dict)
    """Member -> topic -> partitions."""
    between: set[TopicPartition] = field(default_factory=set)
    """What a keeper had paused and has lost: whoever has it next reads on, or has paused it too."""
    ended: int = 0
    """Pauses of partitions that a rebalance ended."""

    def pause(self, member: str, topic: str, consumed: Mapping[str, TopicPartitions]) -> None:
        """Pause what a member consumes of a topic."""
        numbers = consumed.get(member, {}).get(topic, ())
        own = self.paused.setdefault(member, {})
        own[topic] = own.get(topic, frozenset()).union(numbers)

    def resume(self, member: str, topic: str) -> None:
        """End a member's pauses of a topic: it asked for that."""
        numbers = self.paused.get(member, {}).pop(topic, frozenset())
        self.between.difference_update((topic, number) for number in numbers)

    def end_process(self, member: str) -> None:
        """Drop a member's pauses with its process."""
        self.paused.pop(member, None)

    def lose(self, member: str, owned: TopicPartitions) -> None:
        """End the pauses of what a member does not own any more. Cost: O(paused partitions)."""
        before = self.paused.get(member)
        if not before:
            return
        gone = {topic: was.difference(owned.get(topic, ())) for topic, was in before.items()}
        if member in self.keepers:
            self.between.update((topic, number) for topic in gone for number in gone[topic])
            return
        self.ended += sum(map(len, gone.values()))
        self.paused[member] = {topic: was - gone[topic] for topic, was in before.items()}

    def take(self, member: str, partitions: Iterable[TopicPartition]) -> None:
        """Let a member consume these: it has kept a pause of its own, else it reads on.

        Cost: O(partitions).
        """
        for topic, number in self.between.intersection(partitions):
            self.between.discard((topic, number))
            self.ended += number not in self.paused.get(member, {}).get(topic, ())

    def consume(self, member: str, owned: TopicPartitions, *, has_lost: bool) -> None:
        """Let a member consume exactly this. Cost: O(its partitions) where some are paused."""
        if has_lost:
            self.lose(member, owned)
        if self.between:
            self.take(member, pairs(owned))
