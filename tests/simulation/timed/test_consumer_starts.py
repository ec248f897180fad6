"""Members that start together come to rest without an event: runs are those by events alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed import plain_heartbeats
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.protocols.consumer.group import ConsumerGroup
from assignors.simulation.timed.scenario import (
    BrokerConfig,
    Fault,
    FaultKind,
    GroupProtocol,
    MemberConfig,
    NetworkConfig,
    Scenario,
)
from assignors.simulation.timed.simulation import simulate
from assignors.simulation.timed.stages.starts import consumer
from tests.conftest import cases
from tests.simulation.timed.drawn import actions, some_of_the_gallery, some_time_after
from tests.simulation.timed.engines import without_events
from tests.simulation.timed.started_runs import ended, ends_of

TIMES = some_time_after(4000, 11_000, 20_000, 40_000)
"""Sometimes before everybody is at rest."""


@pytest.fixture(autouse=True)
def _two_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumer, "LEAST", 2)
    monkeypatch.setattr(plain_heartbeats, "MANY", 2)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """A consumer group whose members start together, most of the time."""
    count = draw(st.integers(2, 9))
    topics = draw(st.sampled_from([("t",), ("t",), ("t", "u"), ("u", "t", "gone")]))
    poll_ms = draw(st.sampled_from([0, 100, 100, 100, 400, 3000]))

    def member(number: int) -> MemberConfig:
        is_odd = draw(st.integers(0, 30)) == 0
        return MemberConfig(
            name=f"c{number}",
            topics=("t",) if is_odd else topics[:: draw(st.sampled_from([1, -1]))],
            instance_id=draw(st.sampled_from([None, None, f"i{number}"])),
            rack_id=draw(st.sampled_from([None, "r"])),
            clock_ppm=draw(st.sampled_from([0, 0, 30_000])),
            poll_ms=poll_ms,
            rebalance_timeout_ms=draw(st.sampled_from([1000, 300_000])),
            revoke_ms=draw(st.sampled_from([0, 20, 1000])),
            assign_ms=draw(st.sampled_from([0, 5, 5, 1000])),
            starts_at_ms=draw(st.sampled_from([0, 0, 0, 0, 0, 30_000, None])),
        )

    return Scenario(
        seed=draw(st.integers(0, 2**63)),
        protocol=GroupProtocol.CONSUMER,
        until_ms=draw(st.integers(9000, 90_000) | st.integers(20_000, 90_000)),
        count_from_ms=draw(st.sampled_from([0, 0, 5000, 20_000])),
        topics={"t": draw(st.integers(0, 30)), "u": draw(st.integers(0, 4))},
        members=tuple(member(number) for number in range(count)),
        plan=tuple(draw(st.lists(actions(count, TIMES, grown=40), max_size=5)))
        if draw(st.booleans())
        else (),
        network=NetworkConfig(
            least_us=draw(st.sampled_from([0, 1000])),
            mean_us=draw(st.sampled_from([0, 1, 500, 1000, 1000, 20_000])),
        ),
        broker=BrokerConfig(
            service_us=draw(st.sampled_from([0, 50, 50, 4000])),
            append_us=draw(st.sampled_from([0, 5000, 5000, 5000, 300_000])),
            assignment_interval_ms=draw(st.sampled_from([1000, 1000, 1000, 500])),
            consumer_heartbeat_interval_ms=draw(st.sampled_from([1500, 5000, 5000, 5000])),
            assignor=draw(st.sampled_from(["server/uniform", "server/range", "optimal/sticky"])),
        ),
    )


def states(scenario: Scenario, until: int, *, computes: bool) -> object:
    """Return what both sides know at a moment, once everybody is awake."""
    run = ended(scenario, until, computes=computes, promotes=True)
    coordinator: Any = run.sides.coordinator
    clients: Any = run.sides.members
    group: ConsumerGroup = coordinator.coordinator.group
    group.is_homogeneous  # noqa: B018 - it may have been asked for
    draws = [each.draw.polls.state for each in clients]
    for each in clients:
        each.draw = each.new_id = each.in_flight = None
        each.out = []
    assert run.watch is not None
    links = [(each.arrives, each.returns, each.life) for each in run.network.links]
    watched = run.watch.does, run.watch.generations, run.watch.count
    ledger, meter = run.ledger, run.meter
    for listed in ledger.partitions.values():
        for each in listed:
            each.double_since = 0
    ledger.consumed = {name: owned for name, owned in ledger.consumed.items() if owned}
    metered = (meter.generations, meter.rebalances, meter.began, meter.touched, meter.touched_in)
    order = list(group.order), group.order.length
    return clients, draws, group, order, links, watched, ledger, metered, run.network.busy_until


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
    for until in ends_of(scenario, promotes=True):
        assert states(scenario, until, computes=True) == states(scenario, until, computes=False)


@pytest.mark.parametrize("name", some_of_the_gallery(GroupProtocol.CONSUMER))
def test_the_gallery_is_the_same_with_members_that_start_together(name: str) -> None:
    scenario = named(name, seed=3, protocol=GroupProtocol.CONSUMER)
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert without_events(computed) == without_events(queued)


def group_of(members: int, **changes: Any) -> Scenario:
    """Return a group of plain members that start at once."""
    group = named("rolling-restart", protocol=GroupProtocol.CONSUMER)
    one = replace(group.members[0], starts_at_ms=0)
    names = [replace(one, name=f"c{number}") for number in range(members)]
    found = replace(group, members=tuple(names), topics={"orders": 10 * members}, plan=())
    return replace(found, **changes)


def test_members_that_start_together_cost_no_event() -> None:
    scenario = group_of(30)
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert without_events(computed) == without_events(queued)
    assert computed.result.events == 0
    assert queued.result.events > 300


def test_a_fault_while_members_start_is_played_by_events() -> None:
    fault = Fault(kind=FaultKind.FREEZE, member="c3", from_ms=3000, until_ms=20_000)
    scenario = group_of(9, faults=(fault,))
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert computed == queued


def test_who_gives_up_its_share_later_than_it_may_is_removed() -> None:
    # The callback takes as long as the rebalance timeout, and there is a poll before and after it.
    scenario = group_of(8)
    late = [
        replace(each, revoke_ms=1000, rebalance_timeout_ms=1000, poll_ms=100)
        for each in scenario.members
    ]
    scenario = replace(scenario, members=tuple(late), count_from_ms=0)
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert without_events(computed) == without_events(queued)
    assert computed.result.rounds > 2


def without_delays(members: int, *, append_us: int, revoke_ms: int) -> Scenario:
    """A group in which nothing else takes time."""
    scenario = group_of(
        members,
        network=NetworkConfig(least_us=0, mean_us=0),
        broker=BrokerConfig(service_us=0, append_us=append_us, consumer_heartbeat_interval_ms=1500),
    )
    at_once = [
        replace(each, poll_ms=0, assign_ms=0, revoke_ms=revoke_ms) for each in scenario.members
    ]
    return replace(scenario, members=tuple(at_once))


def test_a_heartbeat_that_comes_with_the_last_report_before_it_brings_the_share() -> None:
    # Nothing takes time but the callback for what the first member gives up: its report and the
    # third heartbeats of the others arrive in the same microsecond, the report first.
    scenario = without_delays(9, append_us=100_000, revoke_ms=1300)
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert without_events(computed) == without_events(queued)
    assert computed.result.events == 0


def test_where_nothing_takes_time_the_order_within_a_moment_is_that_of_events() -> None:
    # The report of the first member comes after the heartbeats of that very moment.
    scenario = without_delays(3, append_us=0, revoke_ms=0)
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert without_events(computed) == without_events(queued)
