"""Rounds are computed by stage where nothing is special: runs are those by events alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    GroupProtocol,
    MemberConfig,
    NetworkConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.simulation import Played, simulate
from assignors.simulation.timed.stages import rounds
from tests.conftest import cases
from tests.simulation.timed.drawn import (
    APPENDS_US,
    NETWORKS,
    REQUEST_TIMEOUTS_MS,
    SERVICES_US,
    actions,
    some_of_the_gallery,
    some_time_after,
)
from tests.simulation.timed.engines import without_events
from tests.simulation.timed.stage_states import SOON_US, require_same_states

TIMES = some_time_after(10_000, 20_000, 40_000)
"""Often soon after another thing."""
COOPERATIVE = ("optimal/cooperative-sticky",)


@pytest.fixture(autouse=True)
def _two_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "LEAST", 2)


@st.composite
def members(draw: st.DrawFn, number: int) -> MemberConfig:
    """A member that is plain most of the time."""
    plain = draw(st.integers(0, 9)) > 0
    assignors = [COOPERATIVE, COOPERATIVE, ("java/cooperative-sticky",)]
    return MemberConfig(
        name=f"c{number}",
        topics=draw(st.sampled_from([("t",), ("t",), ("t", "u")])),
        assignors=draw(st.sampled_from(assignors)) if plain else ("optimal/cooperative-sticky",),
        instance_id=draw(st.sampled_from([None, None, f"i{number}"])),
        heartbeat_interval_ms=draw(st.sampled_from([1000, 3000, 3000])),
        session_timeout_ms=draw(st.sampled_from([11_000, 45_000])),
        rebalance_timeout_ms=draw(st.sampled_from([6000, 300_000])),
        poll_ms=draw(st.sampled_from([0, 100, 5000])),
        revoke_ms=draw(st.sampled_from([0, 20, 3000])),
        sync_delay_us=0 if plain else 5000,
        heartbeats_go_on=draw(st.booleans()) if not plain else False,
        metadata_age_ms=draw(st.sampled_from([5000, 300_000])),
        request_timeout_ms=draw(REQUEST_TIMEOUTS_MS),
        starts_at_ms=draw(st.sampled_from([0, 0, 0, 0, 7 * number, 12_000, None])),
    )


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """A cooperative group in which most members are plain."""
    count = draw(st.integers(3, 9))
    return Scenario(
        seed=draw(st.integers(0, 2**63)),
        until_ms=draw(st.integers(42_000, 90_000)),
        count_from_ms=draw(st.sampled_from([0, 20_000])),
        topics={"t": draw(st.integers(0, 30)), "u": 5},
        members=tuple(draw(members(number)) for number in range(count)),
        plan=tuple(draw(st.lists(actions(count, TIMES, grown=30), max_size=8))),
        network=draw(NETWORKS),
        broker=BrokerConfig(
            service_us=draw(SERVICES_US),
            append_us=draw(APPENDS_US),
        ),
        compute_us_per_partition=draw(st.sampled_from([0, 20, 50_000])),
    )


def both(scenario: Scenario) -> tuple[Played, Played]:
    """The run with computed rounds, and the one by events."""
    computed = simulate(scenario, keeps_history=True)
    return computed, simulate(scenario, keeps_history=True, computes_rounds=False)


@cases(80)
@given(scenarios())
def test_a_run_is_the_same_whether_its_rounds_are_events_or_computed(scenario: Scenario) -> None:
    computed, queued = both(scenario)
    assert without_events(computed) == without_events(queued)


@cases(80)
@given(scenarios())
def test_so_it_is_where_no_change_is_kept(scenario: Scenario) -> None:
    # Who only gains takes that without an event.
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert without_events(computed) == without_events(queued)


@cases(40)
@given(scenarios(), st.integers(0, 9), SOON_US)
def test_members_come_to_the_state_in_which_they_would_be(
    scenario: Scenario, at_rebalance: int, after_us: int
) -> None:
    require_same_states(scenario, at_rebalance, after_us)


@pytest.mark.parametrize("name", some_of_the_gallery(GroupProtocol.CLASSIC))
def test_the_gallery_is_the_same_with_computed_rounds(name: str) -> None:
    computed, queued = both(named(name, seed=3, protocol=GroupProtocol.CLASSIC))
    assert without_events(computed) == without_events(queued)


def test_members_that_keep_what_they_have_cost_few_events() -> None:
    group = named("rolling-restart", protocol=GroupProtocol.CLASSIC)
    members = tuple(
        replace(group.members[0], name=f"c{number}", assignors=COOPERATIVE) for number in range(30)
    )
    scenario = replace(group, topics={"orders": 300}, members=members)
    computed, queued = both(scenario)
    assert without_events(computed) == without_events(queued)
    assert computed.result.events * 2 < queued.result.events


def gaining(**config: int) -> Scenario:
    """Return how 24 of 29 members get a partition of the one that leaves."""
    group = named("rolling-restart", protocol=GroupProtocol.CLASSIC)
    one = replace(group.members[0], assignors=COOPERATIVE)
    members = tuple(replace(one, name=f"c{number}") for number in range(30))
    members = tuple(replace(each, **config) for each in members)  # type: ignore[arg-type]  # numbers
    plan = (Action(at_ms=600_000, do=Verb.STOP, member="c0"),)
    return replace(group, topics={"orders": 720}, members=members, plan=plan, until_ms=1_000_000)


def test_members_that_only_gain_have_no_event() -> None:
    scenario = gaining()
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert without_events(computed) == without_events(queued)
    assert computed.result.moves == 24
    assert computed.result.events <= 20


@pytest.mark.parametrize("assignor", [*COOPERATIVE, "optimal/sticky"])
def test_a_run_may_end_within_a_round_and_has_no_event_more_for_that(assignor: str) -> None:
    scenario = replace(gaining(), network=NetworkConfig(mean_us=20_000))
    members = tuple(replace(each, assignors=(assignor,)) for each in scenario.members)
    scenario = replace(scenario, members=members)
    ended_ms = simulate(scenario).rebalances[-1].ended // 1000
    events = []
    for after_ms in range(-80, 130, 10):
        ends = replace(scenario, until_ms=ended_ms + after_ms)
        computed, queued = simulate(ends), simulate(ends, computes_rounds=False)
        assert without_events(computed) == without_events(queued)
        events.append(computed.result.events)
    assert events == sorted(events)


def test_who_is_too_long_in_its_callback_for_what_it_gains_leaves() -> None:
    scenario = gaining(assign_ms=8000, rebalance_timeout_ms=7000)
    scenario = replace(scenario, topics={"orders": 24})  # at first nobody has two
    few = replace(scenario.members[0], assign_ms=0)
    scenario = replace(scenario, members=(few, *scenario.members[1:]))
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert without_events(computed) == without_events(queued)


@pytest.mark.parametrize("verb", [Verb.STOP, Verb.SUBSCRIBE])
def test_what_happens_while_a_plan_is_on_its_way_is_the_same(verb: Verb) -> None:
    group = named("rolling-restart", protocol=GroupProtocol.CLASSIC)
    one = replace(group.members[0], assignors=COOPERATIVE)
    first = Action(at_ms=20_000, do=Verb.STOP, member="c0")
    scenario = replace(
        group,
        topics={"orders": 8, "more": 5},
        members=tuple(replace(one, name=f"c{number}") for number in range(8)),
        network=NetworkConfig(mean_us=20_000),
        plan=(first,),
        until_ms=60_000,
    )
    found = [each.ended // 1000 for each in simulate(scenario).rebalances]
    ended = min(at for at in found if at > first.at_ms)
    topics = ("orders", "more") if verb is Verb.SUBSCRIBE else ()
    for after_ms in range(-60, 80, 5):
        member = f"c{3 + after_ms % 2 * 3}"
        then = Action(at_ms=ended + after_ms, do=verb, member=member, topics=topics)
        computed, queued = both(replace(scenario, plan=(first, then)))
        assert without_events(computed) == without_events(queued)
