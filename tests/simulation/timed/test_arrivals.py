"""Short-lived members at random, and clocks that run fast or slow."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.plan import drawn, with_arrivals
from assignors.simulation.timed.scenario import (
    Arrivals,
    GroupProtocol,
    MemberConfig,
    Scenario,
)
from assignors.simulation.timed.scenario.members import End
from assignors.simulation.timed.scenario_document import brief_document, scenario_from_document
from assignors.simulation.timed.simulation import simulate
from tests.conftest import cases

JOB = MemberConfig(name="job", topics=("orders",), assignors=("java/cooperative-sticky",))
PROTOCOLS = list(GroupProtocol)


def busy(every_ms: int, *, seed: int = 1, ends: End = End.STOP) -> Scenario:
    arrivals = Arrivals(
        member=JOB,
        every_ms=every_ms,
        lifetime_ms=20_000,
        from_ms=60_000,
        until_ms=360_000,
        ends=ends,
    )
    base = replace(named("crash", seed=seed), plan=(), until_ms=600_000)
    return replace(base, arrivals=(arrivals,))


def test_as_many_come_as_the_rate_says_and_stay_as_long() -> None:
    many = Arrivals(member=JOB, every_ms=1000, lifetime_ms=5000, from_ms=0, until_ms=4_000_000)
    members, plan = drawn(many, 7)
    assert 3800 < len(members) < 4200
    starts = {each.member: each.at_ms for each in plan[::2]}
    lives = [each.at_ms - starts[each.member] for each in plan[1::2]]
    assert 4700 < sum(lives) / len(lives) < 5300
    assert len({each.name for each in members}) == len(members)


def test_others_draw_the_same_whatever_comes_beside_them() -> None:
    alone = with_arrivals(busy(30_000))
    other = replace(JOB, name="task")
    both = busy(30_000)
    more = replace(both.arrivals[0], member=other)
    together = with_arrivals(replace(both, arrivals=(more, *both.arrivals)))
    jobs = [each for each in together.plan if str(each.member).startswith("job")]
    assert jobs == list(alone.plan)


@pytest.mark.parametrize("ends", End)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_group_is_at_rest_once_no_more_of_them_come(protocol: GroupProtocol, ends: End) -> None:
    played = simulate(replace(busy(20_000, ends=ends), protocol=protocol)).result
    assert played.is_settled
    assert played.rounds >= 10
    assert played.double_partition_ms == 0


def test_the_more_of_them_come_the_less_is_consumed() -> None:
    costs = [simulate(busy(every)).result.unavailable_partition_ms for every in (60_000, 15_000)]
    assert costs[1] > 2 * costs[0]


def test_arrivals_are_read_and_written() -> None:
    scenario = busy(15_000)
    text = json.dumps(brief_document(scenario))
    assert scenario_from_document(json.loads(text)) == scenario


@cases(15)
@given(
    st.lists(st.integers(-100_000, 100_000), min_size=10, max_size=10), st.sampled_from(PROTOCOLS)
)
def test_a_run_is_the_same_with_heartbeats_queued_whatever_the_clocks(
    ppm: list[int], protocol: GroupProtocol
) -> None:
    base = named("topic-growth", protocol=protocol)
    members = tuple(
        replace(each, clock_ppm=one) for each, one in zip(base.members, ppm, strict=True)
    )
    scenario = replace(base, members=members)
    computed = simulate(scenario, keeps_history=True)
    queued = simulate(scenario, keeps_history=True, queues_heartbeats=True)
    assert computed.changes == queued.changes
    assert computed.result.requests == queued.result.requests


def test_a_slow_clock_sends_fewer_heartbeats() -> None:
    base = named("topic-growth")
    slow = replace(base, members=tuple(replace(m, clock_ppm=100_000) for m in base.members))
    beats = [simulate(each).result.requests["Heartbeat"] for each in (base, slow)]
    assert 1.08 < beats[0] / beats[1] < 1.12
