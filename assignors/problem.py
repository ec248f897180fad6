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

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress, count, repeat

import numpy as np

from assignors.arrays import Bool, Int32, Int64, bounds_of, partition_arrays
from assignors.group_bytes.members import RackIds, ReadMembers, rack_numbers
from assignors.model import (
    Assignment,
    Group,
    Member,
    Topic,
    in_id_order,
    member_ids_of,
    require_group,
)
from wire import TopicPartitions
from wire.text import utf16_sorted

NOBODY = -1
NO_RACK = -1
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
        """int32[P]: number of each partition in its topic. Cost: O(P)."""
        begin = self.first[:-1].astype(np.int32).repeat(np.diff(self.first))
        return np.arange(len(begin), dtype=np.int32) - begin

    def topic_index(self) -> dict[str, int]:
        """Return the number of each topic by name. Cost: O(T)."""
        return dict(zip(self.topics, range(len(self.topics)), strict=True))

    def may_take(self, member: Int32 | Int64, partition: Int32 | Int64) -> Bool:
        """Return, pair by pair, whether the member subscribes to the partition's topic.

        Both arguments are [N], of numbers in this problem (no `NOBODY`); the result is bool[N].
        Cost: O(N).
        """
        cell = self.class_of.take(member) * np.int64(len(self.topics))
        cell += self.topic_of.take(partition)
        allowed: Bool = self.takes.ravel().take(cell)
        return allowed


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
        members = group.members.in_id_order()
        names, table, list_of = members.subscriptions()
        rack_ids = members.arrays.rack_ids
    else:
        members = tuple(in_id_order(group.members))
        names, table, list_of = _subscriptions(members)
        rack_ids = rack_numbers([member.rack_id for member in members])
    known = group.cluster.topics
    topics = tuple(utf16_sorted(filter(known.__contains__, names)))
    if topics != names:
        index = {name: number for number, name in enumerate(names)}
        table = table.take([index[topic] for topic in topics], axis=1)
    described = [known[topic] for topic in topics]
    takes, class_of = _classes(table, list_of)
    sizes = np.array([topic.partition_count for topic in described], dtype=np.int64)
    rack, replica_set, replica_racks = None, None, None
    if with_racks and any(topic.racks for topic in described):
        rack, replica_set, replica_racks = _racks(rack_ids, described)
    return Problem(
        topics=topics,
        members=members,
        first=bounds_of(sizes),
        takes=takes,
        class_of=class_of,
        topic_of=np.arange(len(topics), dtype=np.int32).repeat(sizes),
        rack=rack,
        replica_set=replica_set,
        replica_racks=replica_racks,
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


def partitions_by_topic(
    problem: Problem, partitions: Sequence[int] | Int64
) -> dict[str, tuple[int, ...]]:
    """Return these partitions by topic and number.

    >>> from assignors.model import Cluster
    >>> members = (Member(member_id="a", topics=("t", "u")),)
    >>> problem = problem_of(Group(cluster=Cluster.of({"t": 2, "u": 2}), members=members))
    >>> partitions_by_topic(problem, np.array([1, 2, 3]))
    {'t': (1,), 'u': (0, 1)}
    """
    chosen = np.unique(np.asarray(partitions, dtype=np.int64))
    topic = problem.topic_of[chosen]
    found: dict[str, list[int]] = {}
    for at, number in zip(topic.tolist(), (chosen - problem.first[topic]).tolist(), strict=True):
        found.setdefault(problem.topics[at], []).append(number)
    return {name: tuple(numbers) for name, numbers in found.items()}


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


def _subscriptions(members: Sequence[Member]) -> tuple[tuple[str, ...], Bool, Int64]:
    """Return N names of topics, the different lists, bool[S, N], and everybody's list, int64[M].

    Each of the lists is somebody's, and each of the names stands in one.
    Cost: O(M + total length of different lists).
    """
    by_identity = {id(member.topics): member.topics for member in members}
    by_value: dict[tuple[str, ...], int] = {}
    number = {
        each: by_value.setdefault(topics, len(by_value)) for each, topics in by_identity.items()
    }
    index: defaultdict[str, int] = defaultdict(count().__next__)  # a new name gets the next number
    column = [index[name] for topics in by_value for name in topics]
    row = np.repeat(np.arange(len(by_value)), list(map(len, by_value)))
    table = np.zeros((len(by_value), len(index)), dtype=np.bool_)
    table[row, column] = True
    list_of = [number[id(member.topics)] for member in members]
    return tuple(index), table, np.array(list_of, dtype=np.int64)


def _classes(table: Bool, list_of: Int64) -> tuple[Bool, Int32]:
    """Return `takes` and everybody's class: lists of one set of topics are one class.

    Lists are numbered in the order of the members, and so are classes.
    """
    if len(table) == 1:
        return table, np.zeros(len(list_of), dtype=np.int32)
    packed = np.packbits(table, axis=1)
    sets: list[bytes] = (
        packed.view(f"V{packed.shape[1]}").ravel().tolist() if packed.size else [b""] * len(table)
    )
    first = {each: row for row, each in reversed(list(enumerate(sets)))}
    kept = sorted(first.values())
    number = {sets[row]: place for place, row in enumerate(kept)}
    class_of = list(map(number.__getitem__, sets))
    if len(kept) < len(table):
        table = table[kept]
    return table, np.array(class_of, dtype=np.int32).take(list_of)


def _racks(
    rack_ids: RackIds, topics: Sequence[Topic]
) -> tuple[Int32 | None, Int32 | None, Bool | None]:
    """Return rack of members, rack set of partitions, racks of the sets; `None`s without racks."""
    # Without racks, and with empty ones, a member is in none.
    is_used = np.zeros(len(rack_ids.names) + 1, dtype=np.bool_)  # the last one is for null
    is_used[rack_ids.number] = True
    names = utf16_sorted(filter(None, compress(rack_ids.names, is_used.tolist())))
    if not names:
        return None, None, None
    index = {rack_id: number for number, rack_id in enumerate(names)}
    rank = [*(index.get(name, NO_RACK) for name in rack_ids.names), NO_RACK]
    rack = np.array(rank, dtype=np.int32)[rack_ids.number]
    # Racks of replicas; `None` where they are not known: such a partition counts as local
    # everywhere, as no move could improve it.
    numbers: defaultdict[tuple[str, ...] | None, int] = defaultdict(count().__next__)
    listed = (topic.racks or repeat(None, topic.partition_count) for topic in topics)
    number = np.fromiter(map(numbers.__getitem__, chain.from_iterable(listed)), dtype=np.int32)
    # The same racks of members in any order are one set.
    row_of: dict[frozenset[int], int] = {}
    rows = []
    for racks in numbers:
        local = names if racks is None else filter(index.__contains__, racks)
        rows.append(row_of.setdefault(frozenset(map(index.__getitem__, local)), len(row_of)))
    replica_racks = np.zeros((len(row_of), len(names)), dtype=np.bool_)
    for local_racks, row in row_of.items():
        replica_racks[row, list(local_racks)] = True
    return rack, np.array(rows, dtype=np.int32)[number], replica_racks


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
            yield member, t, tuple(listed[start:end])


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
