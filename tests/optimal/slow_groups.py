"""Groups on which the solver searches longest, found by `slow_search`, kept as what makes them.

A recipe makes the same group every time. Its figures are those of the search at the time it was
found: how often layers were computed (`phases`), along how many ways something was sent, and
the steps that `Options.limit` counts. `tests.benchmarks.cost` measures them, and a
test holds the steps.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

import numpy as np

from assignors.problem import Int32
from tests.optimal.groups import Arrays, arrays, with_racks

TOPICS = ("windows", "nested", "any", "tree", "pairs")
SIZES = ("equal", "rising", "falling", "spikes", "random", "doubling")
OWNERS = ("random", "first", "last", "shifted", "one", "crowded", "nobody")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What makes a group."""

    members: int
    topics: int
    style: str
    """Who takes what, of `TOPICS`."""
    width: int
    """How many topics a member takes, where the style leaves that open."""
    sizes: str
    """Of `SIZES`."""
    size: int
    """Partitions of a large topic."""
    owners: str
    """Of `OWNERS`."""
    racks: int
    """0: none."""
    seed: int

    @property
    def cells(self) -> int:
        """Topics x members."""
        return self.members * self.topics


def group_of(recipe: Recipe) -> Arrays:
    """Return the group that the recipe makes."""
    dice = Random(f"{recipe.seed}")
    sizes = [_size(recipe, dice, topic) for topic in range(recipe.topics)]
    made = arrays(sizes, [_topics(recipe, dice, at) for at in range(recipe.members)])
    owner = _owners(recipe, dice, made)
    made = Arrays(first=made.first, takes=made.takes, class_of=made.class_of, owner=owner)
    return with_racks(made, recipe.seed, rack_max=recipe.racks) if recipe.racks else made


def _topics(recipe: Recipe, dice: Random, member: int) -> list[int]:
    count, width = recipe.topics, min(recipe.width, recipe.topics)
    if recipe.style == "windows":
        at = member * max(count - width + 1, 1) // recipe.members
        return list(range(at, at + width))
    if recipe.style == "nested":
        return list(range(1 + member * count // recipe.members))
    if recipe.style == "tree":
        chosen, topic = [], member * count // recipe.members
        while topic > 0:
            chosen.append(topic)
            topic //= width + 1
        return [0, *chosen]
    if recipe.style == "pairs":
        return [member % count, (member * width + 1) % count]
    return dice.sample(range(count), width)


def _size(recipe: Recipe, dice: Random, topic: int) -> int:
    most = recipe.size
    return {
        "equal": most,
        "rising": 1 + most * topic // recipe.topics,
        "falling": 1 + most * (recipe.topics - topic) // recipe.topics,
        "spikes": most if topic % 7 == 0 else 1,
        "random": dice.randint(0, most),
        "doubling": min(most, 1 << (topic % 12)),
    }[recipe.sizes]


def _owners(recipe: Recipe, dice: Random, made: Arrays) -> Int32:
    owner = []
    takers = [made.subscribers(topic) for topic in range(recipe.topics)]
    for number, topic in enumerate(made.topic_of.tolist()):
        able = takers[topic] or [-1]
        owner.append(
            {
                "random": dice.choice(able),
                "first": able[0],
                "last": able[-1],
                "shifted": able[number % max(len(able) // 3, 1)],
                "one": able[topic % 2 - 1],
                "crowded": able[int(len(able) * dice.random() ** 4)],
                "nobody": -1,
            }[recipe.owners]
        )
    return np.array(owner, dtype=np.int32)


_NESTED = Recipe(
    members=134,
    topics=79,
    style="nested",
    width=18,
    sizes="equal",
    size=100,
    owners="random",
    racks=6,
    seed=79,
)

FOUND: tuple[tuple[Recipe, int], ...] = (
    (_NESTED, 1_988_277),
    (replace(_NESTED, members=125, topics=144, size=51, racks=3, seed=12), 1_285_282),
    (
        replace(_NESTED, members=86, topics=176, size=8, owners="crowded", racks=3, seed=82),
        1_054_586,
    ),
    (
        replace(_NESTED, members=79, topics=81, size=90, owners="crowded", racks=3, seed=22),
        2_098_082,
    ),
    (replace(_NESTED, members=320, topics=320, size=90, racks=0, seed=22), 6_466_732),
    (replace(_NESTED, members=160, topics=160, size=90, racks=3, seed=22), 10_117_794),
)
"""Recipes and the steps they took when they were found.

All are nested sets of topics, each member's within the next one's: what the first members have
too much must pass through all others. The first four are what `--groups 400 --cells 20000
--partitions 8000 --seed 1` found; the last two are larger ones of their kind.
"""
