"""A client that looks from time to time whether something is due (`Timing.wake_ms`): librdkafka.

Seen with real members (`tests/lab/calibrate`): heartbeats came 3.000 to 3.006 s apart, in step
with the last assignment or with the start of the process, so members of eager groups stop nearly
together; and a newcomer joined again at once, half a second or a second after its first round,
by how long ago it had joined.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import pairwise
from statistics import mean

import pytest

from assignors.documents.values import DocumentError
from assignors.simulation.timed.dialects.timing import Timing
from assignors.simulation.timed.monitors.rules import Seen
from assignors.simulation.timed.possible import require_possible
from assignors.simulation.timed.protocols.effects import Answered, Command, Consume, Send
from assignors.simulation.timed.protocols.kafka.classic_member import ROUNDING_US, SECOND_US
from assignors.simulation.timed.protocols.kafka.messages import (
    Heartbeat,
    JoinGroup,
    SyncGroupResponse,
)
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    Fault,
    FaultKind,
    MemberConfig,
    NetworkConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.simulation import simulate

WAKE_MS = 500
LOOK_US = 1000 * WAKE_MS + ROUNDING_US
STARTS_MS = (0, 1370, 4210)
JOINS_MS = (31_000, 47_300, 63_850, 80_001)


def group(assignor: str, *, seed: int = 0, **changes: object) -> Scenario:
    """Return three members that look every half second, and four that join and leave."""
    times = {each.name: changes.pop(each.name) for each in fields(Timing) if each.name in changes}
    one = MemberConfig(
        name="c0",
        topics=("t",),
        assignors=(assignor,),
        poll_ms=0,
        revoke_ms=0,
        assign_ms=0,
        timing=replace(Timing(heartbeats_go_on=True, wake_ms=WAKE_MS), **times),  # type: ignore[arg-type]
    )
    members = [replace(one, name=f"c{n}", starts_at_ms=at) for n, at in enumerate(STARTS_MS)]
    members += [replace(one, name=f"n{at}", starts_at_ms=None) for at in JOINS_MS]
    plan = [
        Action(at_ms=at + later, do=verb, member=f"n{at}")
        for at in JOINS_MS
        for verb, later in ((Verb.START, 0), (Verb.STOP, 9000))
    ]
    return Scenario(
        seed=seed,
        until_ms=95_000,
        topics={"t": 12},
        members=tuple(replace(each, **changes) for each in members),  # type: ignore[arg-type]
        plan=tuple(plan),
        broker=BrokerConfig(initial_delay_ms=0),
        network=NetworkConfig(mean_us=200),
    )


def seen_of(scenario: Scenario) -> dict[str, list[Seen]]:
    """Return what each member did."""
    found: dict[str, list[Seen]] = {each.name: [] for each in scenario.members}

    def observe(seen: Seen) -> None:
        if seen.member is not None:
            found[seen.member].append(seen)

    played = simulate(scenario, observe=observe, queues_heartbeats=True)
    assert played.result.is_settled
    return found


def sent(steps: list[Seen], request: type) -> Iterator[int]:
    """Yield when a member sent requests of this type."""
    for seen in steps:
        for effect in seen.effects:
            if isinstance(effect, Send) and isinstance(effect.request, request):
                yield seen.at_us


def looks(steps: list[Seen], at_us: int) -> bool:
    """Return whether a member looks at this moment, by its last start and its last assignment."""
    start = max(each.at_us for each in steps if each.event is Command.START and each.at_us <= at_us)
    answers = [
        each.at_us
        for each in steps
        if isinstance(each.event, Answered)
        and isinstance(each.event.response, SyncGroupResponse)
        and start <= each.at_us <= at_us
    ]
    since_start, since_assignment = at_us - start, at_us - max(answers, default=start)
    return not since_assignment % LOOK_US or not since_start % (SECOND_US + ROUNDING_US)


@pytest.mark.parametrize("assignor", ["java/range", "java/cooperative-sticky"])
@pytest.mark.parametrize("seed", range(3))
def test_heartbeats_leave_only_at_looks(assignor: str, seed: int) -> None:
    for steps in seen_of(group(assignor, seed=seed)).values():
        beats = list(sent(steps, Heartbeat))
        assert beats
        assert all(looks(steps, at) for at in beats)
        for one, other in pairwise(beats):
            assert other - one >= 3_000_000
            between = [at for at in sent(steps, JoinGroup) if one <= at <= other]
            # Half a second is lost at most; amid a round a heartbeat waits for its end.
            assert between or other - one < 3_000_000 + LOOK_US


@pytest.mark.parametrize("seed", range(3))
def test_joins_without_a_revocation_are_a_second_apart(seed: int) -> None:
    apart = set()
    for steps in seen_of(group("java/cooperative-sticky", seed=seed)).values():
        joins = list(sent(steps, JoinGroup))
        ids = [
            effect.request.member_id
            for each in steps
            for effect in each.effects
            if isinstance(effect, Send) and isinstance(effect.request, JoinGroup)
        ]
        revoked = [
            each.at_us
            for each in steps
            if any(isinstance(effect, Consume) for effect in each.effects)
        ]
        for member_id, one, other in zip(ids, joins, joins[1:], strict=False):
            if member_id and not any(one < at <= other for at in revoked):
                assert other - one >= SECOND_US
                apart.add((other - one) // SECOND_US)
    assert apart


def spread_us(scenario: Scenario) -> list[int]:
    """Return how far apart the three stopped for each join of an eager group."""
    found = seen_of(scenario)
    spreads = []
    for join_ms in JOINS_MS:
        stops = [
            min(
                each.at_us
                for each in found[f"c{number}"]
                if each.at_us >= 1000 * join_ms
                and any(isinstance(effect, Consume) for effect in each.effects)
            )
            for number in range(len(STARTS_MS))
        ]
        spreads.append(max(stops) - min(stops))
    return spreads


def test_eager_members_that_look_stop_nearer_to_each_other() -> None:
    # What is due between two looks leaves with the next one, for several members at once.
    for seed in range(3):
        apart = spread_us(group("java/range", seed=seed, wake_ms=0))
        near = spread_us(group("java/range", seed=seed))
        assert max(near) < min(apart)


def beats_apart(scenario: Scenario) -> list[int]:
    """Return how far apart the heartbeats of members are that nothing happens to."""
    found = seen_of(replace(scenario, plan=(), members=scenario.members[: len(STARTS_MS)]))
    return [
        other - one
        for steps in found.values()
        for one, other in pairwise([at for at in sent(steps, Heartbeat) if at > 20_000_000])
    ]


def test_looks_that_are_late_delay_each_heartbeat_by_so_many() -> None:
    """On a busy machine the six looks of three seconds are each late, and none makes up for it."""
    on_time = beats_apart(group("java/cooperative-sticky"))
    assert max(on_time) <= 6 * LOOK_US
    late_us = 4000
    late = [
        apart
        for seed in range(5)
        for apart in beats_apart(group("java/cooperative-sticky", seed=seed, wake_late_us=late_us))
    ]
    # A look by the second may be the first one after three seconds: then fewer were late.
    assert min(late) >= 3_000_000
    assert 2 * late_us < mean(late) - mean(on_time) < 7 * late_us
    assert len(set(late)) > len(late) / 2


def test_a_member_that_was_out_beats_again() -> None:
    """Its heartbeats ended when it did not poll in time; they begin anew with its next round."""
    fault = Fault(kind=FaultKind.LONG_POLL, from_ms=20_000, until_ms=40_000, member="c1")
    for wake_ms in (0, WAKE_MS):
        scenario = replace(
            group("java/cooperative-sticky", rebalance_timeout_ms=10_000, wake_ms=wake_ms),
            faults=(fault,),
            plan=(),
        )
        steps = seen_of(scenario)["c1"]
        effects = [effect for each in steps for effect in each.effects if isinstance(effect, Send)]
        beats = [each.request for each in effects if isinstance(each.request, Heartbeat)]
        assert all(each.member_id for each in beats)
        assert sum(at > 45_000_000 for at in sent(steps, Heartbeat)) > 10


def test_looks_without_heartbeats_that_go_on_are_refused() -> None:
    with pytest.raises(DocumentError, match="heartbeats_go_on") as refused:
        require_possible(group("java/range", heartbeats_go_on=False))
    assert refused.value.path == "members[0].timing"


def test_late_looks_without_looks_from_time_to_time_are_refused() -> None:
    with pytest.raises(DocumentError, match="looks from time to time") as refused:
        require_possible(group("java/range", wake_ms=0, wake_late_us=1))
    assert refused.value.path == "members[0].timing"
