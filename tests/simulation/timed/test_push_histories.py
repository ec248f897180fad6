"""Random histories of push groups: never two consumers, and an even load in the end."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from assignors.ownership.double import overlaps
from assignors.ownership.intervals import ownerships
from assignors.simulation.timed.faults.live import OF_THE_COORDINATOR
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    Fault,
    FaultKind,
    NetworkConfig,
    ProcessingConfig,
    PushConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.simulation import simulate
from tests.conftest import cases
from tests.simulation.timed.drawn_faults import KINDS, LONGER
from tests.simulation.timed.test_push import SETTLED_MS, group, loads, run

KINDS_OF_PUSH = [each for each in KINDS if each not in OF_THE_COORDINATOR]
"""The push protocol has no log, so nothing to load."""

verbs = st.sampled_from([Verb.START, Verb.STOP, Verb.CRASH])
actions = st.lists(st.tuples(st.integers(0, 60_000), verbs, st.integers(0, 5)), max_size=12)
bursts = st.lists(st.tuples(st.integers(0, 150), verbs, st.integers(0, 5)), max_size=12)


@st.composite
def live_faults(draw: st.DrawFn, members: int) -> Fault:
    """Return something that goes wrong for up to 80 seconds: longer than a session, and a lease."""
    kind = draw(st.sampled_from(KINDS_OF_PUSH))
    begins = draw(st.integers(SETTLED_MS, SETTLED_MS + 10_000))
    lasts = draw(st.sampled_from([500, 8000, 20_000, 80_000]))
    is_over = kind is FaultKind.LOST_GENERATION
    return Fault(
        kind=kind,
        member=f"c{draw(st.integers(0, members - 1))}",
        from_ms=begins,
        until_ms=0 if is_over else begins + lasts,
        by_ms=draw(st.integers(1, 4000)) if kind in LONGER else 0,
        percent=draw(st.sampled_from([5, 100])) if kind is FaultKind.LOSS else 0,
    )


@st.composite
def scenarios(
    draw: st.DrawFn, *, epochs: bool = True, waits: bool = True, fences: bool = True
) -> Scenario:
    """Return a group to which anything happens within a minute, often much in one moment."""
    members = draw(st.integers(1, 6))
    push = PushConfig(
        parks_heartbeats=draw(st.booleans()),
        fences_fetches=fences,
        brokers=draw(st.integers(1, 4)),
        waits_for_commit=waits,
        has_epochs=epochs,
        moves_per_second=draw(st.sampled_from([0, 0, 1, 5])),
        lease_ms=draw(st.sampled_from([10_000, 60_000] if not fences else [0, 10_000])),
        fetch_ms=draw(st.sampled_from([0, 500])),
    )
    scenario = group(
        members,
        draw(st.integers(0, 20)),
        push=push,
        late=draw(st.integers(0, members - 1)),
        seed=draw(st.integers(0, 99)),
    )
    poll_ms = draw(st.sampled_from([0, 100, 2000]))
    revoke_ms = draw(st.sampled_from([0, 20, 500]))
    # An assignor that is not sticky moves more, and back again.
    assignor = draw(st.sampled_from(["server/uniform", "server/range", "java/roundrobin"]))
    faults = draw(st.lists(live_faults(members), max_size=3)) if draw(st.booleans()) else []
    plan = [
        Action(at_ms=SETTLED_MS + at, do=verb, member=f"c{number % members}")
        for at, verb, number in sorted(draw(actions | bursts), key=lambda each: each[0])
    ]
    if draw(st.booleans()):
        plan.append(Action(at_ms=121_000, do=Verb.GROW, topic="t", partitions=24))
    return replace(
        scenario,
        members=tuple(
            replace(each, poll_ms=poll_ms, revoke_ms=revoke_ms) for each in scenario.members
        ),
        broker=BrokerConfig(push=push, assignor=assignor),
        plan=tuple(plan),
        faults=tuple({(each.kind, each.member): each for each in faults}.values()),
        # Faults are over at 150 s, a lost message is noticed within 30 s and a session ends within
        # 45 s; then one partition a second is moved at least.
        until_ms=300_000,
        network=NetworkConfig(mean_us=draw(st.sampled_from([0, 500, 20_000]))),
    )


@cases(60)
@given(scenarios())
def test_no_partition_ever_has_two_consumers(scenario: Scenario) -> None:
    played = simulate(scenario, keeps_history=True)
    assert list(overlaps(ownerships(played.changes))) == []
    assert played.result.double_partition_ms == 0


@cases(40)
@given(scenarios(waits=False))
def test_fencing_alone_prevents_two_consumers_too(scenario: Scenario) -> None:
    result = run(scenario)
    assert result.double_partition_ms == 0
    assert result.unowned == 0


@cases(40)
@given(scenarios(fences=False))
def test_leases_prevent_two_consumers_without_any_fencing(scenario: Scenario) -> None:
    result = run(scenario)
    assert result.double_partition_ms == 0
    assert result.unowned == 0


@cases(60)
@given(scenarios())
def test_once_nothing_happens_every_partition_is_consumed_and_the_load_is_even(
    scenario: Scenario,
) -> None:
    played = simulate(scenario, keeps_history=True)
    assert played.result.is_settled
    assert played.result.unowned == 0
    ended = loads(played)
    assert not ended or max(ended) - min(ended) <= 1


@cases(20)
@given(scenarios())
def test_the_same_scenario_gives_the_same_run(scenario: Scenario) -> None:
    assert simulate(scenario, keeps_history=True) == simulate(scenario, keeps_history=True)


@cases(40)
@given(scenarios())
def test_no_record_is_processed_twice_where_nothing_fails(scenario: Scenario) -> None:
    orderly = [each for each in scenario.plan if each.do is not Verb.CRASH]
    records = ProcessingConfig(records_per_second=10)
    result = run(replace(scenario, faults=(), plan=tuple(orderly), processing=records))
    assert (result.reprocessed_records, result.fenced_commits) == (0, 0)
