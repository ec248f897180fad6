"""The passes of the general sticky algorithm: which partition moves next, and where to.

Java asks before each partition whether the group is balanced, which looks at every partition
again. Nothing changes between two moves, so the question is asked once a move, on arrays, and
the next partition that Java would move is found by one scan.

Source: `AbstractStickyAssignor`'s general builder of Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from assignors.java.java_input import JavaInput
from assignors.java.movements import Movements
from assignors.jvm.failure import JavaFailure
from assignors.problem import NOBODY, Bool, Int32, Int64

MOVE_LIMIT = 64
"""Moves for each partition after which a search that Java would not end is ended."""

FIRST_LOOK = 256
"""Partitions in the first scan; the next one that moves is mostly among them."""

NULL_LIST = (
    'Cannot invoke "java.util.List.size()" because the return value of '
    '"java.util.Map.get(Object)" is null'
)

HUGE = np.iinfo(np.int64).max // 4


@dataclass(slots=True)
class Table:
    """The assignment while it is made.

    Lengths: M members, S partitions and nonexistent ones, T topics.
    """

    java_input: JavaInput
    owner: Int32
    """int32[S]: -1 for nobody."""
    stamp: Int64
    """int64[S]: the order in which owners got them, which is the order of Java's lists."""
    size: Int64
    """int64[M]: how many partitions each member has."""
    clock: int
    takes: Bool
    """bool[M, T]: the member subscribes to the topic."""
    asked: Int64
    """int64[T]: how many times the topic is named in subscriptions."""
    most: Int64
    """int64[M]: partitions of all topics that the member subscribes to."""
    is_fixed: Bool
    """bool[M]: can neither give nor take."""
    before: Int32
    """int32[S]: owner in an older generation."""
    java_hash: Int32
    """int32[S]: Java's hash code of the partition."""
    least: Int64
    """int64[T]: size of the smallest subscriber, for topics with several subscribers."""
    movements: Movements = field(default_factory=Movements)
    doubles: dict[tuple[int, int], int] = field(default_factory=dict)
    """(member, partition) -> stamp, of partitions that were given away and kept as well."""

    def grant(self, partition: Int64, member: Int32 | Int64) -> None:
        """Append partitions to the lists of members, in this order."""
        self.owner[partition] = member
        self.stamp[partition] = self.clock + np.arange(len(partition))
        self.clock += len(partition)
        np.add.at(self.size, member, 1)


@dataclass(slots=True)
class Search:
    """Passes over partitions until a whole pass changes nothing."""

    table: Table
    shared: Int64
    """All partitions of shared topics: balance is judged on them."""
    repaired: Callable[[str], None] | None
    move_count: int = 0
    is_balanced: bool = False

    def improve(self, partitions: Int64) -> bool:
        """Move what Java would move among `partitions`; return whether anything moved."""
        before = self.move_count
        while True:
            count = self.move_count
            self._pass(partitions)
            if self.move_count == count:
                return count > before

    def _pass(self, partitions: Int64) -> None:
        position = 0
        self._judge(position)
        while not self.is_balanced:
            found = _first(partitions, position, self._moves_next)
            if found is None:
                return
            self._serve(int(partitions[found]))
            position = found + 1
            self._judge(position if partitions is self.shared else 0)

    def _judge(self, near: int) -> None:
        """Set whether no partition has an owner two ahead of one of its subscribers.

        A subscriber that holds as many partitions as its topics have is left out, even where
        some of them are not partitions of its topics. The scan of `shared` begins at `near`,
        where such a partition is likely, and goes on from the start.
        """
        table = self.table
        least = table.least
        is_full = table.size == table.most
        if is_full.any():
            topics = np.flatnonzero(least < HUGE)
            least = least_sizes(table, topics, ~(table.is_fixed | is_full))

        owner, doubled = _as_java_looks(table)

        def is_ahead(partitions: Int64) -> Bool:
            size = table.size[owner[partitions]]
            ahead: Bool = size > least[table.java_input.topic_of[partitions]] + 1
            return ahead

        if doubled:
            self.is_balanced = not self._is_ahead_of_others(
                self.shared[is_ahead(self.shared)], owner, doubled
            )
            return
        found = _first(self.shared, near, is_ahead)
        if found is None:
            found = _first(self.shared[:near], 0, is_ahead)
        self.is_balanced = found is None

    def _is_ahead_of_others(
        self, partitions: Int64, owner: Int32, doubled: Mapping[int, list[int]]
    ) -> bool:
        """Return whether one of these has an owner two ahead of a subscriber without it."""
        table = self.table
        counts = ~(table.is_fixed | (table.size == table.most))
        for partition in partitions.tolist():
            others = counts & table.takes[:, table.java_input.topic_of[partition]]
            others[doubled.get(partition, [])] = False
            smallest = int(table.size[others].min(initial=HUGE))
            if table.size[owner[partition]] > smallest + 1:
                return True
        return False

    def _moves_next(self, partitions: Int64) -> Bool:
        """Return which partitions Java would move, or would fail on."""
        table = self.table
        size = table.size[table.owner[partitions]]
        wants: Bool = size > table.least[table.java_input.topic_of[partitions]] + 1
        return wants | self._returns(partitions, size)

    def _returns(self, partitions: Int64, size: Int64) -> Bool:
        """Return which partitions have an older owner that comes before any other."""
        before = self.table.before[partitions]
        ahead = (size > self.table.size[before] + 1) | self.table.is_fixed[before]
        returns: Bool = (before != NOBODY) & ahead
        return returns

    def _serve(self, partition: int) -> None:
        """Move a partition that `_moves_next` has found."""
        table = self.table
        one = np.array([partition])
        size = table.size[table.owner[one]]
        if self._returns(one, size)[0]:
            receiver = int(table.before[partition])
            if not table.is_fixed[receiver]:
                self._move(partition, receiver)
                return
            self._pass_over(partition, receiver)
        if size[0] > table.least[table.java_input.topic_of[partition]] + 1:
            self._move(partition, self._smallest_subscriber(partition))

    def _pass_over(self, partition: int, receiver: int) -> None:
        """Drop an older owner that is fixed, or fail as Java does."""
        if self.repaired is None:
            raise JavaFailure("NullPointerException", NULL_LIST)
        member_id = self.table.java_input.problem.members[receiver].member_id
        self.repaired(f"claim of an older generation of {member_id!r} passed over")
        self.table.before[partition] = NOBODY

    def _smallest_subscriber(self, partition: int) -> int:
        table = self.table
        taking = table.takes[:, table.java_input.topic_of[partition]] & ~table.is_fixed
        subscribers = np.flatnonzero(taking)
        return int(subscribers[np.argmin(table.size[subscribers])])

    def _move(self, partition: int, receiver: int) -> None:
        """Move a partition, or the one that Java moves instead of it."""
        self.move_count += 1
        if self.move_count > MOVE_LIMIT * (len(self.table.owner) + 1):
            raise JavaFailure("TimeoutException", "the passes come to no end")
        table = self.table
        topic = int(table.java_input.topic_of[partition])
        owner = int(table.owner[partition])
        partition = table.movements.instead(partition, topic, owner, receiver)
        owner = int(table.owner[partition])
        table.movements.record(partition, topic, int(table.java_hash[partition]), owner, receiver)
        table.size[owner] -= 1
        if (owner, partition) in table.doubles:  # Java takes out the first of the two
            table.doubles[owner, partition] = int(table.stamp[partition])
        table.grant(np.array([partition]), np.array([receiver]))
        self._refresh(owner, receiver)

    def _refresh(self, giver: int, receiver: int) -> None:
        """Bring `least` up to date after a partition went from one member to another."""
        table = self.table
        if not table.is_fixed[giver]:
            lower = table.takes[giver] & (table.least < HUGE)
            table.least[lower] = np.minimum(table.least[lower], table.size[giver])
        was_least = table.takes[receiver] & (table.least == table.size[receiver] - 1)
        topics = np.flatnonzero(was_least)
        if len(topics):
            table.least[topics] = least_sizes(table, topics, ~table.is_fixed)[topics]


def least_sizes(table: Table, topics: Int64, counts: Bool) -> Int64:
    """Return the size of the smallest subscriber that counts, HUGE for other topics, int64[T].

    `topics` are the topics to look at, `counts` (bool[M]) the members. Cost: O(len(topics) M).
    """
    least = np.full(len(table.asked), HUGE, dtype=np.int64)
    size = np.where(counts, table.size, HUGE)
    least[topics] = np.where(table.takes[:, topics].T, size, HUGE).min(axis=1, initial=HUGE)
    return least


def _as_java_looks(table: Table) -> tuple[Int32, Mapping[int, list[int]]]:
    """Return the owners by which balance is judged, int32[S], and all of those with several.

    Java notes the owner of each partition list by list: the last list in map order that has it.
    """
    if not table.doubles:
        return table.owner, {}
    doubled: dict[int, list[int]] = {}
    for member, partition in table.doubles:
        doubled.setdefault(partition, [int(table.owner[partition])]).append(member)
    rank = {member: place for place, member in enumerate(table.java_input.order.tolist())}
    owner = table.owner.copy()
    for partition, members in doubled.items():
        owner[partition] = max(members, key=rank.__getitem__)
    return owner, doubled


def _first(partitions: Int64, begin: int, test: Callable[[Int64], Bool]) -> int | None:
    """Return the first position from `begin` where `test` holds, in scans of growing length."""
    width = FIRST_LOOK
    while begin < len(partitions):
        holds = test(partitions[begin : begin + width])
        found = int(np.argmax(holds))
        if holds[found]:
            return begin + found
        begin += width
        width *= 2
    return None
