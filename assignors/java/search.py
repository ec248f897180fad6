"""The passes of the general sticky algorithm: which partition moves next, and where to.

Java asks before each partition whether the group is balanced, which looks at every partition
again. Nothing changes between two moves, so the question is asked once a move, on arrays, and
the next partition that Java would move is found by one scan.

Source: `AbstractStickyAssignor`'s general builder of Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

import numpy as np

from assignors.java.intake import Intake
from assignors.java.movements import Movements
from assignors.options import JavaFailure
from assignors.problem import NOBODY, Bool, Int32, Int64

MOVE_LIMIT = 64
"""Moves for each partition after which a search that Java would go on with is given up."""

HUGE = np.iinfo(np.int64).max // 4


@dataclass(slots=True)
class Table:
    """The assignment while it is made. Lengths: M members, S partitions and phantoms, T topics."""

    intake: Intake
    owner: Int32
    """int32[S]: -1 for nobody."""
    stamp: Int64
    """int64[S]: when the owner got it; its list is in this order."""
    size: Int64
    """int64[M]."""
    clock: int
    takes: Bool
    """bool[M, T]."""
    asked: Int64
    """int64[T]: how many times the topic stands in subscriptions."""
    most: Int64
    """int64[M]: partitions of all topics a member asks for."""
    is_aside: Bool
    """bool[M]: has stepped aside."""
    before: Int32
    """int32[S]: owner in an older generation."""
    java_hash: Int32
    """int32[S]: Java's hash code of the partition."""
    least: Int64
    """int64[T]: size of the smallest subscriber, of topics that several ask for."""
    movements: Movements = field(default_factory=Movements)

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
        self._judge()
        while not self.is_balanced and position < len(partitions):
            moves, returns = self._wanting(partitions[position:])
            wanting = moves | returns
            step = int(np.argmax(wanting))
            if not wanting[step]:
                return
            partition = int(partitions[position + step])
            if returns[step]:
                self._give_back(partition, could_move=bool(moves[step]))
            else:
                self._move(partition, self._smallest_subscriber(partition))
            position += step + 1

    def _judge(self) -> None:
        """Set whether no partition has an owner two ahead of one of its subscribers.

        A subscriber that holds as many as it can ask for is not looked at, whatever it holds.
        """
        table = self.table
        least = table.least
        is_full = table.size >= table.most
        if is_full.any():
            topics = np.flatnonzero(least < HUGE)
            least = least_sizes(table, topics, ~(table.is_aside | is_full))
        size = table.size[table.owner[self.shared]]
        is_ahead = size > least[table.intake.topic_of[self.shared]] + 1
        self.is_balanced = not bool(is_ahead.any())

    def _wanting(self, partitions: Int64) -> tuple[Bool, Bool]:
        """Return which partitions are to move, and which would first go back to an older owner."""
        table = self.table
        size = table.size[table.owner[partitions]]
        moves = size > table.least[table.intake.topic_of[partitions]] + 1
        before = table.before[partitions]
        ahead = (size > table.size[before] + 1) | table.is_aside[before]
        return moves, (before != NOBODY) & ahead

    def _give_back(self, partition: int, *, could_move: bool) -> None:
        """Move a partition to its older owner."""
        receiver = int(self.table.before[partition])
        if not self.table.is_aside[receiver]:
            self._move(partition, receiver)
            return
        if self.repaired is None:
            _null_pointer()
        member_id = self.table.intake.problem.members[receiver].member_id
        self.repaired(f"claim of an older generation of {member_id!r} passed over")
        self.table.before[partition] = NOBODY
        if could_move:
            self._move(partition, self._smallest_subscriber(partition))

    def _smallest_subscriber(self, partition: int) -> int:
        table = self.table
        taking = table.takes[:, table.intake.topic_of[partition]] & ~table.is_aside
        subscribers = np.flatnonzero(taking)
        return int(subscribers[np.argmin(table.size[subscribers])])

    def _move(self, partition: int, receiver: int) -> None:
        """Move a partition, or the one that takes its place."""
        self.move_count += 1
        if self.move_count > MOVE_LIMIT * (len(self.table.owner) + 1):
            raise JavaFailure("TimeoutException", "the passes come to no end")
        table = self.table
        topic = int(table.intake.topic_of[partition])
        owner = int(table.owner[partition])
        partition = table.movements.instead(partition, topic, owner, receiver)
        owner = int(table.owner[partition])
        table.movements.record(partition, topic, int(table.java_hash[partition]), owner, receiver)
        table.size[owner] -= 1
        table.grant(np.array([partition]), np.array([receiver]))
        self._refresh(owner, receiver)
        self._judge()

    def _refresh(self, giver: int, receiver: int) -> None:
        """Bring `least` up to date after a partition went from one member to another."""
        table = self.table
        if not table.is_aside[giver]:
            lower = table.takes[giver] & (table.least < HUGE)
            table.least[lower] = np.minimum(table.least[lower], table.size[giver])
        was_least = table.takes[receiver] & (table.least == table.size[receiver] - 1)
        topics = np.flatnonzero(was_least)
        if len(topics):
            table.least[topics] = least_sizes(table, topics, ~table.is_aside)[topics]


def least_sizes(table: Table, topics: Int64, counts: Bool) -> Int64:
    """Return the size of the smallest subscriber that counts, HUGE for other topics, int64[T]."""
    least = np.full(len(table.asked), HUGE, dtype=np.int64)
    size = np.where(counts, table.size, HUGE)
    least[topics] = np.where(table.takes[:, topics].T, size, HUGE).min(axis=1, initial=HUGE)
    return least


def _null_pointer() -> NoReturn:
    """Fail as Java does where an older owner has stepped aside."""
    raise JavaFailure(
        "NullPointerException",
        'Cannot invoke "java.util.List.size()" because the return value of '
        '"java.util.Map.get(Object)" is null',
    )
