"""Who gets what in the order of the reference, as arrays that are named when somebody looks.

A million (topic, partition) pairs take a second to make and nobody reads most of them. Both
views are mappings over the same arrays: `Lists` gives a member's pairs one by one in the
order in which the reference's list has them, `Shares` the same by topic, sorted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from assignors.jvm.hash_order import Int32, Int64

Pair = tuple[str, int]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Held:
    """Partitions by member. Lengths: M members, L entries."""

    members: tuple[str, ...]
    topics: tuple[str, ...]
    start: Int64
    """int64[M + 1]: member m has the entries start[m]:start[m + 1]."""
    topic: Int32
    """int32[L]: position in `topics`."""
    number: Int32
    """int32[L]: partition number."""
    place: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        """Index the members."""
        places = {member_id: place for place, member_id in enumerate(self.members)}
        object.__setattr__(self, "place", places)

    def entries(self, member_id: str) -> tuple[list[int], list[int]]:
        """Return topics and numbers of one member; `KeyError` if there is none of the name."""
        place = self.place[member_id]
        chosen = slice(int(self.start[place]), int(self.start[place + 1]))
        return self.topic[chosen].tolist(), self.number[chosen].tolist()


@dataclass(frozen=True, slots=True, eq=False)
class _View(Mapping[str, Value]):
    """A mapping from member id over `Held`."""

    held: Held

    def __iter__(self) -> Iterator[str]:
        return iter(self.held.members)

    def __len__(self) -> int:
        return len(self.held.members)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)!r})"


class Lists(_View[tuple[Pair, ...]]):
    """Member id -> its (topic, partition) pairs, in the order of the reference's list."""

    def __getitem__(self, member_id: str) -> tuple[Pair, ...]:
        """Return one member's pairs."""
        topics, numbers = self.held.entries(member_id)
        names = self.held.topics
        return tuple((names[topic], number) for topic, number in zip(topics, numbers, strict=True))


class Shares(_View[Mapping[str, tuple[int, ...]]]):
    """Member id -> topic -> partition numbers; topics and numbers sorted, as `Assignment` has it.

    Topics sort as `Held.topics` stands.
    """

    def __getitem__(self, member_id: str) -> dict[str, tuple[int, ...]]:
        """Return one member's share."""
        topics, numbers = self.held.entries(member_id)
        share: dict[str, list[int]] = {}
        names = self.held.topics
        for topic, number in sorted(zip(topics, numbers, strict=True)):
            share.setdefault(names[topic], []).append(number)
        return {topic: tuple(listed) for topic, listed in share.items()}


def held_by(
    members: tuple[str, ...],
    topics: tuple[str, ...],
    *,
    member: Int32 | Int64,
    topic: Int32,
    number: Int32,
) -> Held:
    """Return entries grouped by member, each member's in the order given. Cost: O(L log L).

    >>> held = held_by(("a", "b"), ("t",), member=np.array([1, 0, 1]),
    ...     topic=np.array([0, 0, 0]), number=np.array([5, 0, 2]))
    >>> dict(Lists(held)), dict(Shares(held))
    ({'a': (('t', 0),), 'b': (('t', 5), ('t', 2))}, {'a': {'t': (0,)}, 'b': {'t': (2, 5)}})
    """
    order = np.argsort(member, kind="stable")
    start = np.zeros(len(members) + 1, dtype=np.int64)
    np.cumsum(np.bincount(member, minlength=len(members)), out=start[1:])
    return Held(
        members=members, topics=topics, start=start, topic=topic[order], number=number[order]
    )
