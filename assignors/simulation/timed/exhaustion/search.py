"""Visit every world that a case can reach, breadth first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from assignors.simulation.state_search import Reached, visit
from assignors.simulation.timed.counterexamples.words import line_of
from assignors.simulation.timed.exhaustion.moves import is_settled, moves
from assignors.simulation.timed.exhaustion.packing import WorldPacking
from assignors.simulation.timed.exhaustion.remembered import PackedMove, RememberedMoves
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


def explore(model: Model, start: World, *, worlds_max: int, remembers: bool = True) -> Explored:
    """Visit the worlds that can be reached from `start`, up to `worlds_max` of them.

    Without `remembers` moves are looked for in each world. Cost: O(worlds times their moves), about
    30 microseconds a move, 4 where they are remembered (`remembered`); memory: 200 to 600 bytes a
    world.
    """
    packing, reached = reach(model, start, worlds_max=worlds_max, remembers=remembers)
    return Explored(
        worlds=len(reached.worlds),
        moves=reached.moves,
        settled=reached.settled,
        is_complete=reached.is_complete,
        broken={
            monitor: Broken(
                monitor=monitor,
                text=each.text,
                lines=tuple(_lines(model, [*map(packing.unpack, each.path)])),
            )
            for monitor, each in reached.broken.items()
        },
        stuck=reached.stuck,
        stuck_first=tuple(_lines(model, [*map(packing.unpack, reached.stuck_path)])),
    )


def reach(
    model: Model, start: World, *, worlds_max: int, remembers: bool = True
) -> tuple[WorldPacking, Reached[bytes]]:
    """Return the worlds that can be reached, in their small form; for the rest see `explore`."""
    packing = WorldPacking.of(len(model.names))
    first = packing.pack(start)
    remembered: RememberedMoves | None = None
    if remembers and RememberedMoves.are_possible(model, start):
        remembered = RememberedMoves(model=model, packing=packing, start=start)

    def moves_of(form: bytes) -> Iterator[PackedMove]:
        # Independent moves follow any move: only from the first world they are still to be taken.
        if remembered is not None and form != first:
            yield from remembered(form)
            return
        for move in moves(model, packing.unpack(form)):
            yield PackedMove(packing.pack(move.world), move.is_fault, tuple(move.found))

    reached = visit(
        first,
        moves_of,
        lambda form: is_settled(model, packing.unpack(form)),
        worlds_max=worlds_max,
    )
    return packing, reached


def _lines(model: Model, path: list[World]) -> Iterator[str]:
    """Yield the moves along a path in words."""
    for one, following in pairwise(path):
        move = next(each for each in moves(model, one) if each.world == following)
        for step in move.steps:
            line = line_of(Seen(0, 0, step.who, step.event, step.effects))
            if line is not None:
                yield f"fault: {line}" if move.is_fault else line
