"""How the partitions of a share group are assigned: enough members for each, few changes.

With P partitions and M members each partition is to have ceil(M / P) members, and each member an
equal part of all those places. From the previous target members first drop the partitions above
their number, then partitions drop the members above theirs; the places left open are dealt round
robin over the members that lack partitions (`open_places`).

Partitions are shared out in pools: all of them in one, or each topic in a pool of its own. All
pools are served at once, on arrays. A partition is a slot here, also a nonexistent one that
somebody had: those count for the members that had them. A member of a pool is a cell of a table
of pools and members. The iteration order of a hash set decides which slots a member drops and
which members a slot drops, so it is computed for those that drop any.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from assignors.arrays import Bool, Int32, Int64
from assignors.jvm.many_tables import put_orders


@dataclass(frozen=True, slots=True, kw_only=True)
class Pools:
    """What is shared out. Lengths: B pools, M members, P partitions, S slots, C previous pairs.

    Members are places in map order; the slots below P are the partitions.
    """

    takes: Bool
    """bool[B, M]: the member subscribes to the pool's topics; somebody does in each pool."""
    size: Int64
    """int64[B]: how many partitions of the pool exist."""
    partition_count: int
    """P."""
    pool: Int64
    """int64[S]: pool of each slot, -1 for a slot that is not shared out."""
    turn: Int64
    """int64[S]: the order in which the partitions of a pool are added to what members had."""
    java_hash: Int32
    """int32[S]."""
    had_member: Int32
    """int32[C]: the previous target, members ascending."""
    had_slot: Int64
    """int64[C]."""
    in_java_order: Callable[[Bool], Int64]
    """Of members (bool[M]): positions of their pairs as Java iterates over them."""

    @property
    def member_count(self) -> int:
        """M."""
        return int(self.takes.shape[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Shares:
    """Who is to have how much, and who has what so far: arrays that change."""

    wanted: Int64
    """int64[B]: members that each partition is to have; any number where there is no partition."""
    want: Int64
    """int64[B M]: partitions that each member is to have; 0 for those that do not subscribe."""
    cell: Int64
    """int64[C]: pool and member of each previous pair."""
    keeps: Bool
    """bool[C]: the member keeps the slot; False for slots that are not shared out."""

    def load(self) -> Int64:
        """Return how many slots each member of a pool keeps, int64[B M]."""
        return np.bincount(self.cell[self.keeps], minlength=len(self.want))


def kept(pools: Pools) -> Shares:
    """Return what members keep of the previous target.

    Cost: O(C log C + B M + S).
    """
    shares = _begin(pools)
    _drop_slots(pools, shares, shares.load() - shares.want)
    _drop_members(pools, shares)
    return shares


def ranks(group: Int64) -> tuple[Int64, Int64]:
    """Return the number of each group and the rank in it; equal entries stand together.

    >>> number, rank = ranks(np.array([7, 7, 3, 9, 9]))
    >>> number.tolist(), rank.tolist()
    ([0, 0, 1, 2, 2], [0, 1, 0, 0, 1])
    """
    begins = np.ones(len(group), dtype=np.bool_)
    np.not_equal(group[1:], group[:-1], out=begins[1:])
    number = np.cumsum(begins) - 1
    return number, np.arange(len(group)) - np.flatnonzero(begins)[number]


def _begin(pools: Pools) -> Shares:
    """Return how much everybody is to have; nothing is dropped yet."""
    subscribers = np.count_nonzero(pools.takes, axis=1)
    wanted = -(-subscribers // np.maximum(pools.size, 1))
    each = (wanted * pools.size / subscribers)[:, np.newaxis]
    place = np.cumsum(pools.takes, axis=1)
    want = np.ceil(each * place) - np.ceil(each * (place - 1))
    pool = pools.pool[pools.had_slot]
    return Shares(
        wanted=wanted,
        want=np.where(pools.takes, want, 0).astype(np.int64).ravel(),
        cell=pool * pools.member_count + pools.had_member,
        keeps=pool >= 0,
    )


def _drop_slots(pools: Pools, shares: Shares, surplus: Int64) -> None:
    """Let members drop partitions above their number, in the order of their sets."""
    gives = surplus > 0
    if not gives.any():
        return
    pairs = pools.in_java_order(gives.reshape(pools.takes.shape).max(axis=0))
    pairs = pairs[shares.keeps[pairs]]
    pairs = pairs[gives[shares.cell[pairs]]]
    # A member's slots of one pool stand together: a topic is a pool, or all topics are.
    table, rank = ranks(shares.cell[pairs])
    pairs = pairs[put_orders(table, pools.java_hash[pools.had_slot[pairs]])]
    shares.keeps[pairs[rank < surplus[shares.cell[pairs]]]] = False


def _drop_members(pools: Pools, shares: Shares) -> None:
    """Let partitions drop members above the wanted number, in the order of their sets.

    The table of a set does not shrink: its order is that of all members that it ever had.
    """
    count = np.bincount(pools.had_slot[shares.keeps], minlength=len(pools.pool))
    surplus = count - shares.wanted[pools.pool]
    pairs = np.flatnonzero((surplus > 0)[pools.had_slot])
    if not len(pairs):
        return
    pairs = pairs[np.argsort(pools.had_slot[pairs], kind="stable")]
    table, _ = ranks(pools.had_slot[pairs])
    pairs = pairs[put_orders(table, pools.had_member[pairs])]
    pairs = pairs[shares.keeps[pairs]]
    _, rank = ranks(pools.had_slot[pairs])
    shares.keeps[pairs[rank < surplus[pools.had_slot[pairs]]]] = False
