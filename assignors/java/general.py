"""Java's sticky algorithm for subscriptions that differ: deal, then move while a move improves.

The answer is Java's, move for move, with fewer steps (`search`):

1. Claims of topics a member does not subscribe to, or that racks forbid, are dropped.
2. Unassigned partitions go, topic by topic, to the subscriber with the fewest partitions.
3. Members that can neither give nor take are fixed: they keep what they have.
4. Passes over the partitions of shared topics: back to an owner of an older generation that is
   at least two behind, else to the subscriber with the fewest if one is two behind.
5. If all that made the group no better balanced, it never happened.

Source: `AbstractStickyAssignor`'s general builder of Kafka 4.4, KIP-54. Its faults are kept:
step 4 checks neither whether the older owner subscribes nor whether it is fixed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from itertools import pairwise

import numpy as np

from assignors.java.constrained import Placed
from assignors.java.java_input import JavaInput
from assignors.java.search import Search, Table, least_sizes
from assignors.problem import NOBODY, Bool, Int32, Int64, Problem


def place(java_input: JavaInput, *, repaired: Callable[[str], None] | None = None) -> Placed:
    """Return the assignment of subscriptions that differ.

    Raises `JavaFailure` where Java dereferences null, unless `repaired` is given: then the
    older owner in question is passed over, and `repaired` is called with a sentence about it.
    Cost: O(S log S + T M) and O(S + T M) for each move. Source: see the head of the module.
    """
    table = _start(java_input)
    has_revoked = _drop_claims(table)
    topics = np.lexsort((np.arange(len(table.asked)), table.asked))
    in_order = _partitions_of(java_input, topics)
    unassigned = _unassigned(table, in_order)
    starts_empty = not table.size.any()
    _deal(table, unassigned)
    is_shared = table.asked >= 2
    in_order = in_order[is_shared[java_input.topic_of[in_order]]]
    unassigned = unassigned[is_shared[java_input.topic_of[unassigned]]]
    _fix_members(table, is_shared)
    table.least = least_sizes(table, np.flatnonzero(is_shared), ~table.is_fixed)
    owner, stamp, size = table.owner.copy(), table.stamp.copy(), table.size.copy()
    doubles = dict(table.doubles)
    search = Search(table=table, shared=in_order, repaired=repaired)
    if not has_revoked:
        search.improve(unassigned)
    has_moved = search.improve(in_order)
    active = ~table.is_fixed
    if not starts_empty and has_moved and _score(table.size[active]) >= _score(size[active]):
        table.owner, table.stamp, table.doubles = owner, stamp, doubles
    return _in_list_order(table)


def _in_list_order(table: Table) -> Placed:
    """Return what the members' lists hold, in the order in which they were filled."""
    held = np.flatnonzero(table.owner != NOBODY)
    member, stamp = table.owner[held], table.stamp[held]
    if table.doubles:
        pairs = np.array(list(table.doubles), dtype=np.int64)
        member = np.concatenate([member, pairs[:, 0].astype(np.int32)])
        held = np.concatenate([held, pairs[:, 1]])
        stamp = np.concatenate([stamp, np.array(list(table.doubles.values()))])
    order = np.argsort(stamp, kind="stable")
    return Placed(member=member[order], partition=held[order], transferred=None)


def _unassigned(table: Table, in_order: Int64) -> Int64:
    """Return the partitions to be dealt.

    Java goes through all partitions beside a list of those that are held, in the same order.
    A nonexistent partition in that list ends it: what is held behind it is dealt once more, and
    its owner keeps it as well.
    """
    java_input = table.java_input
    held = np.flatnonzero(table.owner != NOBODY)
    nonexistent = held[held >= java_input.partition_count]
    is_passed = table.owner != NOBODY
    if len(nonexistent):
        sorted_held = _as_sorted(table, held[np.argsort(table.stamp[held], kind="stable")])
        stop = int(np.argmax(sorted_held >= java_input.partition_count))
        for partition in sorted_held[stop:].tolist():
            if partition < java_input.partition_count:
                is_passed[partition] = False
                owner = int(table.owner[partition])
                table.doubles[owner, partition] = int(table.stamp[partition])
    left: Int64 = in_order[~is_passed[in_order]]
    return left


def _as_sorted(table: Table, partitions: Int64) -> Int64:
    """Return partitions sorted as Java's comparator has it, which subtracts int32 numbers.

    Where numbers are further apart than an int32, that is no order: then the sort is run as it is,
    exactly so for fewer than 32 partitions (longer lists Java sorts in runs of other lengths).
    """
    topic_of, number_of = table.java_input.topic_of, table.java_input.number_of
    topic, number = topic_of[partitions], number_of[partitions].astype(np.int64)
    if int(number.max()) - int(number.min()) < 2**31:
        return partitions[np.lexsort((number, topic, table.asked[topic]))]

    def compare(left: int, right: int) -> int:
        difference = int(table.asked[topic_of[left]] - table.asked[topic_of[right]])
        difference = difference or int(topic_of[left]) - int(topic_of[right])
        apart = int(number_of[left]) - int(number_of[right])
        return difference or (apart + 2**31) % 2**32 - 2**31

    return np.array(sorted(partitions.tolist(), key=cmp_to_key(compare)), dtype=np.int64)


def _start(java_input: JavaInput) -> Table:
    """Return the table with every kept claim in its claimant's list."""
    problem = java_input.problem
    size = len(java_input.topic_of)
    owner = np.full(size, NOBODY, dtype=np.int32)
    stamp = np.zeros(size, dtype=np.int64)
    claim = java_input.claim[java_input.stands]
    owner[claim] = java_input.claim_member[java_input.stands]
    stamp[claim] = np.arange(len(claim))
    return Table(
        java_input=java_input,
        owner=owner,
        stamp=stamp,
        size=np.bincount(owner[claim], minlength=problem.member_count),
        clock=len(claim),
        takes=problem.takes[problem.class_of],
        asked=_asked(java_input),
        most=_most(problem),
        is_fixed=np.zeros(problem.member_count, dtype=np.bool_),
        before=_owners_before(java_input),
        java_hash=java_input.hashes(),
        least=np.zeros(len(problem.topics), dtype=np.int64),
    )


def _asked(java_input: JavaInput) -> Int64:
    """Return how often each topic is named in subscriptions; twice in one list counts twice."""
    problem = java_input.problem
    asked: Int64 = np.bincount(problem.class_of, minlength=len(problem.takes)) @ problem.takes
    index = {name: topic for topic, name in enumerate(problem.topics)}
    for member in problem.members:
        extra = len(member.topics) - len(set(member.topics))
        if extra:
            listed = [index[topic] for topic in member.topics if topic in index]
            repeated = np.array(listed, dtype=np.int64)
            asked += np.maximum(np.bincount(repeated, minlength=len(asked)) - 1, 0)
    return asked


def _owners_before(java_input: JavaInput) -> Int32:
    """Return who claimed each partition in the highest generation below the last, int32[S]."""
    before = np.full(len(java_input.topic_of), NOBODY, dtype=np.int32)
    generation = java_input.generation[java_input.claim_member]
    old = np.flatnonzero(generation < java_input.state.max_generation)
    # Of equal generations the first in map order counts: written last.
    order = old[np.lexsort((-old, generation[old]))]
    before[java_input.claim[order]] = java_input.claim_member[order]
    return before


def _drop_claims(table: Table) -> bool:
    """Drop claims of topics not subscribed to or forbidden by racks; return if there were any."""
    held = np.flatnonzero(table.owner != NOBODY)
    owner = table.owner[held]
    dropped = ~table.takes[owner, table.java_input.topic_of[held]]
    dropped |= table.java_input.racks.mismatch(owner, held)
    table.owner[held[dropped]] = NOBODY
    np.subtract.at(table.size, owner[dropped], 1)
    return bool(dropped.any())


def _partitions_of(java_input: JavaInput, topics: Int64) -> Int64:
    """Return the partitions of these topics, in order."""
    first = java_input.problem.first
    if not len(topics):
        return np.zeros(0, dtype=np.int64)
    return np.concatenate([np.arange(first[topic], first[topic + 1]) for topic in topics.tolist()])


def _deal(table: Table, unassigned: Int64) -> None:
    """Give each partition to the subscriber with the fewest, local ones first where racks count."""
    if table.java_input.racks.matter:
        unassigned = _deal_near(table, unassigned)
    topic_of = table.java_input.topic_of[unassigned]
    starts = np.flatnonzero(np.diff(topic_of, prepend=-1)).tolist()
    for begin, end in pairwise([*starts, len(unassigned)]):
        subscribers = np.flatnonzero(table.takes[:, topic_of[begin]])
        takers = deal_to_smallest(table.size[subscribers], end - begin)
        table.grant(unassigned[begin:end], subscribers[takers])


def _deal_near(table: Table, unassigned: Int64) -> Int64:
    """Give partitions to members with a local replica; return those without such a subscriber."""
    racks, topic_of = table.java_input.racks, table.java_input.topic_of
    near: dict[tuple[int, int], Int64] = {}
    is_left = np.zeros(len(unassigned), dtype=np.bool_)
    for position, partition in enumerate(unassigned.tolist()):
        kind = int(topic_of[partition]), int(racks.replica_set[partition])
        if kind not in near:
            at_home = (racks.rack == NOBODY) | racks.covers[kind[1], racks.rack]
            near[kind] = np.flatnonzero(table.takes[:, kind[0]] & at_home)
        candidates = near[kind]
        if len(candidates):
            taker = candidates[np.argmin(table.size[candidates])]
            table.grant(unassigned[position : position + 1], np.array([taker]))
        else:
            is_left[position] = True
    return unassigned[is_left]


def deal_to_smallest(size: Int64, count: int) -> Int64:
    """Return who gets each of `count` partitions if each goes to the smallest, int64[count].

    Ties go to the lowest position. Cost: O(M log M + (count + M) log(count + M)).

    >>> deal_to_smallest(np.array([2, 0, 1]), 5).tolist()
    [1, 1, 2, 0, 1]
    """
    ordered = np.sort(size)
    # Filling everybody up to the n-th smallest costs n times its size less what is there.
    cost = np.arange(len(size)) * ordered - (np.cumsum(ordered) - ordered)
    under = int(np.searchsorted(cost, count, side="right"))
    level = int(ordered[under - 1]) + -(-(count - int(cost[under - 1])) // under)
    lacks = np.maximum(level - size, 0)
    position = np.repeat(np.arange(len(size)), lacks)
    step = np.arange(len(position)) - np.repeat(np.cumsum(lacks) - lacks, lacks)
    key = (size[position] + step) * len(size) + position
    key.sort()
    taker: Int64 = key[:count] % len(size)
    return taker


def _most(problem: Problem) -> Int64:
    """Return how many partitions each member can hold as Java counts, int64[M].

    A topic named twice in a list counts twice, unless the list is as long as there are
    topics.
    """
    sizes = np.diff(problem.first)
    most: Int64 = (problem.takes.astype(np.int64) @ sizes)[problem.class_of]
    topic_count = int(np.count_nonzero(sizes))
    index = {name: topic for topic, name in enumerate(problem.topics) if sizes[topic]}
    for number, member in enumerate(problem.members):
        if len(set(member.topics)) < len(member.topics):
            listed = [index[topic] for topic in member.topics if topic in index]
            is_full = len(listed) == topic_count
            most[number] = sizes.sum() if is_full else sizes[listed].sum()
    return most


def _fix_members(table: Table, is_shared: Bool) -> None:
    """Mark members that hold all they can and nothing of a topic with other subscribers."""
    held = np.flatnonzero(table.owner != NOBODY)
    shares = np.zeros(len(table.size), dtype=np.bool_)
    shares[table.owner[held[is_shared[table.java_input.topic_of[held]]]]] = True
    for member, partition in table.doubles:
        shares[member] |= is_shared[table.java_input.topic_of[partition]]
    table.is_fixed = (table.size >= table.most) & ~shares


def _score(size: Int64) -> int:
    """Return Java's balance score, an int that wraps: the sum of all differences of two sizes."""
    ordered = np.sort(size)
    count = len(ordered)
    total = int((ordered * (2 * np.arange(count) - count + 1)).sum())
    return (total + 2**31) % 2**32 - 2**31
