"""The spread of topics: the last aim, and exact.

Spread is the sum, over topics and members, of squared counts. It is least where every topic is
distributed as evenly as the aims before it allow. Those aims leave a set of answers, their face:
the dual prices of the search before say in which cells (topic and member) the number of
partitions may change, and in which direction. On the face, balance, racks and moves are the same
everywhere, and spread is a convex cost of each cell. So this is a min-cost flow: partitions of a
topic pass from one member to another, and an answer is best if and only if no cycle of such
changes costs less than nothing.

The search starts from any answer on the face. It keeps a label for each row, for each member and
for the hub (the members whose load may be one more or one less), and lowers labels until no arc is
shorter than the difference of the labels of its ends: then no cycle is negative. A cycle of the
arcs along which labels were lowered is negative, and one partition is passed on along it. Rows
are looked at only where something may improve, so a group in which little changed takes little.
Source: Ahuja, Magnanti and Orlin, "Network Flows", 9.2 (optimality conditions), 5.5 (label
correction and negative cycles), 14.3 (convex costs).

Sets of members are integers, bit m for member m, as in `flow.residual`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from assignors.optimal.flow.effort import Effort

FAR = 1 << 60
"""Label of a row from which nothing can be taken."""
HUB = -1
"""The node of the hub. Rows have their own numbers, and member m is -2 - m."""
MOVES_MAX = 1 << 32
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
    search.start(begin)
    while search.queue and not effort.is_spent:
        effort.add(1)
        search.step()
    change = {number: search.rows[number].change for number in sorted(search.rows)}
    return Spread(
        {number: found for number, found in change.items() if found}, not search.queue
    )


@dataclass(slots=True)
class _Search:
    """The state of one search."""

    table: Table
    face: Face
    rows: dict[int, _Row] = field(default_factory=dict)
    label: dict[int, int] = field(default_factory=dict)
    """Of each row, and of the hub."""
    labelled: dict[int, int] = field(default_factory=dict)
    """Label -> set of the members that have it."""
    descending: list[int] = field(default_factory=lambda: [0])
    """The labels of members."""
    before: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Node -> the node from which its label was lowered, and the member passed on the way, or -1.

    Between two rows of a topic, or a row and the hub, members are passed without being nodes."""
    queue: deque[int | None] = field(default_factory=deque)
    """Rows and the hub; `None` for the members whose labels were lowered."""
    waiting: set[int | None] = field(default_factory=set)
    """What is in the queue."""
    lowered: int = 0
    """Set of the members whose labels were lowered since members were looked at."""
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
        self.labelled[0] = (1 << self.table.member_count) - 1
        self.label[HUB] = 0
        if self.face.moves_last:
            self.unit, self.discount = MOVES_MAX, 1

    def give_up(self, task: Task) -> dict[int, int]:
        """Let members give up what they have most of; return how many are free of each row.

        Rows take turns.
        """
        free, left, extras = dict(task.free), dict(task.drops), max(-task.extras, 0)
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
        needy, waiting = set_of(must), {number: self._row(number) for number in free}
        while waiting:
            takers = needy | (self.up if extras else 0)
            choice = {
                number: (row.topic.get(level, 0) & row.gaining & takers).bit_count() - free[number]
                for number, row in waiting.items()
            }
            for number in sorted(choice, key=choice.__getitem__):
                row = waiting[number]
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

    def start(self, begin: Iterable[int]) -> None:
        """Put these rows into the queue, with labels that are lowered over no arc to them."""
        for number in begin:
            self._row(number)
        for number, row in self.rows.items():
            self.busy |= row.open_from
            self.label[number] = self._first_label(row)
        self.lowered = 0
        self.enqueue(self.rows)

    def enqueue(self, nodes: Iterable[int | None]) -> None:
        """Put nodes into the queue from which a label may have to be lowered."""
        for node in nodes:
            if node not in self.waiting:
                self.waiting.add(node)
                self.queue.append(node)

    def step(self) -> None:
        """Lower labels over the arcs from what is next; pass a partition on along a cycle."""
        node = self.queue.popleft()
        self.waiting.discard(node)
        if node is None:
            self._from_members()
        elif node == HUB:
            self._lower_members(node, self.down & self.busy, self.label[HUB], self._path(node))
        else:
            self._from_row(node)

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
        beside = self.table.rows_beside(number)
        count: dict[int, int] = {}
        for other in beside:
            if other in self.rows and other != number:
                return self.rows[other].topic
            for each, members in self.table.owned(other).items():
                for member in members_of(members):
                    count[member] = count.get(member, 0) + each
        topic: Levels = {}
        for member, each in count.items():
            topic[each] = topic.get(each, 0) | 1 << member
        return dict(sorted(topic.items()))

    def _first_label(self, row: _Row) -> int:
        """Return the label with which no arc to the row is too short while members have 0."""
        open_from, label = row.open_from, FAR
        for count, members in row.topic.items():
            for there, worth in self._taken(row, members & open_from):
                if there:
                    label = min(label, worth - self.unit * (2 * count - 1))
        return label

    def _placed(self, row: _Row, members: int) -> tuple[tuple[int, int], ...]:
        """Return parts of a set of members, and what placing a partition with them is worth."""
        if not self.discount:
            return ((members, 0),)
        return ((members & row.short, self.discount), (members & ~row.short, 0))

    def _taken(self, row: _Row, members: int) -> tuple[tuple[int, int], ...]:
        """Return parts of a set of members, and what is lost if a partition is taken from them."""
        if not self.discount:
            return ((members, 0),)
        return ((members & ~row.over, self.discount), (members & row.over, 0))

    def _from_row(self, number: int) -> None:
        """Lower labels over the arcs from a row."""
        row, label = self.rows[number], self.label[number]
        if label == FAR:
            return
        path = self._path(number)
        open_to = row.open_to & (self.busy | self.up)
        for count, members in row.topic.items():
            for there, worth in self._placed(row, members & open_to):
                value = label + self.unit * (2 * count + 1) - worth
                if there and self._lower_members(number, there, value, path):
                    return
        if self.table.rows_beside is not None:
            self._to_rows_beside(number, row, label, path)

    def _to_rows_beside(self, number: int, row: _Row, label: int, path: set[int]) -> None:
        """Lower labels of other rows of the topic: the spread is the same for whatever row."""
        assert self.table.rows_beside is not None
        for other in self.table.rows_beside(number):
            if other == number or other not in self.rows:
                continue
            beside = self.rows[other]
            for to, worth in self._placed(row, row.open_to):
                for there, lost in self._taken(beside, to & beside.open_from):
                    value = label - worth + lost
                    if there and value < self.label[other]:
                        if self._lower(other, value, number, there.bit_length() - 1, path):
                            return

    def _from_members(self) -> None:
        """Lower labels over the arcs from members whose labels were lowered."""
        lowered, self.lowered = self.lowered, 0
        ascending = self.descending[::-1]
        for label in ascending:
            if label >= self.label[HUB]:
                break
            if there := self.labelled[label] & lowered & self.up:
                if self._lower_from(there, HUB, label):
                    self.lowered |= lowered
                    return
                break
        for number, row in self.rows.items():
            there = lowered & row.open_from
            if not there:
                continue
            for count, members in row.topic.items():
                for part, worth in self._taken(row, there & members):
                    if not part:
                        continue
                    change, low = worth - self.unit * (2 * count - 1), self.label[number]
                    for label in ascending:
                        if label + change >= low:
                            break
                        if found := part & self.labelled[label]:
                            if self._lower_from(found, number, label + change):
                                self.lowered |= lowered
                                return
                            break

    def _lower_from(self, members: int, node: int, value: int) -> bool:
        """Give a node a lower label from one of these members; return whether a cycle closed."""
        source = -2 - (members.bit_length() - 1)
        return self._lower(node, value, source, -1, self._path(source))

    def _lower_members(self, node: int, members: int, value: int, path: set[int]) -> bool:
        """Give members a label if theirs is higher; return whether a cycle closed."""
        for label in self.descending:
            if label <= value:
                break
            lowered = self.labelled[label] & members
            if not lowered:
                continue
            self.labelled[label] ^= lowered
            self.labelled[value] = self.labelled.get(value, 0) | lowered
            if not self.labelled[label]:
                del self.labelled[label]
            self.descending = sorted(self.labelled, reverse=True)
            self.lowered |= lowered & (self.busy | self.up)
            self.enqueue((None,))
            for member in members_of(lowered & self.busy):
                if -2 - member in path:
                    self._cancel(node, -2 - member, -1)
                    return True
                self.before[-2 - member] = node, -1
            passing = lowered & self.up
            if passing and node != HUB and value < self.label[HUB]:
                if self._lower(HUB, value, node, passing.bit_length() - 1, path):
                    return True
        return False

    def _lower(self, node: int, value: int, source: int, over: int, path: set[int]) -> bool:
        """Give a row or the hub a lower label; return whether that closed a cycle."""
        self.label[node] = value
        self.enqueue((node,))
        if node in path:
            self._cancel(source, node, over)
            return True
        self.before[node] = source, over
        return False

    def _path(self, node: int) -> set[int]:
        """Return the nodes over which the label of a node was lowered, itself included."""
        path = {node}
        while node in self.before:
            node, _ = self.before[node]
            path.add(node)
        return path

    def _cancel(self, last: int, first: int, over: int) -> None:
        """Pass one partition on along the cycle that an arc from `last` to `first` closes."""
        arcs = [(last, over, first)]
        node = last
        while node != first:
            source, member = self.before[node]
            arcs.append((source, member, node))
            node = source
        for source, member, node in arcs:
            if source >= 0:  # to a member, over one to the hub, or over one to another row
                self._change(source, member if member >= 0 else -2 - node, 1)
            if node == HUB:
                self._change_load(member if member >= 0 else -2 - source)
            elif source == HUB:
                self._change_load(-2 - node)
            elif node >= 0:
                self._change(node, member if member >= 0 else -2 - source, -1)
        self.before.clear()
        self.enqueue((None,))

    def _change_load(self, member: int) -> None:
        """Let a member that may have one more have it, or the other way round."""
        self.up ^= 1 << member
        self.down ^= 1 << member
        self.lowered |= 1 << member
        self.enqueue((HUB,))

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
        self.lowered |= bit
        beside = self.table.rows_beside
        near = (number,) if beside is None else beside(number)
        self.enqueue(each for each in near if each in self.rows)
        if more > 0:
            self.busy |= bit


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


def set_of(members: Iterable[int]) -> int:
    """Return members as a set.

    >>> bin(set_of([0, 2, 3]))
    '0b1101'
    """
    found = 0
    for member in members:
        found |= 1 << member
    return found


def levels_of(owners: Iterable[int], member_count: int) -> Levels:
    """Return how many of some partitions each member owns; -1 is nobody.

    >>> levels_of([0, 0, 2, -1], 3)
    {0: 2, 1: 4, 2: 1}
    """
    counted: dict[int, int] = {}
    for member in owners:
        counted[member] = counted.get(member, 0) + 1
    counted.pop(-1, None)
    levels = {0: (1 << member_count) - 1}
    for member, count in counted.items():
        levels[count] = levels.get(count, 0) | 1 << member
        levels[0] ^= 1 << member
    return dict(sorted(levels.items()))


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
