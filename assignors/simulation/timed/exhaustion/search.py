"""Visit every world that a case can reach, breadth first."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, pairwise

from assignors.simulation.timed.counterexamples.words import line_of
from assignors.simulation.timed.exhaustion.moves import is_settled, moves
from assignors.simulation.timed.exhaustion.world import Model, World
from assignors.simulation.timed.monitors.seen import Seen


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

    Cost: O(worlds times their moves), about 30 microseconds a move; memory: about a kilobyte a
    world.
    """
    found = Explored()
    numbers: dict[World, int] = {start: 0}
    worlds = [start]
    parents = array("l", [-1])
    before: list[array[int]] = [array("l")]
    """For each world those from which a move without a fault leads to it."""
    settled: list[int] = []
    at = 0
    while at < min(len(worlds), worlds_max):
        world = worlds[at]
        if is_settled(model, world):
            settled.append(at)
        for move in moves(model, world):
            found.moves += 1
            after = move.world
            number = numbers.setdefault(after, len(worlds))
            if number == len(worlds):
                worlds.append(after)
                parents.append(at)
                before.append(array("l"))
            if not move.is_fault and number != at:
                before[number].append(at)
            for monitor, text in chain.from_iterable(step.found for step in move.steps):
                if monitor not in found.broken:
                    path = [worlds[each] for each in (*_path(parents, at), number)]
                    lines = tuple(_lines(model, path))
                    found.broken[monitor] = Broken(monitor=monitor, text=text, lines=lines)
        at += 1
    found.worlds, found.settled, found.is_complete = at, len(settled), at == len(worlds)
    reached = _reaching(before, settled)
    stuck = [number for number in range(at) if not reached[number] and found.is_complete]
    found.stuck = len(stuck)
    if stuck:
        nearest = [worlds[each] for each in _path(parents, stuck[0])]
        found.stuck_first = tuple(_lines(model, nearest))
    return found


def _path(parents: array[int], number: int) -> list[int]:
    """Return the worlds from the first one to this one."""
    path = [number]
    while parents[path[-1]] >= 0:
        path.append(parents[path[-1]])
    return path[::-1]


def _lines(model: Model, path: list[World]) -> Iterator[str]:
    """Yield the moves along a path in words."""
    for one, following in pairwise(path):
        move = next(each for each in moves(model, one) if each.world == following)
        for step in move.steps:
            line = line_of(Seen(0, 0, step.who, step.event, step.effects))
            if line is not None:
                yield f"fault: {line}" if move.is_fault else line


def _reaching(before: list[array[int]], settled: list[int]) -> bytearray:
    """Return for each world whether a settled one can be reached from it without a fault."""
    reached = bytearray(len(before))
    waiting = list(settled)
    for number in settled:
        reached[number] = 1
    while waiting:
        for number in before[waiting.pop()]:
            if not reached[number]:
                reached[number] = 1
                waiting.append(number)
    return reached
