"""Visit every state that some order of moves can reach, breadth first, whatever the states are."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

from assignors.simulation.dice import Dice

W = TypeVar("W", bound=Hashable)


class Move(NamedTuple, Generic[W]):
    """One thing that may happen."""

    line: str
    """What it is, in words; empty: a step that does nothing."""
    world: W
    """What it leads to."""
    found: tuple[str, ...] = ()
    """The rules that it violates."""
    is_fault: bool = False
    """Whether progress may not count on it."""


@dataclass(slots=True)
class Explored(Generic[W]):
    """What a search has found."""

    worlds: int = 0
    moves: int = 0
    settled: int = 0
    broken: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By rule, the shortest history that violates it: a line a move."""
    stuck: int = 0
    """Worlds from which no settled one can be reached without a fault."""
    stuck_first: tuple[str, ...] = ()
    """The shortest history that leads to one of them."""
    reached: tuple[W, ...] = ()


def explore(
    start: W,
    moves: Callable[[W], Iterable[Move[W]]],
    is_settled: Callable[[W], bool],
    *,
    worlds_max: int = 200_000,
) -> Explored[W]:
    """Visit all worlds. Raises `ValueError` where there are more than `worlds_max`.

    Cost: O(worlds times their moves); memory: O(worlds).
    """
    found: Explored[W] = Explored()
    numbers: dict[W, int] = {start: 0}
    worlds, parents, lines = [start], [-1], [""]
    before: list[list[int]] = [[]]
    settled: list[int] = []
    for at, world in enumerate(worlds):
        if is_settled(world):
            settled.append(at)
        for move in moves(world):
            found.moves += 1
            for rule in move.found:
                if rule not in found.broken:
                    found.broken[rule] = (*_history(parents, lines, at), move.line)
            number = numbers.setdefault(move.world, len(worlds))
            if number == len(worlds):
                if number == worlds_max:
                    raise ValueError(f"more than {worlds_max} worlds")
                worlds.append(move.world)
                parents.append(at)
                lines.append(move.line)
                before.append([])
            if not move.is_fault:
                before[number].append(at)
    found.worlds, found.settled, found.reached = len(worlds), len(settled), tuple(worlds)
    alive = _reaching(before, settled)
    stuck = [number for number in range(len(worlds)) if number not in alive]
    found.stuck = len(stuck)
    found.stuck_first = _history(parents, lines, stuck[0]) if stuck else ()
    return found


def walk(
    start: W, moves: Callable[[W], Iterable[Move[W]]], dice: Dice, *, steps: int
) -> tuple[str, tuple[str, ...]] | None:
    """Take random moves; return the first rule violated and the history, `None` without one.

    Cost: O(steps times the moves of a world).
    """
    world, lines = start, list[str]()
    for _ in range(steps):
        choices = tuple(moves(world))
        if not choices:
            return None
        move = choices[dice.below(len(choices))]
        lines.extend([move.line] * bool(move.line))
        if move.found:
            return move.found[0], tuple(lines)
        world = move.world
    return None


def _history(parents: list[int], lines: list[str], number: int) -> tuple[str, ...]:
    path = []
    while parents[number] >= 0:
        path.extend([lines[number]] * bool(lines[number]))
        number = parents[number]
    return tuple(reversed(path))


def _reaching(before: list[list[int]], settled: list[int]) -> set[int]:
    reached = set(settled)
    waiting = list(settled)
    while waiting:
        for number in before[waiting.pop()]:
            if number not in reached:
                reached.add(number)
                waiting.append(number)
    return reached
