"""How a share group's partitions are shared out: enough members for each, few changes.

With T partitions and N members each partition wants ceil(N / T) members, and each member its
even part of all those places. From the previous target everybody first drops what is too much
for itself, then partitions drop members that are too many; what is left open is dealt
by going round over the members that lack something.

The rounds share one pointer over all partitions, and a partition does not look at members it
got in this very deal. So with few members left one may be given the same partition twice, which
leaves the partition short of a member: a fault of the reference (KAFKA-19362) that is kept here.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from assignors.hash_order import Int32, compute_order, helper_capacity, put_order


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Partitions that are shared out together, as slots: 0, 1, 2, ... Members are places."""

    subscribers: list[int]
    """Ascending, at least one."""
    had: list[tuple[int, int]]
    """(member, slot) of the previous target, in the order in which Java walks through it."""
    slots: list[int]
    """Slots of partitions that exist, in the order in which new ones are added."""
    hashes: Int32
    """int32, the Java hash of each slot, also of those that exist only in `had`."""


def shared(pool: Pool) -> list[tuple[int, int]]:
    """Return (member, slot) for all that is given, each pair once.

    Cost: O(C log C + T N) for C pairs of the previous target.

    >>> pool = Pool(subscribers=[0, 1, 2], had=[(0, 0)], slots=[0, 1],
    ...     hashes=np.arange(2, dtype=np.int32))
    >>> shared(pool)
    [(0, 0), (1, 0), (2, 1)]
    """
    count = len(pool.slots)
    wanted = -(-len(pool.subscribers) // count) if count else 0
    want = _wants(pool, wanted)
    members: dict[int, dict[int, None]] = {}  # slot -> members
    slots: dict[int, dict[int, None]] = {member: {} for member in want}
    for member, slot in pool.had:
        members.setdefault(slot, {})[member] = None
        slots[member][slot] = None
    lacking = {member for member, listed in slots.items() if len(listed) < want[member]}
    before = {slot: list(listed) for slot, listed in members.items()}
    _drop_slots(pool, want, members, slots)
    lacking |= _drop_members(pool, wanted, members, slots, before)
    for slot in pool.slots:
        members.setdefault(slot, {})
    _deal(_order(pool, list(members), follows=True), wanted, want, members, slots, sorted(lacking))
    return [(member, slot) for member, listed in slots.items() for slot in listed]


def _wants(pool: Pool, wanted: int) -> dict[int, int]:
    """Return how many partitions each member is to have; none for those who do not subscribe."""
    want = {member: 0 for member, _ in pool.had}
    each = wanted * len(pool.slots) / len(pool.subscribers)
    for place, member in enumerate(pool.subscribers):
        want[member] = ceil(each * (place + 1)) - ceil(each * place)
    return dict(sorted(want.items()))


def _drop_slots(
    pool: Pool,
    want: dict[int, int],
    members: dict[int, dict[int, None]],
    slots: dict[int, dict[int, None]],
) -> None:
    """Let members drop what is above their want, in the order of their sets."""
    for member, listed in slots.items():
        surplus = len(listed) - want[member]
        if surplus > 0:
            held = np.array(list(listed), dtype=np.int64)
            for slot in held[put_order(pool.hashes[held])[:surplus]].tolist():
                del listed[slot]
                del members[slot][member]


def _drop_members(
    pool: Pool,
    wanted: int,
    members: dict[int, dict[int, None]],
    slots: dict[int, dict[int, None]],
    before: dict[int, list[int]],
) -> set[int]:
    """Let partitions drop members above the wanted number; return who was dropped.

    `before` are the members that each set was filled with: its table does not shrink.
    """
    dropped: set[int] = set()
    last = pool.had[-1][1] if pool.had else -1
    for slot in _order(pool, list(members), follows=before.get(last, [])[:-1] != []):
        surplus = len(members[slot]) - wanted
        if surplus > 0:
            filled = np.array(before[slot], dtype=np.int32)
            walked = filled[put_order(filled)].tolist()
            for member in [member for member in walked if member in members[slot]][:surplus]:
                del members[slot][member]
                del slots[member][slot]
                dropped.add(member)
    return dropped


def _order(pool: Pool, slots: list[int], *, follows: bool) -> list[int]:
    """Return the slots in the order of Java's map of partitions, which they entered so."""
    keys = np.array(slots, dtype=np.int64)
    capacity = helper_capacity(len(pool.slots))
    order = compute_order(pool.hashes[keys], calls_follow=follows, capacity=capacity)
    return [slots[place] for place in order.tolist()]


def _deal(
    order: list[int],
    wanted: int,
    want: dict[int, int],
    members: dict[int, dict[int, None]],
    slots: dict[int, dict[int, None]],
    lacking: list[int],
) -> None:
    """Go round over the members that lack something and give them what lacks members."""
    place, has_given = 0, False
    for slot in order:
        open_places = wanted - len(members[slot])
        while open_places > 0:
            if place == len(lacking):
                if not (has_given and lacking):
                    break
                place, has_given = 0, False
            member = lacking[place]
            place += 1
            if member in members[slot]:
                continue
            slots[member][slot] = None  # and not members[slot]: the fault
            open_places -= 1
            has_given = True
            if len(slots[member]) >= want[member]:
                place -= 1
                del lacking[place]
