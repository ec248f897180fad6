"""The time scale of a group's charts: generations a second apart, and hours in which nothing is.

On a plain scale a group's history is a hairline and a desert: five rebalances in a minute,
then a day. So each spell between two generations is wide enough to be seen, and the rest of
the width is shared out by how long the spells lasted. Inside a spell time runs evenly; spells
that are drawn much shorter than their share are marked.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass

WIDTH = 960
"""Pixels aimed at; more generations than fit make a chart wider, and it scrolls."""

LEAST = 26
"""Pixels that every spell has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spell:
    """The time between two generations, and where it is drawn."""

    from_ms: int
    to_ms: int
    left: float
    right: float
    is_cut: bool
    """Drawn less than half as long as its share of the time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """From epoch milliseconds to pixels from the left."""

    spells: tuple[Spell, ...]

    @property
    def width(self) -> float:
        """Pixels of the whole."""
        return self.spells[-1].right

    @property
    def from_ms(self) -> int:
        """Where the chart begins."""
        return self.spells[0].from_ms

    @property
    def to_ms(self) -> int:
        """Where the chart ends."""
        return self.spells[-1].to_ms

    def at(self, at_ms: int) -> float:
        """Return where a time is drawn; times outside are drawn at the edge. O(log spells).

        >>> scale_of([0, 1000], end_ms=2000).at(500)
        240.0
        """
        at_ms = min(max(at_ms, self.from_ms), self.to_ms)
        spell = self.spells[max(bisect_right(self.spells, at_ms, key=_from_ms) - 1, 0)]
        lasted = spell.to_ms - spell.from_ms
        share = (at_ms - spell.from_ms) / lasted if lasted else 0.0
        return spell.left + share * (spell.right - spell.left)


def scale_of(times_ms: Iterable[int], *, end_ms: int) -> Scale:
    """Return the scale over spells that begin at `times_ms`, the last of which ends at `end_ms`.

    >>> [(round(spell.left), round(spell.right)) for spell in
    ...     scale_of([0, 10, 20], end_ms=100_000).spells]
    [(0, 26), (26, 52), (52, 960)]
    """
    starts = sorted(set(times_ms))
    assert starts, "a chart without a begin"
    ends = [*starts[1:], max(end_ms, starts[-1])]
    total = max(ends[-1] - starts[0], 1)
    shared = max(WIDTH - LEAST * len(starts), WIDTH / 3)
    width = LEAST * len(starts) + shared
    spells: list[Spell] = []
    left = 0.0
    for from_ms, to_ms in zip(starts, ends, strict=True):
        share = (to_ms - from_ms) / total
        right = left + LEAST + shared * share
        spells.append(
            Spell(
                from_ms=from_ms,
                to_ms=to_ms,
                left=left,
                right=right,
                is_cut=right - left < width * share / 2,
            )
        )
        left = right
    return Scale(spells=tuple(spells))


def _from_ms(spell: Spell) -> int:
    return spell.from_ms
