"""Visit every world that a case can reach, breadth first."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from assignors.simulation.timed.explore.moves import is_settled, moves
from assignors.simulation.timed.explore.words import line_of
from assignors.simulation.timed.explore.world import Model, World
from assignors.simulation.timed.monitors.rules import Seen

Int32 = NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A world in which a monitor is violated, first met by the fewest moves there are."""

    monitor: str
    text: str
    lines: tuple[str, ...]
    """The moves that lead to it."""


@dataclass(slots=True, kw_only=True)
class Explored:
    """What a search has found."""

    worlds: int = 0
    moves: int = 0
    settled: int = 0
    """Worlds in which the group is settled."""
    is_complete: bool = True
    """Whether every world was visited."""
    broken: dict[str, Broken] = field(default_factory=dict)
    """By monitor, the nearest world each."""
    stuck: int = 0
    """Worlds from which no settled one can be reached without a further fault; 0 where not every
    world was visited."""
    stuck_first: tuple[str, ...] = ()
    """The moves that lead to the nearest of them."""


def explore(model: Model, start: World, *, worlds_max: int) -> Explored:
    """Visit the worlds that can be reached from `start`, up to `worlds_max` of them.

    Cost: O(worlds times their moves), about 50 microseconds a move; memory: about a kilobyte a
    world.
    """
    worlds, numbers = [start], {start: 0}
    found = Explored()
    parents = array("i", [-1])
    sources, targets = array("i"), array("i")  # of the moves without a fault
    settled = array("i")
    at = 0
    while at < min(len(worlds), worlds_max):
        world = worlds[at]
        if is_settled(model, world):
            settled.append(at)
        for move in moves(model, world):
            found.moves += 1
            number = numbers.setdefault(move.world, len(worlds))
            if number == len(worlds):
                worlds.append(move.world)
                parents.append(at)
            if not move.is_fault and number != at:
                sources.append(at)
                targets.append(number)
            for monitor, text in move.found:
                if monitor not in found.broken:
                    path = [*_path(worlds, parents, at), worlds[number]]
                    lines = tuple(_lines(model, path))
                    found.broken[monitor] = Broken(monitor=monitor, text=text, lines=lines)
        at += 1
    found.worlds, found.settled, found.is_complete = at, len(settled), at == len(worlds)
    if found.is_complete:
        alive = _reaching(at, _numbers(sources), _numbers(targets), _numbers(settled))
        stuck = np.flatnonzero(~alive)
        found.stuck = len(stuck)
        if len(stuck):
            found.stuck_first = tuple(_lines(model, _path(worlds, parents, int(stuck[0]))))
    return found


def _numbers(listed: array[int]) -> Int32:
    return np.frombuffer(listed, dtype=np.int32) if listed else np.zeros(0, dtype=np.int32)


def _path(worlds: list[World], parents: array[int], number: int) -> list[World]:
    """Return the worlds from the first one to this one."""
    path = [worlds[number]]
    while parents[number] >= 0:
        number = parents[number]
        path.append(worlds[number])
    return path[::-1]


def _reaching(count: int, sources: Int32, targets: Int32, settled: Int32) -> NDArray[np.bool_]:
    """Return bool[count]: whether a settled world can be reached from each by these moves.

    `sources` and `targets` are the two ends of each move, int32[moves]. Cost: O(moves log moves).
    """
    order = np.argsort(targets, kind="stable")
    before, first = sources[order], np.searchsorted(targets[order], np.arange(count + 1))
    reached = np.zeros(count, dtype=np.bool_)
    reached[settled] = True
    waiting = settled
    while len(waiting):
        begin, end = first[waiting], first[waiting + 1]
        lengths = end - begin
        places = np.repeat(end - np.cumsum(lengths), lengths) + np.arange(lengths.sum())
        following = np.unique(before[places])
        waiting = following[~reached[following]]
        reached[waiting] = True
    return reached


def _lines(model: Model, path: list[World]) -> Iterator[str]:
    """Yield the moves along a path in words."""
    for one, following in pairwise(path):
        move = next(each for each in moves(model, one) if each.world == following)
        for step in move.steps:
            line = line_of(Seen(0, 0, step.who, step.event, step.effects))
            if line is not None:
                yield f"fault: {line}" if move.is_fault else line
