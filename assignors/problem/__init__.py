"""A group as integer arrays, and assignments as arrays and back.

Names are sorted once, in the UTF-16 order that Java uses, and are numbers from then on: topic
`t` has the partitions `first[t]:first[t + 1]` of one numbering of all partitions. Members that
subscribe to the same topics form a subscription class, so what a thousand equal members may
take is one row of `takes`, not a thousand.

Only topics that exist and that a member subscribes to are numbered: no other partition can be
assigned. Because names are sorted, nothing computed from a `Problem` can depend on the order
in which members or topics were given.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, repeat
from typing import Any

import numpy as np

from assignors.arrays import Bool, Int32, Int64, partition_arrays
from assignors.group_bytes.fields import rack_numbers
from assignors.group_bytes.members import ReadMembers
from assignors.model import Assignment, Group, Member, in_id_order, member_ids_of, require_group
from assignors.problem.cluster_tables import asked_topics, racks_of
from assignors.problem.subscription_tables import subscriptions_of
from wire import TopicPartitions
from wire.constructors import unchecked
from wire.text import utf16_key

NOBODY = -1
WORD = 8
"""Bytes of a word: rows of no more bits are compared as numbers."""
FEW = 256
"""So many partitions are named, and so many lists compared, one by one: numpy's calls would cost
more than they save."""
RUNS_AT_ONCE = 1 << 15
"""Members' shares of a topic that are made of arrays together: lists of all the numbers of a
million would need 200 MB beside them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Members, topics and subscriptions as arrays.

    Lengths: T topics, P partitions, M members, K subscription classes, R racks, S replica sets.
    """

    topics: tuple[str, ...]
    """T names, in UTF-16 order."""
    members: Sequence[Member]
    """M members, in UTF-16 order of their ids; some work to read, where they come from bytes."""
    first: Int64
    """int64[T + 1]: partitions of topic t are first[t]:first[t + 1]; first[T] is P."""
    takes: Bool
    """bool[K, T]: class k subscribes to topic t."""
    class_of: Int32
    """int32[M]: class of each member."""
    topic_of: Int32
    """int32[P]: topic of each partition."""
    rack: Int32 | None = None
    """int32[M]: rack of each member, -1 for none; `None` where racks cannot matter."""
    replica_set: Int32 | None = None
    """int32[P]: row of `replica_racks`."""
    replica_racks: Bool | None = None
    """bool[S, R]: which racks a set of replicas covers."""
    kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """What was computed of `topics` alone, for other groups of the cluster; no answer depends on
    it."""

    @property
    def partition_count(self) -> int:
        """P: how many partitions the topics have that members subscribe to."""
        return int(self.first[-1])

    @property
    def member_count(self) -> int:
        """M: how many members the group has."""
        return len(self.members)

    @property
    def number_of(self) -> Int32:
        """int32[P]: number of each partition in its topic; made once for the same topics."""
        if "numbers" not in self.kept:
            first = self.first.astype(np.int32)
            begin = first[:-1].repeat(np.diff(first))
            self.kept["numbers"] = np.arange(len(begin), dtype=np.int32) - begin
        found: Int32 = self.kept["numbers"]
        return found

    def topic_index(self) -> dict[str, int]:
        """Return the number of each topic by name. Cost: O(T)."""
        return dict(zip(self.topics, range(len(self.topics)), strict=True))

    def topic_numbers(self, names: tuple[str, ...]) -> Int64:
        """Return the number of each of these topics, -1 for others. Cost: O(names + T)."""
        if names == self.topics:
            return np.arange(len(names))
        found = map(self.topic_index().get, names, repeat(-1))
        return np.fromiter(found, dtype=np.int64, count=len(names))

    def may_take(self, member: Int32, partition: Int32 | Int64) -> Bool:
        """Return, pair by pair, whether the member subscribes to the partition's topic.

        Both arguments are [N], of numbers in this problem (no `NOBODY`); the result is bool[N].
        Cost: O(N).
        """
        allowed: Bool = self.takes[self.class_of[member], self.topic_of[partition]]
        return allowed


_problem = unchecked(Problem)


def problem_of(group: Group, *, with_racks: bool = True) -> Problem:
    """Return the group as arrays; without racks for assignors that do not look at them.

    Cost: O(M log M + total length of different subscriptions + P).

    >>> from assignors.model import Cluster
    >>> members = (Member(member_id="b", topics=("t",)), Member(member_id="a", topics=("t", "u")))
    >>> problem = problem_of(Group(cluster=Cluster.of({"t": 2, "u": 1, "v": 9}), members=members))
    >>> problem.topics, [member.member_id for member in problem.members]
    (('t', 'u'), ['a', 'b'])
    >>> problem.takes[problem.class_of].tolist()
    [[True, True], [True, False]]
    """
    require_group(group)
    members: Sequence[Member]
    if isinstance(group.members, ReadMembers):
        members = group.members.in_id_order(utf16_key)
        names, table, list_of = members.subscriptions()
        rack_ids = members.rack_ids() if with_racks else None
    else:
        members = tuple(in_id_order(group.members))
        names, table, list_of = subscriptions_of(members, group.cluster.tables)
        rack_ids = rack_numbers([member.rack_id for member in members]) if with_racks else None
    asked = asked_topics(group.cluster, names)
    topics = asked.names
    if topics != names:
        index = {name: number for number, name in enumerate(names)}
        table = table.take([index[topic] for topic in topics], axis=1)
    takes, class_of = _classes(table, list_of)
    rack, replica_set, replica_racks = None, None, None
    if rack_ids is not None:
        rack, replica_set, replica_racks = racks_of(rack_ids, asked.topics, group.cluster.tables)
    return _problem(
        topics=topics,
        members=members,
        first=asked.first,
        takes=takes,
        class_of=class_of,
        topic_of=asked.topic_of,
        rack=rack,
        replica_set=replica_set,
        replica_racks=replica_racks,
        kept=asked.kept,
    )


def assignment_of(problem: Problem, owner: Int32) -> dict[str, dict[str, tuple[int, ...]]]:
    """Return who holds what by name: an entry for every member, topics and numbers sorted.

    `owner` is int32[P], `NOBODY` where a partition goes to no member. Cost: O(P log P + M).
    """
    ids = member_ids_of(problem.members)
    named: dict[str, dict[str, tuple[int, ...]]] = {member_id: {} for member_id in ids}
    for member, topic, numbers in _runs(problem, owner):
        if member != NOBODY:
            named[ids[member]][problem.topics[topic]] = numbers
    return named


def partitions_by_topic(problem: Problem, partitions: Int64) -> dict[str, tuple[int, ...]]:
    """Return these partitions by topic and number.

    >>> from assignors.model import Cluster
    >>> members = (Member(member_id="a", topics=("t", "u")),)
    >>> problem = problem_of(Group(cluster=Cluster.of({"t": 2, "u": 2}), members=members))
    >>> partitions_by_topic(problem, np.array([1, 2, 3]))
    {'t': (1,), 'u': (0, 1)}
    """
    chosen = partitions
    if not (np.diff(chosen) > 0).all():
        chosen = np.unique(chosen)
    topic = problem.topic_of[chosen]
    if len(chosen) <= FEW:
        few: dict[str, list[int]] = {}
        for number, one in zip(
            topic.tolist(), (chosen - problem.first[topic]).tolist(), strict=True
        ):
            few.setdefault(problem.topics[number], []).append(one)
        return {name: tuple(listed) for name, listed in few.items()}
    bounds = np.append(np.flatnonzero(np.diff(topic, prepend=-1)), len(chosen)).tolist()
    numbers = (chosen - problem.first[topic]).tolist()
    return {
        problem.topics[number]: tuple(numbers[start:end])
        for number, (start, end) in zip(topic[bounds[:-1]].tolist(), pairwise(bounds), strict=True)
    }


def owners(problem: Problem, assignment: Assignment) -> Int32:
    """Return who holds each partition, int32[P]; what names no partition is left out.

    A partition given to several members counts for the last of them; `checks` reports those.
    Cost: O(size of the assignment).
    """
    by_member = [assignment.get(member_id, {}) for member_id in member_ids_of(problem.members)]
    given = partition_arrays(by_member, problem.topic_index())
    topic, number = given.topic_of, given.number
    exists = (number >= 0) & (number < np.diff(problem.first)[topic])
    owner = np.full(problem.partition_count, NOBODY, dtype=np.int32)
    owner[problem.first[topic[exists]] + number[exists]] = given.member_of[exists]
    return owner


def lawful_owners(problem: Problem, assignment: Assignment) -> Int32:
    """Return who holds each partition, int32[P], counting subscribers of its topic alone.

    As `owners`, with `NOBODY` for a partition held by a member that does not subscribe to it.
    """
    owner = owners(problem, assignment)
    held = np.flatnonzero(owner != NOBODY)
    owner[held[~problem.may_take(owner[held], held)]] = NOBODY
    return owner


def _classes(table: Bool, list_of: Int64) -> tuple[Bool, Int32]:
    """Return `takes` and everybody's class: lists of one set of topics are one class.

    Classes are numbered in the order of the members.
    """
    if len(table) == 1:
        return table, np.zeros(len(list_of), dtype=np.int32)
    same, firsts = _equal_rows(table)
    if len(list_of) == len(table) and (list_of == np.arange(len(table))).all():
        return (table if len(firsts) == len(table) else table.take(firsts, axis=0)), same
    number = same[list_of]
    first = np.full(len(table), len(number))
    first[number[::-1]] = np.arange(len(number))[::-1]  # of several the first stays
    used = np.argsort(first, kind="stable")[: np.count_nonzero(first < len(number))]
    rank = np.empty(len(table), dtype=np.int32)
    rank[used] = np.arange(len(used))
    return table[list_of[first[used]]], rank[number]


def _equal_rows(table: Bool) -> tuple[Int32, Int64]:
    """Return the number of each row of a table, int32[N], and the first row of each number.

    Equal rows have one number; numbers are in the order of the rows.
    """
    row_count, width = table.shape
    # Whole bytes a row: numpy is many times faster where it need not stop after each row.
    size = WORD if width <= 8 * WORD else -(-width // 8)
    padded = np.zeros((row_count, 8 * size), dtype=np.bool_)
    padded[:, :width] = table
    packed = np.packbits(padded)
    if size > WORD or row_count <= FEW:
        rows: list[bytes | int] = packed.view(f"V{size}" if size > WORD else np.uint64).tolist()
        first_of: dict[bytes | int, int] = {}
        found = np.fromiter(map(first_of.setdefault, rows, range(row_count)), np.int64, row_count)
        firsts = np.fromiter(first_of.values(), np.int64, len(first_of))
        ranks = np.empty(row_count, dtype=np.int32)
        ranks[firsts] = np.arange(len(firsts), dtype=np.int32)
        return ranks[found], firsts
    words = packed.view(np.uint64)
    order = words.argsort()
    words = words[order]
    begins = np.ones(row_count, dtype=np.bool_)
    np.not_equal(words[1:], words[:-1], out=begins[1:])
    begin = begins.nonzero()[0]
    found = np.empty(row_count, dtype=np.int64)
    found[order] = np.minimum.reduceat(order, begin)[begins.cumsum() - 1]
    is_first = found == np.arange(row_count)
    ranks = is_first.cumsum(dtype=np.int32)
    ranks -= np.int32(1)
    return ranks[found], is_first.nonzero()[0]


def _runs(problem: Problem, owner: Int32) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Yield (member, topic, its partition numbers) for every member and topic, in that order."""
    if not len(owner):
        return
    order = np.argsort(owner, kind="stable")
    holder, topic = owner[order], problem.topic_of[order]
    numbers = order - problem.first[topic]
    starts = np.flatnonzero((np.diff(holder) != 0) | (np.diff(topic) != 0)) + 1
    starts = np.concatenate([np.zeros(1, dtype=np.int64), starts])
    ends = np.append(starts[1:], len(order))
    singles = _singles(problem, ends - starts) if len(starts) > RUNS_AT_ONCE else None
    for some in range(0, len(starts), RUNS_AT_ONCE):
        begins, stops = starts[some : some + RUNS_AT_ONCE], ends[some : some + RUNS_AT_ONCE]
        listed = numbers[begins[0] : stops[-1]].tolist()
        for member, t, start, end in zip(
            holder[begins].tolist(),
            topic[begins].tolist(),
            (begins - begins[0]).tolist(),
            (stops - begins[0]).tolist(),
            strict=True,
        ):
            if singles is not None and end - start == 1:
                yield member, t, singles[listed[start]]
            else:
                yield member, t, tuple(listed[start:end])


def _singles(problem: Problem, length: Int64) -> list[tuple[int]] | None:
    """Return each partition number as a tuple of its own, `None` where few runs are as short."""
    most = int(np.diff(problem.first).max())
    return [(number,) for number in range(most)] if most < np.count_nonzero(length == 1) else None


__all__ = [
    "NOBODY",
    "Bool",
    "Int32",
    "Int64",
    "Problem",
    "TopicPartitions",
    "assignment_of",
    "lawful_owners",
    "owners",
    "partitions_by_topic",
    "problem_of",
]
