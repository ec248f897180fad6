"""Every order of what a client, its application and its coordinator do, and random ones."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

from assignors.simulation.dice import Dice
from assignors.simulation.state_search import visit

W = TypeVar("W", bound=Hashable)


class Move(NamedTuple, Generic[W]):
    """One thing that may happen."""

    line: str
    """What it is, in words; empty: a step that does nothing."""
    world: W
    """What it leads to."""
    rules: tuple[str, ...] = ()
    """The rules that it violates."""
    is_fault: bool = False
    """Whether progress may not count on it."""

    @property
    def found(self) -> list[tuple[str, str]]:
        """The rules that it violates, each with what has happened."""
        return [(rule, self.line) for rule in self.rules]


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
    reached = visit(start, moves, is_settled, worlds_max=worlds_max)
    if not reached.is_complete:
        raise ValueError(f"more than {worlds_max} worlds")
    return Explored(
        worlds=len(reached.worlds),
        moves=reached.moves,
        settled=reached.settled,
        broken={
            rule: (*_lines(moves, each.path[:-1]), each.text)
            for rule, each in reached.broken.items()
        },
        stuck=reached.stuck,
        stuck_first=_lines(moves, reached.stuck_path),
        reached=tuple(reached.worlds),
    )


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
        if move.rules:
            return move.rules[0], tuple(lines)
        world = move.world
    return None


def _lines(moves: Callable[[W], Iterable[Move[W]]], path: list[W]) -> tuple[str, ...]:
    """Return the moves along a path in words."""
    found = (
        next(move.line for move in moves(world) if move.world == following)
        for world, following in pairwise(path)
    )
    return tuple(line for line in found if line)
