"""Heartbeats are computed where they change nothing: runs are those in which each one is queued."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from assignors.simulation.timed.engine import handle
from assignors.simulation.timed.explore.random_scenarios import PLAIN
from assignors.simulation.timed.gallery import GALLERY, named
from assignors.simulation.timed.monitors.rules import Monitoring
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.protocols.kafka.consumer_group import ConsumerGroup
from assignors.simulation.timed.queue import EventQueue, Rank
from assignors.simulation.timed.random_streams import MEANS_MAX, exponential_at
from assignors.simulation.timed.scenario import (
    MIGRATING,
    GroupProtocol,
    ProcessingConfig,
    Scenario,
)
from assignors.simulation.timed.simulation import Played, compute_heartbeats, prepared, simulate
from tests.conftest import cases
from tests.simulation.timed.drawn import HALF_OF_THE_GALLERY, undisturbed
from tests.simulation.timed.engines import without_events


def both(scenario: Scenario) -> tuple[Played, Played]:
    """Return the run with computed heartbeats and the one in which each is queued."""
    computed = simulate(scenario, keeps_history=True)
    return computed, simulate(scenario, keeps_history=True, queues_heartbeats=True)


@cases(30)
@given(undisturbed(replace(PLAIN, protocols=(GroupProtocol.CONSUMER,))))
def test_members_that_rest_wake_up_in_the_state_in_which_they_would_be(scenario: Scenario) -> None:
    assert states(scenario, computes=True) == states(scenario, computes=False)


def states(scenario: Scenario, *, computes: bool) -> object:
    """Return what both sides of a consumer group know at the end, once everybody is awake."""
    run = prepared(scenario, Monitoring.BASIC, None, keeps_history=False)
    until = scenario.until_ms * MILLISECOND
    if computes:
        compute_heartbeats(run)
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
        group = replace(named("crash", protocol=protocol), processing=ProcessingConfig())
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
