"""The spread of topics: the last aim, and exact.

Spread is the sum, over topics and members, of squared counts. It is least where every topic is
distributed as evenly as the aims before it allow. Those aims leave a set of answers, their face:
the dual prices of the search before say in which cells (topic and member) the number of
partitions may change, and in which direction. On the face, balance, racks and moves are the same
everywhere, and spread is a convex cost of each cell. So this is a min-cost flow: partitions of a
topic pass from one member to another, and an answer is best if and only if no cycle of such
changes costs less than nothing.

The answer is made in two steps. Members give up and receive one partition after the other, from
where they have most of a topic and where they have least (`give_up`, `hand_out`). In most groups
that is best, and a look at each row proves it (`is_least`). Else partitions are passed on along
negative cycles until there is none (`cycles`).

Sets of members are integers, bit m for member m, as in `flow.residual`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from assignors.optimal.cycles import Cells, cancel_cycles
from assignors.optimal.flow.effort import Effort
from assignors.problem import Bool

TABLE_MAX = 1 << 18
"""So many cells, used or not, are made at once."""
FAR = 1 << 60
"""Label of a row from which nothing can be taken."""
MOVES_MAX = 1 << 16
"""Where spread comes before moves, a unit of spread costs more than all moves of a cycle."""


Levels = dict[int, int]
"""Count -> the set of the members that have as many, 0 included."""


class Face(NamedTuple):
    """In which cells an answer can change without becoming worse in the aims before."""

    may_gain: Callable[[int], int]
    """Row -> the members that may have any number of it beyond what they own."""
    may_lose: Callable[[int], int]
    """Row -> the members that may have any number of it up to what they own."""
    up: int
    """The members whose load may be one more."""
    down: int
    """The members whose load may be one less."""
    moves_last: bool = False
    """Whether a partition that stays is preferred among answers with the same spread."""


class Table(NamedTuple):
    """What members own, by row. A row has partitions of one topic, with replicas in equal racks."""

    member_count: int
    owned: Callable[[int], Levels]
    """Row -> how much of it members own; counts ascend."""
    topic: Callable[[int], Levels]
    """Row -> how much of its topic members own: asked for where that has other rows."""
    change: Callable[[int], dict[int, int]]
    """Row -> how many more than they own members have in the answer; no zeros."""
    rows_beside: Callable[[int], Sequence[int]] | None = None
    """Row -> the rows of its topic, itself included; `None` where each row is a topic."""


class Task(NamedTuple):
    """Partitions of some rows that have to find a member, and members that must give some up."""

    rows: Sequence[int]
    """The rows of which members give up."""
    drops: Mapping[int, int]
    """Member -> how many it gives up."""
    free: Mapping[int, int]
    """Row -> how many of its partitions nobody owns."""
    gains: Mapping[int, int]
    """Member -> how many it must get."""
    extras: int = 0
    """How many of the members in `Face.up` get one more than they must; negative: how many of those
    in `Face.down` give up one more."""


@dataclass(slots=True)
class _Row:
    """One row. The sets of members change as partitions are passed on."""

    owned: Levels
    change: dict[int, int]
    """Member -> how many more than it owns it has."""
    topic: Levels
    """How many of the topic's partitions members have: of all its rows."""
    gaining: int
    losing: int
    short: int
    """Members that have less than they own."""
    over: int
    """Members that have more than they own."""
    holding: int
    """Members that have some."""

    @property
    def open_to(self) -> int:
        """Members with whom a partition can be placed."""
        return self.gaining | (self.losing & self.short)

    @property
    def open_from(self) -> int:
        """Members from whom a partition can be taken."""
        return (self.gaining & self.over) | (self.losing & self.holding)


class Spread(NamedTuple):
    """The answer: in which rows members have not what they own."""

    change: dict[int, dict[int, int]]
    """Row -> member -> how many more than it owns it has; rows ascend, and no zeros."""
    is_best: bool


def least_spread(
    table: Table, face: Face, *, tasks: Iterable[Task], begin: Iterable[int], effort: Effort
) -> Spread:
    """Return the answer with the least spread on the face.

    It begins with the tasks, done so that little is left to improve, or with the answer that the
    table has. `begin` are the rows that are looked at: at least those with changes, and those of
    which members may lose something. Stops where `effort` is spent.
    Cost: O(rows looked at x different counts) operations on sets, and as much for some ten rows for
    each partition that is passed on.
    """
    search = _Search(table, face)
    for task in tasks:
        search.hand_out(task, search.give_up(task))
    is_best = search.is_least(begin) or search.improve(effort)
    change = {number: search.rows[number].change for number in sorted(search.rows)}
    return Spread({number: found for number, found in change.items() if found}, is_best)


@dataclass(slots=True)
class _Search:
    """The state of one search."""

    table: Table
    face: Face
    rows: dict[int, _Row] = field(default_factory=dict)
    busy: int = 0
    """At least all members from whom something can be taken."""
    up: int = 0
    down: int = 0
    unit: int = 1
    """Cost of one unit of spread."""
    discount: int = 0
    """Worth of a partition that stays."""

    def __post_init__(self) -> None:
        self.up, self.down = self.face.up, self.face.down
        if self.face.moves_last:
            self.unit, self.discount = MOVES_MAX, 1

    def give_up(self, task: Task) -> dict[int, int]:
        """Let members give up what they have most of; return how many are free of each row.

        Rows take turns.
        """
        free, left, extras = dict(task.free), dict(task.drops), max(-task.extras, 0)
        if len(task.rows) == 1 and not extras:
            (number,) = task.rows
            self._row(number)
            for member, drop in left.items():
                self._change(number, member, -drop)
            free[number] = free.get(number, 0) + sum(left.values())
            return free
        giving = set_of(left)
        rows = [(number, self._row(number)) for number in task.rows] if left or extras else []
        for height in range(max((max(row.topic) for _, row in rows), default=0), 0, -1):
            there = giving | (self.down if extras else 0)
            turn = [each for each in rows if each[1].topic.get(height, 0) & there]
            while turn:
                for number, row in turn:
                    givers = giving | (self.down if extras else 0)
                    there = row.topic.get(height, 0) & givers & row.holding
                    if not there:
                        continue
                    low = there & -there
                    member = low.bit_length() - 1
                    self._change(number, member, -1)
                    free[number] = free.get(number, 0) + 1
                    if left.get(member):
                        left[member] -= 1
                        giving ^= 0 if left[member] else low
                    else:
                        extras -= 1
                        self.up ^= low
                        self.down ^= low
                givers = giving | (self.down if extras else 0)
                turn = [
                    each for each in turn if each[1].topic.get(height, 0) & givers & each[1].holding
                ]
        return free

    def hand_out(self, task: Task, free: dict[int, int]) -> None:
        """Let members have what is free, where they have least of the topic.

        The rows with the least choice come first.
        """
        must, extras, level = dict(task.gains), max(task.extras, 0), 0
        if len(free) == 1 and not extras:
            (number,) = free
            self._row(number)
            for member, gain in must.items():
                self._change(number, member, gain)
            return
        needy, waiting = set_of(must), {number: self._row(number) for number in free}
        while waiting:
            takers = needy | (self.up if extras else 0)
            choice = [
                (there.bit_count() - free[number], place, number, row)
                for place, (number, row) in enumerate(waiting.items())
                if (there := row.topic.get(level, 0) & row.gaining & takers)
            ]
            for _, _, number, row in sorted(choice):
                there = row.topic.get(level, 0) & row.gaining & takers
                while there and free[number]:
                    low = there & -there
                    member = low.bit_length() - 1
                    there ^= low
                    self._change(number, member, 1)
                    free[number] -= 1
                    if must.get(member):
                        must[member] -= 1
                        needy ^= 0 if must[member] else low
                    else:
                        extras -= 1
                        self.up ^= low
                        self.down ^= low
                    takers = needy | (self.up if extras else 0)
                    there &= takers
                if not free[number]:
                    del waiting[number]
            level += 1

    def is_least(self, begin: Iterable[int]) -> bool:
        """Make these rows; return whether a look at each shows that nothing can be improved.

        That is so where no member has two more of a topic, that may be taken from it, than another
        that may take one: with labels of 0 for members, no arc is too short.
        """
        for number in begin:
            self._row(number)
        labels = {number: self._label(row) for number, row in self.rows.items()}
        for row in self.rows.values():
            self.busy |= row.open_from
        useful = self.busy | self.up
        return all(
            label == FAR or not self._is_too_short(number, label, useful, labels)
            for number, label in labels.items()
        )

    def _is_too_short(self, number: int, label: int, useful: int, labels: dict[int, int]) -> bool:
        """Return whether an arc from a row is shorter than the difference of the labels."""
        row = self.rows[number]
        open_to = row.open_to & useful
        for count, members in row.topic.items():
            if members & open_to:
                worth = self.discount if members & open_to & row.short else 0
                if label + self.unit * (2 * count + 1) < worth:
                    return True
        beside = self.table.rows_beside
        return beside is not None and any(
            label < labels.get(other, label) and row.open_to & self.rows[other].open_from
            for other in beside(number)
        )

    def _label(self, row: _Row) -> int:
        """Return the highest label with which no arc to the row is too short."""
        label = FAR
        for count, members in row.topic.items():
            if there := members & row.open_from:
                worth = self.discount if not there & row.over else 0
                label = min(label, worth - self.unit * (2 * count - 1))
        return label

    def improve(self, effort: Effort) -> bool:
        """Pass partitions on until nothing can be improved; return whether `effort` sufficed."""
        rows = {number: row for number, row in sorted(self.rows.items()) if row.open_from}
        width, beside = self.table.member_count, self.table.rows_beside
        useful, step = self.busy | self.up, max(TABLE_MAX // width, 1)
        listed = list(rows.values())
        parts = [
            _cells_of(listed[begin : begin + step], begin, useful, width)
            for begin in range(0, len(rows), step)
        ]
        at, member, count, owned, change, may_gain, may_lose = map(
            np.concatenate, zip(*parts, strict=True)
        )
        topic = None if beside is None else np.array([beside(number)[0] for number in rows])[at]
        cells = Cells(
            row=at,
            member=member,
            topic=topic,
            count=count,
            owned=owned,
            more=change,
            may_gain=may_gain,
            may_lose=may_lose,
            unit=self.unit,
            discount=self.discount,
        )
        is_best = cancel_cycles(
            cells,
            bits(self.up, width)[cells.members],
            bits(self.down, width)[cells.members],
            effort,
        )
        numbers = list(rows)
        for cell in cells.changed:
            of_row = rows[numbers[cells.row_of[cell]]].change
            of_row.pop(int(member[cell]), None)
            if more := cells.more[cell]:
                of_row[int(member[cell])] = more
        return is_best

    def _row(self, number: int) -> _Row:
        """Return a row, made when it is asked for first."""
        if number in self.rows:
            return self.rows[number]
        owned, change = self.table.owned(number), self.table.change(number)
        self.rows[number] = row = _Row(
            owned=owned,
            change={},
            topic=owned.copy() if self.table.rows_beside is None else self._topic(number),
            gaining=self.face.may_gain(number),
            losing=self.face.may_lose(number),
            short=0,
            over=0,
            holding=((1 << self.table.member_count) - 1) ^ owned.get(0, 0),
        )
        for member, more in change.items():
            self._change(number, member, more)
        return row

    def _topic(self, number: int) -> Levels:
        """Return how many of the row's topic members have, in all of its rows."""
        assert self.table.rows_beside is not None
        made = [self.rows[other] for other in self.table.rows_beside(number) if other in self.rows]
        return made[0].topic if made else self.table.topic(number)

    def _change(self, number: int, member: int, more: int) -> None:
        """Let a member have more of a row than before, or less."""
        row, bit = self.rows[number], 1 << member
        change = row.change.pop(member, 0) + more
        if change:
            row.change[member] = change
        row.short = row.short | bit if change < 0 else row.short & ~bit
        row.over = row.over | bit if change > 0 else row.over & ~bit
        has = change > 0 or _count_of(row.owned, bit) + change
        row.holding = row.holding | bit if has else row.holding & ~bit
        count = _count_of(row.topic, bit)
        row.topic[count] ^= bit
        row.topic[count + more] = row.topic.get(count + more, 0) | bit


def _cells_of(rows: Sequence[_Row], begin: int, useful: int, width: int) -> list[Any]:
    """Return the cells of rows, numbered from `begin`, as arrays; these members may be in them.

    Row, member, how many of the topic the member has, how many of the row it owns, how many more
    than that it has, and whether it may gain and lose some.
    """
    count = len(rows)
    members = [(row.gaining | (row.losing & (row.holding | row.short))) & useful for row in rows]
    levels = [
        (place, number, having & members[place % count])
        for place, each in enumerate((*(row.topic for row in rows), *(row.owned for row in rows)))
        for number, having in each.items()
        if number and having
    ]
    places, numbers, sets = zip(*levels, strict=True) if levels else ((), (), ())
    gaining, losing = [row.gaining for row in rows], [row.losing for row in rows]
    are_in = _bit_rows([*members, *gaining, *losing, *sets], width)
    at, member = are_in[:count].nonzero()
    table = np.zeros((3 * count, width), dtype=np.int64)
    level, having_member = are_in[3 * count :].nonzero()
    place = np.array(places, dtype=np.int64)[level]
    table[place, having_member] = np.array(numbers, dtype=np.int64)[level]
    for number, row in enumerate(rows, 2 * count):
        table[number, list(row.change)] = list(row.change.values())
    tables = *table.reshape(3, count, width), are_in[count : 2 * count], are_in[2 * count :]
    return [at + begin, member, *[each[at, member] for each in tables]]


def _count_of(levels: Levels, bit: int) -> int:
    """Return how much the member of this bit has."""
    for count, members in levels.items():
        if members & bit:
            return count
    raise AssertionError("a member without a count")


def members_of(members: int) -> Iterator[int]:
    """Yield the members of a set, ascending.

    >>> list(members_of(0b1101))
    [0, 2, 3]
    """
    while members:
        low = members & -members
        yield low.bit_length() - 1
        members ^= low


def bits(members: int, width: int) -> Bool:
    """Return bool[width]: who is in a set."""
    found: Bool = _bit_rows([members], width)[0]
    return found


def _bit_rows(sets: Sequence[int], width: int) -> Bool:
    """Return bool[sets, width]: who is in each."""
    size, everybody = width // 8 + 1, (1 << width) - 1
    packed = b"".join([(members & everybody).to_bytes(size, "little") for members in sets])
    rows = np.frombuffer(packed, dtype=np.uint8).reshape(-1, size)
    return np.unpackbits(rows, axis=1, bitorder="little", count=width).view(np.bool_)


def set_of(members: Iterable[int]) -> int:
    """Return members as a set.

    >>> bin(set_of([0, 2, 3]))
    '0b1101'
    """
    found = 0
    for member in members:
        found |= 1 << member
    return found


def levels_of(owners: Sequence[int], member_count: int) -> Levels:
    """Return how many of some partitions each member owns; -1 is nobody.

    >>> levels_of([0, 0, 2, -1], 3)
    {0: 2, 1: 4, 2: 1}
    """
    everybody = (1 << member_count) - 1
    # Hardly anybody owns more than two of a row in a small group: those are sets at once.
    one = two = more = 0
    for member in owners:
        if member >= 0:
            bit = 1 << member
            if one & bit:
                more |= two & bit
                two |= bit
            else:
                one |= bit
    if not more:
        return {0: everybody ^ one, 1: one ^ two, 2: two}
    counted: dict[int, int] = {}
    for member in owners:
        counted[member] = counted.get(member, 0) + 1
    counted.pop(-1, None)
    levels: Levels = {}
    for member, count in counted.items():
        levels[count] = levels.get(count, 0) | 1 << member
    levels[0] = everybody ^ one
    return {count: levels[count] for count in sorted(levels)}


def turns(change: Mapping[int, int]) -> list[int]:
    """Return the members that have more than they own, in turns, as often as they get one.

    >>> turns({4: 2, 7: 1, 5: -1})
    [4, 7, 4]
    """
    found: list[int] = []
    turn, members = 0, sorted([member for member, more in change.items() if more > 0])
    while members:
        found += members
        turn += 1
        members = [member for member in members if change[member] > turn]
    return found
