"""As many random groups as you have time for: `python -m tests.optimal.deep --groups 100000`.

Each answer of the solver is held against a second opinion: every assignment of a small group,
OR-tools' min-cost flow for larger ones, with racks and without.
The same arguments try the same groups. Prints what plays a failure again, then one line to append
to `DEEP.md`. Ends with 1 where anything failed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from random import Random

from assignors.optimal.solve import Solved, solve
from tests.optimal.groups import OWNERS, SHAPES, Arrays, group, with_racks
from tests.optimal.oracles import Figures, Order, best_by_flow, best_by_trial
from tests.optimal.test_solve import judge


def main(arguments: Sequence[str] | None = None) -> int:
    """Try, print, and say whether all agreed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first group")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--commit", default="", help="what is tried, for the line")
    asked = parser.parse_args(arguments)
    started = time.monotonic()
    tried, wrong, searched = Counter[str](), 0, 0
    for number in range(asked.first, asked.first + asked.groups):
        kind, made = random_group(asked.seed, number)
        tried[kind] += 1
        try:
            searched += try_group(kind, made)
        except AssertionError as error:
            wrong += 1
            print(f"wrong: --seed {asked.seed} --first {number} --groups 1: {kind}: {error}")
        if number % 5000 == 4999:
            print(f"{number + 1} groups, {wrong} wrong", file=sys.stderr, flush=True)
    minutes = (time.monotonic() - started) / 60
    kinds = ", ".join(f"{kind} {count:,}" for kind, count in sorted(tried.items()))
    print(
        f"| {datetime.now(tz=UTC):%Y-%m-%d} | {asked.commit} | OR-tools {version('ortools')} "
        f"| {asked.seed} | {asked.groups:,} | {searched:,} | {wrong} "
        f"| {minutes:.0f} min | {kinds} |"
    )
    return 1 if wrong else 0


def random_group(seed: int, number: int) -> tuple[str, Arrays]:
    """Return what is to be compared with, and a group for it."""
    dice = Random(f"{seed} {number}")
    shape, owners = dice.choice(list(SHAPES)), dice.choice(OWNERS)
    has_racks = dice.random() < 0.4
    if dice.random() < 0.4:
        kind = "trial"
        made = group(
            dice.getrandbits(60), member_max=4, topic_max=4, size_max=4, shape=shape, owners=owners
        )
        rack_max = 3
    else:
        kind = "OR-tools"
        most = dice.choice((8, 15, 30))
        made = group(
            dice.getrandbits(60),
            member_max=most,
            topic_max=most // 2,
            size_max=dice.choice((3, 8, 20)),
            shape=shape,
            owners=owners,
        )
        rack_max = dice.choice((2, 3, 10))
    if has_racks:
        kind += " with racks"
        made = with_racks(made, dice.getrandbits(30), rack_max=rack_max)
    return kind, made


def best_of(kind: str, made: Arrays, solved: Solved, first: Order) -> Figures:
    """Return the best figures of a group, by the second opinion that its kind names."""
    if kind.startswith("trial"):
        return best_by_trial(made, first=first)
    return best_by_flow(made, load_limit=solved.load_max + 2, first=first)


def try_group(kind: str, made: Arrays) -> bool:
    """Assert that nothing is better, with either kind of table; return whether it was searched."""
    solved = made.solve()
    best = best_of(kind, made, solved, "moves")
    judge(made, best)
    spread_first = made.figures(solve(**made.arguments(), moves_last=True).owner)
    assert spread_first == best_of(kind, made, solved, "spread"), "spread before moves"
    return solved.phases > 0


if __name__ == "__main__":
    sys.exit(main())
