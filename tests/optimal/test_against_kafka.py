"""The kept answers of Kafka's own assignors are never better than ours, in either order of aims.

In equally balanced answers with as few mismatched racks and as few moves, this compares how evenly
each topic is spread: what Kafka's tests of its sticky and uniform assignors ask for.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assignors import Options, Prefer, UserData, assignor_named
from assignors.conformance.groups import group_of
from assignors.problem import owners
from tests.laws.laws import as_arrays

VECTORS = Path(__file__).parents[1] / "vectors" / "kafka-4.4.0.jsonl.gz"
EQUAL_MIN, BETTER_MIN = 600, 150
"""So many answers agree in the aims before, with the same spread and with more of it."""
STICKY = assignor_named("sticky")


def answers() -> Iterator[tuple[dict[str, Any], dict[str, dict[str, tuple[int, ...]]]]]:
    """Yield the groups that Kafka's classes were asked for, and what they answered."""
    with gzip.open(VECTORS, "rt", encoding="utf-8") as file:
        for line in file:
            vector = json.loads(line)
            if vector.get("op") == "assign" and "assignment" in vector["out"]:
                given: dict[str, dict[str, tuple[int, ...]]] = {}
                for member_id in vector["out"]["order"]:
                    of_member = given.setdefault(member_id, {})
                    for topic, number in vector["out"]["assignment"].get(member_id, ()):
                        of_member[topic] = (*of_member.get(topic, ()), number)
                yield vector["in"], given


@pytest.mark.parametrize("prefer", Prefer)
def test_no_answer_of_kafka_is_better(prefer: Prefer) -> None:
    assignor = STICKY.configured(Options(prefer=prefer))
    compared = Counter[str]()
    for request, given in answers():
        group = group_of(request)
        if not group.members:
            continue
        problem, made = as_arrays(group, UserData.STICKY)
        theirs = owners(problem, given)
        held, may = np.flatnonzero(theirs >= 0), made.may_take()
        if len(held) < may.any(axis=1).sum() or not may[held, theirs[held]].all():
            continue  # something is withheld, or with a member that does not subscribe to it
        ours = owners(problem, assignor.assign(group).assignment)
        (*first, their_spread), (*our_first, our_spread) = (
            in_order(made.figures(owner), prefer) for owner in (theirs, ours)
        )
        assert our_first <= first, request
        if our_first == first:
            assert our_spread <= their_spread, request
            compared["equal" if our_spread == their_spread else "better"] += 1
    assert compared["equal"] > EQUAL_MIN
    assert compared["better"] > BETTER_MIN


def in_order(figures: tuple[int, int, int, int], prefer: Prefer) -> tuple[int, ...]:
    """Return the figures that decide before spread, smaller being better, and the spread."""
    square, racks, kept, spread = figures
    return (square, racks, -kept, spread) if prefer is Prefer.MOVES else (square, racks, spread)
