"""Timed runs: what a change costs a group under each protocol, and that a run repeats itself."""

from __future__ import annotations

from dataclasses import replace

import pytest

from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.scenario import (
    Action,
    GroupProtocol,
    MemberConfig,
    Scenario,
    Verb,
)
from assignors.simulation.timed.simulation import simulate

EAGER, COOPERATIVE = "optimal/sticky", "optimal/cooperative-sticky"
JAVA = ("java/range", "java/sticky", "java/cooperative-sticky")


def rolling_restart(
    assignor: str,
    *,
    members: int = 10,
    partitions: int = 100,
    static: bool = False,
    seed: int = 1,
    protocol: GroupProtocol = GroupProtocol.CLASSIC,
    down_ms: int = 10_000,
) -> Scenario:
    """Return a scenario: the group settles for a minute, then a member restarts every 30 s."""
    restarts = [60_000 + 30_000 * number for number in range(members)]
    return Scenario(
        seed=seed,
        protocol=protocol,
        until_ms=120_000 + 30_000 * members,
        count_from_ms=60_000,
        topics={"t": partitions},
        members=tuple(
            MemberConfig(
                name=f"c{number}",
                topics=("t",),
                assignors=(assignor,),
                instance_id=f"i{number}" if static else None,
                starts_at_ms=30 * number,
            )
            for number in range(members)
        ),
        plan=tuple(
            action
            for number, at in enumerate(restarts)
            for action in (
                Action(at_ms=at, do=Verb.STOP, member=f"c{number}"),
                Action(at_ms=at + down_ms, do=Verb.START, member=f"c{number}"),
            )
        ),
    )


def run(scenario: Scenario) -> TimedResult:
    return simulate(scenario).result


def test_a_rolling_restart_costs_what_each_protocol_is_known_to_cost() -> None:
    eager = run(rolling_restart(EAGER))
    cooperative = run(rolling_restart(COOPERATIVE))
    static = run(rolling_restart(COOPERATIVE, static=True))
    consumer = run(rolling_restart(COOPERATIVE, protocol=GroupProtocol.CONSUMER))
    static_consumer = run(
        rolling_restart(COOPERATIVE, protocol=GroupProtocol.CONSUMER, static=True)
    )
    # A leave and a join: a round each, and a second one for the join where partitions move.
    assert (eager.rounds, cooperative.rounds, static.rounds) == (20, 30, 0)
    # KIP-848: an epoch for each leave and each join, and a heartbeat's time for what moves.
    assert (consumer.rounds, static_consumer.rounds) == (20, 0)
    assert eager.moves == cooperative.moves == consumer.moves == 200
    assert consumer.longest_gap_ms < 7100  # and two polls
    # Eager stops every partition in every round, cooperative only those that move.
    assert (eager.gaps, cooperative.gaps) == (20 * 100, 200)
    # A static member's partitions wait for its return, and nothing else happens.
    for result in (static, static_consumer):
        assert 10_000 < result.longest_gap_ms < 12_200  # and up to two polls
        assert result.moves == 0
    for result in (eager, cooperative, static, consumer, static_consumer):
        assert result.is_settled
        assert result.double_partition_ms == 0


@pytest.mark.parametrize("assignor", [EAGER, COOPERATIVE, *JAVA])
def test_a_crash_lasts_as_long_as_the_session_timeout(assignor: str) -> None:
    scenario = rolling_restart(assignor, members=4, partitions=12)
    crash = Action(at_ms=70_000, do=Verb.CRASH, member="c1")
    result = run(replace(scenario, plan=(crash,)))
    # From the last heartbeat before the crash, up to 3 s earlier, and then a round or two.
    assert 42_000 < result.longest_gap_ms < 52_000
    assert result.is_settled
    assert result.unowned == 0


def test_a_topic_that_grows_is_shared_once_the_leader_has_new_metadata() -> None:
    scenario = rolling_restart(COOPERATIVE, members=3, partitions=6)
    grow = Action(at_ms=70_000, do=Verb.GROW, topic="t", partitions=12)
    members = tuple(replace(each, metadata_age_ms=20_000) for each in scenario.members)
    result = run(replace(scenario, members=members, plan=(grow,)))
    assert result.unowned == 0
    assert result.gaps == 6
    assert result.longest_gap_ms < 20_000 + 4000


def test_members_that_share_no_protocol_do_not_meet() -> None:
    first, *others = rolling_restart("java/range", members=3).members
    odd = replace(first, assignors=("java/sticky",), starts_at_ms=5000)
    scenario = replace(rolling_restart("java/range", members=3), members=(odd, *others), plan=())
    result = run(scenario)
    assert result.requests["JoinGroup"] == 5, "two members twice, for their ids, and one refused"
    assert result.is_settled


def test_a_run_that_needs_too_many_events_stops_and_says_so() -> None:
    result = run(replace(rolling_restart(COOPERATIVE), event_limit=500))
    assert result.events == 500
    assert result.stopped_by == "event_limit: 500"


def test_a_run_that_would_keep_too_much_stops_and_says_so() -> None:
    scenario = rolling_restart(COOPERATIVE)
    whole = simulate(scenario, keeps_history=True)
    limit = (len(whole.changes) + len(whole.records)) // 2
    cut = simulate(replace(scenario, kept_limit=limit), keeps_history=True)
    assert cut.result.stopped_by == f"kept_limit: {limit}"
    assert cut.changes == whole.changes[: len(cut.changes)] != whole.changes
    assert cut.records == whole.records[: len(cut.records)] != whole.records
