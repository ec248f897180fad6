"""Draw scenarios from seeds: `generate(seed, Parameters(...))` is the same on every machine.

Members and topics are numbered (`m00000`, `t0000`). Events are drawn one after the other, each for
the group as the events before it left it, so that only what can happen is drawn: a member that
leaves is there, a topic that is deleted exists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from assignors.names.nearest import suggestion
from assignors.names.sequences import as_number
from assignors.simulation.dice import Dice
from assignors.simulation.rounds.scenario import GroupEvent, GroupEventKind, MemberSpec, Scenario


class SubscriptionShape(StrEnum):
    """Which members subscribe to which topics."""

    EQUAL = "equal"
    """Every member to all topics."""
    HALF = "half"
    """Every member to a random half of the topics."""
    FEW = "few"
    """Every member to up to three random topics."""
    CHAIN = "chain"
    """Member n to topics n and n + 1, so that neighbours share one."""
    DISJOINT = "disjoint"
    """Every member to one topic: member n to topic n, counted round."""


LIMITS = {"members": 100_000, "topics": 100_000, "partitions": 1_000_000, "events": 100_000}
"""Largest value of each size. A round at the largest sizes takes seconds to a minute and 0.4 GB
(optimal assignors) to 2.4 GB (copies of Java's)."""

SUBSCRIPTION_LIMIT = 10_000_000
"""Most subscriptions in a random scenario: the topics of each member, added up."""

WORK_LIMIT = 100_000_000
"""Largest product of the rounds that a scenario needs at least, which is its events and the start,
with its members, topics and partitions together, all of which every round goes through."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The sizes of a random scenario. Raises `ValueError`, naming the bound, for any other size."""

    members: int = 20
    """Members at the start."""
    topics: int = 10
    """Topics at the start."""
    partitions: int = 200
    """Partitions of all topics together, spread evenly over them."""
    subscription: str = SubscriptionShape.EQUAL.value
    """A `SubscriptionShape`, or its value."""
    events: int = 5
    """Events after the start."""
    faults: bool = True
    """Whether stale, remembered and future claims occur, and topics that shrink."""
    wire: bool = False
    """Whether members write Subscription bytes, of versions 0 to 3, which the leader decodes."""

    def __post_init__(self) -> None:
        """Check the sizes."""
        for name, limit in LIMITS.items():
            value = as_number(getattr(self, name), name)
            if not 0 <= value <= limit:
                raise ValueError(f"{name}: {value} is not within 0..{limit}")
        if self.topics < 1 <= self.partitions:
            raise ValueError(f"partitions: {self.partitions} of no topic")
        if self.subscription not in set(SubscriptionShape):
            words = suggestion(str(self.subscription), map(str, SubscriptionShape))
            raise ValueError(f"subscription: {self.subscription!r} is no shape{words}")
        size = self.members + self.topics + self.partitions
        if (self.events + 1) * size > WORK_LIMIT:
            raise ValueError(
                f"events: {self.events} is not within 0..{WORK_LIMIT // size - 1}, "
                f"the bound for {size} members, topics and partitions together"
            )

    @property
    def topics_per_member(self) -> int:
        """How many topics a member subscribes to, at most."""
        most = {
            SubscriptionShape.EQUAL: self.topics,
            SubscriptionShape.HALF: (self.topics + 1) // 2,
            SubscriptionShape.FEW: 3,
            SubscriptionShape.CHAIN: 2,
            SubscriptionShape.DISJOINT: 1,
        }
        return min(most[SubscriptionShape(self.subscription)], self.topics)

    def require_few_subscriptions(self) -> None:
        """Raise `ValueError` if a random scenario has more than `SUBSCRIPTION_LIMIT`.

        Not part of construction: the members of an explicit group subscribe to what they list.
        """
        count = self.members * self.topics_per_member
        if count > SUBSCRIPTION_LIMIT:
            raise ValueError(
                f"members: {self.members} with {self.topics_per_member} topics each have "
                f"{count} subscriptions, more than {SUBSCRIPTION_LIMIT}"
            )


def generate(seed: int, parameters: Parameters | None = None) -> Scenario:
    """Return the scenario of this seed: the same on every machine.

    Every integer is a seed. Without `parameters` the defaults of `Parameters` hold. Raises
    `ValueError` for more than `SUBSCRIPTION_LIMIT` subscriptions.
    Cost: O(members * topics + events).

    >>> generate(1, Parameters(members=2, topics=1, partitions=4, events=1)).topics
    {'t0000': 4}
    """
    sizes = parameters or Parameters()
    sizes.require_few_subscriptions()
    dice = Dice(seed)
    counts = [sizes.partitions // sizes.topics] * sizes.topics if sizes.topics else []
    for position in range(sizes.partitions - sum(counts)):
        counts[position] += 1
    topics = {f"t{number:04d}": count for number, count in enumerate(counts)}
    subscribe = _SUBSCRIBE[SubscriptionShape(sizes.subscription)]
    names = tuple(topics)
    members = tuple(
        _member(dice, f"m{number:05d}", subscribe(dice, names, number), sizes)
        for number in range(sizes.members)
    )
    events = draw_events(dice.below(1 << 62), topics, members, sizes)
    return Scenario(seed=seed, topics=topics, members=members, events=events)


def draw_events(
    seed: int, topics: Mapping[str, int], members: Sequence[MemberSpec], sizes: Parameters
) -> tuple[GroupEvent, ...]:
    """Return `sizes.events` random events that can happen to this group, one after the other.

    `topics` is topic -> partition count, `members` who is there at the start. New members are
    named `j` and a number.
    """
    draft = _Draft(
        dice=Dice(seed),
        sizes=sizes,
        counts=dict(topics),
        present=[member.name for member in members],
        subscribe=_SUBSCRIBE[SubscriptionShape(sizes.subscription)],
    )
    statics = {member.name for member in members if member.instance_id is not None}
    return tuple(draft.event(tuple(topics), statics) for _ in range(sizes.events))


def _member(dice: Dice, name: str, topics: tuple[str, ...], sizes: Parameters) -> MemberSpec:
    version = dice.pick((0, 1, 1, 2, 3, 3, 3, 3)) if sizes.wire else None
    return MemberSpec(
        name=name,
        topics=topics,
        version=version,
        instance_id=f"i-{name}" if dice.chance(20) else None,
        remembers=sizes.faults and dice.chance(10),
    )


Subscribe = Callable[[Dice, tuple[str, ...], int], tuple[str, ...]]

_SUBSCRIBE: dict[SubscriptionShape, Subscribe] = {
    SubscriptionShape.EQUAL: lambda _dice, names, _number: names,
    SubscriptionShape.HALF: lambda dice, names, _number: tuple(
        dice.sample(names, (len(names) + 1) // 2)
    ),
    SubscriptionShape.FEW: lambda dice, names, _number: tuple(dice.sample(names, 3)),
    SubscriptionShape.CHAIN: lambda _dice, names, number: tuple(
        dict.fromkeys(names[(number + step) % len(names)] for step in range(2) if names)
    ),
    SubscriptionShape.DISJOINT: lambda _dice, names, number: (
        names[number % len(names) :][:1] if names else ()
    ),
}

# Kind of event -> weight, out of a hundred.
_WITHOUT_FAULTS = {
    GroupEventKind.JOIN: 35,
    GroupEventKind.LEAVE: 35,
    GroupEventKind.GROW: 10,
    GroupEventKind.SUBSCRIBE: 20,
}
_WITH_FAULTS = {
    GroupEventKind.JOIN: 20,
    GroupEventKind.LEAVE: 20,
    GroupEventKind.RETURN: 20,
    GroupEventKind.SUBSCRIBE: 12,
    GroupEventKind.STATIC_RESTART: 8,
    GroupEventKind.GROW: 8,
    GroupEventKind.DELETE: 4,
    GroupEventKind.RECREATE: 4,
    GroupEventKind.CLAIM_FUTURE: 4,
}


@dataclass(slots=True)
class _Draft:
    """The group after the events drawn so far: who is there, how large topics are."""

    dice: Dice
    sizes: Parameters
    counts: dict[str, int]
    present: list[str]
    subscribe: Subscribe

    def event(self, names: tuple[str, ...], statics: set[str]) -> GroupEvent:
        """Draw the next event that can happen now."""
        kind = self._kind(statics)
        dice = self.dice
        if kind is GroupEventKind.JOIN:
            number = self.sizes.members + dice.below(1 << 30)
            name = f"j{number}"
            self.present.append(name)
            topics = self.subscribe(dice, names, number)
            return GroupEvent(kind=kind, name=name, member=_member(dice, name, topics, self.sizes))
        if kind in (GroupEventKind.GROW, GroupEventKind.DELETE, GroupEventKind.RECREATE):
            return self._topic_event(kind)
        name = dice.pick(self.present)
        if kind is GroupEventKind.STATIC_RESTART:
            name = dice.pick([name for name in self.present if name in statics])
        if kind is GroupEventKind.LEAVE:
            self.present.remove(name)
        topics = ()
        if kind is GroupEventKind.SUBSCRIBE:
            topics = tuple(dice.sample(names, 1 + dice.below(max(1, len(names)))))
        return GroupEvent(kind=kind, name=name, topics=topics)

    def _kind(self, statics: set[str]) -> GroupEventKind:
        weights = dict(_WITH_FAULTS if self.sizes.faults else _WITHOUT_FAULTS)
        if not self.counts:
            for kind in (GroupEventKind.GROW, GroupEventKind.DELETE, GroupEventKind.RECREATE):
                weights.pop(kind, None)
        if not statics.intersection(self.present):
            weights.pop(GroupEventKind.STATIC_RESTART, None)
        if not self.present:
            return GroupEventKind.JOIN
        drawn = self.dice.below(sum(weights.values()))
        for kind, weight in weights.items():
            drawn -= weight
            if drawn < 0:
                return kind
        raise AssertionError("weights add up to more than was drawn")

    def _topic_event(self, kind: GroupEventKind) -> GroupEvent:
        topic = self.dice.pick(list(self.counts))
        count = self.counts[topic]
        if kind is GroupEventKind.DELETE:
            del self.counts[topic]
            return GroupEvent(kind=kind, topic=topic)
        count = count + 1 + self.dice.below(5) if kind is GroupEventKind.GROW else (count + 1) // 2
        self.counts[topic] = count
        return GroupEvent(kind=kind, topic=topic, partition_count=count)
