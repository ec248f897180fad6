"""Visit every state that some order of moves can reach, breadth first, whatever the states are.

`exhaustion` searches groups so, and `clients` the threads of a client: what a state is, which moves
it has and how a history reads is theirs.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

W = TypeVar("W", bound=Hashable)
W_co = TypeVar("W_co", bound=Hashable, covariant=True)
Int32 = NDArray[np.int32]


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

    Cost: O(states times their moves); memory: that of a state and some 100 bytes each, and 8 bytes
    a move.
    """
    worlds = [start]
    numbers = {start: 0}
    found: Reached[W] = Reached(worlds=worlds)
    parents = array("i", [-1])
    sources, targets = array("i"), array("i")  # of the moves without a fault
    settled = array("i")
    at = 0
    while at < min(len(worlds), worlds_max):
        world = worlds[at]
        if is_settled(world):
            settled.append(at)
        for move in moves(world):
            found.moves += 1
            after = move.world
            number = numbers.setdefault(after, len(worlds))
            if number == len(worlds):
                worlds.append(after)
                parents.append(at)
            if not move.is_fault and number != at:
                sources.append(at)
                targets.append(number)
            for rule, text in move.found:
                if rule not in found.broken:
                    path = [*_path(worlds, parents, at), worlds[number]]
                    found.broken[rule] = Violated(text=text, path=path)
        at += 1
    found.settled, found.is_complete = len(settled), at == len(worlds)
    if found.is_complete:
        del numbers
        alive = _reaching(at, _numbers(sources), _numbers(targets), _numbers(settled))
        stuck = np.flatnonzero(~alive)
        found.stuck = len(stuck)
        if len(stuck):
            found.stuck_path = _path(worlds, parents, int(stuck[0]))
    del worlds[at:]
    return found


def _numbers(listed: array[int]) -> Int32:
    return np.frombuffer(listed, dtype=np.int32) if listed else np.zeros(0, dtype=np.int32)


def _path(worlds: list[W], parents: array[int], number: int) -> list[W]:
    """Return the states from the first one to this one."""
    path = [worlds[number]]
    while parents[number] >= 0:
        number = parents[number]
        path.append(worlds[number])
    return path[::-1]


def _reaching(count: int, sources: Int32, targets: Int32, settled: Int32) -> NDArray[np.bool_]:
    """Return bool[count]: whether a settled state can be reached from each by these moves.

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
