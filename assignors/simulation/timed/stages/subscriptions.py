"""The Subscriptions with which members at rest join again: those before, with a new generation.

Where a member subscribes to the same and owns the same, the bytes of two rounds differ in the
generation alone. So they are written once for a generation that nothing else looks like, or twice
for two, which shows where it stands, and from then on put together.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from assignors.assignor import UserData
from assignors.membership import Membership, applied, wanted_by
from assignors.simulation.timed.protocols.classic.member_bytes import written
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember
from assignors.simulation.timed.protocols.classic.messages import Protocol
from wire import TopicPartitions, encode_subscription

SIZE = 4
"""Bytes of a generation."""
RARE = 0x5F3A91C7
"""A generation whose bytes stand nowhere else in nearly all Subscriptions."""
RARE_BYTES = RARE.to_bytes(SIZE, "big")
PLACES = {UserData.COOPERATIVE: 2, UserData.STICKY: 2}
"""How often the generation stands in a Subscription; once for assignors that are not here."""
ONE, OTHER = 0x01010101, 0x02020202
"""Generations that differ in every byte."""
ONES, OTHERS = ONE.to_bytes(SIZE, "big"), OTHER.to_bytes(SIZE, "big")


Parts = tuple[bytes, ...]
"""The bytes between the places of the generation."""


class _Template(NamedTuple):
    """The bytes between the places of the generation, and for what they are."""

    owned: TopicPartitions
    topics: tuple[str, ...]
    names: tuple[str, ...]
    """The assignors'."""
    parts: tuple[Parts, ...]
    """For each assignor."""


@dataclass(slots=True)
class Subscriptions:
    """The Subscriptions of members at rest. Memory: about the size of their bytes."""

    _known: dict[int, _Template] = field(default_factory=dict)
    """By member number."""

    def of(
        self, number: int, member: ClassicMember, generation: int | None
    ) -> tuple[Protocol, ...]:
        """Return what a member joins with: as `send_join` writes it, which changes the member.

        `generation` is the last one that it took part in, if it does not know that itself.
        Cost: O(1) where it joined with the same partitions before, else O(bytes).
        """
        if generation is None:
            memberships = member.memberships
            if any(each.repeats for each in memberships):
                pairs = zip(member.assignors, memberships, strict=True)
                return tuple(Protocol(one.name, written(member, one, its)[1]) for one, its in pairs)
            generation = max(member.generation, *(each.generation for each in memberships), -1)
            if any(each.generation != generation for each in memberships):
                pairs = zip(member.assignors, memberships, strict=True)
                return tuple(Protocol(one.name, written(member, one, its)[1]) for one, its in pairs)
        known = self._known.get(number)
        if known is None or known.owned is not member.owned or known.topics is not member.topics:
            known = self._known[number] = _template(member)
        newest = generation_bytes(generation)
        if len(known.parts) == 1:
            return (Protocol(known.names[0], newest.join(known.parts[0])),)
        pairs_of = zip(known.names, known.parts, strict=True)
        return tuple(Protocol(name, newest.join(parts)) for name, parts in pairs_of)

    def only_parts(self, number: int, member: ClassicMember) -> Parts | None:
        """Return its Subscription around the generation, if that is known and the only one."""
        known = self._known.get(number)
        if known is None or known.owned is not member.owned or known.topics is not member.topics:
            return None
        return known.parts[0] if len(known.parts) == 1 else None


def generation_bytes(generation: int) -> bytes:
    """Return what stands in a Subscription for a generation."""
    return generation.to_bytes(SIZE, "big", signed=True)


def _template(member: ClassicMember) -> _Template:
    """Return the Subscriptions of a member around the generation, for each of its assignors."""
    parts = []
    owned = member.owned if member.is_cooperative else {}
    for membership in member.memberships:
        around = tuple(_written(member, membership, owned, RARE).split(RARE_BYTES))
        if len(around) != PLACES.get(membership.kind, 1) + 1:
            one, other = (_written(member, membership, owned, each) for each in (ONE, OTHER))
            around = _between(one, other)
        parts.append(around)
    names = tuple(each.name for each in member.assignors)
    return _Template(member.owned, member.topics, names, tuple(parts))


def _written(
    member: ClassicMember, membership: Membership, owned: TopicPartitions, generation: int
) -> bytes:
    """Return a member's Subscription of a generation, under one of its assignors."""
    now = applied(membership, membership.assigned, generation)
    wanted = wanted_by(now, member.topics, owned=owned, generation=generation)
    return encode_subscription(wanted)


def _between(one: bytes, other: bytes) -> Parts:
    """Return the bytes between the places at which the generations stand."""
    parts, start, place = [], 0, one.find(ONES)
    while place >= 0:
        if other[place : place + SIZE] == OTHERS:
            parts.append(one[start:place])
            start = place = place + SIZE
        else:
            place += 1
        place = one.find(ONES, place)
    return (*parts, one[start:])
