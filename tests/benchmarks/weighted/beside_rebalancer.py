"""The same budget for Meta's Rebalancer and for `weighted`: the largest use and the time.

Both in a process that has answered before, and Rebalancer's first answer of a process: that one
also loads what later ones find loaded, two thirds of the time in a small group.
"""

from __future__ import annotations

import time
from fractions import Fraction

from assignors.weighted.removal import removal_of
from assignors.weighted.solve import solve
from tests.benchmarks.weighted.rebalancer import MissingError, ask, interpreter
from tests.benchmarks.weighted.workloads import bound_of, drawn, loads, search_of

CASES = ((20, 200), (100, 2000), (1000, 20_000))
TIMES = {200: (200, 40), 2000: (20, 10), 20_000: (3, 1)}
"""Partitions: so often `weighted` is asked, and so often Rebalancer, each in one process."""

TOLERANCE = Fraction(1, 20)


def table() -> str:
    """Return the table, or why there is none."""
    try:
        interpreter()
    except MissingError as missing:
        return f"Rebalancer is left out: {missing}"
    head = "members x partitions, moves, weighted, Rebalancer, ms, Rebalancer, times, first, times"
    lines = [f"| {head.replace(', ', ' | ')} |", "|---|---|---|---|---|---|---|---|---|"]
    for members, partitions in CASES:
        task = drawn(members, partitions)
        for budget in (members // 10, members // 2):
            search = search_of(task, tolerance=TOLERANCE, budget=budget)
            removal = removal_of(task.weight, task.owner, search.capacity)
            bound = float(max(bound_of(task), Fraction(removal.use_within(budget))))
            ours, theirs = TIMES[partitions]
            spent = []
            for _ in range(ours):
                begun = time.process_time_ns()
                owner = solve(search).owner
                spent.append(time.process_time_ns() - begun)
            seconds = min(spent) / 1e9
            asked = ask(task, budget, theirs)
            uses = [int(loads(task, one).max()) / bound for one in (owner, asked.owner)]
            lines.append(
                f"| {members:,} x {partitions:,} | {budget} | {uses[0]:.5f} | {uses[1]:.5f} "
                f"| {seconds * 1e3:,.2f} | {asked.best_s * 1e3:,.1f} "
                f"| {asked.best_s / seconds:,.0f} | {asked.first_s * 1e3:,.1f} "
                f"| {asked.first_s / seconds:,.0f} |"
            )
    return "\n".join(lines)
