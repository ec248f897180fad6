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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from assignors.optimal.flow.effort import Effort

FAR = 1 << 60
"""Label of a row from which nothing can be taken."""
HUB = -1
"""The node of the hub. Rows have their own numbers, and member m is -2 - m."""
MOVES_MAX = 1 << 32
"""Where spread comes before moves, a unit of spread costs more than all moves of a cycle."""


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
    busy: int
    """At least all members from whom something can be taken."""
    moves_last: bool = False
    """Whether a partition that stays is preferred among answers with the same spread."""


class Table(NamedTuple):
    """The partitions by row, and the answer to improve. A row is of one topic."""

    owners: Callable[[int], list[int]]
    """Row -> the owner of each of its partitions, -1 for nobody."""
    holders: Callable[[int], list[int]]
    """Row -> the member that has each of its partitions in the answer."""
    rows_with: Callable[[int], Iterable[int]]
    """Member -> at least all rows of which something can be taken from it, ascending."""
    rows_beside: Callable[[int], Sequence[int]] | None = None
    """Row -> the rows of its topic, itself included; `None` where each row is a topic."""


@dataclass(slots=True)
class _Row:
    """One row. The sets of members change as partitions are passed on."""

    owned: dict[int, int]
    placed: dict[int, int]
    topic: _Topic
    gaining: int
    losing: int
    short: int = 0
    """Members that have less than they own."""
    over: int = 0
    """Members that have more than they own."""
    holding: int = 0
    """Members that have some."""

    @property
    def open_to(self) -> int:
        """Members with whom a partition can be placed."""
        return self.gaining | (self.losing & self.short)

    @property
    def open_from(self) -> int:
        """Members from whom a partition can be taken."""
        return (self.gaining & self.over) | (self.losing & self.holding)


@dataclass(slots=True)
class _Topic:
    """How many partitions of a topic members have."""

    count: dict[int, int]
    members: dict[int, int]
    """Count -> the set of the members that have as many."""


@dataclass(slots=True)
class Improved:
    """Rows in which the answer changed: how many each member has, and the owners."""

    rows: dict[int, tuple[Mapping[int, int], Mapping[int, int]]]
    is_best: bool


def improve(
    table: Table, face: Face, begin: Iterable[int], member_count: int, effort: Effort
) -> Improved:
    """Return the rows to change so that the spread is the least on the face.

    `begin` are the rows in which something may be too much beside what others have: all rows, or
    at least those in which `uneven` is true. Stops where `effort` is spent.
    Cost: O(rows looked at x different counts) operations on sets for each lowered label.
    """
    search = _Search(table, face, member_count)
    search.enqueue(begin)
    while search.queue and not effort.is_spent:
        effort.add(1)
        search.step()
    changed = {
        number: (search.rows[number].placed, search.rows[number].owned)
        for number in sorted(search.changed)
    }
    return Improved(changed, not search.queue)


@dataclass(slots=True)
class _Search:
    """The state of one search."""

    table: Table
    face: Face
    member_count: int
    rows: dict[int, _Row] = field(default_factory=dict)
    label: dict[int, int] = field(default_factory=dict)
    """Node -> label; members without one have 0."""
    labelled: dict[int, int] = field(default_factory=dict)
    """Label -> set of the members that have it."""
    before: dict[int, tuple[int, int]] = field(default_factory=dict)
    """Node -> the node from which its label was lowered, and the member passed on the way, or -1.

    Between two rows of a topic, or a row and the hub, members are passed without being nodes."""
    queue: deque[int] = field(default_factory=deque)
    waiting: set[int] = field(default_factory=set)
    """The nodes in the queue."""
    changed: set[int] = field(default_factory=set)
    also_with: dict[int, list[int]] = field(default_factory=dict)
    """Member -> rows of which it has received something during the search."""
    up: int = 0
    down: int = 0
    busy: int = 0
    unit: int = 1
    """Cost of one unit of spread."""
    discount: int = 0
    """Worth of a partition that stays."""

    def __post_init__(self) -> None:
        self.up, self.down, self.busy = self.face.up, self.face.down, self.face.busy
        self.labelled[0] = (1 << self.member_count) - 1
        self.label[HUB] = 0
        if self.face.moves_last:
            self.unit, self.discount = MOVES_MAX, 1

    def enqueue(self, nodes: Iterable[int]) -> None:
        """Put nodes into the queue from which a label may have to be lowered."""
        for node in nodes:
            if node not in self.waiting:
                self.waiting.add(node)
                self.queue.append(node)

    def step(self) -> None:
        """Lower labels over the arcs from the next node; pass a partition on along a cycle."""
        node = self.queue.popleft()
        self.waiting.discard(node)
        if node >= 0:
            closed = self._from_row(node)
        elif node == HUB:
            members = self.down & self.busy
            closed = self._lower_members(node, members, self.label[HUB], self._path(node))
        else:
            closed = self._from_member(node, -2 - node)
        if closed is not None:
            self._cancel(node, *closed)

    def _row(self, number: int) -> _Row:
        """Return a row, made when it is asked for first."""
        if number in self.rows:
            return self.rows[number]
        owned, placed = _counted(self.table.owners(number)), _counted(self.table.holders(number))
        row = _Row(
            owned=owned,
            placed=placed,
            topic=self._topic(number, placed),
            gaining=self.face.may_gain(number),
            losing=self.face.may_lose(number),
        )
        for member, count in placed.items():
            row.holding |= 1 << member
            if count > owned.get(member, 0):
                row.over |= 1 << member
        for member, count in owned.items():
            if count > placed.get(member, 0):
                row.short |= 1 << member
        self.rows[number] = row
        self.label[number] = self._first_label(row)
        return row

    def _topic(self, number: int, placed: dict[int, int]) -> _Topic:
        """Return the counts of the row's topic."""
        count = placed
        if self.table.rows_beside is not None:
            beside = self.table.rows_beside(number)
            for other in beside:
                if other in self.rows:
                    return self.rows[other].topic
            count = {}
            for other in beside:
                for member in self.table.holders(other):
                    count[member] = count.get(member, 0) + 1
        members: dict[int, int] = {}
        some = 0
        for member, each in count.items():
            members[each] = members.get(each, 0) | 1 << member
            some |= 1 << member
        members[0] = ((1 << self.member_count) - 1) ^ some
        return _Topic(count.copy() if count is placed else count, members)

    def _first_label(self, row: _Row) -> int:
        """Return the label with which no arc to the row is too short while members have 0."""
        open_from, label = row.open_from, FAR
        for count, members in row.topic.members.items():
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

    def _from_row(self, number: int) -> tuple[int, int] | None:
        """Lower labels over the arcs from a row; return where a cycle closes, over which member."""
        row = self._row(number)
        label = self.label[number]
        if label == FAR:
            return None
        path = self._path(number)
        open_to = row.open_to & (self.busy | self.up)
        for count, members in row.topic.members.items():
            for there, worth in self._placed(row, members & open_to):
                if not there:
                    continue
                value = label + self.unit * (2 * count + 1) - worth
                closed = self._lower_members(number, there, value, path)
                if closed is not None:
                    return closed
        if self.table.rows_beside is None:
            return None
        return self._to_rows_beside(number, row, label, path)

    def _to_rows_beside(
        self, number: int, row: _Row, label: int, path: set[int]
    ) -> tuple[int, int] | None:
        """Lower labels of other rows of the topic: the spread is the same for whatever row."""
        assert self.table.rows_beside is not None
        for other in self.table.rows_beside(number):
            if other == number:
                continue
            beside = self._row(other)
            for to, worth in self._placed(row, row.open_to):
                for there, lost in self._taken(beside, to & beside.open_from):
                    if there and label - worth + lost < self.label[other]:
                        over = there.bit_length() - 1
                        if self._lower(other, label - worth + lost, number, over, path):
                            return other, over
        return None

    def _from_member(self, node: int, member: int) -> tuple[int, int] | None:
        """Lower labels over the arcs from a member; return where a cycle closes."""
        label, bit = self.label.get(node, 0), 1 << member
        path = self._path(node)
        if self.up & bit and label < self.label[HUB] and self._lower(HUB, label, node, -1, path):
            return HUB, -1
        for number in (*self.table.rows_with(member), *self.also_with.get(member, ())):
            row = self._row(number)
            if not row.open_from & bit:
                continue
            worth = self.discount if self.discount and not row.over & bit else 0
            value = label + worth - self.unit * (2 * row.topic.count[member] - 1)
            if value < self.label[number] and self._lower(number, value, node, -1, path):
                return number, -1
        return None

    def _lower_members(
        self, node: int, members: int, value: int, path: set[int]
    ) -> tuple[int, int] | None:
        """Give members a label if theirs is higher; return where a cycle closes."""
        closed: tuple[int, int] | None = None
        for label in [each for each in self.labelled if each > value]:
            lowered = self.labelled[label] & members
            if not lowered:
                continue
            self.labelled[label] ^= lowered
            if not self.labelled[label]:
                del self.labelled[label]
            self.labelled[value] = self.labelled.get(value, 0) | lowered
            left = lowered & self.busy
            while left:
                member = left.bit_length() - 1
                left ^= 1 << member
                if self._lower(-2 - member, value, node, -1, path):
                    closed = -2 - member, -1
            passing = lowered & self.up
            if passing and node != HUB and value < self.label[HUB]:
                over = passing.bit_length() - 1
                if self._lower(HUB, value, node, over, path):
                    closed = HUB, over
            if closed is not None:
                break
        return closed

    def _lower(self, node: int, value: int, source: int, over: int, path: set[int]) -> bool:
        """Give a node a lower label; return whether that closes a cycle."""
        self.label[node] = value
        self.enqueue([node])
        if node in path:
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
        touched = dict.fromkeys(node for arc in arcs for node in (arc[0], arc[2]))
        for source, member, node in arcs:
            to = member if member >= 0 else -2 - node
            if source >= 0:  # to a member, over one to the hub, or over one to another row
                self._change(source, to, 1, touched)
            if node == HUB:
                self._change_load(member if member >= 0 else -2 - source, touched)
            elif source == HUB:
                self._change_load(-2 - node, touched)
            elif node >= 0:
                self._change(node, member if member >= 0 else -2 - source, -1, touched)
        self.before.clear()
        self.enqueue(touched)

    def _change_load(self, member: int, touched: dict[int, None]) -> None:
        """Let a member that may have one more have it, or the other way round."""
        self.up ^= 1 << member
        self.down ^= 1 << member
        touched[-2 - member] = None
        touched[HUB] = None

    def _change(self, number: int, member: int, more: int, touched: dict[int, None]) -> None:
        """Let a member have one more or one less of a row."""
        row, bit = self.rows[number], 1 << member
        has = row.placed[member] = row.placed.get(member, 0) + more
        owns = row.owned.get(member, 0)
        row.short = row.short | bit if has < owns else row.short & ~bit
        row.over = row.over | bit if has > owns else row.over & ~bit
        row.holding = row.holding | bit if has else row.holding & ~bit
        topic = row.topic
        count = topic.count.get(member, 0)
        topic.count[member] = count + more
        topic.members[count] ^= bit
        topic.members[count + more] = topic.members.get(count + more, 0) | bit
        self.changed.add(number)
        touched[-2 - member] = None
        if more > 0:
            if not self.busy & bit:
                self.busy |= bit
                at = (label for label, members in self.labelled.items() if members & bit)
                self.label[-2 - member] = next(at)
            self.also_with.setdefault(member, []).append(number)
        if self.table.rows_beside is not None:
            touched |= dict.fromkeys(self.table.rows_beside(number))


def _counted(members: Iterable[int]) -> dict[int, int]:
    """Return how often each member is among these, in the order of the members."""
    found: dict[int, int] = {}
    for member in members:
        found[member] = found.get(member, 0) + 1
    found.pop(-1, None)
    return found


def distributed(
    owners: Sequence[int], placed: Mapping[int, int], owned: Mapping[int, int]
) -> list[int]:
    """Return the member that gets each partition of a row, where members shall have so many.

    Members give up their last partitions; those and free ones go to the others in turns.

    >>> distributed([0, 0, 0, 1, -1], {0: 1, 1: 1, 2: 3}, {0: 3, 1: 1})
    [0, 2, 2, 1, 2]
    """
    kept = {member: min(count, placed.get(member, 0)) for member, count in owned.items()}
    more = {member: placed[member] - owned.get(member, 0) for member in sorted(placed)}
    turns: list[int] = []
    receivers = [member for member, count in more.items() if count > 0]
    while receivers:
        turns += receivers
        for member in receivers:
            more[member] -= 1
        receivers = [member for member in receivers if more[member] > 0]
    given, answer = iter(turns), []
    for owner in owners:
        if kept.get(owner, 0) > 0:
            kept[owner] -= 1
            answer.append(owner)
        else:
            answer.append(next(given))
    return answer
