"""Figures that are measured on request: how long members wait, and what that locks."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed.costs.on_request import CALLS, locked
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.scenario import (
    BrokerConfig,
    GroupProtocol,
    MemberConfig,
    NetworkConfig,
    Scenario,
)
from assignors.simulation.timed.simulation import simulate
from assignors.simulation.timed.tables.rows import simulate_with_all_figures
from tests.conftest import cases
from tests.simulation.timed.drawn import undisturbed

ON_REQUEST = ("join_wait_ms", "sync_wait_ms", "commit_wait_ms", "offset_fetch_wait_ms")
FIGURES = [each.name for each in fields(TimedResult)]
WITHOUT: dict[str, Any] = dict.fromkeys(FIGURES[FIGURES.index(ON_REQUEST[0]) :])


def measured(scenario: Scenario) -> TimedResult:
    return simulate_with_all_figures(scenario).result


def start(*starts_at_ms: int, count_from_ms: int = 0) -> Scenario:
    """Members that start then; a message takes 1 ms, the coordinator and an append no time."""
    members = tuple(
        MemberConfig(name=f"c{n}", topics=("t",), starts_at_ms=at_ms, sync_delay_us=0, assign_ms=0)
        for n, at_ms in enumerate(starts_at_ms)
    )
    return Scenario(
        until_ms=20_000,
        topics={"t": 6},
        members=members,
        network=NetworkConfig(least_us=1000, mean_us=0),
        broker=BrokerConfig(service_us=0, append_us=0, initial_delay_ms=3000),
        count_from_ms=count_from_ms,
    )


def test_whoever_joins_waits_for_the_last_one_as_one_computes_by_hand() -> None:
    """Each is asked to join with an id, 2 ms, and then all wait until the delay is over.

    The first one waits at the coordinator from 3 ms on. Others who come put the end off by 3 s
    once: the group is formed at 6.003 s. The answers are there 1 ms later.
    """
    begins_ms, answered_ms = (0, 1000, 2500), 6004
    found = measured(start(*begins_ms))
    assert found.join_wait_ms == sum(2 + answered_ms - (at_ms + 2) for at_ms in begins_ms)
    computing_ms = 6 * 0.02  # of the leader, by partition; the two others wait for it
    assert found.sync_wait_ms == pytest.approx(3 * 2 + 2 * computing_ms)
    assert found.locked_partition_ms == 0, "nobody had anything"


def test_waits_count_from_when_costs_do() -> None:
    found = measured(start(0, 1000, 2500, count_from_ms=6000))
    assert found.join_wait_ms == 3 * 4
    assert measured(start(0, 1000, 2500, count_from_ms=7000)).join_wait_ms == 0


@given(undisturbed())
@cases(40)
def test_the_run_is_the_same_and_a_lock_is_a_part_of_the_gaps(scenario: Scenario) -> None:
    plain, found = simulate(scenario).result, measured(scenario)
    assert replace(found, **WITHOUT, events=plain.events) == plain
    waits = [getattr(found, name) for name in ON_REQUEST]
    most = len(scenario.members) * (scenario.until_ms - scenario.count_from_ms)
    assert all(0 <= wait <= most for wait in waits)
    assert found.locked_partition_ms is not None
    blocked = [getattr(found, f"{call}_blocked_ms") for call in CALLS]
    assert min(blocked) >= 0
    assert sum(blocked) <= most
    assert 0 <= found.locked_partition_ms <= found.unavailable_partition_ms + 0.001
    if GroupProtocol.CLASSIC not in scenario.protocols:
        assert (found.sync_wait_ms, found.locked_partition_ms) == (0, 0)


def test_eager_joins_lock_everything_cooperative_ones_what_moves_and_kip_848_nothing() -> None:
    whole = named("scale-out")
    eager, cooperative = (
        measured(
            replace(
                whole,
                protocol=GroupProtocol.CLASSIC,
                members=tuple(replace(each, assignors=(name,)) for each in whole.members),
            )
        )
        for name in ("java/range", "java/cooperative-sticky")
    )
    modern = measured(replace(whole, protocol=GroupProtocol.CONSUMER))
    assert eager.locked_partition_ms
    assert eager.locked_partition_ms > 0.5 * eager.unavailable_partition_ms
    assert cooperative.locked_partition_ms
    assert cooperative.locked_partition_ms <= cooperative.moves * cooperative.longest_gap_ms
    assert modern.locked_partition_ms == 0


INTERVALS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)).map(sorted), max_size=6)


@pytest.mark.parametrize("is_shifted", [False, True])
@given(barriers=INTERVALS, gaps=INTERVALS)
@cases(60)
def test_a_lock_is_the_time_in_a_gap_and_behind_a_barrier(
    is_shifted: bool,  # noqa: FBT001 - a parameter of pytest
    barriers: list[tuple[int, int]],
    gaps: list[tuple[int, int]],
) -> None:
    late = 10**12 * is_shifted  # twelve days
    behind = {at for begin, end in barriers for at in range(begin, end)}
    expected = sum(at in behind for begin, end in gaps for at in range(begin, end))
    moved = [[(begin + late, end + late) for begin, end in each] for each in (barriers, gaps)]
    assert locked(*moved) == expected
