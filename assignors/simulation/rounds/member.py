"""One member of a simulated group: what it consumes, and what it says it owns."""

from __future__ import annotations

from dataclasses import dataclass, field

from assignors.assignor import UserData
from assignors.leader import member_from_bytes
from assignors.membership import subscription
from assignors.model import NO_GENERATION, Member
from assignors.simulation.rounds.scenario import MemberSpec
from wire import TopicPartitions, encode_subscription


@dataclass(slots=True)
class Life:
    """A member between joining and leaving."""

    spec: MemberSpec
    member_id: str
    topics: tuple[str, ...]
    consuming: TopicPartitions = field(default_factory=dict)
    """What it really consumes."""
    assigned: TopicPartitions = field(default_factory=dict)
    """What it was last given: the same, unless something was taken from it since."""
    generation: int = NO_GENERATION
    """Of what it was last given."""
    has_revoked: bool = False
    """The last round took something from it: it rejoins."""
    stale: TopicPartitions | None = None
    """Claims from an earlier life, made until it is given something."""

    def receive(self, given: TopicPartitions, generation: int, *, is_cooperative: bool) -> None:
        """Apply an assignment: revoke what is gone, start what is new."""
        self.has_revoked = is_cooperative and any(
            not set(numbers).issubset(given.get(topic, ()))
            for topic, numbers in self.consuming.items()
            if given.get(topic) != numbers
        )
        self.consuming = self.assigned = given
        self.generation = generation
        self.stale = None

    def drop(self, keep: dict[str, int]) -> None:
        """Stop consuming all but the first `keep[topic]` partitions of each topic."""
        self.consuming = {
            topic: left
            for topic, numbers in self.consuming.items()
            if (left := tuple(number for number in numbers if number < keep.get(topic, 0)))
        }

    @property
    def claimed(self) -> TopicPartitions:
        """What it says it owns."""
        if self.stale is not None:
            return self.stale
        return self.assigned if self.spec.remembers else self.consuming


def joined(spec: MemberSpec, birth: int) -> Life:
    """Return a member that has just been given a member id."""
    return Life(
        spec=spec,
        member_id=f"{spec.name}-{birth:04d}",
        topics=spec.topics,
        generation=spec.generation,
        stale=spec.owned or None,
    )


def member_of(life: Life, kind: UserData) -> Member:
    """Return the member as the leader sees it: as a struct, or read from the bytes it writes."""
    spec = life.spec
    if spec.blob is not None and not life.assigned and life.stale is None:
        return member_from_bytes(life.member_id, spec.blob, instance_id=spec.instance_id)
    if spec.version is None:
        return Member(
            member_id=life.member_id,
            topics=life.topics,
            owned=life.claimed,
            generation=life.generation,
            rack_id=spec.rack_id,
            instance_id=spec.instance_id,
        )
    said = subscription(
        kind,
        life.topics,
        owned=life.claimed,
        owned_since=life.generation,
        generation=life.generation,
        rack_id=spec.rack_id,
        version=spec.version,
    )
    return member_from_bytes(
        life.member_id, encode_subscription(said), instance_id=spec.instance_id
    )
