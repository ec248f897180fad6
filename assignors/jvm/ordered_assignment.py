"""An assignment as arrays in Java's order, with two mappings that look entries up by member id.

A million (topic, partition) pairs take a second to make, and most are never read. Both mappings
are views on the same arrays: `PairsByMember` has a member's (topic, partition) pairs in the order
of Java's list, `PartitionsByMember` the same by topic, sorted. `assigned` makes the second one a
mapping that a leader can write without reading it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from assignors.arrays import Int32, Int64, bounds_of
from assignors.group_bytes.assignments import Assigned
from assignors.jvm.many_tables import narrow
from assignors.model import Assignment, member_ids_of
from assignors.problem import NOBODY, Problem

Pair = tuple[str, int]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OrderedAssignment:
    """Partitions by member, in Java's order. Lengths: M members, L entries."""

    members: tuple[str, ...]
    topics: tuple[str, ...]
    start: Int64
    """int64[M + 1]: member m has the entries start[m]:start[m + 1]."""
    topic: Int32
    """int32[L]: position in `topics`."""
    number: Int32
    """int32[L]: partition number."""
    _places: dict[str, int] = field(init=False, default_factory=dict, repr=False)

    @property
    def place(self) -> Mapping[str, int]:
        """Member id -> where it stands in `members`; made when it is first read."""
        if not self._places:
            self._places.update(zip(self.members, range(len(self.members)), strict=True))
        return self._places

    def entries(self, member_id: str) -> tuple[list[int], list[int]]:
        """Return topics and numbers of one member; `KeyError` for an unknown member id."""
        place = self.place[member_id]
        chosen = slice(int(self.start[place]), int(self.start[place + 1]))
        return self.topic[chosen].tolist(), self.number[chosen].tolist()


@dataclass(frozen=True, slots=True, eq=False)
class _View(Mapping[str, Value]):
    """A mapping from member id over `OrderedAssignment`."""

    held: OrderedAssignment

    def __iter__(self) -> Iterator[str]:
        return iter(self.held.members)

    def __len__(self) -> int:
        return len(self.held.members)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)!r})"


class PairsByMember(_View[tuple[Pair, ...]]):
    """Member id -> its (topic, partition) pairs, in the order of Java's list."""

    def __getitem__(self, member_id: str) -> tuple[Pair, ...]:
        """Return one member's pairs."""
        topics, numbers = self.held.entries(member_id)
        names = self.held.topics
        return tuple((names[topic], number) for topic, number in zip(topics, numbers, strict=True))


class PartitionsByMember(_View[Mapping[str, tuple[int, ...]]]):
    """Member id -> topic -> partition numbers; topics and numbers sorted, as `Assignment` has it.

    Topics sort as `OrderedAssignment.topics` stands.
    """

    def __getitem__(self, member_id: str) -> Mapping[str, tuple[int, ...]]:
        """Return one member's partitions by topic."""
        topics, numbers = self.held.entries(member_id)
        share: dict[str, list[int]] = {}
        names = self.held.topics
        for topic, number in sorted(zip(topics, numbers, strict=True)):
            share.setdefault(names[topic], []).append(number)
        return {topic: tuple(listed) for topic, listed in share.items()}


def assigned(problem: Problem, owner: Int32, held: OrderedAssignment) -> Assignment:
    """Return `held` by member and topic; `owner`, int32[P], is who has each partition in it.

    Cost: O(P), or less where everybody subscribes to everything.
    """
    is_held = owner != NOBODY
    if np.count_nonzero(is_held) != len(held.number):
        return PartitionsByMember(held)
    if not problem.takes.all():
        partition = np.flatnonzero(is_held)
        if not problem.may_take(owner[partition], partition).all():
            return PartitionsByMember(held)
    place = [*map(held.place.__getitem__, member_ids_of(problem.members)), NOBODY]
    return Assigned(
        member_ids=held.members,
        topics=problem.topics,
        first=problem.first,
        owner=np.array(place, dtype=np.int32).take(owner),
        compute=lambda: PartitionsByMember(held),
    )


def ordered_by_member(
    members: tuple[str, ...],
    topics: tuple[str, ...],
    *,
    member: Int32 | Int64,
    topic: Int32,
    number: Int32,
) -> OrderedAssignment:
    """Return entries grouped by member, each member's in the order given. Cost: O(L log L).

    >>> held = ordered_by_member(("a", "b"), ("t",), member=np.array([1, 0, 1]),
    ...     topic=np.array([0, 0, 0]), number=np.array([5, 0, 2]))
    >>> dict(PairsByMember(held)), dict(PartitionsByMember(held))
    ({'a': (('t', 0),), 'b': (('t', 5), ('t', 2))}, {'a': {'t': (0,)}, 'b': {'t': (2, 5)}})
    """
    order = np.argsort(narrow(member), kind="stable")
    start = bounds_of(np.bincount(member, minlength=len(members)))
    return OrderedAssignment(
        members=members, topics=topics, start=start, topic=topic[order], number=number[order]
    )
