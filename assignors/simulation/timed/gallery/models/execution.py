"""Coordinators that execute requests by a model, beside other groups."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from assignors.simulation.timed.gallery.story import (
    CLASSIC,
    CONSUMER,
    SECOND,
    SETTLED_MS,
    Story,
    group,
    planned,
    with_members,
)
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    ExecutionConfig,
    Fault,
    FaultKind,
    MemberConfig,
    OtherGroups,
    ProcessingConfig,
    Scenario,
    Verb,
)

BURST_MS = 10_000
NEIGHBOUR = OtherGroups(
    per_second=40,
    groups=1,
    checks_share=1,
    slow_group_check_us=500_000,
    from_ms=SETTLED_MS + 10_000,
    until_ms=SETTLED_MS + 10_000 + BURST_MS,
)
"""A group in the same offsets partition: 400 commits in ten seconds, each checked for 500 ms."""
BUSY = OtherGroups(
    per_second=500,
    groups=400,
    changes_share=0.2,
    from_ms=SETTLED_MS - 1000,
    until_ms=SETTLED_MS + 15_000,
)
"""400 groups on all offsets partitions: most of their requests commit offsets."""


def slow_checks_evict_neighbours() -> Scenario:
    """Let another group's transactions be checked slowly, in a coordinator that waits for checks.

    Under `blocking` a worker holds the offsets partition while it waits, so ten seconds of commits
    occupy it for minutes. Heartbeats that have come wait behind them; sessions, which here run out
    on threads of their own as before Kafka 4, do not wait. The whole group is evicted though nobody
    of it has done anything wrong.
    """
    return _beside_slow_checks("blocking", timers_wait=False)


def slow_checks_evict_nobody() -> Scenario:
    """Let another group's transactions be checked slowly, in a coordinator with two stages.

    Under `two-stage` a check holds nothing: the request is queued again once it has passed. The
    neighbours notice nothing, even with sessions that do not wait for their turn.
    """
    return _beside_slow_checks("two-stage", timers_wait=False)


def slow_checks_in_one_queue() -> Scenario:
    """Let another group's transactions be checked slowly, where sessions wait for their turn too.

    As in Kafka 4 a session that runs out is an event of the same queue, and counts for nothing if a
    heartbeat before it has started it anew. So even under `blocking` nobody is evicted: heartbeats
    are answered minutes late, and the group stays as it is.
    """
    return _beside_slow_checks("blocking", timers_wait=True)


def join_storm_waiting_for_replication() -> Scenario:
    """Start fifty members at once in a coordinator that waits for each replication: `wait-all`.

    Other groups write 500 times a second, and one request at a time is replicated. Under KIP-848
    every join is a write that waits in the same line; a classic group writes once at the end of a
    round, and hardly notices.
    """
    return _join_storm("wait-all")


def join_storm_two_stage() -> Scenario:
    """Start fifty members at once in a coordinator whose state runs ahead of the log: `two-stage`.

    Requests that are waiting share an append, and nobody waits for its replication but the answer.
    The storm costs what its messages cost.
    """
    return _join_storm("two-stage")


def commits_without_linger() -> Scenario:
    """Let ten members commit twice a second, while other groups commit 500 times a second.

    A batch holds what was waiting when it began (`group.coordinator.append.linger.ms` of -1). A
    commit takes the time of a replication, 5 ms here, and nothing more.
    """
    return _committing(linger_ms=-1)


def commits_with_linger() -> Scenario:
    """Let ten members commit twice a second to a coordinator whose batches linger for 20 ms.

    Every commit waits for the end of its batch, 10 ms in the mean, before it is replicated; in
    return there are fewer appends. A member that commits synchronously stops that much longer.
    """
    return _committing(linger_ms=20)


def append_fails_amid_rebalance() -> Scenario:
    """Let no append succeed for five seconds, in which a member joins.

    Too few replicas are in sync. What the coordinator has done on top of the log goes back, and
    members are answered COORDINATOR_NOT_AVAILABLE. A classic group begins its round again, as often
    as the leader's assignment cannot be written; a consumer group forgets the join and its epoch.
    Afterwards the member joins as if it had just come. Nobody loses a partition over it.
    """
    growing = group(count=11, partitions=110)
    *others, last = growing.members
    late = replace(growing, members=(*others, replace(last, starts_at_ms=None)))
    start = Action(at_ms=SETTLED_MS + 10_000, do=Verb.START, member=last.name)
    fails = Fault(
        kind=FaultKind.APPEND_FAILURE,
        from_ms=SETTLED_MS + 9_000,
        until_ms=SETTLED_MS + 15_000,
        percent=100,
    )
    return _executed(replace(planned(late, [start]), faults=(fails,)), model="two-stage")


def leave_that_is_not_written() -> Scenario:
    """Let a member leave while no append succeeds, for two seconds.

    It is gone, and does not ask again. A consumer group takes it back with everything else that was
    not written, but not its session, which was stopped when it left: in Kafka 4.4 timers do not go
    back. Nothing removes it any more until another broker reads the log, and nobody consumes its
    partitions. A classic group keeps what it did, and rebalances as soon as it can write.
    """
    stop = Action(at_ms=SETTLED_MS + 10_000, do=Verb.STOP, member="c9")
    fails = Fault(
        kind=FaultKind.APPEND_FAILURE,
        from_ms=SETTLED_MS + 9_000,
        until_ms=SETTLED_MS + 11_000,
        percent=100,
    )
    return _executed(replace(planned(group(), [stop]), faults=(fails,)), model="two-stage")


STORIES: dict[str, Story] = {
    "slow-checks-evict-neighbours": Story(
        scenario=slow_checks_evict_neighbours,
        everywhere={
            "coordinator_p99_ms": (100 * SECOND, 240 * SECOND),
            "double_partition_ms": (0, 100 * SECOND),
        },
        expected={
            CLASSIC: {"evictions": 10, "rounds": (1, 4), "gaps": (100, 300)},
            CONSUMER: {"evictions": (8, 10), "rounds": (15, 22), "gaps": (100, 400)},
        },
    ),
    "slow-checks-evict-nobody": Story(
        scenario=slow_checks_evict_nobody,
        everywhere={"evictions": 0, "rounds": 0, "gaps": 0, "coordinator_p99_ms": (0, 10)},
        expected={CLASSIC: {}, CONSUMER: {}},
    ),
    "slow-checks-in-one-queue": Story(
        scenario=slow_checks_in_one_queue,
        everywhere={
            "evictions": 0,
            "rounds": 0,
            "gaps": 0,
            "coordinator_p99_ms": (100 * SECOND, 240 * SECOND),
        },
        expected={CLASSIC: {}, CONSUMER: {}},
    ),
    "join-storm-waiting-for-replication": Story(
        scenario=join_storm_waiting_for_replication,
        expected={
            CLASSIC: {"rounds": 1, "coordinator_p99_ms": (5, 40)},
            CONSUMER: {"rounds": 50, "coordinator_p99_ms": (100, 600)},
        },
    ),
    "join-storm-two-stage": Story(
        scenario=join_storm_two_stage,
        everywhere={"coordinator_p99_ms": (4, 10)},
        expected={CLASSIC: {"rounds": 1}, CONSUMER: {"rounds": 50}},
    ),
    "commits-without-linger": Story(
        scenario=commits_without_linger,
        everywhere={"commit_p50_ms": (5, 6), "commit_p99_ms": (5, 8)},
        expected={CLASSIC: {}, CONSUMER: {}},
    ),
    "commits-with-linger": Story(
        scenario=commits_with_linger,
        everywhere={"commit_p50_ms": (12, 25), "commit_p99_ms": (24, 27)},
        expected={CLASSIC: {}, CONSUMER: {}},
    ),
    "append-fails-amid-rebalance": Story(
        scenario=append_fails_amid_rebalance,
        everywhere={"moves": 10, "gaps": 10},
        expected={
            CLASSIC: {"rounds": (10, 50), "failed_appends": (10, 50)},
            CONSUMER: {"rounds": 1, "failed_appends": (20, 80)},
        },
    ),
    "leave-that-is-not-written": Story(
        scenario=leave_that_is_not_written,
        expected={
            CLASSIC: {"moves": 10, "unowned": 0},
            CONSUMER: {"moves": 0, "unowned": 10, "is_settled": False},
        },
    ),
}


def _executed(scenario: Scenario, **settings: Any) -> Scenario:  # noqa: ANN401 - of any type
    execution = ExecutionConfig(**settings)
    return replace(scenario, broker=BrokerConfig(execution=execution))


def _beside_slow_checks(model: str, *, timers_wait: bool) -> Scenario:
    settled = replace(group(), until_ms=SETTLED_MS + 600_000)
    return _executed(settled, model=model, timers_wait=timers_wait, others=NEIGHBOUR)


def _join_storm(model: str) -> Scenario:
    members = tuple(
        MemberConfig(name=f"c{number}", topics=("orders",), starts_at_ms=SETTLED_MS)
        for number in range(50)
    )
    scenario = Scenario(
        until_ms=SETTLED_MS + 60_000,
        count_from_ms=SETTLED_MS,
        topics={"orders": 200},
        members=members,
    )
    return _executed(scenario, model=model, others=BUSY)


def _committing(linger_ms: int) -> Scenario:
    scenario = replace(
        with_members(group(), auto_commit_ms=500),
        processing=ProcessingConfig(records_per_second=10),
        until_ms=SETTLED_MS + 15_000,
    )
    return _executed(scenario, model="two-stage", linger_ms=linger_ms, others=BUSY)
