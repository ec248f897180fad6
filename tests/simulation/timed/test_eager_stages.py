"""Rounds of eager members are computed by stage, too: runs are those by events alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    Fault,
    FaultKind,
    GroupProtocol,
    MemberConfig,
    NetworkConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.simulation import simulate
from assignors.simulation.timed.stages import rounds
from tests.conftest import cases
from tests.simulation.timed.drawn import (
    APPENDS_US,
    NETWORKS,
    PLAYABLE,
    REQUEST_TIMEOUTS_MS,
    SERVICES_US,
    actions,
    some_time_after,
)
from tests.simulation.timed.engines import without_events
from tests.simulation.timed.stage_states import SOON_US, ended, require_same_states

TIMES = some_time_after(10_000, 20_000, 40_000)
"""Often soon after another thing."""
EAGER = [
    ("optimal/sticky",),
    ("java/range",),
    ("java/sticky", "java/range"),
    ("java/cooperative-sticky", "java/range"),
]


@pytest.fixture(autouse=True)
def _two_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "LEAST", 2)


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """A classic group in which most members are eager and plain."""
    count = draw(st.integers(3, 9))
    assignors = draw(st.sampled_from(EAGER))

    def member(number: int) -> MemberConfig:
        is_odd = draw(st.integers(0, 9)) == 0
        return MemberConfig(
            name=f"c{number}",
            topics=draw(st.sampled_from([("t",), ("t",), ("t", "u")])),
            assignors=assignors[:1] if is_odd else assignors,
            instance_id=draw(st.sampled_from([None, None, f"i{number}"])),
            heartbeat_interval_ms=draw(st.sampled_from([1000, 3000, 3000])),
            session_timeout_ms=draw(st.sampled_from([11_000, 45_000])),
            rebalance_timeout_ms=draw(st.sampled_from([6000, 300_000, 300_000])),
            poll_ms=draw(st.sampled_from([0, 100, 100, 5000])),
            revoke_ms=draw(st.sampled_from([0, 20, 20, 3000])),
            assign_ms=draw(st.sampled_from([0, 5, 900, 3000, 7000])),
            sync_delay_us=5000 if is_odd else 0,
            request_timeout_ms=draw(REQUEST_TIMEOUTS_MS),
            metadata_age_ms=draw(st.sampled_from([5000, 300_000])),
            starts_at_ms=draw(st.sampled_from([0, 0, 0, 0, 7 * number, 12_000, None])),
        )

    return Scenario(
        seed=draw(st.integers(0, 2**63)),
        until_ms=draw(st.integers(42_000, 90_000)),
        count_from_ms=draw(st.sampled_from([0, 20_000])),
        topics={"t": draw(st.integers(0, 30)), "u": 5},
        members=tuple(member(number) for number in range(count)),
        plan=tuple(draw(st.lists(actions(count, TIMES, grown=30), max_size=8))),
        network=draw(NETWORKS),
        broker=BrokerConfig(
            service_us=draw(SERVICES_US),
            append_us=draw(APPENDS_US),
        ),
        compute_us_per_partition=draw(st.sampled_from([0, 20, 50_000])),
    )


@cases(20)
@given(scenarios())
def test_a_run_is_the_same_whether_eager_rounds_are_events_or_computed(scenario: Scenario) -> None:
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert without_events(computed) == without_events(queued)


@cases(25)
@given(scenarios(), st.integers(0, 9), SOON_US)
def test_eager_members_come_to_the_state_in_which_they_would_be(
    scenario: Scenario, at_rebalance: int, after_us: int
) -> None:
    require_same_states(scenario, at_rebalance, after_us)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if number % 8 == 0 else pytest.mark.deep)
        for number, (name, each) in enumerate(PLAYABLE)
        if each is GroupProtocol.CLASSIC
    ],
)
def test_the_gallery_is_the_same_with_eager_members(name: str) -> None:
    group = named(name, seed=3, protocol=GroupProtocol.CLASSIC)
    # Not every client has a sticky assignor.
    members = tuple(
        replace(each, assignors=("optimal/sticky",), client=None) for each in group.members
    )
    scenario = replace(group, members=members)
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert without_events(computed) == without_events(queued)


def restarts(members: int) -> Scenario:
    """A rolling restart of an eager group."""
    group = named("rolling-restart", protocol=GroupProtocol.CLASSIC)
    one = replace(group.members[0], assignors=("optimal/sticky",))
    named_members = tuple(replace(one, name=f"c{number}") for number in range(members))
    return replace(group, topics={"orders": 10 * members}, members=named_members)


def test_eager_members_that_keep_what_they_have_cost_few_events() -> None:
    scenario = restarts(30)
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert without_events(computed) == without_events(queued)
    assert computed.result.events * 2 < queued.result.events


def test_members_at_rest_have_no_event_in_a_round_but_the_leader() -> None:
    scenario = restarts(30)
    scenario = replace(scenario, plan=scenario.plan[:1])
    assert scenario.plan[0].do is Verb.STOP
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert without_events(computed) == without_events(queued)
    # Seven of the one that leaves, one as the last one joins, six of the leader and its plan, and
    # the end of the time for SyncGroups.
    assert computed.result.events == 15


def test_members_at_rest_go_through_a_round_together_in_which_others_leave() -> None:
    scenario = restarts(30)
    began = scenario.plan[0].at_ms
    plan = tuple(
        Action(at_ms=began + 100 * number, do=Verb.STOP, member=f"c{number}") for number in range(8)
    )
    scenario = replace(scenario, plan=plan)
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert without_events(computed) == without_events(queued)
    assert computed.result.events < 8 * 10
    assert queued.result.events > 300


@pytest.mark.parametrize("verb", [Verb.STOP, Verb.SUBSCRIBE, Verb.CRASH, Verb.PAUSE])
def test_what_happens_while_members_give_up_and_take_is_the_same(verb: Verb) -> None:
    scenario = restarts(8)
    first = Action(at_ms=20_000, do=Verb.STOP, member="c0")
    members = tuple(replace(each, revoke_ms=20, assign_ms=30) for each in scenario.members)
    # A partition each: whoever leaves, most keep what they have.
    scenario = replace(
        scenario, topics={"orders": 8}, members=members, plan=(first,), until_ms=60_000
    )
    found = [each.ended // 1000 for each in simulate(scenario).rebalances]
    ended = min(at for at in found if at > first.at_ms)
    topics = ("orders", "more") if verb is Verb.SUBSCRIBE else ()
    topic = "orders" if verb is Verb.PAUSE else None
    for after_ms in range(-200, 80, 20):
        member = f"c{3 + after_ms // 20 % 4}"
        then = Action(at_ms=ended + after_ms, do=verb, member=member, topics=topics, topic=topic)
        plan = replace(scenario, topics={**scenario.topics, "more": 5}, plan=(first, then))
        require_same_states(plan)


def test_who_forgets_its_generation_before_its_new_assignment_comes_claims_what_it_had() -> None:
    # 8 members x 30 partitions: most get something else once one has left.
    scenario = replace(restarts(8), topics={"orders": 30}, until_ms=60_000)
    scenario = replace(scenario, network=NetworkConfig(mean_us=20_000))
    first = Action(at_ms=20_000, do=Verb.STOP, member="c0")
    scenario = replace(scenario, plan=(first,), count_from_ms=0)
    ended = min(
        each.ended // 1000
        for each in simulate(scenario).rebalances
        if each.ended // 1000 > first.at_ms
    )
    for after_ms in range(0, 60, 6):
        lost = Fault(
            kind=FaultKind.LOST_GENERATION, from_ms=ended + after_ms, member=f"c{2 + after_ms % 5}"
        )
        faulty = replace(scenario, faults=(lost,), until_ms=lost.from_ms + 5)
        require_same_states(faulty)


def test_whoever_consumes_what_others_are_about_to_take_is_met_in_time() -> None:
    # c7 is cut off while it calls back, is removed, and takes its partition all the same, just
    # after a round in which the others were given the same as before.
    scenario = restarts(8)
    slow = [replace(each, assign_ms=3000, session_timeout_ms=10_000) for each in scenario.members]
    slow[7] = replace(slow[7], assign_ms=30_000)
    stops = [(20_000, "c0"), (30_000, "c1")]
    cut = Fault(kind=FaultKind.CUT, from_ms=10_000, until_ms=50_000, member="c7")
    scenario = replace(
        scenario,
        topics={"orders": 8},
        members=tuple(slow),
        plan=tuple(Action(at_ms=at, do=Verb.STOP, member=name) for at, name in stops),
        faults=(cut,),
        count_from_ms=0,
        until_ms=60_000,
    )
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert without_events(computed) == without_events(queued)
    assert computed.result.double_partition_ms > 0


def test_members_are_interrupted_when_they_give_up_not_when_they_join() -> None:
    scenario = restarts(8)
    members = tuple(replace(each, revoke_ms=500) for each in scenario.members)
    stop = Action(at_ms=20_000, do=Verb.STOP, member="c0")
    scenario = replace(scenario, members=members, plan=(stop,), until_ms=30_000)
    history = simulate(scenario, keeps_history=True, computes_rounds=False)
    gives_up = [each.at for each in history.changes if each.reason == "revoked"]
    until = scenario.until_ms * MILLISECOND
    touched = {}
    for at in gives_up[-5:-1:3]:
        for count_from in (at, at + 1, at + 400_000):
            computed, queued = (
                ended(scenario, until, computes=each, count_from_us=count_from)
                for each in (True, False)
            )
            touched[count_from] = computed.meter.touched
            assert touched[count_from] == queued.meter.touched
        assert touched[at] == touched[at + 1] + 1


def test_who_gives_up_its_sync_group_before_the_plan_comes_does_so_at_that_time() -> None:
    # A leader takes 4.5 s for an assignment, and SyncGroups wait 4 s for it: their members join
    # again before the plan comes, those that send no heartbeat meanwhile too.
    scenario = restarts(8)
    one = replace(
        scenario.members[0], request_timeout_ms=4000, session_timeout_ms=11_000, starts_at_ms=0
    )
    members = [replace(one, name=f"c{each}", instance_id=f"i{each}") for each in range(8)]
    plan = (
        Action(at_ms=20_000, do=Verb.SUBSCRIBE, member="c1", topics=("orders", "more")),
        Action(at_ms=25_000, do=Verb.CRASH, member="c0"),
    )
    scenario = replace(
        scenario,
        topics={"orders": 40, "more": 5},
        members=tuple(members),
        plan=plan,
        network=NetworkConfig(mean_us=5000),
        until_ms=50_000,
        compute_us_per_partition=100_000,
    )
    computed, queued = simulate(scenario), simulate(scenario, computes_rounds=False)
    assert without_events(computed) == without_events(queued)


def test_a_topic_may_be_deleted_before_its_members_give_it_up() -> None:
    scenario = restarts(3)
    plan = (
        Action(at_ms=20_000, do=Verb.DELETE, topic="orders"),
        Action(at_ms=21_000, do=Verb.STOP, member="c0"),
    )
    played = simulate(replace(scenario, plan=plan, until_ms=40_000))
    assert played.result.is_settled
    assert not played.violations
