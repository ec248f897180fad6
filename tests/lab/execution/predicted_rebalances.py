"""What the timed simulator says a rebalance takes, for the same groups with the same threads."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from assignors.ownership.changes import Change
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.random_streams import stream
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    ClientModel,
    Fault,
    FaultKind,
    GroupProtocol,
    MemberConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.simulation import simulate
from tests.lab.execution.rebalances import (
    HEARTBEAT_MS,
    PARTITIONS,
    QUICK_MS,
    TOPIC,
    Cell,
    Kind,
    Took,
)

RUNS = 40
"""Phases of polls and heartbeats that are tried."""
RESIDENT = "a"


CLIENT_MODELS = {
    Kind.EAGER: ClientModel.HEARTBEAT_THREAD,
    Kind.COOPERATIVE: ClientModel.HEARTBEAT_THREAD,
    Kind.CONSUMER: ClientModel.BACKGROUND_THREAD,
}


def by_timed_engine(cell: Cell, *, runs: int = RUNS, seed: int = 1) -> list[Took]:
    """Return what whole groups take. Cost: about 20 ms a run."""
    scenario = scenario_of(cell, runs=runs, seed=seed)
    changes = sorted(simulate(scenario, keeps_history=True).changes, key=lambda each: each.at)
    return list(_took(scenario, changes))


def _took(scenario: Scenario, changes: list[Change]) -> Iterator[Took]:
    """Yield for each verb the time until the last partition was taken."""
    verbs = [each for each in scenario.plan if each.member != RESIDENT]
    ends = [*(each.at_ms for each in verbs[1:]), scenario.until_ms]
    owned: dict[str, frozenset[int]] = {}
    for verb, end_ms in zip(verbs, ends, strict=True):
        last = 0
        for change in changes:
            if verb.at_ms * MILLISECOND <= change.at < end_ms * MILLISECOND:
                now = frozenset(change.owned.get(TOPIC, ()))
                if now - owned.get(change.member_id, frozenset()):
                    last = change.at
                owned[change.member_id] = now
        name = "join" if verb.do is Verb.START else "leave"
        yield Took(name, last / MILLISECOND - verb.at_ms)


def scenario_of(cell: Cell, *, runs: int, seed: int) -> Scenario:
    """Return the group of a cell: `a` polls rarely, and `b0`, `b1`, ... come and go."""
    dice = stream(seed, cell.name, "engine")
    poll_ms = max(cell.poll_ms, 1)
    cycle_ms = max(poll_ms, HEARTBEAT_MS)
    at_ms, plan, faults = 10_000 + 5 * cycle_ms, [], []
    for number in range(runs):
        for verb in (Verb.START, Verb.STOP):
            plan.append(Action(at_ms=at_ms, do=verb, member=f"b{number}"))
            if cell.stall_ms:
                until_ms = at_ms + cell.stall_ms
                kind = FaultKind.LONG_POLL
                faults.append(Fault(kind=kind, from_ms=at_ms, until_ms=until_ms, member=RESIDENT))
            at_ms += 6 * cycle_ms + cell.stall_ms + 2000 + dice.below(cycle_ms)
    assert all(first.at_ms < second.at_ms for first, second in pairwise(plan))
    return Scenario(
        name=cell.name,
        seed=seed,
        until_ms=at_ms,
        protocol=GroupProtocol.CONSUMER if cell.kind is Kind.CONSUMER else GroupProtocol.CLASSIC,
        topics={TOPIC: PARTITIONS},
        members=(
            _member(cell, RESIDENT, poll_ms, starts_at_ms=0),
            *(_member(cell, f"b{number}", QUICK_MS) for number in range(runs)),
        ),
        plan=tuple(plan),
        faults=tuple(faults),
        broker=BrokerConfig(
            initial_delay_ms=0,
            assignment_interval_ms=0,
            consumer_heartbeat_interval_ms=HEARTBEAT_MS,
        ),
    )


def _member(cell: Cell, name: str, poll_ms: int, starts_at_ms: int | None = None) -> MemberConfig:
    assignor = "java/range" if cell.kind is Kind.EAGER else "java/cooperative-sticky"
    return MemberConfig(
        name=name,
        topics=(TOPIC,),
        assignors=(assignor,),
        heartbeat_interval_ms=HEARTBEAT_MS,
        poll_ms=poll_ms,
        client_model=CLIENT_MODELS[cell.kind],
        revoke_ms=0,
        assign_ms=0,
        starts_at_ms=starts_at_ms,
    )
