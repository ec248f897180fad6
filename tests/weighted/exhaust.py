"""Try every tiny group with every budget, and print a row for each size.

    python -m tests.weighted.exhaust --processes 2

The rows of the last run stand in `EXHAUSTED.md`. Ends with an `AssertionError` that names the group
at the first bound above the optimum, answer that breaks its budget, and so on (`tiny/judged.py`).
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from fractions import Fraction
from functools import partial
from itertools import islice
from multiprocessing import get_context

from tests.weighted.tiny.groups import SIZES, tiny_groups
from tests.weighted.tiny.judged import Tally, judged

PARTS = 64
"""Pieces of a size, so that all processes have something to do until the end."""

HEAD = (
    "| partitions x members | groups | questions | bound = optimum | mean | worst "
    "| answer = optimum | mean | 95 % | worst | CPU |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|"
)


def quantile(ratios: Counter[Fraction], part: float) -> Fraction:
    """Return the ratio that so large a part of all is not above."""
    left = part * ratios.total()
    for ratio, count in sorted(ratios.items()):
        left -= count
        if left <= 0:
            return ratio
    return max(ratios)


def mean(ratios: Counter[Fraction]) -> float:
    """Return the mean ratio."""
    return float(sum(ratio * count for ratio, count in ratios.items()) / ratios.total())


def row(name: str, tally: Tally, seconds: float) -> str:
    """Return a row of the table."""
    bounds, answers = tally.bounds, tally.answers
    return (
        f"| {name} | {tally.groups:,} | {answers.total():,} "
        f"| {bounds[Fraction(1)] / bounds.total():.1%} | {mean(bounds):.4f} "
        f"| {float(max(bounds)):.3f} "
        f"| {answers[Fraction(1)] / answers.total():.1%} | {mean(answers):.4f} "
        f"| {float(quantile(answers, 0.95)):.3f} | {float(max(answers)):.3f} | {seconds:.0f} s |"
    )


def part_of(size: tuple[int, int], part: int) -> tuple[Tally, float]:
    """Return what every `PARTS`-th group of a size comes to, and the seconds of CPU it took."""
    begun = time.process_time()
    tally = judged(islice(tiny_groups(*size), part, None, PARTS))
    return tally, time.process_time() - begun


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--processes", type=int, default=2)
    processes = parser.parse_args().processes
    whole, spent = Tally(), 0.0
    print(HEAD)
    with get_context("spawn").Pool(processes) as pool:
        for size in SIZES:
            of_size, seconds = Tally(), 0.0
            for tally, took in pool.imap_unordered(partial(part_of, size), range(PARTS)):
                of_size.add(tally)
                seconds += took
            print(row(f"{size[0]} x {size[1]}", of_size, seconds), flush=True)
            whole.add(of_size)
            spent += seconds
    print(row("all", whole, spent))


if __name__ == "__main__":
    main()
