"""From a seed and a few sizes to a scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from assignors.simulation.dice import Dice
from assignors.simulation.rounds.scenario import Event, EventKind, MemberSpec, Scenario


class Shape(StrEnum):
    """Who asks for which topics."""

    EQUAL = "equal"
    """Everybody for all."""
    HALF = "half"
    """Everybody for a random half."""
    FEW = "few"
    """Everybody for up to three."""
    CHAIN = "chain"
    """Neighbours share a topic: member n asks for topics n and n + 1."""
    DISJOINT = "disjoint"
    """Everybody for one."""


LIMIT = 10_000_000
"""Largest number of members, partitions or events in one scenario."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """The sizes of a scenario."""

    members: int = 20
    topics: int = 10
    partitions: int = 200
    """Over all topics."""
    subscription: str = Shape.EQUAL.value
    events: int = 5
    faults: bool = True
    """Whether stale, remembered and future claims occur, and topics that shrink."""
    wire: bool = False
    """Whether members speak in bytes, of all versions, rather than as structs."""

    def __post_init__(self) -> None:
        """Refuse sizes that make no group."""
        for name in ("members", "topics", "partitions", "events"):
            value = getattr(self, name)
            if not 0 <= value <= LIMIT:
                raise ValueError(f"{name}: {value} is not within 0..{LIMIT}")
        if self.topics < 1 <= self.partitions:
            raise ValueError(f"partitions: {self.partitions} of no topic")
        if self.subscription not in set(Shape):
            known = ", ".join(Shape)
            raise ValueError(f"subscription: {self.subscription!r} is none of {known}")


def generate(seed: int, parameters: Parameters | None = None) -> Scenario:
    """Return the scenario of this seed: the same on every machine.

    >>> generate(1, Parameters(members=2, topics=1, partitions=4, events=1)).topics
    {'t0000': 4}
    """
    sizes = parameters or Parameters()
    dice = Dice(seed)
    counts = [sizes.partitions // sizes.topics] * sizes.topics if sizes.topics else []
    for position in range(sizes.partitions - sum(counts)):
        counts[position] += 1
    topics = {f"t{number:04d}": count for number, count in enumerate(counts)}
    subscribe = _SUBSCRIBE[Shape(sizes.subscription)]
    names = tuple(topics)
    members = tuple(
        _member(dice, f"m{number:05d}", subscribe(dice, names, number), sizes)
        for number in range(sizes.members)
    )
    events = draw_events(dice.below(1 << 62), topics, members, sizes)
    return Scenario(seed=seed, topics=topics, members=members, events=events)


def draw_events(
    seed: int, topics: Mapping[str, int], members: Sequence[MemberSpec], sizes: Parameters
) -> tuple[Event, ...]:
    """Return `sizes.events` events that can happen to this group, one after the other."""
    draft = _Draft(
        dice=Dice(seed),
        sizes=sizes,
        counts=dict(topics),
        present=[member.name for member in members],
        subscribe=_SUBSCRIBE[Shape(sizes.subscription)],
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

_SUBSCRIBE: dict[Shape, Subscribe] = {
    Shape.EQUAL: lambda _dice, names, _number: names,
    Shape.HALF: lambda dice, names, _number: tuple(dice.sample(names, (len(names) + 1) // 2)),
    Shape.FEW: lambda dice, names, _number: tuple(dice.sample(names, 3)),
    Shape.CHAIN: lambda _dice, names, number: tuple(
        dict.fromkeys(names[(number + step) % len(names)] for step in range(2) if names)
    ),
    Shape.DISJOINT: lambda _dice, names, number: names[number % len(names) :][:1] if names else (),
}

# Kind of event -> how often, of a hundred.
_HONEST = {EventKind.JOIN: 35, EventKind.LEAVE: 35, EventKind.GROW: 10, EventKind.SUBSCRIBE: 20}
_FAULTY = {
    EventKind.JOIN: 20,
    EventKind.LEAVE: 20,
    EventKind.RETURN: 20,
    EventKind.SUBSCRIBE: 12,
    EventKind.STATIC_RESTART: 8,
    EventKind.GROW: 8,
    EventKind.DELETE: 4,
    EventKind.RECREATE: 4,
    EventKind.CLAIM_FUTURE: 4,
}


@dataclass(slots=True)
class _Draft:
    """The group as far as events have been drawn: who is there, how large topics are."""

    dice: Dice
    sizes: Parameters
    counts: dict[str, int]
    present: list[str]
    subscribe: Subscribe

    def event(self, names: tuple[str, ...], statics: set[str]) -> Event:
        """Draw the next event that can happen now."""
        kind = self._kind(statics)
        dice = self.dice
        if kind is EventKind.JOIN:
            number = self.sizes.members + dice.below(1 << 30)
            name = f"j{number}"
            self.present.append(name)
            topics = self.subscribe(dice, names, number)
            return Event(kind=kind, name=name, member=_member(dice, name, topics, self.sizes))
        if kind in (EventKind.GROW, EventKind.DELETE, EventKind.RECREATE):
            return self._topic_event(kind)
        name = dice.pick(self.present)
        if kind is EventKind.STATIC_RESTART:
            name = dice.pick([name for name in self.present if name in statics])
        if kind is EventKind.LEAVE:
            self.present.remove(name)
        topics = ()
        if kind is EventKind.SUBSCRIBE:
            topics = tuple(dice.sample(names, 1 + dice.below(max(1, len(names)))))
        return Event(kind=kind, name=name, topics=topics)

    def _kind(self, statics: set[str]) -> EventKind:
        weights = dict(_FAULTY if self.sizes.faults else _HONEST)
        if not self.counts:
            for kind in (EventKind.GROW, EventKind.DELETE, EventKind.RECREATE):
                weights.pop(kind, None)
        if not statics.intersection(self.present):
            weights.pop(EventKind.STATIC_RESTART, None)
        if not self.present:
            return EventKind.JOIN
        drawn = self.dice.below(sum(weights.values()))
        for kind, weight in weights.items():
            drawn -= weight
            if drawn < 0:
                return kind
        raise AssertionError("weights add up to more than was drawn")

    def _topic_event(self, kind: EventKind) -> Event:
        topic = self.dice.pick(list(self.counts))
        count = self.counts[topic]
        if kind is EventKind.DELETE:
            del self.counts[topic]
            return Event(kind=kind, topic=topic)
        count = count + 1 + self.dice.below(5) if kind is EventKind.GROW else (count + 1) // 2
        self.counts[topic] = count
        return Event(kind=kind, topic=topic, partition_count=count)
