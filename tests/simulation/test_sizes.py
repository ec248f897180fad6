"""Sizes that no machine can answer are refused by name, before memory is taken for them."""

from __future__ import annotations

from typing import Any

import pytest

from assignors.simulation.rounds import Parameters, generate
from assignors.simulation.rounds.random_scenarios import LIMITS, WORK_LIMIT
from assignors.simulation.rounds.scenario_rows import simulate_rows


@pytest.mark.parametrize("name", LIMITS)
def test_each_size_has_a_bound(name: str) -> None:
    smallest = {"members": 0, "topics": 1, "partitions": 0, "events": 0}
    sizes: dict[str, Any] = {**smallest, name: LIMITS[name]}
    assert getattr(Parameters(**sizes), name) == LIMITS[name]
    with pytest.raises(ValueError, match=rf"^{name}: \d+ is not within 0\.\.{LIMITS[name]}$"):
        Parameters(**{**sizes, name: LIMITS[name] + 1})


def test_events_are_bounded_by_what_each_of_them_goes_through() -> None:
    sizes: dict[str, Any] = {"members": 40_000, "topics": 10_000, "partitions": 950_000}
    most = WORK_LIMIT // 1_000_000 - 1
    assert Parameters(**sizes, events=most).events == most
    with pytest.raises(ValueError, match=rf"^events: {most + 1} is not within 0\.\.{most},"):
        Parameters(**sizes, events=most + 1)


@pytest.mark.parametrize(
    ("shape", "topics_each"), [("equal", 5), ("half", 3), ("few", 3), ("chain", 2), ("disjoint", 1)]
)
def test_topics_per_member_are_the_most_that_a_member_subscribes_to(
    shape: str, topics_each: int
) -> None:
    sizes = Parameters(members=9, topics=5, events=0, subscription=shape)
    assert sizes.topics_per_member == topics_each
    drawn = [len(member.topics) for seed in range(9) for member in generate(seed, sizes).members]
    assert max(drawn) == topics_each


def test_subscriptions_of_random_groups_are_bounded_together() -> None:
    with pytest.raises(ValueError, match=r"^members: .* more than 10000000$"):
        generate(1, Parameters(members=10_001, topics=1_000))
    assert len(generate(1, Parameters(members=100_000, topics=1_000, subscription="few")).members)


def test_a_row_beyond_a_bound_is_an_error_row() -> None:
    """`{"members": 10000000}` took all the memory, and the next row was not answered."""
    rows = [{"seed": 1, "members": 10_000_000}, {"seed": 2, "events": 0}]
    first, second = simulate_rows(rows, assignors=["range"])
    assert first["error"] == "members: 10000000 is not within 0..100000"
    assert second["error"] is None
