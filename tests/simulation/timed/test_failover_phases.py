"""The coordinator crashes at every moment of a rebalance and of a commit, a few milliseconds apart.

A run up to the crash is the run without it, so that one says in which phase the crash came. Every
message takes 5 ms, every record 20 ms until it is replicated: no phase is too short to be met.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import pytest

from assignors.simulation.timed.engine import play
from assignors.simulation.timed.faults.failovers import LOADED
from assignors.simulation.timed.faults.live import OF_THE_COORDINATOR
from assignors.simulation.timed.monitors.liveness import is_settled
from assignors.simulation.timed.monitors.rules import Monitoring, Seen
from assignors.simulation.timed.protocols.effects import MILLISECOND, Answered, Send
from assignors.simulation.timed.protocols.kafka.classic_group import GroupState
from assignors.simulation.timed.protocols.kafka.consumer_group import MemberState
from assignors.simulation.timed.protocols.kafka.messages import (
    ErrorCode,
    JoinGroupResponse,
    OffsetCommit,
    OffsetCommitResponse,
    SyncGroupResponse,
)
from assignors.simulation.timed.run import Run
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
from assignors.simulation.timed.simulation import prepared
from tests.conftest import DEEP
from tests.simulation.timed.exhaust import STALE_REPORT

CLASSIC, CONSUMER = GroupProtocol.CLASSIC, GroupProtocol.CONSUMER
BEGINS_MS, WALKED_MS = 1500, 750
EAGER, COOPERATIVE = "java/range", "java/cooperative-sticky"
PHASES = {
    CLASSIC: {
        "preparing, nobody has joined",
        "preparing, somebody has joined",
        "completing, no plan",
        "completing, the plan is not replicated",
        "at rest",
    },
    CONSUMER: {
        "records are not replicated",
        "a member has to give up partitions",
        "a member waits for partitions",
        "at rest",
    },
}


def group(protocol: GroupProtocol, assignor: str = COOPERATIVE) -> Scenario:
    """Two members that are at rest when a third one joins, and then the first one leaves."""
    return Scenario(
        seed=3,
        until_ms=7000,
        protocol=protocol,
        topics={"t": 4},
        members=tuple(
            MemberConfig(
                name=f"c{number}",
                topics=("t",),
                assignors=(assignor,),
                heartbeat_interval_ms=150,
                session_timeout_ms=2500,
                poll_ms=20,
                revoke_ms=15,
                assign_ms=0,
                sync_commit_ms=190 + number,
                starts_at_ms=None if number == 2 else 0,
            )
            for number in range(3)
        ),
        plan=(
            Action(at_ms=BEGINS_MS, do=Verb.START, member="c2"),
            Action(at_ms=BEGINS_MS + 450, do=Verb.STOP, member="c0"),
        ),
        broker=BrokerConfig(
            initial_delay_ms=0,
            append_us=20_000,
            consumer_heartbeat_interval_ms=150,
            consumer_session_timeout_ms=2500,
            assignment_interval_ms=0,
        ),
        network=NetworkConfig(least_us=5000, mean_us=0),
        processing=ProcessingConfig(records_per_second=100),
    )


def phases_of(run: Run) -> set[str]:
    """Where the group is, and its commits."""
    coordinator: Any = run.sides.coordinator
    is_waiting = any(coordinator.offsets.waiting.values())
    found = {"a commit is not replicated"} if is_waiting else set()
    if run.scenario.protocol is CLASSIC:
        return found | {_classic_phase(coordinator)}
    members = coordinator.group.members.values()
    if coordinator.waiting:
        found.add("records are not replicated")
    if any(each.state is MemberState.UNREVOKED for each in members):
        found.add("a member has to give up partitions")
    if any(each.state is MemberState.UNRELEASED for each in members):
        found.add("a member waits for partitions")
    return found or {"at rest"}


def _classic_phase(coordinator: Any) -> str:
    state = coordinator.group.state
    if state is GroupState.PREPARING_REBALANCE:
        who = "somebody" if coordinator.group.joins_waiting else "nobody"
        return f"preparing, {who} has joined"
    if state is GroupState.COMPLETING_REBALANCE:
        plan = "the plan is not replicated" if coordinator.appends else "no plan"
        return f"completing, {plan}"
    return "at rest"


@dataclass
class Story:
    """What was observed in a run."""

    phases: list[tuple[int, frozenset[str]]] = field(default_factory=list)
    commits: dict[tuple[str, int], OffsetCommit] = field(default_factory=dict)
    sent: dict[tuple[str, int], list[int]] = field(default_factory=lambda: defaultdict(list))
    answered: dict[tuple[str, int], int] = field(default_factory=dict)
    """Partition -> how many of the commits sent were sent up to the last one that was answered."""
    given: dict[int, set[frozenset[str]]] = field(default_factory=lambda: defaultdict(set))
    """Generation -> who the members were, as leaders learned of them."""
    plans: dict[int, set[tuple[str, bytes]]] = field(default_factory=lambda: defaultdict(set))
    lost: list[str] = field(default_factory=list)

    def see(self, seen: Seen, run: Run) -> None:
        if seen.member is None:
            self.phases.append((seen.at_us, frozenset(phases_of(run))))
            if seen.event == LOADED:
                self.lost += self.missing(run)
            return
        for effect in seen.effects:
            if isinstance(effect, Send) and isinstance(effect.request, OffsetCommit):
                self.commits[seen.member, effect.number] = effect.request
                for topic, number, offset in effect.request.offsets:
                    self.sent[topic, number].append(offset)
        match seen.event:
            case Answered(number, OffsetCommitResponse(ErrorCode.NONE)):
                for topic, partition, offset in self.commits[seen.member, number].offsets:
                    listed = self.sent[topic, partition]
                    at = len(listed) - listed[::-1].index(offset)
                    before = self.answered.get((topic, partition), 0)
                    self.answered[topic, partition] = max(before, at)
            case Answered(_, JoinGroupResponse(generation=generation, members=members)) if members:
                self.given[generation].add(frozenset(each.member_id for each in members))
            case Answered(_, SyncGroupResponse(ErrorCode.NONE, assignment)) if assignment:
                self.plans[generation_of(run, seen.member)].add((seen.member, assignment))

    def missing(self, run: Run) -> Iterator[str]:
        """The partitions whose committed offset is older than one whose commit was answered."""
        assert run.processing is not None
        committed = run.processing.offsets.table.committed
        for partition, count in self.answered.items():
            offset = committed[partition].offset if partition in committed else None
            if offset not in self.sent[partition][count - 1 :]:
                yield f"{partition}: {offset}, and {self.sent[partition][count - 1]} was answered"


def generation_of(run: Run, name: str) -> int:
    return run.sides.members[run.numbers[name]].generation


def played(scenario: Scenario) -> tuple[Run, Story]:
    """Play a scenario under all monitors of moments and steps."""
    story = Story()
    run = prepared(
        scenario, Monitoring.FULL, lambda seen: story.see(seen, run), keeps_history=False
    )
    play(run, scenario.until_ms * MILLISECOND)
    return run, story


def failing(scenario: Scenario, at_ms: int, kind: FaultKind) -> Scenario:
    until_ms = at_ms + (1000 if kind is FaultKind.COORDINATOR_ZOMBIE else 50)
    fault = Fault(kind=kind, from_ms=at_ms, until_ms=until_ms, by_ms=10)
    return replace(scenario, faults=(fault,))


@cache
def timeline(protocol: GroupProtocol, assignor: str) -> Story:
    """What happens without a crash."""
    run, story = played(group(protocol, assignor))
    assert run.watch is not None
    assert run.watch.kept == []
    return story


def phase_at(story: Story, at_ms: int) -> frozenset[str]:
    return max(each for each in story.phases if each[0] <= at_ms * MILLISECOND)[1]


EVERY_MS = {
    FaultKind.COORDINATOR_CRASH: 11 if DEEP > 1 else 17,
    FaultKind.COORDINATOR_HANDOVER: 31 if DEEP > 1 else 61,
    FaultKind.COORDINATOR_ZOMBIE: 31 if DEEP > 1 else 61,
}
"""From one moment to the next; 5 ms are what a message takes, 20 ms an append."""
WALKS = [
    (protocol, assignor, kind)
    for protocol, assignor in ((CLASSIC, COOPERATIVE), (CLASSIC, EAGER), (CONSUMER, COOPERATIVE))
    for kind in sorted(OF_THE_COORDINATOR)
]


@pytest.mark.parametrize(("protocol", "assignor", "kind"), WALKS)
def test_at_whatever_moment_the_coordinator_is_lost_the_group_goes_on(
    protocol: GroupProtocol, assignor: str, kind: FaultKind
) -> None:
    """Commits that were answered are there, nobody consumes beside another one, and it settles."""
    calm = timeline(protocol, assignor)
    phases: set[str] = set()
    for at_ms in range(BEGINS_MS, BEGINS_MS + WALKED_MS, EVERY_MS[kind]):
        phases |= phase_at(calm, at_ms)
        run, story = played(failing(group(protocol, assignor), at_ms, kind))
        assert run.watch is not None
        allowed = STALE_REPORT if protocol is CONSUMER else frozenset()
        assert {each.monitor for each in run.watch.kept} <= allowed, at_ms
        assert story.lost == [], at_ms
        assert is_settled(run.sides, run.ledger), at_ms
        for generation, plans in story.plans.items():
            assert len(plans) == len({name for name, _ in plans}), (at_ms, generation)
    if kind is FaultKind.COORDINATOR_CRASH:
        assert phases == PHASES[protocol] | {"a commit is not replicated"}


def test_a_classic_generation_is_given_to_two_memberships_and_has_one_plan() -> None:
    """So it is in Kafka: a generation is written with its plan, and until then in memory alone."""
    calm, doubled = timeline(CLASSIC, COOPERATIVE), 0
    for at_ms in range(BEGINS_MS, BEGINS_MS + 400, 23):
        scenario = failing(group(CLASSIC), at_ms, FaultKind.COORDINATOR_CRASH)
        _, story = played(scenario)
        is_twice = any(len(memberships) > 1 for memberships in story.given.values())
        if is_twice:
            doubled += 1
            before = {
                name for each in range(at_ms - 11, at_ms + 1) for name in phase_at(calm, each)
            }
            assert any(phase.startswith("completing") for phase in before), at_ms
        for plans in story.plans.values():
            assert len(plans) == len({name for name, _ in plans}), at_ms
    assert doubled


def test_a_failover_during_a_callback_lets_two_modern_members_consume_as_kafka_does() -> None:
    """A member whose callback runs hears that the log is read, and repeats that it has nothing."""
    calm = group(CONSUMER)
    one, other, _ = calm.members
    members = (replace(one, assign_ms=2500), replace(other, starts_at_ms=800))
    scenario = replace(calm, members=members, plan=())
    crash = Fault(kind=FaultKind.COORDINATOR_CRASH, from_ms=1200, until_ms=1250, by_ms=400)
    found: dict[bool, set[str]] = {}
    for is_lost in (False, True):
        run, story = played(replace(scenario, faults=(crash,) * is_lost))
        assert run.watch is not None
        found[is_lost] = {each.monitor for each in run.watch.kept}
        assert story.lost == []
        assert is_settled(run.sides, run.ledger)
    assert found[False] == set()
    assert "double-consumption" in found[True]
    assert found[True] <= STALE_REPORT
