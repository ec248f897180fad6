"""A consumer that may come back with the other protocol, as after an upgrade of its client.

It has both clients and runs one at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

from assignors.simulation.timed.protocols.kafka.classic_member_state import ClassicMember
from assignors.simulation.timed.protocols.kafka.consumer_member import ConsumerClient
from assignors.simulation.timed.scenario import GroupProtocol
from wire import TopicPartitions


@dataclass(slots=True, kw_only=True)
class MixedMember:
    """A member's side, of either protocol."""

    classic: ClassicMember
    consumer: ConsumerClient
    protocol: GroupProtocol
    """Which one it speaks; it changes only while the process does not run."""

    @property
    def client(self) -> ClassicMember | ConsumerClient:
        """The client that it runs."""
        return self.classic if self.protocol is GroupProtocol.CLASSIC else self.consumer

    @property
    def topics(self) -> tuple[str, ...]:
        """What it subscribes to."""
        return self.client.topics

    @topics.setter
    def topics(self, topics: tuple[str, ...]) -> None:
        self.classic.topics = self.consumer.topics = topics

    @property
    def member_id(self) -> str:
        """Its id in the group."""
        return self.client.member_id

    @property
    def owned(self) -> TopicPartitions:
        """What it believes to own."""
        return self.client.owned

    @property
    def generation(self) -> int:
        """The generation or epoch it is in."""
        return self.client.generation

    @property
    def is_up(self) -> bool:
        """Whether its process runs."""
        return self.client.is_up

    @property
    def is_at_rest(self) -> bool:
        """Whether it runs and has nothing to do but consume."""
        return self.client.is_at_rest
