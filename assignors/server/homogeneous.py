"""The uniform assignor where all members subscribe to the same topics.

With P partitions and M members, each gets P // M partitions and the first P % M members that can
use it one more. A member keeps what it had up to its quota, in the iteration order of its map and
sets; what it must give up joins the partitions that had no owner, and those fill up the members in
order.

Since KAFKA-18688 a member that does not own its extra partition already leaves it to a later
member while enough members follow, so that a balanced group stays as it is.

A partition that counts as assigned though no member had it (`Group.also_assigned`) is given to
nobody; the last members that have room then get less.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assignors.jvm.failure import JavaFailure
from assignors.jvm.hash_order import copied_set_capacity, put_order
from assignors.jvm.many_tables import narrow
from assignors.options import Jdk
from assignors.problem import NOBODY, Bool, Int32, Int64
from assignors.server.results import previous_entries
from assignors.server.spec import Spec, previous_in_java_order


class Placed(NamedTuple):
    """Who owns each of P partitions; M members by place in map order."""

    owner: Int32
    """int32[P]."""
    load: Int64
    """int64[M]: how many partitions each member has now."""


def place(spec: Spec, jdk: Jdk) -> Placed:
    """Return who owns each partition.

    `JavaFailure` when the previous target has a partition twice or one that does not exist:
    then more is handed out than there is room for. Cost: O(P + C log C + M).
    Source: `UniformHomogeneousAssignmentBuilder` of Kafka 4.4.
    """
    member, partition = previous_entries(spec)
    holder, held = member, partition
    if len(spec.topics) > spec.topic_count:
        is_ours = spec.target.by_number(spec.target.run_topic) < spec.topic_count
        holder, held = member[is_ours], partition[is_ours]
    owner = np.full(spec.problem.partition_count, NOBODY, dtype=np.int32)
    if int(held.min(initial=0)) != NOBODY:
        owner[held] = holder
    if np.count_nonzero(owner != NOBODY) != len(held):
        raise JavaFailure("PartitionAssignorException", "Partitions were left unassigned")
    # Members come in ascending order.
    members = np.arange(spec.member_count + 1, dtype=holder.dtype)
    had_count = np.diff(np.searchsorted(holder, members))
    quota, fill = _quotas(had_count, spec.problem.partition_count)
    dropped = _dropped(spec, member, partition, had_count > quota, quota)
    given = np.concatenate([_free(spec, owner, jdk), dropped])
    taker = np.repeat(np.arange(spec.member_count, dtype=np.int32), fill)
    load = np.minimum(had_count, quota)
    if len(given) < len(taker):
        taker = taker[: len(given)]
        load += np.bincount(taker, minlength=spec.member_count)
    else:
        load += fill
    owner[given] = taker
    return Placed(owner, load)


def _quotas(had_count: Int64, partition_count: int) -> tuple[Int64, Int64]:
    """Return how many of its partitions each member may keep and how many it is given.

    Both int64[M]. A member that does not have its extra one leaves it to a later member, as long
    as more members follow than there are extra ones left; from there on all take one. Cost: O(M).

    >>> quota, fill = _quotas(np.array([1, 2, 0]), partition_count=4)
    >>> quota.tolist(), fill.tolist()
    ([2, 2, 1], [0, 0, 1])
    """
    members = len(had_count)
    low, extra = divmod(partition_count, members)
    has_extra = had_count > low
    extra_left = extra - (np.cumsum(has_extra) - has_extra)
    all_take = np.flatnonzero(members - np.arange(members) <= extra_left)
    if len(all_take):
        has_extra[all_take[0] :] = True
        extra_left = extra - (np.cumsum(has_extra) - has_extra)
    quota = np.where(extra_left > 0, low + 1, low)
    room = quota - had_count
    leaves_it = (extra_left > 0) & ~has_extra
    return quota, np.where(room > 0, room - leaves_it, 0)


def _free(spec: Spec, owner: Int32, jdk: Jdk) -> Int64:
    """Return the partitions that are free, topics in the order of Java's copy of their set."""
    is_free = owner == NOBODY
    is_free[spec.also_assigned] = False
    free = np.flatnonzero(is_free)
    if not len(free):
        return free
    of_topic = narrow(_topic_ranks(spec, jdk)).take(spec.problem.topic_of.take(free))
    return free.take(np.argsort(of_topic, kind="stable"))


def _topic_ranks(spec: Spec, jdk: Jdk) -> Int64:
    """Return the place of each topic in that copy, [T]."""
    topics = np.array(spec.subscription(0), dtype=np.int64)
    order = put_order(spec.topic_hash[topics], capacity=copied_set_capacity(len(topics), jdk))
    ranks = np.zeros(spec.topic_count, dtype=np.int64)
    ranks[topics[order]] = np.arange(len(topics))
    return ranks


def _dropped(spec: Spec, member: Int32, partition: Int64, gives: Bool, quota: Int64) -> Int64:
    """Return what members have above their quota, member by member, in Java's order."""
    in_order = previous_in_java_order(spec, gives)
    in_order = in_order[partition[in_order] != NOBODY]
    holder = member[in_order]
    count = np.bincount(holder, minlength=spec.member_count)
    rank = np.arange(len(in_order)) - (np.cumsum(count) - count)[holder]
    dropped: Int64 = partition[in_order[rank >= quota[holder]]]
    return dropped
