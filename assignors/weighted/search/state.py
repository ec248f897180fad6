"""The state of a search: the load of each member, on lists, as a step reads few members.

Of each kind (`facts`) the emptiest member is the best receiver, and the fullest gives first.
Members of a kind are kept sorted, so a step costs microseconds in small groups and in large ones.
Lists of partitions are never changed in place, so a copy, for another search, shares them.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from heapq import nsmallest
from operator import sub, truediv

import numpy as np

from assignors.arrays import Int32
from assignors.weighted.search.facts import Facts, Held
from assignors.weighted.search.table import Move, Table

BELOW = 1 - 2.0**-50
"""A use times this is below it, also after rounding."""

ABOVE = 1 + 2.0**-40
"""A use times this and times `BELOW` is still above the use, also after rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPolicy:
    """How to choose among several possible steps. It does not decide whether there is one."""

    packs: bool = False
    """Whether a partition goes to the fullest member with room for it, which keeps room for heavy
    ones, or to the emptiest, which leaves all members lower."""
    relays: bool = False
    """Whether relays are searched."""


@dataclass(slots=True, kw_only=True)
class State:
    """Owners and loads during a search."""

    facts: Facts
    limit: list[int]
    """Load of each kind above which a member hands on partitions."""
    load: list[int]
    """Load of each member: the sum of its weights."""
    ranked: list[list[tuple[int, int]]]
    """(load, member) of each kind, emptiest first."""
    allowed: float
    """The largest use that some limit allows."""
    largest: float
    """The largest use of any member: weight divided by capacity."""
    emptiest_load: list[int]
    """Load of the emptiest member of each kind."""
    policy: SearchPolicy = SearchPolicy()
    has_relayed: bool = False
    """Whether a relay was among the steps."""
    moved: dict[int, int] = field(default_factory=dict)
    """Partition -> its owner now, of all partitions that have moved."""
    listed: dict[int, Held] = field(default_factory=dict)
    """Partitions of the members that were listed or have changed."""

    def copy(self, limit: list[int], policy: SearchPolicy | None = None) -> State:
        """Return a copy with other limits, for another search. Cost: O(M)."""
        other = State(
            facts=self.facts,
            limit=limit,
            load=self.load[:],
            ranked=[one[:] for one in self.ranked],
            allowed=self.allowed,
            largest=self.largest,
            emptiest_load=self.emptiest_load[:],
            policy=policy or self.policy,
            moved=self.moved.copy(),
            listed=self.listed.copy(),
        )
        other.set_limit(limit)
        return other

    def set_limit(self, limit: list[int]) -> None:
        """Set the limit of each kind."""
        uses = map(truediv, limit, self.facts.capacity)
        self.limit, self.allowed = limit, max(uses, default=0.0)

    def owners(self) -> Int32:
        """Return the owner of each partition, int32[P]. Cost: O(P)."""
        owner = self.facts.owner.copy()
        if self.moved:
            owner[list(self.moved)] = list(self.moved.values())
        return owner

    def owner(self, partition: int) -> int:
        """Return the owner of a partition, -1 for none."""
        known = self.moved.get(partition)
        return int(self.facts.owner[partition]) if known is None else known

    def held(self, member: int) -> Held:
        """Return the partitions of a member. Do not change the lists."""
        known = self.listed.get(member)
        if known is None:
            known = self.listed[member] = self.facts.held(member)
        return known

    def fill(self, member: int) -> float:
        """Return the load of a member divided by its fair load."""
        return self.load[member] / self.facts.wide[self.facts.kind_of[member]]

    def use(self, member: int) -> float:
        """Return a member's weight divided by its capacity."""
        return self.load[member] / self.facts.capacity[self.facts.kind_of[member]]

    def excess(self, member: int) -> int:
        """Return the load of a member above its limit, negative below it."""
        return self.load[member] - self.limit[self.facts.kind_of[member]]

    def fullest(self) -> int:
        """Return the member with the highest fill. Cost: O(kinds + equal members)."""
        wide = self.facts.wide
        tops = [one[-1][0] for one in self.ranked]
        highest = max(top / wide[kind] for kind, top in enumerate(tops))
        return min(
            members[bisect_left(members, (tops[kind],))][1]
            for kind, members in enumerate(self.ranked)
            if tops[kind] / wide[kind] == highest
        )

    def ceiling(self, kind: int) -> int:
        """Return the highest load of a receiver of a kind.

        Its limit, and less than the largest use of any member, so no step raises that.
        """
        limit, most = self.limit[kind], int(self.largest * self.facts.capacity[kind] * BELOW)
        return min(most, limit)

    def room(self, member: int) -> int:
        """Return the weight that a member may still receive."""
        return self.ceiling(self.facts.kind_of[member]) - self.load[member]

    def rooms(self, but: int = -1) -> list[int]:
        """Return the largest room of each kind, without one member. Cost: O(kinds)."""
        ceilings: Iterable[int] = self.limit
        if self.largest <= self.allowed * ABOVE:
            ceilings = map(self.ceiling, range(len(self.limit)))
        rooms = list(map(sub, ceilings, self.emptiest_load))
        kind = self.facts.kind_of[but] if but >= 0 else -1
        if kind >= 0 and self.ranked[kind][0][1] == but:
            members = self.ranked[kind]
            rooms[kind] = self.ceiling(kind) - members[1][0] if len(members) > 1 else -1
        return rooms

    def fitting(self, held: Held, but: int = -1) -> Sequence[int]:
        """Return places in a member's lists of partitions that fit some other member, ascending."""
        weights, _ = held
        if len(self.facts.takes) == 1:
            return range(bisect_right(weights, self._room_for_row(but)))
        rooms = self.rooms(but)
        rows = self.facts.rows_of(held)
        most = {row: max(self.facts.picker(row)(rooms)) for row in set(rows)}
        pairs = enumerate(zip(weights, rows, strict=True))
        return [place for place, (weight, row) in pairs if weight <= most[row]]

    def _room_for_row(self, but: int) -> int:
        """Return the largest room where there is one row."""
        if len(self.limit) > 1:
            return max(self.facts.picker(0)(self.rooms(but)))
        members = self.ranked[0]
        place = int(members[0][1] == but)
        return self.ceiling(0) - members[place][0] if place < len(members) else -1

    def receiver_of(self, partition: int, weight: int, but: int = -1) -> int:
        """Return the receiver among members with room: in the rack first, then the emptiest."""
        facts, found = self.facts, []
        for kind in facts.kinds_of_row(int(facts.row_of[partition])):
            highest = self.ceiling(kind) - weight
            for load, member in self.ranked[kind]:
                if load > highest:
                    break
                if member != but:
                    found.append(((load + weight) / facts.wide[kind], member))
                    if facts.places is None:
                        break
        return min(self._near(partition, found))[1]

    def fullest_receiver_of(self, partition: int, weight: int) -> int:
        """Return the fullest member with room for a partition, in its rack if possible."""
        facts, found = self.facts, []
        for kind in facts.kinds_of_row(int(facts.row_of[partition])):
            members = self.ranked[kind]
            end = bisect_left(members, (self.ceiling(kind) - weight + 1,))
            first = 0
            if end and facts.places is None:
                first = bisect_left(members, (members[end - 1][0],))  # the first of equal ones
            for load, member in members[first:end]:
                found.append((-(load + weight) / facts.wide[kind], member))
        return min(self._near(partition, found))[1]

    def _near(self, partition: int, found: list[tuple[float, int]]) -> list[tuple[float, int]]:
        """Return the members in the rack of a partition, or all if none is."""
        if self.facts.places is None:
            return found
        members = np.array([member for _, member in found])
        near = self.facts.places.local(partition, members)
        return [one for one, is_near in zip(found, near, strict=True) if is_near] or found

    def top(self, kind: int, count: int) -> list[tuple[int, int]]:
        """Return (load, member) of the `count` fullest members, and of equal ones."""
        members = self.ranked[kind]
        first = bisect_left(members, (members[-min(count, len(members))][0],))
        return members[first:]

    def emptiest(self, kinds: list[int], count: int, but: int) -> list[int]:
        """Return at most `count` emptiest members of some kinds."""
        if len(kinds) == 1:
            members = [member for _, member in self.ranked[kinds[0]][: count + 1] if member != but]
            return members[:count]
        wide = self.facts.wide
        if len(kinds) > count:
            first = ((self.ranked[kind][0][0] / wide[kind], kind) for kind in kinds)
            # The first member of each is as empty as the last one asked for, or emptier; one more
            # for `but`.
            cut = nsmallest(count + 1, first)[-1][0]
            kinds = [kind for kind in kinds if self.ranked[kind][0][0] / wide[kind] <= cut]
        near = [
            (load / wide[kind], member)
            for kind in kinds
            for load, member in self.ranked[kind][: count + 1]
            if member != but
        ]
        return [member for _, member in nsmallest(count, near)]

    def move(self, move: Move) -> None:
        """Do a move. Cost: O(partitions of both members + members of their kinds)."""
        partition, giver, receiver = move
        weight = self.facts.weight.item(partition)
        weights, partitions = self.held(giver)
        at = _place(weights, partitions, weight, partition)
        self.listed[giver] = (
            weights[:at] + weights[at + 1 :],
            partitions[:at] + partitions[at + 1 :],
        )
        weights, partitions = self.held(receiver)
        weights, partitions = weights[:], partitions[:]
        at = _place(weights, partitions, weight, partition)
        weights.insert(at, weight)
        partitions.insert(at, partition)
        self.listed[receiver] = weights, partitions
        self.moved[partition] = receiver
        was_largest = self.use(giver) == self.largest
        self._shift(giver, -weight)
        self._shift(receiver, weight)
        if was_largest:
            tops = [members[-1][0] for members in self.ranked]
            self.largest = max(map(truediv, tops, self.facts.capacity))
        else:
            self.largest = max(self.largest, self.use(receiver))

    def _shift(self, member: int, weight: int) -> None:
        """Change the load of a member, and its place among its kind."""
        kind, load = self.facts.kind_of[member], self.load[member]
        ranked = self.ranked[kind]
        del ranked[bisect_left(ranked, (load, member))]
        self.load[member] = load = load + weight
        insort(ranked, (load, member))
        self.emptiest_load[kind] = ranked[0][0]


def _place(weights: array[int], partitions: array[int], weight: int, partition: int) -> int:
    """Return the place of a partition in sorted lists, present or not."""
    at = bisect_left(weights, weight)
    if at == len(weights) or weights[at] > weight:
        return at
    return bisect_left(partitions, partition, at, bisect_right(weights, weight, at))


def state_of(table: Table, *, has_costs: bool) -> State:
    """Return the state at the start of a search, with limits of 0. Cost: O(M log M)."""
    number_of: dict[tuple[int, int], int] = {}
    pairs = zip(table.class_of.tolist(), table.capacity.tolist(), strict=True)
    kind_of = [number_of.setdefault(pair, len(number_of)) for pair in pairs]
    load: list[int] = table.load.tolist()
    ranked: list[list[tuple[int, int]]] = [[] for _ in number_of]
    for member, kind in enumerate(kind_of):
        ranked[kind].append((load[member], member))
    for members in ranked:
        members.sort()
    first = [members[0][1] for members in ranked]
    capacity = [one for _, one in number_of]
    tops = [members[-1][0] / one for members, one in zip(ranked, capacity, strict=True)]
    return State(
        facts=Facts(
            weight=table.weight,
            cost=table.cost if has_costs else None,
            row_of=table.row_of,
            takes=table.takes,
            owner=table.owner,
            kind_of=kind_of,
            class_of=[one for one, _ in number_of],
            capacity=capacity,
            wide=table.wide[first].tolist(),
            fair=table.fair[first].tolist(),
            places=table.places,
        ),
        limit=[0] * len(first),
        allowed=0.0,
        load=load,
        ranked=ranked,
        largest=max(tops, default=0.0),
        emptiest_load=[members[0][0] for members in ranked],
    )
