"""The same budget for Meta's Rebalancer and for `weighted`: the largest use and the time."""

from __future__ import annotations

import time
from fractions import Fraction

from assignors.weighted.removal import removal_of
from assignors.weighted.solve import solve
from tests.benchmarks.weighted.rebalancer import MissingError, ask, interpreter
from tests.benchmarks.weighted.workloads import bound_of, drawn, loads, search_of

CASES = ((20, 200), (100, 2000), (1000, 20_000))
TIMES = (3, 20)
"""So often each is asked in large groups, and up to `SMALL` partitions; the best time counts."""

SMALL = 2000
TOLERANCE = Fraction(1, 20)


def table() -> str:
    """Return the table, or why there is none."""
    try:
        interpreter()
    except MissingError as missing:
        return f"Rebalancer is left out: {missing}"
    lines = [
        "| members x partitions | budget | use / bound | Rebalancer | ms | Rebalancer | times |",
        "|---|---|---|---|---|---|---|",
    ]
    for members, partitions in CASES:
        task = drawn(members, partitions)
        for budget in (members // 10, members // 2):
            search = search_of(task, tolerance=TOLERANCE, budget=budget)
            removal = removal_of(task.weight, task.owner, search.capacity)
            bound = float(max(bound_of(task), Fraction(removal.use_within(budget))))
            times = TIMES[partitions <= SMALL]
            spent = []
            for _ in range(times):
                begun = time.process_time()
                owner = solve(search).owner
                spent.append(time.process_time() - begun)
            theirs, seconds = min(
                (ask(task, budget) for _ in range(TIMES[0] if partitions <= SMALL else 1)),
                key=lambda one: one[1],
            )
            uses = [int(loads(task, one).max()) / bound for one in (owner, theirs)]
            lines.append(
                f"| {members:,} x {partitions:,} | {budget} | {uses[0]:.5f} | {uses[1]:.5f} "
                f"| {min(spent) * 1e3:,.1f} | {seconds * 1e3:,.0f} | {seconds / min(spent):,.0f} |"
            )
    return "\n".join(lines)
