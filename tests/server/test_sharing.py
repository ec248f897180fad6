"""Shares dealt on arrays, all pools at once, are those of Java's steps, one set after the other."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from assignors import JavaFailure
from assignors.server.open_places import deal
from assignors.server.sharing import Pools, kept
from tests.server.sharing_by_sets import Pool, shared

Pairs = list[tuple[int, int]]


def drawn(seed: int) -> tuple[Pools, list[Pairs]]:
    """Random pools, and of each pool what members had in Java's order."""
    dice = Random(seed)
    pool_count, member_count = dice.choice((1, 1, 2, 4)), dice.choice((1, 2, 3, 5, 9, 30))
    takes = np.array(
        [[dice.random() < 0.7 for _ in range(member_count)] for _ in range(pool_count)]
    )
    takes[:, dice.randrange(member_count)] = True
    size = np.array([dice.choice((0, 1, 2, 3, 4, 7, 12, 48, 60)) for _ in range(pool_count)])
    partition_count = int(size.sum())
    extra = [dice.choice((0, 0, 0, 0, 1, 2, 9, 49, 97)) for _ in range(pool_count)]
    beyond = np.repeat(np.arange(pool_count), extra).tolist()
    pool = np.array([*np.repeat(np.arange(pool_count), size), *beyond], dtype=np.int64)
    number = np.arange(len(pool)) - (np.cumsum(size) - size)[pool]
    number[partition_count:] = [
        dice.choice((size[n], -1, 64, 128, 1000)) + 1024 * k for k, n in enumerate(beyond)
    ]
    java_hash = number.astype(np.int32)
    turn = number.copy()
    if pool_count == 1:
        java_hash = (31 * dice.randrange(1 << 20) + number * dice.choice((1, 64))).astype(np.int32)
        turn[:partition_count] = dice.sample(range(partition_count), partition_count)
    rate = dice.choice((0.0, 0.02, 0.1, 0.3, 0.9))
    pairs = [(m, s) for m in range(member_count) for s in range(len(pool)) if dice.random() < rate]
    # Every nonexistent slot is somebody's.
    pairs += [(dice.randrange(member_count), s) for s in range(partition_count, len(pool))]
    pairs = sorted(set(pairs))
    rank = {pair: dice.random() for pair in pairs}
    in_order = sorted(pairs, key=lambda pair: (pair[0], int(pool[pair[1]]), rank[pair]))
    dice.shuffle(pairs)
    pairs.sort(key=lambda pair: pair[0])
    place = {pair: position for position, pair in enumerate(pairs)}
    java = np.array([place[pair] for pair in in_order], dtype=np.int64)
    member = np.array([m for m, _ in pairs], dtype=np.int32)
    return Pools(
        takes=takes,
        size=size,
        partition_count=partition_count,
        pool=pool,
        turn=turn,
        java_hash=java_hash,
        had_member=member,
        had_slot=np.array([s for _, s in pairs], dtype=np.int64),
        in_java_order=lambda chosen: java[chosen[member[java]]],
    ), [[pair for pair in in_order if pool[pair[1]] == n] for n in range(pool_count)]


def by_sets(pools: Pools, had: list[Pairs]) -> Pairs | str:
    given: Pairs = []
    for number, pairs in enumerate(had):
        slots = np.flatnonzero(pools.pool == number)
        slots = slots[slots < pools.partition_count]
        fresh = slots[np.argsort(pools.turn[slots])].tolist()
        local = {slot: place for place, slot in enumerate(fresh)}
        for _, slot in pairs:
            local.setdefault(slot, len(local))
        try:
            answer = shared(
                Pool(
                    subscribers=np.flatnonzero(pools.takes[number]).tolist(),
                    had=[(member, local[slot]) for member, slot in pairs],
                    slots=list(range(len(fresh))),
                    hashes=pools.java_hash[list(local)],
                )
            )
        except JavaFailure as failure:
            return str(failure)
        slot_of = list(local)
        given += [(member, slot_of[slot]) for member, slot in answer]
    return sorted(given)


def on_arrays(pools: Pools) -> Pairs | str:
    shares = kept(pools)
    try:
        member, slot = deal(pools, shares)
    except JavaFailure as failure:
        return str(failure)
    old = zip(
        pools.had_member[shares.keeps].tolist(), pools.had_slot[shares.keeps].tolist(), strict=True
    )
    return sorted([*old, *zip(member.tolist(), slot.tolist(), strict=True)])


@given(seed=st.integers(0, 2**32))
@example(seed=0)
def test_arrays_share_as_sets_do(seed: int) -> None:
    pools, had = drawn(seed)
    assert on_arrays(pools) == by_sets(pools, had)


def test_many_random_pools_are_shared_alike() -> None:
    seen = set()
    for seed in range(800):
        pools, had = drawn(seed)
        answer = by_sets(pools, had)
        assert on_arrays(pools) == answer, seed
        seen.add(type(answer))
    assert seen == {list, str}, "some of these groups make Java throw"
