"""One member of a simulated group: what it really consumes, and what it claims to own.

The two differ where clients differ from what they say: a member that rejoins after it was expelled
claims what it had, a kafka-python member claims what it has already stopped consuming.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from assignors.assignor import UserData
from assignors.group_bytes.subscriptions import member_from_bytes
from assignors.membership import subscription
from assignors.model import NO_GENERATION, Member
from assignors.optimal.small.problem import NumberedShare
from assignors.simulation.rounds.scenario import MemberSpec
from wire import TopicPartitions, encode_subscription


@dataclass(slots=True)
class SimulatedMember:
    """A member from joining to leaving."""

    spec: MemberSpec
    member_id: str
    topics: tuple[str, ...]
    consuming: TopicPartitions = field(default_factory=dict)
    """What it really consumes."""
    assigned: TopicPartitions = field(default_factory=dict)
    """Its last assignment: the same, unless it had to stop consuming something since."""
    generation: int = NO_GENERATION
    """The generation of its last assignment."""
    stale_claims: TopicPartitions | None = None
    """What it claims instead of what it consumes, until it receives an assignment."""

    def receive(self, given: TopicPartitions, generation: int) -> None:
        """Apply an assignment: revoke what is gone, start what is new."""
        self.consuming = self.assigned = given
        self.generation = generation
        self.stale_claims = None

    def stop_beyond(self, partition_counts: dict[str, int]) -> None:
        """Stop consuming partitions that are not below their topic's count; no count is 0."""
        consuming = self.consuming
        if type(consuming) is NumberedShare and consuming.numbering.is_within(partition_counts):
            return
        for topic, numbers in self.consuming.items():
            if not numbers or max(numbers) >= partition_counts.get(topic, 0):
                break
        else:
            return
        self.consuming = {
            topic: left
            for topic, numbers in self.consuming.items()
            if (left := tuple(n for n in numbers if n < partition_counts.get(topic, 0)))
        }


def new_member(spec: MemberSpec, join_number: int) -> SimulatedMember:
    """Return a member as it joins; the number makes its member id unique.

    It consumes nothing yet, unless it is one that was there before the run (`is_consuming`).
    """
    if spec.is_consuming:
        return SimulatedMember(
            spec=spec,
            member_id=spec.member_id or spec.name,
            topics=spec.topics,
            consuming=spec.owned,
            assigned=spec.owned,
            generation=spec.generation,
        )
    return SimulatedMember(
        spec=spec,
        member_id=spec.member_id or f"{spec.name}-{join_number:04d}",
        topics=spec.topics,
        generation=spec.generation,
        stale_claims=spec.owned or None,
    )


def member_for_leader(simulated: SimulatedMember, kind: UserData) -> Member:
    """Return the member as its leader gets it: directly, or decoded from the bytes it writes.

    `kind` is what the group's assignor wants in UserData.
    """
    spec = simulated.spec
    if spec.blob is not None and not simulated.assigned and simulated.stale_claims is None:
        return member_from_bytes(simulated.member_id, spec.blob, instance_id=spec.instance_id)
    claimed = simulated.stale_claims
    if claimed is None:
        claimed = simulated.assigned if spec.remembers else simulated.consuming
    if spec.version is None:
        return Member(
            member_id=simulated.member_id,
            topics=simulated.topics,
            owned=claimed,
            generation=simulated.generation,
            rack_id=spec.rack_id,
            instance_id=spec.instance_id,
        )
    written = subscription(
        spec.user_data or kind,
        simulated.topics,
        owned=claimed,
        owned_since=simulated.generation,
        generation=simulated.generation,
        rack_id=spec.rack_id,
        version=spec.version,
    )
    return member_from_bytes(
        simulated.member_id, encode_subscription(written), instance_id=spec.instance_id
    )
