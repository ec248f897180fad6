"""Heartbeats are computed where they change nothing: runs are those in which each one is queued."""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed import next_heartbeats
from assignors.simulation.timed.gallery import GALLERY, named, threads
from assignors.simulation.timed.heartbeats import Heartbeats
from assignors.simulation.timed.monitors.table import Monitoring
from assignors.simulation.timed.protocols.consumer.group import ConsumerGroup
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.queue import EventQueue, Rank
from assignors.simulation.timed.random_streams import MEANS_MAX, exponential_at, exponentials_at
from assignors.simulation.timed.running.play import play
from assignors.simulation.timed.scenario import (
    MIGRATING,
    BrokerConfig,
    GroupProtocol,
    MemberConfig,
    NetworkConfig,
    Scenario,
)
from assignors.simulation.timed.simulation import Played, _handle, _prepared, simulate
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


@cases(40)
@given(scenarios().map(lambda each: replace(each, protocol=GroupProtocol.CONSUMER)))
def test_members_that_only_move_to_a_new_epoch_may_rest(scenario: Scenario) -> None:
    # With a history, every move is an event, as it is a record.
    moving, queued = simulate(scenario), simulate(scenario, queues_heartbeats=True)
    assert without_events(moving) == without_events(queued)


@cases(30)
@given(scenarios().map(lambda each: replace(each, protocol=GroupProtocol.CONSUMER)))
def test_members_that_rest_wake_up_in_the_state_in_which_they_would_be(scenario: Scenario) -> None:
    assert states(scenario, computes=True) == states(scenario, computes=False)


def states(scenario: Scenario, *, computes: bool) -> object:
    """Return what both sides of a consumer group know at the end, once everybody is awake."""
    run = _prepared(scenario, Monitoring.BASIC, None, keeps_history=False)
    until = scenario.until_ms * MILLISECOND
    if computes:
        run.heartbeats = Heartbeats.of(
            run.sides, run.network, run.queue, scenario.broker, promotes=True
        )
    while (event := run.queue.take(until)) is not None:
        _handle(run, event)
    run.queue.now = until + 1
    if run.heartbeats is not None:
        for number in list(run.heartbeats.resting):
            run.heartbeats.wake(number)
    coordinator: Any = run.sides.coordinator
    clients: Any = run.sides.members
    group: ConsumerGroup = getattr(coordinator, "coordinator", coordinator).group
    known = [(each.member_id, each.epoch, each.in_flight is None, each.owned) for each in clients]
    return known, group.members, group.partition_epochs, group.epoch


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
    *((name, protocol) for name in threads.STORIES for protocol in MIGRATING),
    # Each one renews a lease.
    ("zombie-with-lease", GroupProtocol.PUSH),
}
"""Where every heartbeat is looked at, as it is under every execution model."""


@pytest.mark.parametrize("name", ["rolling-restart", "crash"])
def test_few_members_at_rest_are_computed_as_many_are(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = named(name, protocol=GroupProtocol.CONSUMER)
    one_by_one = simulate(scenario)
    monkeypatch.setattr(next_heartbeats, "FEW", 0)
    assert simulate(scenario) == one_by_one


def test_next_heartbeats_one_by_one_are_those_in_arrays(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = named("rolling-restart", protocol=GroupProtocol.CONSUMER)
    run = _prepared(scenario, Monitoring.OFF, None, keeps_history=False)
    own = Heartbeats.of(run.sides, run.network, run.queue, scenario.broker, promotes=True)
    assert own is not None
    run.heartbeats = own
    play(run, _handle, 20_000 * MILLISECOND)
    now = run.queue.now
    one_by_one = [(own.next.one(number, now), number) for number in own.resting]
    assert len(one_by_one) > 2
    monkeypatch.setattr(next_heartbeats, "FEW", 0)
    for arrives, number in one_by_one:
        for at in (arrives - 1, arrives, arrives + 1, arrives + own.network.longest_us):
            for reached in ((0, 0), (Rank.ARRIVAL, number - 1), (Rank.ARRIVAL, number)):
                with run.queue.rewound((at, reached)):
                    each = sorted([(own.next.one(n, at), n) for n in own.resting])
                    found = []
                    for few in (100, 0):
                        monkeypatch.setattr(next_heartbeats, "FEW", few)
                        order, times = own.next.in_order(at)
                        found.append((list(zip(times, order, strict=True)), own.next.first(at)))
                    assert found == [(each, each[0][1])] * 2


def test_a_moment_has_come_as_far_as_the_last_of_its_events() -> None:
    queue: EventQueue[str] = EventQueue()
    for whose in (2, 1):
        queue.put(5, f"due {whose}", Rank.HEARTBEAT, whose)
    assert queue.take(9) == "due 1"
    queue.put(5, "sent")
    assert [queue.is_past(5, Rank.HEARTBEAT, whose) for whose in (1, 2)] == [True, False]
    assert (queue.take(9), queue.moment) == ("sent", (5, (Rank.HEARTBEAT, 1)))
    assert (queue.take(9), queue.moment) == ("due 2", (5, (Rank.HEARTBEAT, 2)))


def test_a_timer_that_is_asked_for_later_has_its_place_among_what_is_asked_for_then() -> None:
    queue: EventQueue[str] = EventQueue()
    queue.start_later("report", 3, 5, "it", 0)
    queue.start_later("stopped", 3, 5, "nothing", 0)
    queue.put(5, "before it")
    queue.put(3, "then")
    queue.stop("stopped")
    assert not queue.has_asked("report")
    assert queue.take(9) == "then"
    assert queue.has_asked("report")
    assert queue.due("report") == 5
    queue.put(5, "after it")
    assert [queue.take(9) for _ in range(4)] == ["before it", "it", "after it", None]
    assert queue.count == 4


@pytest.mark.parametrize(("name", "protocol"), HALF_OF_THE_GALLERY)
def test_the_gallery_is_the_same_with_fewer_events(name: str, protocol: GroupProtocol) -> None:
    scenario = named(name, seed=5, protocol=protocol)
    computed, queued = both(scenario)
    assert without_events(computed) == without_events(queued)
    never_rests = (name, protocol) in NEVER_RESTS or scenario.broker.execution.model is not None
    assert never_rests or computed.result.events < queued.result.events


@pytest.mark.parametrize("protocol", GroupProtocol)
def test_members_at_rest_cost_no_events(protocol: GroupProtocol) -> None:
    def events(until_ms: int) -> tuple[int, int]:
        group = named("crash", protocol=protocol)
        result = simulate(replace(group, plan=(), until_ms=until_ms)).result
        return result.events, sum(result.requests.values())

    (few, requests), (many, more_requests) = events(400_000), events(3_600_000)
    assert few == many
    assert more_requests > requests + 6000


def test_delays_are_exponential_and_bounded() -> None:
    delays = [exponential_at(11, moment, 10_000) for moment in range(20_000)]
    assert fmean(delays) == pytest.approx(10_000, rel=0.03)
    assert fmean(delay > 20_000 for delay in delays) == pytest.approx(np.exp(-2), rel=0.05)
    assert max(delays) <= MEANS_MAX * 10_000


@given(
    st.lists(st.tuples(st.integers(0, 2**64 - 1), st.integers(0, 2**50)), min_size=1),
    st.integers(0, 2**26 - 1),
)
def test_many_delays_are_those_of_each(keys: list[tuple[int, int]], mean: int) -> None:
    seeds = np.array([seed for seed, _ in keys], dtype=np.uint64)
    moments = np.array([moment for _, moment in keys], dtype=np.int64)
    each = [exponential_at(seed, moment, mean) for seed, moment in keys]
    assert exponentials_at(seeds, moments, mean).tolist() == each
