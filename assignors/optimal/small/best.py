"""The best assignment of a small group, whose members may subscribe to different topics.

The same answer as `optimal.solve`, which explains it. The search itself is shared (`flow.settle`):
it works on integers as sets of members in any case. What is on lists here is the way into it and
out of it, which takes longer than the search where a group has a few hundred partitions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, compress
from typing import NamedTuple

import numpy as np

from assignors.model import Assignment, Group
from assignors.optimal.faces import flow_face
from assignors.optimal.flow.distances import Distances, no_distances
from assignors.optimal.flow.effort import Effort
from assignors.optimal.flow.pour import shares_of
from assignors.optimal.flow.residual import Residual
from assignors.optimal.flow.settle import search
from assignors.optimal.prices import prices
from assignors.optimal.small.problem import Held, SmallProblem, small_problem
from assignors.optimal.small.share import Placed, free_counts, placed_by, shared_owners
from assignors.optimal.spread import Face, Task, set_of
from assignors.problem import NOBODY

Cells = list[dict[int, int]]
"""[row]: member -> how many partitions of the row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallRows:
    """Who may take, and who has, how much of each row: `rows.Rows` on lists. R rows, T topics."""

    of_topic: list[int]
    """T: -1 for a topic without partitions."""
    size: list[int]
    """R: partitions of the row."""
    takers: list[list[int]]
    """R: the members that may take from the row, ascending."""
    held: Cells
    """R: for how much of the row stickiness favours the member; no zeros."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loads:
    """What each member must get, `least`, what it may get beyond, and how many do."""

    least: list[int]
    optional: list[int]
    spare: int


@dataclass(frozen=True, slots=True)
class CountsByRow:
    """The numbers of `Cells` as the search reads and writes them (`flow.table.Counts`)."""

    cells: Cells
    width: int
    """How many members there are."""

    def __getitem__(self, cell: int) -> int:
        """Return how much the member has of the row."""
        return self.cells[cell // self.width].get(cell % self.width, 0)

    def __setitem__(self, cell: int, value: int) -> None:
        """Change how much the member has of the row."""
        self.cells[cell // self.width][cell % self.width] = value


def best_owners(
    problem: SmallProblem,
    favoured: list[int],
    held: Held | None = None,
    *,
    moves_last: bool = False,
) -> Placed:
    """Return who should hold each partition, as `solve` does; `favoured` has P entries.

    Those are subscribers of the topic alone, and -1 for nobody; `held` is the same by member, where
    that is known. Cost: O(P + M log M) for equal subscriptions, else O(P + total length of the
    subscriptions), and that of `flow.settle` and `prices` where they are asked.
    """
    member_count = len(problem.members)
    if problem.takes is None:
        return shared_owners(problem.first, favoured, member_count, held, moves_last=moves_last)
    rows = _rows(problem, favoured)
    if not rows.size:
        return Placed(favoured, [])
    if len(rows.size) == 1:
        return _shared_by_some(problem, favoured, rows.takers[0], moves_last=moves_last)
    rows, favoured, loads, settled = _best_table(problem, rows, favoured)
    tasks = _tasks(problem, rows, favoured, settled.placed)
    if not tasks and not moves_last:
        return Placed(favoured, [])
    face = _face(rows, loads, settled, moves_last=moves_last)
    return placed_by(problem.first, favoured, member_count, face, tasks)


def small_optimum(group: Group, held: Assignment) -> tuple[int, int] | None:
    """Return the least sum of squared loads, and with how few moves it can be had.

    `None` where the group wants arrays. `held` is who has what now: partitions that exist, each
    with one subscriber of its topic. Cost: that of `best_owners`, without the spread of topics.

    >>> from assignors.model import Cluster, Member
    >>> members = (Member(member_id="a", topics=("t",)), Member(member_id="b", topics=("t",)))
    >>> group = Group(cluster=Cluster.of({"t": 4}), members=members)
    >>> small_optimum(group, {"a": {"t": (0, 1, 2, 3)}, "b": {}})
    (8, 2)
    """
    problem = small_problem(group)
    if problem is None:
        return None
    owner = _owners(problem, held)
    loads, kept = _best_loads(problem, owner)
    return sum([load * load for load in loads]), len(owner) - owner.count(NOBODY) - kept


def _owners(problem: SmallProblem, held: Assignment) -> list[int]:
    """Return who has each partition, -1 for nobody."""
    owner = [NOBODY] * problem.first[-1]
    place = problem.numbering.place
    for number, member in enumerate(problem.members):
        for topic, partitions in held[member.member_id].items():
            begin, _ = place[topic]
            for partition in partitions:
                owner[begin + partition] = number
    return owner


def _best_loads(problem: SmallProblem, favoured: list[int]) -> tuple[Sequence[int], int]:
    """Return the loads of a best answer, and how many partitions stay with whom it favours."""
    if problem.takes is None:
        placed = shared_owners(problem.first, favoured, len(problem.members))
        return list(_counted(placed.owner).values()), len(favoured) - len(placed.changed)
    rows = _rows(problem, favoured)
    if not rows.size:
        return [], 0
    rows, _, _, settled = _best_table(problem, rows, favoured)
    kept = [
        min(count, had.get(member, 0))
        for has, had in zip(settled.placed, rows.held, strict=True)
        for member, count in has.items()
    ]
    return settled.load, sum(kept)


def _best_table(
    problem: SmallProblem, rows: SmallRows, favoured: list[int]
) -> tuple[SmallRows, list[int], Loads, Settled]:
    """Return the table that keeps most with the best loads, and who is favoured in it."""
    loads = _mean_loads(rows, len(problem.members))
    settled = _settled(rows, loads)
    if settled is None:
        price_of_row, price_of_member = _prices(problem, rows)
        rows, favoured = _agreeing(problem, rows, favoured, price_of_row, price_of_member)
        least = [max(price - 1, 0) for price in price_of_member]
        optional = [int(price > 0) for price in price_of_member]
        loads = Loads(least=least, optional=optional, spare=sum(rows.size) - sum(least))
        settled = _settled(rows, loads)
        assert settled is not None, "no table has the loads that its prices promise"
    return rows, favoured, loads, settled


def _face(rows: SmallRows, loads: Loads, settled: Settled, *, moves_last: bool) -> Face:
    """Return the face of the table, by topic."""
    takers = list(map(set_of, rows.takers))
    members = range(len(settled.load))
    full = [has > least for has, least in zip(settled.load, loads.least, strict=True)]
    face = flow_face(
        settled.distances,
        allowed=takers.__getitem__,
        remote=None,
        optional=set_of(compress(members, loads.optional)),
        full=set_of(compress(members, full)),
        moves_last=moves_last,
    )
    of_topic, gain, lose = rows.of_topic, face.may_gain, face.may_lose
    # No topic without partitions has a row: the last one is not asked for.
    return face._replace(
        may_gain=lambda topic: gain(of_topic[topic]),
        may_lose=lambda topic: lose(of_topic[topic]) if of_topic[topic] >= 0 else 0,
    )


def _rows(problem: SmallProblem, favoured: list[int]) -> SmallRows:
    """Return the table; rows are numbered by their first topic."""
    assert problem.takes is not None, "equal subscriptions take `share`"
    members_of: dict[frozenset[str], list[int]] = {}
    for member, taken in enumerate(problem.takes):
        members_of.setdefault(taken, []).append(member)
    lists_of: dict[str, list[int]] = {topic: [] for topic in problem.topics}
    for place, taken in enumerate(members_of):
        for topic in taken:
            lists_of[topic].append(place)
    number: dict[tuple[int, ...], int] = {}
    of_topic: list[int] = []
    favoured_in: list[list[int]] = []
    for topic, begin, end in zip(problem.topics, problem.first, problem.first[1:], strict=False):
        if begin == end:
            of_topic.append(NOBODY)
            continue
        row = number.setdefault(tuple(lists_of[topic]), len(number))
        of_topic.append(row)
        if row == len(favoured_in):
            favoured_in.append([])
        favoured_in[row] += favoured[begin:end]
    held = list(map(_counted, favoured_in))
    members = list(members_of.values())
    return SmallRows(
        of_topic=of_topic,
        size=list(map(len, favoured_in)),
        takers=[sorted(chain.from_iterable([members[n] for n in lists])) for lists in number],
        held=held,
    )


def _counted(owners: Sequence[int]) -> dict[int, int]:
    """Return how often each member is among these; `Counter` takes longer to make than to count."""
    found: dict[int, int] = {}
    for member in owners:
        found[member] = found.get(member, 0) + 1
    found.pop(NOBODY, None)
    return found


def _shared_by_some(
    problem: SmallProblem, favoured: list[int], takers: list[int], *, moves_last: bool
) -> Placed:
    """Return the answer where these members take all the topics that anybody takes."""
    number = [NOBODY] * (len(problem.members) + 1)  # the last one is nobody's
    for place, member in enumerate(takers):
        number[member] = place
    numbered = [number[member] for member in favoured]
    placed = shared_owners(problem.first, numbered, len(takers), moves_last=moves_last)
    return Placed([takers[place] for place in placed.owner], placed.changed)


def _mean_loads(rows: SmallRows, member_count: int) -> Loads:
    """Return the loads in which every member gets the mean, rounded up or down."""
    active = set().union(*rows.takers)
    total = sum(rows.size)
    floor = -(-total // len(active)) - 1
    optional = [int(member in active) for member in range(member_count)]
    least = [floor * may for may in optional]
    return Loads(least=least, optional=optional, spare=total - floor * len(active))


class Settled(NamedTuple):
    """The table that keeps most, the load of each member, and what proves it."""

    placed: Cells
    load: list[int]
    distances: Distances


def _settled(rows: SmallRows, loads: Loads) -> Settled | None:
    """Return the table with these loads that keeps most; `None` where no table has them."""
    placed = [of_row.copy() for of_row in rows.held]
    unplaced, load = rows.size.copy(), [0] * len(loads.least)
    for row, of_row in enumerate(placed):
        unplaced[row] -= sum(of_row.values())
        for member, count in of_row.items():
            load[member] += count
    room = [
        max(least + more - has, 0)
        for least, more, has in zip(loads.least, loads.optional, load, strict=True)
    ]
    _pour(rows.takers, placed, unplaced, load, room)
    residual = _without_arcs(rows, placed, unplaced, load, loads)
    if residual is not None:
        _add_arcs(residual, rows, placed)
        cut, distances = search(residual, Effort())
        if cut is not None:
            return None
        return Settled(placed, load, distances)
    return Settled(placed, load, no_distances(len(rows.size), len(load)))


def _without_arcs(
    rows: SmallRows, placed: Cells, unplaced: list[int], load: list[int], loads: Loads
) -> Residual | None:
    """Return the flow in which members have what is placed, `None` where it is settled."""
    hub = len(rows.size)
    extra, surplus = [], {}
    for member, (has, least) in enumerate(zip(load, loads.least, strict=True)):
        passed = min(has - least, loads.optional[member]) if has > least else 0
        extra.append(passed)
        if has - least > passed:
            surplus[hub + 2 + member] = has - least - passed
    hub_room = loads.spare - sum(extra)
    supply = {row: left for row, left in enumerate(unplaced) if left}
    if hub_room < 0:
        supply[hub] = -hub_room
    supply |= surplus
    if not supply:
        return None
    return Residual(
        hub=hub,
        costs=(1, 0),
        down=[[0] * (hub + 2), [0] * (hub + 2)],
        up=[[0] * (hub + 2), [0] * (hub + 2)],
        remote=None,
        width=len(load),
        owned=CountsByRow(rows.held, len(load)),
        placed=CountsByRow(placed, len(load)),
        supply=supply,
        load=load,
        least=loads.least,
        extra=extra,
        optional=loads.optional,
        hub_room=[hub_room],
    )


def _add_arcs(residual: Residual, rows: SmallRows, placed: Cells) -> None:
    """Add the arcs that have capacity, as `flow.residual.residual_of` does."""
    bits = [1 << member for member in range(len(residual.load))]
    hub, down, (within, above) = residual.hub, residual.down[1], residual.up
    for row, members in enumerate(rows.takers):
        down[row] = sum([bits[member] for member in members])
    for row, (has, had) in enumerate(zip(placed, rows.held, strict=True)):
        more = [member for member, count in has.items() if count > had.get(member, 0)]
        above[row] = sum([bits[member] for member in more])
        within[row] = sum([bits[member] for member in has]) ^ above[row]
    for member, bit in enumerate(bits):
        if residual.extra[member]:
            down[hub] |= bit
        if residual.extra[member] < residual.optional[member]:
            above[hub] |= bit
        if residual.load[member] < residual.least[member]:
            above[hub + 1] |= bit


def _prices(problem: SmallProblem, rows: SmallRows) -> tuple[list[int], list[int]]:
    """Return the price of each row and of each member (`optimal.prices`)."""
    assert problem.takes is not None, "equal subscriptions have one price"
    classes = Counter(problem.takes)
    topic_of: dict[int, str] = {}
    for topic, row in zip(problem.topics, rows.of_topic, strict=True):
        topic_of.setdefault(row, topic)
    known = prices(
        size=np.array(rows.size),
        takes=np.array(
            [[topic_of[row] in taken for taken in classes] for row in range(len(rows.size))]
        ),
        member_count=np.array(list(classes.values())),
    )
    assert known is not None, "without a limit there are prices"
    of_class = dict(zip(classes, known.of_class.tolist(), strict=True))
    return known.of_row.tolist(), [of_class[taken] for taken in problem.takes]


def _agreeing(
    problem: SmallProblem,
    rows: SmallRows,
    favoured: list[int],
    price_of_row: Sequence[int],
    price_of_member: Sequence[int],
) -> tuple[SmallRows, list[int]]:
    """Return the table without the cells where prices differ, and who is favoured elsewhere."""
    takers = [
        [member for member in members if price_of_member[member] == price]
        for members, price in zip(rows.takers, price_of_row, strict=True)
    ]
    held = [
        {member: count for member, count in of_row.items() if price_of_member[member] == price}
        for of_row, price in zip(rows.held, price_of_row, strict=True)
    ]
    if held != rows.held:
        price_of_topic = [price_of_row[row] if row >= 0 else 0 for row in rows.of_topic]
        sizes = [end - begin for begin, end in zip(problem.first, problem.first[1:], strict=False)]
        price = chain.from_iterable(map(_repeated, price_of_topic, sizes))
        favoured = [
            member if member != NOBODY and price_of_member[member] == due else NOBODY
            for member, due in zip(favoured, price, strict=True)
        ]
    return replace(rows, takers=takers, held=held), favoured


def _repeated(value: int, times: int) -> list[int]:
    return [value] * times


def _tasks(
    problem: SmallProblem, rows: SmallRows, favoured: list[int], placed: Cells
) -> list[Task]:
    """Return what members give up and get of each row, where they shall have what is placed."""
    topics: list[list[int]] = [[] for _ in rows.size]
    for topic, row in enumerate(rows.of_topic):
        if row >= 0:
            topics[row].append(topic)
    free = free_counts(problem.first, favoured)
    tasks = []
    for of_row, has, had in zip(topics, placed, rows.held, strict=True):
        if has == had:
            continue
        change = {member: count - had.get(member, 0) for member, count in has.items()}
        tasks.append(
            Task(
                rows=of_row,
                drops={member: -more for member, more in sorted(change.items()) if more < 0},
                free={topic: free[topic] for topic in of_row if topic in free},
                gains={member: more for member, more in sorted(change.items()) if more > 0},
            )
        )
    return tasks


def _pour(
    takers: Sequence[Sequence[int]],
    placed: Cells,
    unplaced: list[int],
    load: list[int],
    room: list[int],
) -> None:
    """Hand out free partitions where there is room; all but `takers` change.

    `takers` has by row the members that may take some, `room` by member how much it can take.
    """
    waiting = [row for row, free in enumerate(unplaced) if free]
    waiting.sort(key=lambda row: -(unplaced[row] / len(takers[row])))
    for row in waiting:
        of_row = placed[row]
        has = [of_row.get(member, 0) for member in takers[row]]
        chosen, given = shares_of(takers[row], room, unplaced[row], has)
        _place(placed[row], load, chosen, given)
        unplaced[row] -= sum(given)
        for member, amount in zip(chosen, given, strict=True):
            room[member] -= amount


def _place(
    of_row: dict[int, int], load: list[int], members: Sequence[int], given: Sequence[int]
) -> None:
    """Place so much of the row with each of these members."""
    for member, amount in zip(members, given, strict=True):
        if amount:
            of_row[member] = of_row.get(member, 0) + amount
            load[member] += amount
