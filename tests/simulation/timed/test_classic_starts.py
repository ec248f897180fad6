"""Classic members that start together go through their first round without an event."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.scenario import (
    BrokerConfig,
    GroupProtocol,
    MemberConfig,
    NetworkConfig,
    Scenario,
)
from assignors.simulation.timed.simulation import simulate
from assignors.simulation.timed.stages import rounds
from assignors.simulation.timed.stages.starts import classic
from tests.conftest import cases
from tests.simulation.timed.drawn import PLAYABLE, actions, some_time_after
from tests.simulation.timed.engines import without_events
from tests.simulation.timed.started_runs import ended, ends_of

TIMES = some_time_after(0, 6000, 11_000, 40_000)
"""Sometimes before everybody is at rest."""
ASSIGNORS = [
    ("optimal/cooperative-sticky",),
    ("optimal/sticky",),
    ("java/cooperative-sticky", "java/range"),
]


@pytest.fixture(autouse=True)
def _two_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classic, "LEAST", 2)
    monkeypatch.setattr(rounds, "LEAST", 2)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """A classic group whose members start together, most of the time."""
    count = draw(st.integers(2, 9))
    assignors = draw(st.sampled_from(ASSIGNORS))

    def member(number: int) -> MemberConfig:
        is_odd = draw(st.integers(0, 60)) == 0
        return MemberConfig(
            name=f"c{number}",
            topics=draw(st.sampled_from([("t",), ("t",), ("u", "t"), ("t", "gone")])),
            assignors=draw(st.sampled_from(ASSIGNORS)) if is_odd else assignors,
            instance_id=f"i{number}" if is_odd else None,
            rack_id=draw(st.sampled_from([None, "r"])),
            clock_ppm=draw(st.sampled_from([0, 0, 30_000])),
            heartbeat_interval_ms=draw(st.sampled_from([1000, 3000, 3000])),
            session_timeout_ms=draw(st.sampled_from([11_000, 45_000])),
            rebalance_timeout_ms=draw(st.sampled_from([2000, 4000, 300_000, 300_000])),
            assign_ms=draw(st.sampled_from([0, 5, 5, 900, 2500])),
            starts_at_ms=draw(
                st.sampled_from([0, 0, 0, 0, 7 * number, 900 * number, 2900, 30_000, None])
            ),
        )

    return Scenario(
        seed=draw(st.integers(0, 2**63)),
        until_ms=draw(st.integers(5000, 90_000) | st.integers(20_000, 90_000)),
        count_from_ms=draw(st.sampled_from([0, 0, 5000, 20_000])),
        topics={"t": draw(st.integers(0, 30)), "u": draw(st.integers(0, 4))},
        members=tuple(member(number) for number in range(count)),
        plan=tuple(draw(st.lists(actions(count, TIMES, grown=40), max_size=5)))
        if draw(st.booleans())
        else (),
        network=NetworkConfig(
            least_us=draw(st.sampled_from([0, 1000])),
            mean_us=draw(st.sampled_from([0, 1, 2, 500, 1000, 1000, 20_000])),
        ),
        broker=BrokerConfig(
            service_us=draw(st.sampled_from([0, 1, 50, 50, 4000])),
            append_us=draw(st.sampled_from([0, 2, 5000, 5000, 300_000])),
            initial_delay_ms=draw(st.sampled_from([0, 1000, 3000, 3000])),
        ),
        compute_us_per_partition=draw(st.sampled_from([0, 20, 20, 50_000])),
    )


def states(scenario: Scenario, until: int, *, computes: bool) -> object:
    """Return what both sides know at a moment, once everybody is awake."""
    run = ended(scenario, until, computes=computes, promotes=False)
    coordinator: Any = run.sides.coordinator
    members: Any = run.sides.members
    draws = [(each.draw.polls.state, each.draw.syncs.state) for each in members]
    for each in members:
        each.draw = each.assignors = None
        each.out = []
    coordinator.new_id, coordinator.out = None, []
    assert run.watch is not None
    links = [(each.arrives, each.returns, each.life) for each in run.network.links]
    watched = run.watch.does, run.watch.generations, run.watch.count
    ledger, meter, network = run.ledger, run.meter, run.network
    metered = (
        *(meter.generations, meter.rebalances, meter.began, meter.ended),
        *(meter.touched, meter.touched_in),
    )
    orders = list(coordinator.group.members), list(coordinator.group.order)
    sent = network.sent, network.requests, network.in_flight, network.busy_until
    dues = [(str(key), run.queue.due(key)) for key in run.queue._timers]
    timers = sorted(each for each in dues if each[1] is not None)
    return members, draws, coordinator, orders, links, watched, ledger, metered, sent, timers


@cases(40)
@given(scenarios())
def test_a_run_is_the_same_whether_its_members_start_by_events_or_together(
    scenario: Scenario,
) -> None:
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert without_events(computed) == without_events(queued)


@cases(40)
@given(scenarios())
def test_members_that_start_together_come_to_the_state_in_which_they_would_be(
    scenario: Scenario,
) -> None:
    for until in ends_of(scenario, promotes=False):
        assert states(scenario, until, computes=True) == states(scenario, until, computes=False)


@pytest.mark.deep
@pytest.mark.parametrize("name", [name for name, each in PLAYABLE if each is GroupProtocol.CLASSIC])
def test_the_gallery_is_the_same_with_members_that_start_together(name: str) -> None:
    scenario = named(name, seed=3, protocol=GroupProtocol.CLASSIC)
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert without_events(computed) == without_events(queued)


@pytest.mark.parametrize("assignors", ASSIGNORS)
def test_members_that_start_together_cost_no_event(assignors: tuple[str, ...]) -> None:
    group = named("rolling-restart", protocol=GroupProtocol.CLASSIC)
    one = replace(group.members[0], starts_at_ms=0, assignors=assignors)
    members = tuple(replace(one, name=f"c{number}") for number in range(30))
    scenario = replace(group, members=members, topics={"orders": 300}, plan=(), until_ms=30_000)
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert without_events(computed) == without_events(queued)
    assert computed.result.events == 0
    assert queued.result.events > 30 * 7


@pytest.mark.parametrize("assignors", ASSIGNORS)
@pytest.mark.parametrize("rebalance_timeout_ms", [300_000, 16_000])
def test_members_that_start_one_after_the_other_in_time_for_the_first_round_cost_no_event(
    assignors: tuple[str, ...], rebalance_timeout_ms: int
) -> None:
    one = MemberConfig(
        name="c", topics=("t",), assignors=assignors, rebalance_timeout_ms=rebalance_timeout_ms
    )
    members = tuple(
        replace(one, name=f"c{number}", starts_at_ms=500 * number) for number in range(30)
    )
    scenario = Scenario(topics={"t": 300}, members=members, until_ms=30_000)
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert without_events(computed) == without_events(queued)
    assert computed.result.rounds == 1
    assert computed.result.events == 0
    assert queued.result.events > 30 * 7


def test_a_join_group_that_comes_just_as_a_delay_ends_is_played_by_events() -> None:
    # The third is sent before the delay begins, which it ends with: it comes before that.
    scenario = limited(BrokerConfig(service_us=0, initial_delay_ms=2), delay_us=2500)
    members = tuple(
        replace(each, starts_at_ms=min(number, 2)) for number, each in enumerate(scenario.members)
    )
    scenario = replace(scenario, members=members)
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert without_events(computed) == without_events(queued)
    assert not ends_of(scenario, promotes=False)


def test_the_first_one_alone_does_not_prolong_the_initial_delay() -> None:
    for seed in range(20):
        scenario = limited()
        members = tuple(
            replace(each, starts_at_ms=2999 * (number > 0))
            for number, each in enumerate(scenario.members)
        )
        network = NetworkConfig(least_us=0, mean_us=5000)
        scenario = replace(scenario, seed=seed, members=members, network=network)
        computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
        assert without_events(computed) == without_events(queued)


@pytest.mark.parametrize(("mean_us", "append_us"), [(4, 3), (20_000, 0)])
def test_a_sync_group_that_comes_after_the_assignments_is_answered_alone(
    mean_us: int, append_us: int
) -> None:
    # The run ends before the first heartbeats: sessions are those that the round has left.
    for seed in range(20):
        scenario = Scenario(
            seed=seed,
            until_ms=8000,
            topics={"t": 12},
            members=tuple(MemberConfig(name=f"c{number}", topics=("t",)) for number in range(9)),
            network=NetworkConfig(least_us=0, mean_us=mean_us),
            broker=BrokerConfig(service_us=1, append_us=append_us),
            compute_us_per_partition=0,
        )
        for until in ends_of(scenario, promotes=False):
            assert states(scenario, until, computes=True) == states(scenario, until, computes=False)


def limited(
    broker: BrokerConfig | None = None,
    *,
    until_ms: int = 60_000,
    compute_us: int = 0,
    delay_us: int = 1000,
    **member: int,
) -> Scenario:
    """Return nine members that start at once, with 12 partitions."""
    one = MemberConfig(name="c", topics=("t",), assign_ms=0)
    one = replace(one, **member)  # type: ignore[arg-type]  # all of these are numbers
    return Scenario(
        until_ms=until_ms,
        topics={"t": 12},
        members=tuple(replace(one, name=f"c{number}") for number in range(9)),
        network=NetworkConfig(least_us=delay_us, mean_us=0),
        broker=BrokerConfig() if broker is None else broker,
        compute_us_per_partition=compute_us,
    )


@pytest.mark.parametrize(
    "scenario",
    [
        pytest.param(
            limited(
                BrokerConfig(initial_delay_ms=200_000), until_ms=500_000, rebalance_timeout_ms=10**6
            ),
            id="new members wait for five minutes",
        ),
        pytest.param(
            limited(
                BrokerConfig(initial_delay_ms=20_000),
                request_timeout_ms=1000,
                rebalance_timeout_ms=1000,
            ),
            id="JoinGroups are given up before the initial delay is over",
        ),
        pytest.param(
            limited(delay_us=400_000, rebalance_timeout_ms=500),
            id="SyncGroups come after the rebalance timeout",
        ),
        pytest.param(
            limited(compute_us=200_000, request_timeout_ms=1000),
            id="SyncGroups are given up before the assignment comes",
        ),
        pytest.param(
            limited(BrokerConfig(append_us=300_000), rebalance_timeout_ms=100),
            id="the assignment comes after the rebalance timeout",
        ),
        pytest.param(limited(until_ms=8000, assign_ms=2990), id="the run ends in a callback"),
    ],
)
def test_what_is_over_before_all_are_at_rest_is_played_by_events(scenario: Scenario) -> None:
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert without_events(computed) == without_events(queued)
    assert not ends_of(scenario, promotes=False)
