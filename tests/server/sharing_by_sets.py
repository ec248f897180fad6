"""A second opinion on how share groups are assigned: Java's steps, on sets that keep their order.

With P partitions and M members each partition is to have ceil(M / P) members, and each member an
equal part of all those places. From the previous target members first drop the partitions above
their number, then partitions drop the members above theirs; the places left open are dealt round
robin over the members that lack partitions.

One pointer goes over the members for all partitions, and a partition does not check which members
it got in this same pass. So with few members left one may get the same partition twice, which
leaves that partition with a member too few: a fault of Kafka's (KAFKA-19362) that is kept here.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from assignors.arrays import Int32
from assignors.jvm.failure import JavaFailure
from assignors.jvm.hash_order import compute_order, helper_capacity
from assignors.jvm.many_tables import put_order


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Partitions that are shared out together, as slots: 0, 1, 2, ... Members are places."""

    subscribers: list[int]
    """Ascending, at least one."""
    had: list[tuple[int, int]]
    """(member, slot) of the previous target, in Java's iteration order."""
    slots: list[int]
    """Slots of partitions that exist, in the order in which new ones are added."""
    hashes: Int32
    """int32, the Java hash of each slot, also of those that exist only in `had`."""


@dataclass(slots=True, kw_only=True)
class _Shares:
    """Who has what so far. Dicts stand for sets that remember their order."""

    wanted: int
    """Members that each partition is to have."""
    want: dict[int, int]
    """Member -> partitions it is to have; 0 for those that do not subscribe."""
    members: dict[int, dict[int, None]]
    """Slot -> members, in the order in which slots came in."""
    slots: dict[int, dict[int, None]]
    """Member -> slots."""

    def take(self, member: int, slot: int) -> None:
        """Take a partition away from a member."""
        del self.members[slot][member]
        del self.slots[member][slot]


def shared(pool: Pool) -> list[tuple[int, int]]:
    """Return (member, slot) for all that is given, each pair once.

    `JavaFailure` where nobody wants more and yet a partition lacks members, as partitions that
    do not exist can make it: they count for those that had them.
    """
    shares = _begin(pool)
    lacking = {member for member, slots in shares.slots.items() if len(slots) < shares.want[member]}
    before = {slot: list(members) for slot, members in shares.members.items()}
    _drop_slots(pool, shares)
    lacking |= _drop_members(pool, shares, before)
    # The map is asked for every partition that exists; a last one that is new ends it small.
    follows = bool(pool.slots) and pool.slots[-1] in shares.members
    for slot in pool.slots:
        shares.members.setdefault(slot, {})
    _deal(shares, _order(pool, list(shares.members), follows=follows), sorted(lacking))
    return [(member, slot) for member, slots in shares.slots.items() for slot in slots]


def _begin(pool: Pool) -> _Shares:
    """Return what everybody had, and how much everybody is to have."""
    count = len(pool.slots)
    wanted = -(-len(pool.subscribers) // count) if count else 0
    want = {member: 0 for member, _ in pool.had}
    each = wanted * count / len(pool.subscribers)
    for place, member in enumerate(pool.subscribers):
        want[member] = ceil(each * (place + 1)) - ceil(each * place)
    shares = _Shares(
        wanted=wanted,
        want=want,
        members={},
        slots={member: {} for member in sorted(want)},
    )
    for member, slot in pool.had:
        shares.members.setdefault(slot, {})[member] = None
        shares.slots[member][slot] = None
    return shares


def _drop_slots(pool: Pool, shares: _Shares) -> None:
    """Let members drop partitions above their number, in the order of their sets."""
    for member, slots in shares.slots.items():
        surplus = len(slots) - shares.want[member]
        if surplus > 0:
            held = np.array(list(slots), dtype=np.int64)
            for slot in held[put_order(pool.hashes[held])[:surplus]].tolist():
                shares.take(member, slot)


def _drop_members(pool: Pool, shares: _Shares, before: dict[int, list[int]]) -> set[int]:
    """Let partitions drop members above the wanted number; return who was dropped.

    `before` are the members that each set was filled with: its table does not shrink.
    """
    dropped: set[int] = set()
    # The map is asked once more after its last key, unless that call made the key.
    follows = bool(pool.had) and len(before[pool.had[-1][1]]) > 1
    for slot in _order(pool, list(shares.members), follows=follows):
        surplus = len(shares.members[slot]) - shares.wanted
        if surplus > 0:
            filled = np.array(before[slot], dtype=np.int32)
            in_order = filled[put_order(filled)].tolist()
            still = [member for member in in_order if member in shares.members[slot]]
            for member in still[:surplus]:
                shares.take(member, slot)
                dropped.add(member)
    return dropped


def _order(pool: Pool, slots: list[int], *, follows: bool) -> list[int]:
    """Return the slots in the order of Java's map of partitions, which they entered so."""
    keys = np.array(slots, dtype=np.int64)
    capacity = helper_capacity(len(pool.slots))
    order = compute_order(pool.hashes[keys], calls_follow=follows, capacity=capacity)
    return [slots[place] for place in order.tolist()]


def _deal(shares: _Shares, order: list[int], lacking: list[int]) -> None:
    """Give the partitions that lack members, round robin, to the members that lack partitions."""
    place, has_given = 0, False
    for slot in order:
        if not lacking:
            return
        members = shares.members[slot]
        open_places = shares.wanted - len(members)
        while open_places > 0:
            if place == len(lacking):
                if not has_given:
                    break
                if not lacking:
                    raise JavaFailure("NoSuchElementException", "null")
                place, has_given = 0, False
            member = lacking[place]
            place += 1
            if member in members:
                continue
            shares.slots[member][slot] = None  # and not in `members`, which is the fault
            open_places -= 1
            has_given = True
            if len(shares.slots[member]) >= shares.want[member]:
                place -= 1
                del lacking[place]
