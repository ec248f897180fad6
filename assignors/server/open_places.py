"""Places of partitions that lack members, dealt round robin to members that lack partitions.

One pointer goes over the members for all partitions, which come in the order of Java's map, and a
member leaves the round when it has its number. So the takers are known beforehand, round by round,
as long as no taker has the partition already and none meets one partition twice.

Java does not check the second: with few members left one may get the same partition twice, which
leaves that partition with a member too few: a fault of Kafka's (KAFKA-19362) that is kept here.
Pools where a taker meets a partition again are dealt one place after the other.
"""

from __future__ import annotations

import numpy as np

from assignors.arrays import Bool, Int64
from assignors.jvm.failure import JavaFailure
from assignors.jvm.hash_order import SMALL, compute_order, helper_capacity, table_length
from assignors.jvm.many_tables import narrow
from assignors.server.sharing import Pools, Shares, ranks

IDENTITY_MAX = 1 << 16
"""Smaller numbers are their own bucket in a table with room for all of them."""


def deal(pools: Pools, shares: Shares) -> tuple[Int64, Int64]:
    """Return members and the slots that they are given beside what they keep, no pair twice.

    `JavaFailure` where nobody wants more and yet a partition lacks members, as partitions that
    do not exist can make it: they count for those that had them.
    Cost: O(D log D + B M + S) for D places; where a taker meets a partition again, O(M) a place
    at worst in that pool.
    """
    count = np.bincount(pools.had_slot[shares.keeps], minlength=len(pools.pool))
    places = np.where(pools.pool >= 0, shares.wanted[pools.pool] - count, 0)
    lacks = shares.want - shares.load()
    has_lack = lacks.reshape(pools.takes.shape).max(axis=1) > 0
    slots = np.flatnonzero((places > 0) & has_lack[pools.pool])
    if not len(slots):
        return slots, slots
    slots = _in_map_order(pools, slots)
    member, slot, half_open = _dealt_in_rounds(pools, lacks, slots, places)
    again = _pools_with_repeats(pools, shares, member, slot, half_open)
    if not again.any():
        return member, slot
    is_certain = ~again[pools.pool[slot]]
    certain = member[is_certain], slot[is_certain]
    pairs = [
        pair
        for pool in np.flatnonzero(again).tolist()
        for pair in _one_by_one(pools, shares, slots[pools.pool[slots] == pool], places, lacks)
    ]
    stepped = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return np.concatenate([certain[0], stepped[0]]), np.concatenate([certain[1], stepped[1]])


def _dealt_in_rounds(
    pools: Pools, lacks: Int64, slots: Int64, places: Int64
) -> tuple[Int64, Int64, Bool]:
    """Return takers and slots if no taker meets a slot again, and pools that leave one half open.

    `lacks` (int64[B M]) is how many partitions a member lacks, `places` (int64[S]) how many members
    a slot lacks; `slots` are grouped by pool. The last result is bool[B].
    """
    pool_count, member_count = pools.takes.shape
    deals = np.zeros(pool_count, dtype=np.bool_)
    deals[pools.pool[slots]] = True
    cell = np.repeat(np.arange(len(lacks)), lacks * np.repeat(deals, member_count))
    _, turn = ranks(cell)
    cell = cell[np.argsort(narrow(cell // member_count * (turn.max() + 1) + turn), kind="stable")]
    taker_count = np.bincount(cell // member_count, minlength=pool_count)
    begin = np.cumsum(taker_count) - taker_count
    place = np.repeat(slots, places[slots])
    pool = pools.pool[place]
    _, rank = ranks(pool)
    is_taken = rank < taker_count[pool]
    is_cut = rank[1:] == taker_count[pool[1:]]
    half_open = np.zeros(pool_count, dtype=np.bool_)
    half_open[pool[1:][is_cut & (place[1:] == place[:-1])]] = True
    taker = cell[(begin[pool] + rank)[is_taken]] % member_count
    return taker, place[is_taken], half_open


def _pools_with_repeats(
    pools: Pools, shares: Shares, member: Int64, slot: Int64, half_open: Bool
) -> Bool:
    """Return the pools in which a taker meets a slot again, or that keep a slot half open, bool[B].

    A slot that is to have one member has none while it is open, and one taker.
    """
    again = half_open.copy()
    several = shares.wanted[pools.pool[slot]] > 1
    if not several.any():
        return again
    new = slot[several] * pools.member_count + member[several]
    old = pools.had_slot[shares.keeps] * pools.member_count + pools.had_member[shares.keeps]
    order = np.argsort(new, kind="stable")
    repeated = np.zeros(len(new), dtype=np.bool_)
    repeated[order[1:]] = new[order[1:]] == new[order[:-1]]
    repeated |= np.isin(new, old)
    again[pools.pool[slot[several][repeated]]] = True
    return again


def _one_by_one(
    pools: Pools, shares: Shares, slots: Int64, places: Int64, lacks: Int64
) -> list[tuple[int, int]]:
    """Deal the places of one pool as Java does; `slots` are in the order of its map."""
    first = int(pools.pool[slots[0]]) * pools.member_count
    room = lacks[first : first + pools.member_count]
    is_open = np.zeros(len(pools.pool), dtype=np.bool_)
    is_open[slots] = True
    pairs = np.flatnonzero(shares.keeps & is_open[pools.had_slot])
    holders: dict[int, set[int]] = {slot: set() for slot in slots.tolist()}
    for slot, member in zip(
        pools.had_slot[pairs].tolist(), pools.had_member[pairs].tolist(), strict=True
    ):
        holders[slot].add(member)
    return _in_turn(
        list(zip(slots.tolist(), places[slots].tolist(), strict=True)),
        holders=holders,
        lacking=np.flatnonzero(room > 0).tolist(),
        room=room.tolist(),
    )


def _in_turn(
    slots: list[tuple[int, int]],
    *,
    holders: dict[int, set[int]],
    lacking: list[int],
    room: list[int],
) -> list[tuple[int, int]]:
    """Return (member, slot) of `slots` with their places, dealt to `lacking` one by one.

    `room` is how many more slots each member may have; it and `lacking` change.
    """
    given: dict[tuple[int, int], None] = {}
    place, has_given = 0, False
    for slot, place_count in slots:
        if not lacking:
            break
        left = place_count
        while left > 0:
            if place == len(lacking):
                if not has_given:
                    break
                if not lacking:
                    raise JavaFailure("NoSuchElementException", "null")
                place, has_given = 0, False
            member = lacking[place]
            place += 1
            if member in holders[slot]:
                continue
            if (member, slot) not in given:  # Java's set of holders does not get it: the fault
                given[member, slot] = None
                room[member] -= 1
            left -= 1
            has_given = True
            if not room[member]:
                place -= 1
                del lacking[place]
    return list(given)


def _in_map_order(pools: Pools, slots: Int64) -> Int64:
    """Return the slots pool by pool, in the order of Java's map of the pool's partitions."""
    if len(pools.size) == 1:
        return _in_one_map(pools, 0, slots)
    slots = slots[np.argsort(pools.pool[slots], kind="stable")]
    # Here the hash of a slot is its number, so the order of a map that fits is theirs.
    mixed = pools.size >= IDENTITY_MAX
    nonexistent = pools.pool[pools.partition_count :]
    mixed[nonexistent[nonexistent >= 0]] = True
    for pool in np.flatnonzero(mixed).tolist():
        of_pool = np.flatnonzero(pools.pool[slots] == pool)
        if len(of_pool):
            slots[of_pool] = _in_one_map(pools, pool, slots[of_pool])
    return slots


def _in_one_map(pools: Pools, pool: int, slots: Int64) -> Int64:
    """Return slots of one pool in the order of its map.

    Its keys are what members had, in Java's order, then all partitions that exist. Only the order
    among `slots` is needed, but for a small map, which may double early.
    """
    everything = np.flatnonzero(pools.pool == pool)
    exist = everything[everything < pools.partition_count]
    # The map is asked for every partition that exists; a last one that is new ends it small.
    follows = False
    if len(exist):
        last = exist[np.argmax(pools.turn[exist])]
        follows = bool((pools.had_slot == last).any())
    capacity, keys = helper_capacity(len(exist)), everything
    if len(everything) > SMALL:
        capacity, keys = table_length(len(everything) - (not follows), capacity), slots
    is_key = np.zeros(len(pools.pool), dtype=np.bool_)
    is_key[keys] = True
    had_some = np.zeros(pools.member_count, dtype=np.bool_)
    had_some[pools.had_member[is_key[pools.had_slot]]] = True
    came = pools.had_slot[pools.in_java_order(had_some)]
    came = came[is_key[came]]
    entered = len(came) + pools.turn
    entered[came[::-1]] = np.arange(len(came))[::-1]
    keys = keys[np.argsort(entered[keys], kind="stable")]
    keys = keys[compute_order(pools.java_hash[keys], calls_follow=follows, capacity=capacity)]
    is_key[:] = False
    is_key[slots] = True
    in_order: Int64 = keys[is_key[keys]]
    return in_order
