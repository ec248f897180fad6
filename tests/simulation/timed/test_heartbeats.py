"""Heartbeats are computed where they change nothing: runs are those in which each one is queued."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed.engine import handle
from assignors.simulation.timed.gallery import GALLERY, named
from assignors.simulation.timed.heartbeats import Heartbeats
from assignors.simulation.timed.monitors.rules import Monitoring
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.protocols.kafka.consumer_group import ConsumerGroup
from assignors.simulation.timed.queue import EventQueue, Rank
from assignors.simulation.timed.random_streams import MEANS_MAX, exponential_at
from assignors.simulation.timed.scenario import (
    MIGRATING,
    BrokerConfig,
    GroupProtocol,
    MemberConfig,
    NetworkConfig,
    Scenario,
)
from assignors.simulation.timed.simulation import Played, prepared, simulate
from tests.conftest import cases
from tests.simulation.timed.drawn import HALF_OF_THE_GALLERY, actions
from tests.simulation.timed.engines import without_events

TIMES = st.builds(
    lambda second, later: second * 1000 + later,
    st.integers(0, 60),
    st.one_of(st.just(0), st.integers(0, 999)),
)
"""In the first minute; often at the second, as other things do."""
ASSIGNORS = (
    ("optimal/sticky",),
    ("optimal/cooperative-sticky",),
    ("java/range",),
    ("java/cooperative-sticky", "java/range"),
)


@st.composite
def members(draw: st.DrawFn, number: int) -> MemberConfig:
    """Return a member; a static one may have the instance id of another one."""
    return MemberConfig(
        name=f"c{number}",
        topics=draw(st.sampled_from([("t",), ("u",)])),
        assignors=draw(st.sampled_from(ASSIGNORS)),
        instance_id=draw(st.sampled_from([None, None, f"i{number}", "i0"])),
        heartbeat_interval_ms=draw(st.sampled_from([1000, 1000, 3000, 10_000])),
        session_timeout_ms=draw(st.sampled_from([11_000, 45_000])),
        poll_ms=draw(st.sampled_from([0, 100, 3000])),
        sync_delay_us=draw(st.sampled_from([0, 5000])),
        metadata_age_ms=draw(st.sampled_from([5000, 300_000])),
        starts_at_ms=draw(st.sampled_from([0, 0, 0, 7 * number, 1000 * number, None])),
    )


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """Return a small group, with delays or without any, and up to a dozen things that happen."""
    count = draw(st.integers(1, 7))
    return Scenario(
        seed=draw(st.integers(0, 2**63)),
        protocol=draw(st.sampled_from(GroupProtocol)),
        until_ms=draw(st.integers(30_000, 120_000)),
        count_from_ms=draw(st.sampled_from([0, 20_000])),
        topics={"t": draw(st.integers(0, 20)), "u": 5},
        members=tuple(draw(members(number)) for number in range(count)),
        plan=tuple(draw(st.lists(actions(count, TIMES, grown=20), max_size=12))),
        network=NetworkConfig(
            least_us=draw(st.sampled_from([0, 1000])),
            mean_us=draw(st.sampled_from([0, 500, 20_000, 20_000])),
        ),
        broker=BrokerConfig(
            service_us=draw(st.sampled_from([0, 50, 40_000])),
            append_us=draw(st.sampled_from([0, 5000, 300_000])),
            initial_delay_ms=draw(st.sampled_from([0, 3000])),
            assignment_interval_ms=draw(st.sampled_from([0, 1000, 15_000])),
            consumer_session_timeout_ms=draw(st.sampled_from([11_000, 45_000])),
        ),
    )


def both(scenario: Scenario) -> tuple[Played, Played]:
    """Return the run with computed heartbeats and the one in which each is queued."""
    computed = simulate(scenario, keeps_history=True)
    return computed, simulate(scenario, keeps_history=True, queues_heartbeats=True)


@cases(30)
@given(scenarios().map(lambda each: replace(each, protocol=GroupProtocol.CONSUMER)))
def test_members_that_rest_wake_up_in_the_state_in_which_they_would_be(scenario: Scenario) -> None:
    assert states(scenario, computes=True) == states(scenario, computes=False)


def states(scenario: Scenario, *, computes: bool) -> object:
    """Return what both sides of a consumer group know at the end, once everybody is awake."""
    run = prepared(scenario, Monitoring.BASIC, None, keeps_history=False)
    until = scenario.until_ms * MILLISECOND
    if computes:
        run.heartbeats = Heartbeats(
            step_member=run.step_member,
            sides=run.sides,
            network=run.network,
            queue=run.queue,
            broker=scenario.broker,
        )
    while (event := run.queue.take(until)) is not None:
        handle(run, event)
    run.queue.now = until + 1
    if run.heartbeats is not None:
        for number in list(run.heartbeats.resting):
            run.heartbeats.wake(number)
    coordinator: Any = run.sides.coordinator
    clients: Any = run.sides.members
    group: ConsumerGroup | None = getattr(coordinator, "coordinator", coordinator).group
    known = [(each.member_id, each.epoch, each.in_flight is None, each.owned) for each in clients]
    return known, group and (group.members, group.partition_epochs, group.epoch)


@cases(100)
@given(scenarios())
def test_a_run_is_the_same_whether_heartbeats_are_queued_or_computed(scenario: Scenario) -> None:
    computed, queued = both(scenario)
    assert without_events(computed) == without_events(queued)


NEVER_RESTS = {
    ("topic-named-twice", GroupProtocol.CLASSIC),
    # An answer may come later than the next heartbeat is due.
    *(("slow-network", protocol) for protocol in GroupProtocol),
    *(
        (name, protocol)
        for name in GALLERY
        for protocol in GroupProtocol
        if name.startswith("migration-")
    ),
    # Every heartbeat of a member with a pattern may begin a lookup.
    ("new-topic-for-a-pattern", GroupProtocol.CONSUMER),
    # When one leaves depends on the threads of its client.
    *(
        (name, protocol)
        for name, one in GALLERY.items()
        if "threads" in one.chapter
        for protocol in MIGRATING
    ),
    # Each one renews a lease.
    ("zombie-with-lease", GroupProtocol.PUSH),
}
"""Where every heartbeat is looked at, as it is under every execution model."""


def test_a_moment_has_come_as_far_as_the_last_of_its_events() -> None:
    queue: EventQueue[str] = EventQueue()
    for whose in (2, 1):
        queue.put(5, f"due {whose}", Rank.HEARTBEAT, whose)
    assert queue.take(9) == "due 1"
    queue.put(5, "sent")
    assert [queue.is_past(5, Rank.HEARTBEAT, whose) for whose in (1, 2)] == [True, False]
    assert queue.take(9) == "sent"
    assert [queue.is_past(5, Rank.HEARTBEAT, whose) for whose in (1, 2)] == [True, False]
    assert queue.take(9) == "due 2"
    assert queue.is_past(5, Rank.HEARTBEAT, 2)


@pytest.mark.parametrize(("name", "protocol"), HALF_OF_THE_GALLERY)
def test_the_gallery_is_the_same_with_fewer_events(name: str, protocol: GroupProtocol) -> None:
    scenario = named(name, seed=5, protocol=protocol)
    computed, queued = both(scenario)
    assert without_events(computed) == without_events(queued)
    never_rests = (name, protocol) in NEVER_RESTS or scenario.execution_model is not None
    assert never_rests or computed.result.events < queued.result.events


@pytest.mark.parametrize("protocol", GroupProtocol)
def test_members_at_rest_cost_no_events(protocol: GroupProtocol) -> None:
    def events(until_ms: int) -> tuple[int, int]:
        group = named("crash", protocol=protocol)
        rare = replace(group.broker, offsets_check_ms=7_200_000)  # each look is an event
        result = simulate(replace(group, plan=(), until_ms=until_ms, broker=rare)).result
        return result.events, sum(result.requests.values())

    (few, requests), (many, more_requests) = events(400_000), events(3_600_000)
    assert few == many
    assert more_requests > requests + 6000


def test_delays_are_exponential_and_bounded() -> None:
    delays = [exponential_at(11, moment, 10_000) for moment in range(20_000)]
    assert fmean(delays) == pytest.approx(10_000, rel=0.03)
    assert fmean(delay > 20_000 for delay in delays) == pytest.approx(np.exp(-2), rel=0.05)
    assert max(delays) <= MEANS_MAX * 10_000
