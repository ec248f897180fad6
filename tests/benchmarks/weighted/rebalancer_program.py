"""Meta's Rebalancer on one group: runs where `pip install rebalancer` is, Python 3.12 and later.

Reads {"weight": [...], "owner": [...], "members": M, "moves": B, "times": N} from standard input,
answers N times, and writes {"owner": [...], "first_cpu_s": seconds, "cpu_s": the fewest seconds} as
the last line of standard output. The goal is the least sum of
squares of loads, by local search with single moves; `moves` is its `stopAfterMoves`.
Source: github.com/facebook/rebalancer, version 1.0.4 of PyPI.
"""

from __future__ import annotations

import json
import sys
import time

from rebalancer import ProblemSolver
from rebalancer.specs import (
    GoalSpec,
    LocalSearchSolverSpec,
    MinimizeSquaresSpec,
    MoveTypeSpec,
    SingleMoveTypeSpec,
    SolverSpec,
)


def solved(weight: list[int], owner: list[int], members: int, moves: int) -> list[int]:
    """Return the owner of each partition after at most so many moves."""
    names = [f"p{number}" for number in range(len(weight))]
    held: dict[str, list[str]] = {f"m{member}": [] for member in range(members)}
    for name, member in zip(names, owner, strict=True):
        held[f"m{member}"].append(name)
    solver = ProblemSolver(service_name="assign", service_scope="group")
    solver.set_object_name("partition").set_container_name("member")
    solver.set_assignment(held)
    solver.add_object_dimension("load", {n: float(w) for n, w in zip(names, weight, strict=True)})
    solver.add_container_dimension("load", {}, default_value=sum(weight) / members)
    goal = MinimizeSquaresSpec(name="squares", scope="member", dimension="load")
    solver.add_goal(GoalSpec(minimizeSquaresSpec=goal), 1.0, 0)
    search = LocalSearchSolverSpec(
        moveTypeList=[MoveTypeSpec(singleMoveTypeSpec=SingleMoveTypeSpec())],
        solveTime=120,
        stopAfterMoves=moves,
    )
    solver.add_solver(SolverSpec(localSearchSolverSpec=search))
    found = solver.solve()["assignment"]
    return [int(found[name][1:]) for name in names]


def main() -> None:
    """Answer one group."""
    asked = json.load(sys.stdin)
    spent = []
    for _ in range(asked["times"]):
        begun = time.process_time()
        owner = solved(asked["weight"], asked["owner"], asked["members"], asked["moves"])
        spent.append(time.process_time() - begun)
    print(json.dumps({"owner": owner, "first_cpu_s": spent[0], "cpu_s": min(spent)}))


if __name__ == "__main__":
    main()
