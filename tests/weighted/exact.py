"""Small groups with the least largest use there is, proved by CP-SAT: what `exact.jsonl` holds.

    python -m tests.weighted.exact --groups 260

writes the file anew: so many groups in which every member takes everything and carries the same,
and so many with subscriptions and capacities that differ. One that CP-SAT does not settle within
its time is left out. A line is a group, its budget (the number of moves) and its optimum, times
the common multiple of the capacities.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from assignors.weighted.solve import Search
from tests.weighted.groups import EXACT, KINDS, Drawn, drawn, may, proved_best, weights

FILE = Path(__file__).with_name("exact.jsonl")
BUDGETS = (1, 2, 4, 8, None)
SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Exact:
    """A group with its optimum."""

    search: Search
    is_mixed: bool
    optimum: int
    """The least largest use times `common(search)`."""


def common(search: Search) -> int:
    """Return what makes whole numbers of uses."""
    return int(np.lcm.reduce(search.capacity))


def asked(seed: int, *, is_mixed: bool) -> Search:
    """Return a group of 3 to 5 members and 9 to 24 partitions, all with an owner."""
    kind = Drawn(
        members=(3, 6),
        per_member=(3, 5) if is_mixed else (3, 6),
        is_mixed=is_mixed,
        has_capacities=is_mixed,
    )
    random = np.random.default_rng(seed)
    search = drawn(seed, kind)
    owner = np.array([random.choice(np.flatnonzero(row)) for row in may(search)], dtype=np.int32)
    weight = weights(random, len(search.weight), KINDS[seed % len(KINDS)])
    budget = BUDGETS[seed // len(KINDS) % len(BUDGETS)]
    return replace(search, owner=owner, weight=weight, cost=None, budget=budget)


def line(exact: Exact) -> str:
    """Return a line of the file."""
    search = exact.search
    return json.dumps(
        {
            "mixed": exact.is_mixed,
            "first": search.first.tolist(),
            "takes": search.takes.astype(int).tolist(),
            "class_of": search.class_of.tolist(),
            "owner": search.owner.tolist(),
            "weight": search.weight.tolist(),
            "capacity": search.capacity.tolist(),
            "budget": search.budget,
            "optimum": exact.optimum,
        }
    )


def read(text: str) -> Exact:
    """Return the group of a line."""
    found = json.loads(text)
    search = Search(
        first=np.array(found["first"]),
        takes=np.array(found["takes"], dtype=np.bool_),
        class_of=np.array(found["class_of"], dtype=np.int32),
        owner=np.array(found["owner"], dtype=np.int32),
        weight=np.array(found["weight"]),
        capacity=np.array(found["capacity"]),
        budget=found["budget"],
        balance=EXACT,
    )
    return Exact(search=search, is_mixed=found["mixed"], optimum=found["optimum"])


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--groups", type=int, default=260)
    wanted = parser.parse_args().groups
    lines, open_ones = [], 0
    for is_mixed in (False, True):
        for seed in range(wanted):
            search = asked(seed, is_mixed=is_mixed)
            optimum = proved_best(search, SECONDS)
            if optimum is None:
                open_ones += 1
            else:
                lines.append(line(Exact(search=search, is_mixed=is_mixed, optimum=optimum)))
    FILE.write_text("".join(f"{one}\n" for one in lines), encoding="utf-8")
    print(f"{len(lines)} groups, {open_ones} not settled")


if __name__ == "__main__":
    main()
