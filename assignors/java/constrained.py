"""Java's sticky algorithm for equal subscriptions: quotas, kept partitions, round robin.

All members get `low` partitions and `want` members one more. Members keep what they have up to
their quota, and those that come first in the map may keep the extra one; what is left is dealt
round robin over the members under their quota, by id, and then over those with exactly `low`.

The rounds are not run one by one: in round r every member that lacks more than r partitions
gets one, so the sequence of receivers is one stable sort. Only the pass that matches racks, where
a receiver is searched for each partition, goes step by step.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from assignors.java.java_input import JavaInput
from assignors.jvm.failure import JavaFailure
from assignors.jvm.many_tables import narrow
from assignors.problem import NOBODY, Bool, Int32, Int64


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """Who gets what, in the order in which Java's lists were filled."""

    member: Int32
    """int32[L]."""
    partition: Int64
    """int64[L]."""
    transferred: Bool | None
    """bool[S]: given to another member than the one that claimed it; `None` where Java does
    not keep track (the general algorithm)."""


@dataclass(slots=True)
class _Quotas:
    """How much each member may still take."""

    low: int
    high: int
    want: int
    size: Int64
    have: int = 0
    under: list[int] = field(default_factory=list)
    """Members with fewer than `low`."""
    exact: list[int] = field(default_factory=list)
    """Members with `low` that may take one more."""


def place(java_input: JavaInput) -> Placed:
    """Return the assignment of equal subscriptions.

    Raises `JavaFailure` where Java finds its own quotas broken, as claims of partitions that
    do not exist can make it. Cost: O(C log C + P + M); with racks O(P M) at worst.
    Source: `AbstractStickyAssignor`'s constrained builder, KAFKA-9987, KAFKA-16277.
    """
    if not java_input.member_count:
        raise JavaFailure("ArithmeticException", "/ by zero")
    low, want = divmod(java_input.partition_count, java_input.member_count)
    quotas = _Quotas(
        low=low,
        high=low + (want > 0),
        want=want,
        size=np.zeros(java_input.member_count, dtype=np.int64),
    )
    member, partition, revoked_from = _keep(java_input, quotas)
    left = _left(java_input, partition)
    near_member, near, left = _deal_near(java_input, quotas, left)
    taker = _deal(quotas, len(left))
    new_member = np.concatenate([near_member, taker])
    new = np.concatenate([near, left])
    owner_before = revoked_from[new]
    changes = java_input.is_multiple[new] | (
        (owner_before != NOBODY) & (owner_before != new_member)
    )
    transferred = np.zeros(len(java_input.topic_of), dtype=np.bool_)
    transferred[new[changes]] = True
    return Placed(
        member=np.concatenate([member, new_member]),
        partition=np.concatenate([partition, new]),
        transferred=transferred,
    )


def _keep(java_input: JavaInput, quotas: _Quotas) -> tuple[Int32, Int64, Int32]:
    """Return who keeps what, and from whom each partition was taken, int32[S]."""
    revoked_from = np.full(len(java_input.topic_of), NOBODY, dtype=np.int32)
    member, partition = (
        java_input.claim_member[java_input.stands],
        java_input.claim[java_input.stands],
    )
    far = java_input.racks.mismatch(member, partition)
    revoked_from[partition[far]] = member[far]
    stays = ~far & ~java_input.is_multiple[partition]
    member, partition = member[stays], partition[stays]
    topic, number = java_input.topic_of[partition], java_input.number_of[partition]
    order = np.lexsort((narrow(topic), narrow(number), narrow(member)))
    member, partition = member[order], partition[order]
    count = np.bincount(member, minlength=java_input.member_count)
    kept = _kept_counts(java_input, quotas, count.tolist())
    start = np.cumsum(count) - count
    stays = np.arange(len(member)) - start[member] < kept[member]
    revoked_from[partition[~stays]] = member[~stays]
    quotas.size += kept
    return member[stays], partition[stays], revoked_from


def _kept_counts(java_input: JavaInput, quotas: _Quotas, count: list[int]) -> Int64:
    """Return how many each member keeps, int64[M], and record which may take more."""
    kept = np.empty(len(count), dtype=np.int64)
    for member in java_input.order.tolist():
        if count[member] < quotas.low:
            kept[member] = count[member]
            quotas.under.append(member)
        elif count[member] >= quotas.high and quotas.have < quotas.want:
            kept[member] = quotas.high
            quotas.have += 1
            if quotas.have == quotas.want:
                quotas.exact.clear()
        else:
            kept[member] = quotas.low
            if quotas.have < quotas.want:
                quotas.exact.append(member)
    quotas.under.sort()
    quotas.exact.sort()
    return kept


def _left(java_input: JavaInput, kept: Int64) -> Int64:
    """Return the partitions that are to be dealt, in Java's order.

    Java goes through all partitions beside a sorted list of what is kept. A nonexistent partition
    in that list ends it: everything kept behind it counts as left.
    """
    is_left = np.ones(java_input.partition_count, dtype=np.bool_)
    real = kept[kept < java_input.partition_count]
    if len(real) < len(kept):
        order = np.lexsort((java_input.number_of[kept], java_input.topic_of[kept]))
        sorted_kept = kept[order]
        real = sorted_kept[: int(np.argmax(sorted_kept >= java_input.partition_count))]
    is_left[real] = False
    left = np.flatnonzero(is_left)
    racks = java_input.racks
    if racks.has_racks:
        weight = racks.weight[racks.replica_set[left]]
        left = left[np.argsort(weight, kind="stable")]
    return left


def _deal_near(java_input: JavaInput, quotas: _Quotas, left: Int64) -> tuple[Int32, Int64, Int64]:
    """Give partitions to local members; return the receivers, what they got, and what is left."""
    if not java_input.racks.matter:
        nothing = np.zeros(0, dtype=np.int64)
        return nothing.astype(np.int32), nothing, left
    rack = java_input.racks.rack.tolist()
    replica_set = java_input.racks.replica_set
    racks_of = [set(np.flatnonzero(row).tolist()) for row in java_input.racks.covers]
    near = [racks_of[row] for row in replica_set[left].tolist()]
    takers: list[int] = []
    taken = np.zeros(len(left), dtype=np.bool_)
    pointer = 0
    for position, racks in enumerate(near):
        found = _search(quotas.under, rack, racks, pointer)
        if found is not None:
            taker = quotas.under[found]
            pointer = _take_under(quotas, found)
        else:
            found = _search(quotas.exact, rack, racks, 0)
            if found is None:
                continue
            taker = quotas.exact[found]
            _take_exact(quotas, found)
        quotas.size[taker] += 1
        takers.append(taker)
        taken[position] = True
    return np.array(takers, dtype=np.int32), left[taken], left[~taken]


def _search(members: list[int], rack: list[int], racks: set[int], begin: int) -> int | None:
    """Return the position of the first member in one of these racks, from `begin` and around."""
    if not racks:
        return None
    count = len(members)
    for step in range(count):
        place = (begin + step) % count
        if rack[members[place]] in racks:
            return place
    return None


def _take_under(quotas: _Quotas, found: int) -> int:
    """Count a partition for a member under its quota; return where the next search begins."""
    member = quotas.under[found]
    size = int(quotas.size[member]) + 1
    if size >= quotas.low:
        del quotas.under[found]
        if size < quotas.high and quotas.have < quotas.want:
            quotas.exact.append(member)
    else:
        found += 1
    return found % len(quotas.under) if quotas.under else 0


def _take_exact(quotas: _Quotas, found: int) -> None:
    """Count the extra partition of a member."""
    if int(quotas.size[quotas.exact[found]]) + 1 == quotas.high:
        del quotas.exact[found]
        quotas.have += 1
        if quotas.have == quotas.want:
            quotas.exact.clear()


def _deal(quotas: _Quotas, count: int) -> Int32:
    """Return who takes each of `count` partitions in turn, int32[count]."""
    under = np.array(quotas.under, dtype=np.int32)
    lacks = quotas.low - quotas.size[under]
    total = int(lacks.sum())
    turn = np.arange(total) - np.repeat(np.cumsum(lacks) - lacks, lacks)
    in_turns = np.argsort(narrow(turn), kind="stable")
    takers = np.repeat(under, lacks)[in_turns]
    if count < total:
        _fail_short(quotas, takers[:count])
        return takers[:count]
    is_full = turn[in_turns] == np.repeat(lacks, lacks)[in_turns] - 1
    spare = np.concatenate([np.array(quotas.exact, dtype=np.int32), takers[is_full]])
    if count - total > len(spare):
        raise JavaFailure("IllegalStateException", "No more unfilled consumers to be assigned.")
    return np.concatenate([takers, spare[: count - total]])


def _fail_short(quotas: _Quotas, takers: Int32) -> None:
    """Fail as Java does when partitions run out before everybody has `low`."""
    np.add.at(quotas.size, takers, 1)
    if quotas.have != quotas.want:
        raise JavaFailure(
            "IllegalStateException",
            f"Current number of members with more than the minQuota partitions: {quotas.have}, "
            f"is less than the expected number: {quotas.want}",
        )
    short = next(member for member in quotas.under if quotas.size[member] < quotas.low)
    raise JavaFailure("IllegalStateException", f"a member of quota {quotas.low} has {short}")
