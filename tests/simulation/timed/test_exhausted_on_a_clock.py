"""What exhaustion found and real members do (`tests/foreign/exhausted`), on a clock."""

from __future__ import annotations

from typing import Any

import pytest

from assignors.simulation.timed.monitors.rules import Monitoring
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    Fault,
    FaultKind,
    GroupProtocol,
    MemberConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.simulation import Played, simulate
from tests.simulation.timed.groups import EXACT

SEEDS = 20
JOINS_MS = 10_000
LATE_MS = 2000


def member(name: str, starts_at_ms: int, **config: Any) -> MemberConfig:
    return MemberConfig(name=name, topics=("t",), starts_at_ms=starts_at_ms, **(EXACT | config))


def static_group(*extra: Action | Fault, **config: Any) -> Scenario:
    """Return two static members of a cooperative group, the second of which comes later."""
    java = {"client": "java-4.4.0", "assignors": ("java/cooperative-sticky",), **config}
    members = (
        member("a", 0, instance_id="i", **java),
        member("b", JOINS_MS, instance_id="j", **java),
    )
    return Scenario(
        until_ms=30_000,
        topics={"t": 2},
        members=members,
        plan=tuple(each for each in extra if isinstance(each, Action)),
        faults=tuple(each for each in extra if isinstance(each, Fault)),
    )


def owned(played: Played, name: str) -> list[tuple[int, tuple[int, ...]]]:
    """Return (tenths of a second, partitions) of a member's changes."""
    found = [each for each in played.changes if each.member_id == name]
    return [(each.at // 100_000, tuple(each.owned.get("t", ()))) for each in found]


def test_a_static_member_that_restarts_before_its_answer_leaves_a_partition_with_nobody() -> None:
    """The moment lasts as long as the leader's plan takes to be written and answered."""

    def unowned(at_ms: int) -> int:
        crash = Action(at_ms=at_ms, do=Verb.CRASH, member="a")
        again = Action(at_ms=at_ms + 1000, do=Verb.START, member="a")
        result = simulate(static_group(crash, again), monitoring=Monitoring.FULL)
        names = {each.monitor for each in result.violations}
        assert names == ({"partition-without-owner"} if result.result.unowned else set())
        return result.result.unowned

    found = [at_ms for at_ms in range(JOINS_MS + 2080, JOINS_MS + 2160, 5) if unowned(at_ms)]
    assert found == [*range(found[0], found[-1] + 1, 5)]
    assert 10 <= found[-1] - found[0] <= 40


def test_a_static_member_that_is_late_is_read_beside_for_a_rebalance_timeout_and_then_removed() -> (
    None
):
    late = Fault(
        kind=FaultKind.DELAY, member="a", from_ms=JOINS_MS + 1, until_ms=JOINS_MS + 400, by_ms=8000
    )
    played = simulate(
        static_group(late, rebalance_timeout_ms=LATE_MS, heartbeat_interval_ms=100),
        keeps_history=True,
    )
    assert owned(played, "b")[:2] == [(120, (1,)), (140, (0, 1))]
    assert owned(played, "a")[:2] == [(30, (0, 1)), (180, ())]


@pytest.mark.parametrize("auto_commit_ms", [0, 5000])
def test_a_newcomer_that_polls_too_late_takes_what_it_gave_away_unless_it_commits_automatically(
    auto_commit_ms: int,
) -> None:
    """It polls at any moment of its first four seconds: in some it is the wrong one."""
    found = []
    for seed in range(SEEDS):
        scenario = Scenario(
            until_ms=30_000,
            topics={"t": 2},
            protocol=GroupProtocol.CONSUMER,
            seed=seed,
            broker=BrokerConfig(consumer_heartbeat_interval_ms=2000),
            members=(
                member("a", 0),
                member("b", JOINS_MS, poll_ms=4500, auto_commit_ms=auto_commit_ms),
                member("c", JOINS_MS + 2300),
            ),
            plan=(Action(at_ms=JOINS_MS + 300, do=Verb.STOP, member="a"),),
        )
        found.append(simulate(scenario).result)
    assert all(each.is_settled for each in found)
    double = [each.first_violation for each in found if each.double_partition_ms]
    assert all("b and c both consume t-1" in (each or "") for each in double)
    assert bool(double) == (auto_commit_ms == 0)
