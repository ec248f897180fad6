"""The group's coordinator executed by a model, beside other groups: who waits, who fails."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors.simulation.timed.execution.policy import POLICIES
from assignors.simulation.timed.explore.random_scenarios import PLAIN
from assignors.simulation.timed.faults.live import OF_A_MEMBER, OF_THE_COORDINATOR
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.monitors.rules import Monitoring, Seen
from assignors.simulation.timed.possible import require_possible
from assignors.simulation.timed.protocols.effects import Answered, Arrived
from assignors.simulation.timed.protocols.kafka.messages import (
    Heartbeat,
    HeartbeatResponse,
    OffsetFetchResponse,
)
from assignors.simulation.timed.protocols.kafka.records import GroupEpochRecord
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    ExecutionConfig,
    Fault,
    FaultKind,
    GroupProtocol,
    MemberConfig,
    NetworkConfig,
    OtherGroups,
    ProcessingConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.scenario.members import ClientModel
from assignors.simulation.timed.simulation import Played, simulate
from tests.conftest import cases
from tests.simulation.timed.drawn import BY_CHANCE, LONGER, known, scenarios
from tests.simulation.timed.exhaust import STALE_REPORT
from tests.simulation.timed.test_failover import LOST_MS, group, lost

STEADY = OtherGroups(per_second=20, groups=8, changes_share=0.3, checks_share=0.5)
BUSY: dict[str, Any] = {"others": STEADY, "check_us": 1000, "is_steady": False}


def with_model(scenario: Scenario, model: str | None, **changes: object) -> Scenario:
    """The scenario, its coordinator executed by a model."""
    execution = replace(scenario.broker.execution, model=model, **changes)  # type: ignore[arg-type]
    return replace(scenario, broker=replace(scenario.broker, execution=execution))


def without_delays(scenario: Scenario) -> Scenario:
    """The scenario with a broker that takes no time for anything."""
    return replace(scenario, broker=replace(scenario.broker, service_us=0, append_us=0))


def ownership(played: Played) -> object:
    """Who consumed what, when, and what it cost the group."""
    result = played.result
    return played.changes, result.rounds, result.moves, result.is_settled


@pytest.mark.parametrize("model", POLICIES)
@cases(6)
@given(scenarios(PLAIN))
def test_a_model_that_takes_no_time_changes_nothing_whatever_goes_wrong(
    model: str, scenario: Scenario
) -> None:
    # Of two requests that come in the same microsecond either may be the first.
    plain = replace(
        without_delays(scenario),
        network=NetworkConfig(mean_us=200_000),
        faults=tuple(each for each in scenario.faults if each.kind is not FaultKind.APPEND_FAILURE),
    )
    plain = with_model(plain, None)
    executed = simulate(with_model(plain, model), keeps_history=True)
    assert ownership(executed) == ownership(simulate(plain, keeps_history=True))


@pytest.mark.parametrize("model", POLICIES)
@cases(5)
@given(scenarios(PLAIN), st.sampled_from([{}, BUSY]))
def test_every_fault_is_played_and_breaks_no_rule(
    model: str, scenario: Scenario, others: dict[str, Any]
) -> None:
    played = simulate(with_model(scenario, model, **others), monitoring=Monitoring.FULL)
    assert {each.monitor for each in played.violations} <= known(scenario)


def test_a_static_member_that_was_late_is_in_the_generation_that_it_is_answered() -> None:
    """It joins once more while the leader assigns: what it commits then is no stranger's."""
    timing = MemberConfig(
        name="c0",
        topics=("t",),
        assignors=("java/cooperative-sticky",),
        heartbeat_interval_ms=300,
        session_timeout_ms=5000,
        rebalance_timeout_ms=1000,
        poll_ms=0,
        auto_commit_ms=1000,
    )
    members = (
        timing,
        replace(timing, name="c1", instance_id="i1", starts_at_ms=2948),
        replace(timing, name="c2", instance_id="i2"),
    )
    scenario = Scenario(
        name="late",
        seed=5051,
        until_ms=10_000,
        topics={"t": 2},
        members=members,
        plan=(Action(at_ms=1314, do=Verb.CRASH, member="c0"),),
        broker=BrokerConfig(initial_delay_ms=0, service_us=50, append_us=5000),
        network=NetworkConfig(least_us=0, mean_us=200_000),
        processing=ProcessingConfig(records_per_second=5),
    )
    busy = with_model(scenario, "per-group", others=STEADY, check_us=1000, is_steady=False)
    assert simulate(busy, monitoring=Monitoring.FULL).violations == []


@pytest.mark.parametrize("protocol", [GroupProtocol.CLASSIC, GroupProtocol.CONSUMER])
@cases(10)
@given(
    scenarios(PLAIN),
    st.sampled_from([*POLICIES]),
    st.sampled_from([-1, 0, 10]),
    st.sampled_from([0, 5]),
    st.integers(0, 40_000),
    st.sampled_from([200, 3000, 20_000]),
    st.sampled_from([10, 50, 100]),
)
def test_a_group_goes_on_after_appends_that_failed(  # noqa: PLR0917 - what is drawn
    protocol: GroupProtocol,
    scenario: Scenario,
    model: str,
    linger_ms: int,
    per_second: int,
    from_ms: int,
    lasts_ms: int,
    percent: int,
) -> None:
    fails = Fault(
        kind=FaultKind.APPEND_FAILURE,
        from_ms=from_ms,
        until_ms=from_ms + lasts_ms,
        percent=percent,
    )
    # Members that leave, or are replaced, are another story: `leave-that-is-not-written`.
    members = tuple(
        replace(each, auto_commit_ms=per_second * 200, instance_id=None)
        for each in scenario.members
    )
    plan = tuple(each for each in scenario.plan if each.do is not Verb.STOP)
    records = ProcessingConfig(records_per_second=per_second)
    failing = replace(
        with_model(scenario, model, linger_ms=linger_ms),
        protocol=protocol,
        until_ms=150_000,
        members=members,
        plan=plan,
        processing=records,
        faults=(fails,),
    )
    # An answer that is lost makes a consumer report too little, with Kafka's own too.
    known = STALE_REPORT if protocol is GroupProtocol.CONSUMER else frozenset()
    found = simulate(failing, monitoring=Monitoring.FULL).violations
    assert {each.monitor for each in found} <= known


def test_appends_fail_without_a_model_as_in_kafka_4() -> None:
    story = named("append-fails-during-rebalance")
    plain = replace(story, broker=replace(story.broker, execution=ExecutionConfig()))
    assert simulate(plain).result == simulate(story).result
    assert simulate(plain).result.failed_appends


@pytest.mark.parametrize("model", POLICIES)
def test_sessions_that_wait_for_their_turn_evict_nobody_whose_heartbeat_has_come(
    model: str,
) -> None:
    story = named("slow-checks-in-one-queue")
    assert simulate(with_model(story, model)).result.evictions == 0


@pytest.mark.parametrize(
    ("model", "evicts"),
    [
        *(("wait-all", True), ("blocking", True), ("pipelined", True)),
        *(("two-stage", False), ("per-group", False), ("inline", False)),
    ],
)
def test_sessions_on_threads_of_their_own_evict_where_a_check_holds_the_partition(
    model: str, *, evicts: bool
) -> None:
    story = named("slow-checks-evict-neighbours")
    assert bool(simulate(with_model(story, model)).result.evictions) is evicts


def test_a_commit_waits_for_the_linger() -> None:
    def p50_ms(linger_ms: int) -> float:
        scenario = with_model(named("commits-with-linger"), "two-stage", linger_ms=linger_ms)
        scenario = replace(scenario, count_from_ms=30_000, until_ms=40_000)
        return simulate(scenario).result.commit_p50_ms or 0.0

    assert p50_ms(-1) == p50_ms(0) == 5.05
    assert 5.05 < p50_ms(10) < p50_ms(20) < 25.05


def test_what_failed_is_not_in_the_log_of_the_run() -> None:
    scenario = named("append-fails-during-rebalance", protocol=GroupProtocol.CONSUMER)
    played = simulate(scenario, keeps_history=True)
    epochs = [record.epoch for _, record in played.records if isinstance(record, GroupEpochRecord)]
    assert played.result.failed_appends
    assert epochs == [*range(2, 2 + len(epochs))]


@pytest.mark.parametrize(("model", "waits"), [("two-stage", True), (None, False)])
def test_an_answer_waits_until_what_it_has_seen_is_replicated(
    model: str | None, *, waits: bool
) -> None:
    """Commits of the group are always on their way: so a heartbeat is answered after them."""
    scenario = named("commits-without-linger")
    slow = replace(scenario, broker=replace(scenario.broker, append_us=1_000_000))
    arrived: dict[str, int] = {}
    took: list[int] = []

    def observe(seen: Seen) -> None:
        match seen.event:
            case Arrived(_, Heartbeat(member_id)):
                arrived[member_id.split("-")[0]] = seen.at_us
            case Answered(_, HeartbeatResponse()) if seen.at_us > 30_000_000:
                took.append(seen.at_us - arrived[str(seen.member)])

    simulate(with_model(slow, model), observe=observe)
    assert len(took) > 50
    assert (min(took) > 400_000) is waits


@pytest.mark.parametrize(("number", "kind"), list(enumerate(FaultKind)))
@pytest.mark.parametrize("protocol", [GroupProtocol.CLASSIC, GroupProtocol.CONSUMER])
def test_each_kind_of_fault_is_played(
    protocol: GroupProtocol, number: int, kind: FaultKind
) -> None:
    model = list(POLICIES)[number % len(POLICIES)]
    fault = Fault(
        kind=kind,
        member="c1" if kind in OF_A_MEMBER else None,
        from_ms=LOST_MS,
        until_ms=0 if kind is FaultKind.LOST_GENERATION else LOST_MS + 5000,
        by_ms=2000 if kind in {*LONGER, FaultKind.DUPLICATE} else 0,
        percent=50 if kind in BY_CHANCE else 0,
    )
    scenario = group(protocol, fault, until_ms=60_000)
    threads = {
        GroupProtocol.CLASSIC: ClientModel.HEARTBEAT_THREAD,
        GroupProtocol.CONSUMER: ClientModel.BACKGROUND_THREAD,
    }
    client_model = threads[protocol] if kind is FaultKind.STALLED_THREAD else None
    members = tuple(
        replace(each, auto_commit_ms=1000, client_model=client_model) for each in scenario.members
    )
    records = ProcessingConfig(records_per_second=5)
    scenario = replace(scenario, members=members, processing=records)
    require_possible(with_model(scenario, model))
    played = simulate(with_model(scenario, model, **BUSY), monitoring=Monitoring.FULL)
    assert {each.monitor for each in played.violations} <= known(scenario)
    assert played.result.is_settled


@pytest.mark.parametrize("kind", sorted(OF_THE_COORDINATOR))
@pytest.mark.parametrize("model", POLICIES)
@pytest.mark.parametrize("protocol", [GroupProtocol.CLASSIC, GroupProtocol.CONSUMER])
def test_another_coordinator_goes_on_amid_a_rebalance(
    protocol: GroupProtocol, model: str, kind: FaultKind
) -> None:
    plan = (
        Action(at_ms=LOST_MS - 10, do=Verb.STOP, member="c1"),
        Action(at_ms=LOST_MS + 500, do=Verb.START, member="c1"),
    )
    scenario = group(protocol, lost(kind), plan=plan)
    members = tuple(replace(each, auto_commit_ms=1000) for each in scenario.members)
    records = ProcessingConfig(records_per_second=5)
    scenario = replace(scenario, members=members, processing=records)
    played = simulate(with_model(scenario, model, **BUSY), monitoring=Monitoring.FULL)
    assert played.violations == []
    assert (played.result.failovers, played.result.is_settled) == (1, True)
    assert played.result.records_replayed
    assert played.result.rounds is not None


def test_records_on_their_way_are_lost_with_the_broker_and_kept_where_it_hands_over() -> None:
    def records_lost(kind: FaultKind, model: str) -> int:
        scenario = named("commits-without-linger")
        broker = replace(scenario.broker, append_us=1_000_000)
        scenario = replace(scenario, broker=broker, faults=(lost(kind),))
        return simulate(with_model(scenario, model)).result.records_lost or 0

    for model in ("two-stage", "per-group", "wait-all"):
        assert records_lost(FaultKind.COORDINATOR_CRASH, model) > 0
        assert records_lost(FaultKind.COORDINATOR_HANDOVER, model) == 0


@pytest.mark.parametrize("model", POLICIES)
@pytest.mark.parametrize("fails", ["append", "coordinator"])
def test_a_transaction_ends_though_its_marker_is_not_written_at_first(
    model: str, fails: str
) -> None:
    """Who ends it asks until the marker is written; a member that starts later gets its offset."""
    kind = FaultKind.APPEND_FAILURE if fails == "append" else FaultKind.COORDINATOR_CRASH
    fault = Fault(kind=kind, from_ms=30_000, until_ms=32_000, percent=100 * (fails == "append"))
    hangs = Fault(kind=FaultKind.HANGING_TRANSACTION, from_ms=25_000, until_ms=30_000)
    # The next coordinator knows of what is written alone.
    crash = Fault(kind=FaultKind.COORDINATOR_CRASH, from_ms=40_000, until_ms=41_000)
    scenario = group(GroupProtocol.CLASSIC, hangs, fault, crash, until_ms=90_000)
    slow = replace(scenario.broker, append_us=500_000, service_us=500_000)
    members = (*scenario.members[:1], replace(scenario.members[1], starts_at_ms=50_000))
    records = ProcessingConfig(records_per_second=5)
    scenario = replace(scenario, broker=slow, members=members, processing=records)
    unstable: list[bool] = []

    def observe(seen: Seen) -> None:
        match seen.event:
            case Answered(_, OffsetFetchResponse() as response):
                unstable.append(bool(response.unstable))

    simulate(with_model(scenario, model), observe=observe)
    assert len(unstable) > 1
    assert not unstable[-1]
