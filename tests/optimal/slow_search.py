"""Look for groups on which the solver searches long: `python -m tests.optimal.slow_search`.

Starts from random recipes and changes the worst ones a little, again and again; bounded by the
number of groups and by their size, and the same for the same seed. For each of three aims
(phases, ways, steps) it prints the recipes that reached most for each member and topic.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from assignors.optimal.solve import Solved
from tests.optimal.slow_groups import OWNERS, SIZES, TOPICS, Recipe, group_of

AIMS: dict[str, Callable[[Recipe, Solved], float]] = {
    "phases": lambda _, solved: solved.phases,
    "ways": lambda _, solved: solved.ways,
    "steps": lambda _, solved: solved.steps,
    "steps a cell": lambda recipe, solved: solved.steps / (recipe.cells + 1000),
}
KEPT = 12
"""How many recipes of an aim are changed further."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Search, and print the worst recipes of each aim."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=2000)
    parser.add_argument("--cells", type=int, default=40_000, help="members x topics at most")
    parser.add_argument("--partitions", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    for aim, measure in AIMS.items():
        dice = Random(f"{asked.seed} {aim}")
        worst: list[tuple[float, float, Recipe, Solved]] = []
        for number in range(asked.groups):
            recipe = random_recipe(dice)
            if worst and number > asked.groups // 5:
                recipe = changed(dice, dice.choice(worst)[2])
            if recipe.cells > asked.cells or recipe.topics * recipe.size > asked.partitions:
                continue
            if any(recipe == known for _, _, known, _ in worst):
                continue
            made = group_of(recipe)
            started = time.process_time()
            solved = made.solve()
            spent = time.process_time() - started
            worst.append((measure(recipe, solved), spent, recipe, solved))
            worst.sort(key=lambda found: -found[0])
            del worst[KEPT:]
        print(f"# {aim}")
        for _, spent, recipe, solved in worst[:3]:
            print(f"({recipe!r}, {solved.steps}),")
            print(
                f"# phases {solved.phases}, ways {solved.ways}, levels {solved.levels}, "
                f"{recipe.cells} cells, {spent * 1000:.0f} ms",
                flush=True,
            )


def random_recipe(dice: Random) -> Recipe:
    """Return any recipe."""
    topics = dice.choice((3, 5, 10, 20, 40, 80, 150, 300))
    return Recipe(
        members=dice.choice((3, 5, 10, 20, 40, 80, 150, 300, 600)),
        topics=topics,
        style=dice.choice(TOPICS),
        width=dice.randint(1, max(topics // 2, 2)),
        sizes=dice.choice(SIZES),
        size=dice.choice((1, 3, 10, 30, 100, 300)),
        owners=dice.choice(OWNERS),
        racks=dice.choice((0, 0, 2, 3, 6)),
        seed=dice.randint(0, 9),
    )


def changed(dice: Random, recipe: Recipe) -> Recipe:
    """Return the recipe with one or two things changed."""
    other = random_recipe(dice)
    for _ in range(dice.randint(1, 2)):
        name = dice.choice(("members", "topics", "width", "size"))
        factor = dice.choice((0.5, 0.8, 0.9, 1.1, 1.25, 2))
        options = (
            {name: max(1, round(getattr(recipe, name) * factor))},
            {name: max(1, getattr(recipe, name) + dice.choice((-1, 1)))},
            {n: getattr(other, n) for n in (dice.choice(("style", "sizes", "owners", "racks")),)},
            {"seed": dice.randint(0, 99)},
        )
        recipe = replace(recipe, **dice.choice(options))
    return recipe


if __name__ == "__main__":
    main()
