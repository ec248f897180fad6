"""Every fault of a member in every phase of a rebalance, under each protocol.

Two members are at rest when a third one joins, and later the first one leaves. A run up to the
fault is the run without it, so that one says in which phase of which member the fault comes. Every
message takes 5 ms, every record 20 ms until it is replicated, and callbacks, the leader's work and
the way from JoinGroup to SyncGroup take their time: no phase is too short to be met.

What has to hold is what always has to: no monitor finds anything but what Kafka 4.4.0 itself does
in groups of KIP-848, and the group settles once the fault is over.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from assignors.simulation.timed.engine import play
from assignors.simulation.timed.faults.live import OF_A_MEMBER
from assignors.simulation.timed.monitors.rules import Monitoring, Seen
from assignors.simulation.timed.protocols.effects import MILLISECOND, Fired, Schedule, Send
from assignors.simulation.timed.protocols.kafka.classic_member import (
    ClassicMember,
    MemberState,
)
from assignors.simulation.timed.protocols.kafka.consumer_member import ConsumerClient
from assignors.simulation.timed.protocols.kafka.messages import SyncGroup
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    ClientModel,
    Fault,
    FaultKind,
    GroupProtocol,
    MemberConfig,
    NetworkConfig,
    ProcessingConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.simulation import prepared, simulate
from tests.conftest import DEEP
from tests.simulation.timed.drawn import LONGER
from tests.simulation.timed.exhaust import STALE_REPORT

CLASSIC, CONSUMER, PUSH = GroupProtocol
BEGINS_MS, LEAVES_MS, ENDS_MS, UNTIL_MS = 1500, 2100, 2700, 16_000
EAGER, COOPERATIVE = "java/range", "java/cooperative-sticky"
SESSION_MS = 1500
SHORT_MS, LONG_MS = 120, 3 * SESSION_MS
"""How long a fault lasts: over a few messages, or beyond session and rebalance timeout."""
GROUPS = {
    "eager": (CLASSIC, EAGER),
    "cooperative": (CLASSIC, COOPERATIVE),
    "consumer": (CONSUMER, COOPERATIVE),
    "push": (PUSH, COOPERATIVE),
}
CALLBACKS = {"revokes", "assigns"}
OF_CLASSIC = {
    *("is down", "has to join", "waits for JoinGroup", "computes"),
    *("before SyncGroup", "after SyncGroup", "at rest", *CALLBACKS),
}
PHASES = {
    "eager": OF_CLASSIC,
    "cooperative": OF_CLASSIC,
    "consumer": {"is down", "waits to join", "has news", *CALLBACKS, "at rest"},
    "push": {"is down", "waits to join", "has news", *CALLBACKS, "at rest"},
}
"""Those that some member goes through."""
NETWORK = (FaultKind.CUT, FaultKind.DELAY, FaultKind.LOSS)
FAULTS: tuple[FaultKind | Verb, ...] = (*sorted(OF_A_MEMBER), *NETWORK, Verb.CRASH, Verb.STOP)
"""What can happen to one member; those of the plan are started again when the fault would end."""


def group(name: str, *, has_threads: bool = False) -> Scenario:
    protocol, assignor = GROUPS[name]
    model = None
    if has_threads:
        of_protocol = {
            CLASSIC: ClientModel.HEARTBEAT_THREAD,
            CONSUMER: ClientModel.BACKGROUND_THREAD,
        }
        model = of_protocol[protocol]
    members = tuple(
        MemberConfig(
            name=f"c{number}",
            topics=("t",),
            assignors=(assignor,),
            heartbeat_interval_ms=150,
            session_timeout_ms=SESSION_MS,
            rebalance_timeout_ms=2 * SESSION_MS,
            request_timeout_ms=2 * SESSION_MS,
            poll_ms=20,
            revoke_ms=15,
            assign_ms=15,
            sync_delay_us=6000,
            sync_commit_ms=490 + number,
            client_model=model,
            starts_at_ms=None if number == 2 else 0,
        )
        for number in range(3)
    )
    return Scenario(
        seed=3,
        until_ms=UNTIL_MS,
        protocol=protocol,
        topics={"t": 4},
        compute_us_per_partition=2000,
        members=members,
        plan=(
            Action(at_ms=BEGINS_MS, do=Verb.START, member="c2"),
            Action(at_ms=LEAVES_MS, do=Verb.STOP, member="c0"),
        ),
        broker=BrokerConfig(
            initial_delay_ms=0,
            append_us=20_000,
            consumer_heartbeat_interval_ms=150,
            consumer_session_timeout_ms=SESSION_MS,
            assignment_interval_ms=0,
        ),
        network=NetworkConfig(least_us=5000, mean_us=0),
        # Commits cost most of the time; a thread that stands still has those of callbacks wait.
        processing=ProcessingConfig(
            records_per_second=20 * ((has_threads and name == "consumer") or DEEP > 1)
        ),
    )


@dataclass
class Phases:
    """In which phase each member is, from when on."""

    listed: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    callback: dict[str, str] = field(default_factory=dict)
    has_synced: set[str] = field(default_factory=set)

    def see(self, seen: Seen, member: Any) -> None:
        name = seen.member
        assert name is not None
        for effect in seen.effects:
            if isinstance(effect, Schedule) and effect.key[0] in {"revoked", "assigned"}:
                self.callback[name] = effect.key[0]
            if isinstance(effect, Send):
                sends = isinstance(effect.request, SyncGroup)
                (self.has_synced.add if sends else self.has_synced.discard)(name)
        if isinstance(seen.event, Fired) and seen.event.key[0] in {"revoked", "assigned"}:
            is_new = any(
                isinstance(each, Schedule) and each.key == seen.event.key for each in seen.effects
            )
            if not is_new and self.callback.get(name) == seen.event.key[0]:
                del self.callback[name]
        phase = self._phase(name, member)
        found = self.listed.setdefault(name, [(0, "is down")])
        if found[-1][1] != phase:
            found.append((seen.at_us, phase))
        for effect in seen.effects:
            if isinstance(effect, Send) and isinstance(effect.request, SyncGroup):
                found[-1:] = [
                    (seen.at_us, "before SyncGroup"),
                    (seen.at_us + effect.after_us, phase),
                ]

    def _phase(self, name: str, member: Any) -> str:
        if not member.is_up:
            return "is down"
        if name in self.callback:
            return {"revoked": "revokes", "assigned": "assigns"}[self.callback[name]]
        if isinstance(member, ClassicMember):
            if member.state is MemberState.SYNCING:
                return "after SyncGroup" if name in self.has_synced else "computes"
            is_joining = member.state is MemberState.JOINING
            rests = "has to join" if member.must_rejoin else "at rest"
            return "waits for JoinGroup" if is_joining else rests
        is_going = isinstance(member, ConsumerClient) and member.going_for is not None
        rests = "has news" if is_going or member.awaits_poll else "at rest"
        return rests if member.generation else "waits to join"

    def spans(self, name: str) -> Iterator[tuple[str, int, int]]:
        """The phases of a member that have a whole millisecond, in the time that is looked at."""
        found = [*self.listed[name], (ENDS_MS * MILLISECOND, "")]
        for (begins, phase), (ends, _) in pairwise(found):
            first = max(-(-begins // MILLISECOND), BEGINS_MS - 50)
            if first + 1 < min(ends // MILLISECOND, ENDS_MS):
                yield phase, first, min(ends // MILLISECOND, ENDS_MS) - 1


@cache
def calm(name: str, has_threads: bool) -> Phases:  # noqa: FBT001 - cached by position
    """In which phases the members are in a run without a fault, of which nothing is found."""
    scenario, phases = group(name, has_threads=has_threads), Phases()

    def see(seen: Seen) -> None:
        if seen.member is not None:
            phases.see(seen, run.sides.members[run.numbers[seen.member]])

    run = prepared(scenario, Monitoring.FULL, see, keeps_history=False)
    play(run, scenario.until_ms * MILLISECOND)
    assert run.watch is not None
    assert run.watch.kept == []
    return phases


def with_fault(
    scenario: Scenario, what: FaultKind | Verb, name: str, at_ms: int, long: int
) -> Scenario:
    """The scenario in which something happens to one member, for so long."""
    if isinstance(what, Verb):
        again = Action(at_ms=at_ms + long, do=Verb.START, member=name)
        plan = [*scenario.plan, Action(at_ms=at_ms, do=what, member=name), again]
        return replace(scenario, plan=tuple(sorted(plan, key=lambda each: each.at_ms)))
    fault = Fault(
        kind=what,
        member=name,
        from_ms=at_ms,
        until_ms=0 if what is FaultKind.LOST_GENERATION else at_ms + long,
        by_ms=long if what in LONGER else 0,
        percent=100 if what is FaultKind.LOSS else 0,
    )
    return replace(scenario, faults=(fault,))


def moments(name: str, what: FaultKind | Verb) -> Iterator[tuple[str, str, int, int]]:
    """Member, its phase, when something happens to it, and for how long.

    Every phase is met by one member, each fault by another one; `make deep`: every member in each
    of its phases, for short and for long.
    """
    phases, turn = calm(name, what is FaultKind.STALLED_THREAD), FAULTS.index(what)
    found: dict[str, list[tuple[str, int, int]]] = {}
    for member in ("c0", "c1", "c2"):
        for phase, first, last in phases.spans(member):
            found.setdefault(phase, []).append((member, first, last))
    assert set(found) >= PHASES[name]
    for number, (phase, listed) in enumerate(found.items()):
        chosen = listed if DEEP > 1 else [listed[turn % len(listed)]]
        for member, first, last in chosen:
            both = (SHORT_MS, LONG_MS)
            for long in both if DEEP > 1 else (both[(number + turn) % 2],):
                yield member, phase, (first + last) // 2, long


# Clients of the push protocol have no threads.
PLAYED = [
    (name, what)
    for name in GROUPS
    for what in FAULTS
    if (name, what) != ("push", FaultKind.STALLED_THREAD)
]


@pytest.mark.parametrize(("name", "what"), PLAYED)
def test_in_whatever_phase_a_member_fails_the_group_goes_on(
    name: str, what: FaultKind | Verb
) -> None:
    scenario = group(name, has_threads=what is FaultKind.STALLED_THREAD)
    allowed = STALE_REPORT if name == "consumer" else frozenset()
    for member, phase, at_ms, long in moments(name, what):
        failing = with_fault(scenario, what, member, at_ms, long)
        played = simulate(failing, monitoring=Monitoring.FULL)
        place = f"{what} of {member} at {at_ms} ms for {long} ms, which {phase}"
        assert {each.monitor for each in played.violations} <= allowed, place
        assert played.result.is_settled, place
