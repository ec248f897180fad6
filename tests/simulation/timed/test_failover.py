"""The coordinator is lost: at any moment the next one goes on with what the log says."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from assignors.documents.values import DocumentError
from assignors.simulation.timed.faults.failovers import CoordinatorLog
from assignors.simulation.timed.faults.live import OF_THE_COORDINATOR
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.monitors.rules import Monitoring, Seen
from assignors.simulation.timed.offsets_partition import offsets_partition
from assignors.simulation.timed.protocols.effects import Answered
from assignors.simulation.timed.protocols.kafka.messages import ErrorCode, HeartbeatResponse
from assignors.simulation.timed.protocols.kafka.records import OffsetRecord
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    Fault,
    FaultKind,
    GroupProtocol,
    MemberConfig,
    NetworkConfig,
    ProcessingConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.scenario.broker import PlacementConfig
from assignors.simulation.timed.scenario_document import (
    document_from_scenario,
    scenario_from_document,
)
from assignors.simulation.timed.simulation import Played, simulate

CLASSIC, CONSUMER = GroupProtocol.CLASSIC, GroupProtocol.CONSUMER
LOST_MS = 20_000


def group(protocol: GroupProtocol, *faults: Fault, **changes: Any) -> Scenario:
    """Three members that have settled long before their coordinator is lost."""
    made = Scenario(
        seed=5,
        until_ms=120_000,
        protocol=protocol,
        topics={"t": 6},
        members=tuple(
            MemberConfig(
                name=f"c{number}",
                topics=("t",),
                assignors=("java/cooperative-sticky",),
                starts_at_ms=10 * number,
            )
            for number in range(3)
        ),
        faults=faults,
    )
    return replace(made, **changes)


def lost(kind: FaultKind, *, after_ms: int = 3000, loads_ms: int = 1000, **more: Any) -> Fault:
    return Fault(kind=kind, from_ms=LOST_MS, until_ms=LOST_MS + after_ms, by_ms=loads_ms, **more)


def played(scenario: Scenario) -> Played:
    """The run; no monitor may find anything."""
    found = simulate(scenario, monitoring=Monitoring.FULL)
    assert found.violations == []
    return found


@pytest.mark.parametrize("protocol", [CLASSIC, CONSUMER])
@pytest.mark.parametrize("kind", [FaultKind.COORDINATOR_CRASH, FaultKind.COORDINATOR_HANDOVER])
def test_a_group_at_rest_notices_nothing_but_a_pause(
    protocol: GroupProtocol, kind: FaultKind
) -> None:
    result = played(group(protocol, lost(kind), count_from_ms=15_000)).result
    assert (result.rounds, result.moves, result.gaps) == (0, 0, 0)
    assert (result.failovers, result.records_lost) == (1, 0)
    assert result.records_replayed > 0
    # While nobody is elected each member asks after 0.1, 0.2, 0.4, 0.8 and 1 s.
    asks = 5 if kind is FaultKind.COORDINATOR_CRASH else 1
    assert 3 * asks <= result.requests["FindCoordinator"] <= 3 * 8
    assert result.recovery_ms is not None
    assert result.first_heartbeat_ms is not None
    assert 4000 <= result.first_heartbeat_ms <= result.recovery_ms < 12_000


def replayed(protocol: GroupProtocol, *faults: Fault, **changes: Any) -> Played:
    """The run with every change and record; no monitor may find anything."""
    scenario = group(protocol, *faults, **changes)
    found = simulate(scenario, monitoring=Monitoring.FULL, keeps_history=True)
    assert found.violations == []
    return found


@pytest.mark.parametrize("protocol", [CLASSIC, CONSUMER])
def test_only_the_broker_that_leads_the_groups_partition_matters(protocol: GroupProtocol) -> None:
    placement = PlacementConfig(group="payments", brokers=4)
    leader = offsets_partition("payments") % 4
    assert (placement.partition, placement.leader) == (offsets_partition("payments"), leader)
    broker = BrokerConfig(placement=placement)
    crash = FaultKind.COORDINATOR_CRASH
    calm = replayed(protocol, broker=broker)
    other = replayed(protocol, lost(crash, broker=(leader + 1) % 4), broker=broker)
    assert (other.result.failovers, other.changes) == (0, calm.changes)
    assert played(group(protocol, lost(crash, broker=leader), broker=broker)).result.failovers == 1
    again = replace(lost(crash, broker=leader), from_ms=60_000, until_ms=61_000)
    next_one = replace(again, broker=(leader + 1) % 4)
    for second, failovers in ((again, 1), (next_one, 2)):
        faults = (lost(crash, broker=leader), second)
        assert played(group(protocol, *faults, broker=broker)).result.failovers == failovers


@pytest.mark.parametrize("protocol", [CLASSIC, CONSUMER])
def test_a_longer_log_takes_longer_to_load(protocol: GroupProtocol) -> None:
    crash = lost(FaultKind.COORDINATOR_CRASH, loads_ms=0)
    fast, slow = (
        played(group(protocol, crash, broker=BrokerConfig(load_us=load_us))).result
        for load_us in (0, 500_000)
    )
    longer_ms = slow.records_replayed * 500
    assert fast.records_replayed == slow.records_replayed > 0
    assert fast.first_heartbeat_ms is not None
    assert slow.first_heartbeat_ms is not None
    assert slow.first_heartbeat_ms >= 3000 + longer_ms
    assert fast.first_heartbeat_ms < 3000 + 6000


@pytest.mark.parametrize("protocol", [CLASSIC, CONSUMER])
@pytest.mark.parametrize("after_ms", [3000, 40_000])
def test_every_session_begins_anew_at_the_next_coordinator(
    protocol: GroupProtocol, after_ms: int
) -> None:
    """A member that died before is there until its session ends, counted from the load.

    Also where it would have ended at the coordinator before while there was none.
    """
    died = Action(at_ms=LOST_MS - 10_000, do=Verb.CRASH, member="c1")
    crash = lost(FaultKind.COORDINATOR_CRASH, after_ms=after_ms)
    calm = group(protocol, plan=(died,), until_ms=200_000)
    for faults, least_ms in (((), 40_000), ((crash,), 45_000 + 10_000 + after_ms + 1000)):
        gap_ms = played(replace(calm, faults=faults)).result.longest_gap_ms
        assert least_ms <= gap_ms < least_ms + 12_000


@pytest.mark.parametrize("protocol", [CLASSIC, CONSUMER])
def test_a_request_on_its_way_is_lost_however_soon_the_next_coordinator_serves(
    protocol: GroupProtocol,
) -> None:
    """A member leaves; its last request does not arrive, and nobody sends it again."""
    left = Action(at_ms=LOST_MS - 50, do=Verb.STOP, member="c1")
    crash = lost(FaultKind.COORDINATOR_CRASH, after_ms=1, loads_ms=0)
    scenario = group(
        protocol, crash, plan=(left,), network=NetworkConfig(least_us=400_000, mean_us=0)
    )
    assert played(scenario).result.longest_gap_ms >= 45_000
    assert played(replace(scenario, faults=())).result.longest_gap_ms < 10_000


def test_while_the_log_is_read_heartbeats_of_classic_members_are_answered() -> None:
    heard: list[int] = []

    def observe(seen: Seen) -> None:
        if isinstance(seen.event, Answered) and isinstance(seen.event.response, HeartbeatResponse):
            assert seen.event.response.error is ErrorCode.NONE
            heard.append(seen.at_us // 1000)

    crash = lost(FaultKind.COORDINATOR_CRASH, after_ms=1000, loads_ms=10_000)
    result = simulate(group(CLASSIC, crash, until_ms=40_000), observe=observe).result
    loading = [at for at in heard if LOST_MS + 1000 < at < LOST_MS + 11_000]
    assert len(loading) >= 3 * 3
    assert result.first_heartbeat_ms is not None
    assert result.first_heartbeat_ms >= 11_000


def test_what_is_not_replicated_is_lost_and_what_is_stays_in_its_order() -> None:
    log = CoordinatorLog()
    batches = [(OffsetRecord("t", 0, n),) for n in range(4)]
    for token, records in enumerate(batches):
        log.append(records, token)
    assert [log.replicate(token) for token in (2, 0, 0)] == [True, True, False]
    assert log.lose_tail() == 2
    assert [*log.entries()] == [*batches[0], *batches[2]]
    assert not any(log.replicate(token) for token in range(4))


def test_a_second_crash_while_the_log_is_read_begins_again() -> None:
    first = lost(FaultKind.COORDINATOR_CRASH, loads_ms=10_000)
    second = replace(first, from_ms=first.until_ms + 5000, until_ms=first.until_ms + 6000)
    result = played(group(CLASSIC, first, second)).result
    assert (result.failovers, result.rounds) == (2, 1)
    assert result.first_heartbeat_ms is not None
    assert result.first_heartbeat_ms >= 3000 + 6000 + 10_000


def test_the_old_coordinator_keeps_members_that_do_not_write_and_loses_those_that_do() -> None:
    zombie = lost(FaultKind.COORDINATOR_ZOMBIE, after_ms=20_000, loads_ms=0)
    silent = played(group(CLASSIC, zombie)).result
    busy = group(CLASSIC, zombie, processing=ProcessingConfig(records_per_second=10))
    members = tuple(replace(each, auto_commit_ms=1000) for each in busy.members)
    writing = played(replace(busy, members=members)).result
    assert silent.recovery_ms is not None
    assert writing.recovery_ms is not None
    assert silent.recovery_ms > 20_000
    assert writing.recovery_ms < 2500
    assert (silent.rounds, writing.rounds, writing.fenced_commits) == (1, 1, 0)


REFUSED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"until_ms": 5}, {}, "faults[0].until_ms"),
    ({"member": "c0"}, {}, "faults[0].member"),
    ({"broker": 3}, {}, "faults[0].broker"),
    ({"percent": 3}, {}, "faults[0].percent"),
    ({"topic": "t"}, {}, "faults[0].topic"),
    ({}, {"protocol": "push"}, "faults[0].kind"),
    ({}, {"broker": {"placement": {"brokers": 0}}}, "broker.placement.brokers"),
    ({}, {"broker": {"placement": {"partitions": 0}}}, "broker.placement.partitions"),
    ({}, {"broker": {"placement": {"group": 5}}}, "broker.placement.group"),
    ({"kind": "freeze", "member": "c0", "broker": 1}, {}, "faults[0].broker"),
]


@pytest.mark.parametrize(("fault", "more", "path"), REFUSED)
def test_what_cannot_be_is_refused_with_its_path(
    fault: dict[str, Any], more: dict[str, Any], path: str
) -> None:
    crash = {"kind": "coordinator_crash", "from_ms": 10, "until_ms": 20, **fault}
    document = {
        "version": 1,
        "until_ms": 100,
        "topics": {"t": 1},
        "members": [{"name": "c0", "topics": ["t"]}],
        "faults": [crash],
        **more,
    }
    with pytest.raises(DocumentError) as refused:
        scenario_from_document(document)
    assert refused.value.path == path


def test_one_coordinator_is_lost_at_a_time() -> None:
    crash, zombie = FaultKind.COORDINATOR_CRASH, FaultKind.COORDINATOR_ZOMBIE
    twice = group(CLASSIC, lost(crash), replace(lost(zombie), from_ms=LOST_MS + 1000))
    with pytest.raises(DocumentError) as refused:
        scenario_from_document(json.loads(json.dumps(document_from_scenario(twice))))
    assert refused.value.path == "faults[1].from_ms"


@pytest.mark.parametrize("kind", sorted(OF_THE_COORDINATOR))
def test_a_group_that_migrates_goes_on_in_whichever_kind_it_was(kind: FaultKind) -> None:
    whole = named("migration-under-load")
    members = whole.members[:3]
    names = {each.name for each in members}
    plan = tuple(each for each in whole.plan if each.member in names)
    for at_ms in range(60_037, plan[-1].at_ms + 5000, 17_500):
        fault = Fault(kind=kind, from_ms=at_ms, until_ms=at_ms + 1000, by_ms=200)
        result = played(
            replace(
                whole,
                members=members,
                plan=plan,
                topics={"orders": 6},
                until_ms=plan[-1].at_ms + 60_000,
                faults=(fault,),
            )
        ).result
        assert result.is_settled, at_ms
        assert result.recovery_ms is not None, at_ms
