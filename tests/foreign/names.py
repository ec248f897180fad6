"""Names that are hard to put in order: by UTF-16 code unit, by hash code, or by eye.

Java sorts strings by UTF-16 code unit, so an astral character stands before U+E000; names with
one hash code share a bucket of every table; "c10" stands before "c2".
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

ODD = (
    *("", " ", "a", "A", "a.", "a-", "zz", "\u00e9", "e\u0301", "\u00df", "\ufb00.x"),
    *("\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0001d11e", "\U0001d11ex", "\U0010ffff"),
    *("\x00", "\t", "null", "10", "9", "x" * 300, "\u00e9" * 40, "__consumer_offsets"),
)
COLLIDING = ("AaAa", "AaBB", "BBAa", "BBBB", "Aa", "BB")
"""Two hash codes. More than eight keys in one bucket of a large table make a tree of it: that
takes keys made to collide, and our tables do not copy it."""

Style = Callable[[Random, int], str]

STYLES: tuple[tuple[int, Style], ...] = (
    (6, lambda _, number: f"t{number}"),
    (3, lambda _, number: f"orders.{number}"),
    (2, lambda dice, _: dice.choice(ODD)),
    (1, lambda dice, number: dice.choice(ODD) + str(number)),
    (1, lambda dice, _: dice.choice(COLLIDING)),
    (2, lambda dice, _: f"{dice.getrandbits(48):012x}"),
)
"""Weight and how a name is made of dice and a number."""


def topic_names(dice: Random, count: int) -> list[str]:
    """Different names, of one style or of all of them."""
    return _different(dice, count, "")


def member_ids(dice: Random, count: int) -> list[str]:
    """Different ids; every other time they look like those of real clients."""
    if dice.random() < 0.5:
        return _different(dice, count, "")
    long = dice.random() < 0.6
    return [f"consumer-{dice.getrandbits(64):016x}" if long else f"c{n}" for n in range(count)]


def _different(dice: Random, count: int, prefix: str) -> list[str]:
    weights = [weight for weight, _ in STYLES]
    styles = [style for _, style in STYLES]
    if dice.random() < 0.6:
        chosen = dice.choices(styles, weights)
    else:
        chosen = styles
        weights = [1] * len(styles)
    names: dict[str, None] = {}
    number = 0
    while len(names) < count:
        (style,) = dice.choices(chosen, weights if len(chosen) > 1 else None)
        name = prefix + style(dice, number)
        if name in names:
            name += f"{number}"
        names[name] = None
        number += 1
    return list(names)
