"""Visit every state that some order of moves can reach, breadth first, whatever the states are.

`exhaustion` searches groups so, and `clients` the threads of a client: what a state is, which moves
it has and how a history reads is theirs.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

W = TypeVar("W", bound=Hashable)
W_co = TypeVar("W_co", bound=Hashable, covariant=True)


class Move(Protocol[W_co]):
    """One thing that may happen."""

    @property
    def world(self) -> W_co:
        """The state that it leads to."""

    @property
    def is_fault(self) -> bool:
        """Whether progress may not count on it."""

    @property
    def found(self) -> Iterable[tuple[str, str]]:
        """The rules that it violates, each with what is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Violated(Generic[W]):
    """A rule that was violated, first met by the fewest moves there are."""

    text: str
    path: list[W]
    """The states from the first one to that after the violation."""


@dataclass(slots=True, kw_only=True)
class Reached(Generic[W]):
    """What a search has found."""

    worlds: list[W]
    """The states that were visited, in the order in which they were met."""
    moves: int = 0
    settled: int = 0
    """How many of them are settled."""
    is_complete: bool = True
    """Whether every state was visited."""
    broken: dict[str, Violated[W]] = field(default_factory=dict)
    """By rule, its nearest violation."""
    stuck: int = 0
    """States from which no settled one can be reached without a further fault; 0 where not every
    state was visited."""
    stuck_path: list[W] = field(default_factory=list)
    """The states that lead to the nearest of them, itself the last."""


def visit(
    start: W,
    moves: Callable[[W], Iterable[Move[W]]],
    is_settled: Callable[[W], bool],
    *,
    worlds_max: int,
) -> Reached[W]:
    """Visit the states that can be reached from `start`, up to `worlds_max` of them.

    Cost: O(states times their moves); memory: O(states).
    """
    numbers: dict[W, int] = {start: 0}
    worlds = [start]
    found: Reached[W] = Reached(worlds=worlds)
    parents = array("l", [-1])
    before: list[array[int]] = [array("l")]  # those from which a move without a fault leads to it
    settled: list[int] = []
    at = 0
    while at < min(len(worlds), worlds_max):
        world = worlds[at]
        if is_settled(world):
            settled.append(at)
        for move in moves(world):
            found.moves += 1
            number = numbers.setdefault(move.world, len(worlds))
            if number == len(worlds):
                worlds.append(move.world)
                parents.append(at)
                before.append(array("l"))
            if not move.is_fault and number != at:
                before[number].append(at)
            for rule, text in move.found:
                if rule not in found.broken:
                    path = [*_path(worlds, parents, at), worlds[number]]
                    found.broken[rule] = Violated(text=text, path=path)
        at += 1
    found.settled, found.is_complete = len(settled), at == len(worlds)
    if found.is_complete:
        alive = _reaching(before, settled)
        stuck = [number for number in range(at) if not alive[number]]
        found.stuck = len(stuck)
        if stuck:
            found.stuck_path = _path(worlds, parents, stuck[0])
    del worlds[at:]
    return found


def _path(worlds: list[W], parents: array[int], number: int) -> list[W]:
    """Return the states from the first one to this one."""
    path = [worlds[number]]
    while parents[number] >= 0:
        number = parents[number]
        path.append(worlds[number])
    return path[::-1]


def _reaching(before: list[array[int]], settled: list[int]) -> bytearray:
    """Return for each state whether a settled one can be reached from it without a fault."""
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
