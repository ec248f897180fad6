"""Groups that lose their coordinator."""

from __future__ import annotations

from dataclasses import replace

from assignors.simulation.timed.gallery.story import (
    CLASSIC,
    CONSUMER,
    SECOND,
    SETTLED_MS,
    Story,
    group,
    planned,
    restarts,
    with_members,
)
from assignors.simulation.timed.scenario import (
    Action,
    Fault,
    FaultKind,
    ProcessingConfig,
    Scenario,
    Verb,
)

FROM_MS = SETTLED_MS + 10_000


def coordinator_crash_at_rest() -> Scenario:
    """Let the coordinator crash while nothing happens; the next one serves eight seconds later.

    Members consume on: they need the coordinator for heartbeats and commits alone. Each asks for
    the next one until there is one, and every session begins anew there. Nobody rebalances.
    """
    return replace(_failing(group(), FaultKind.COORDINATOR_CRASH), until_ms=FROM_MS + 60_000)


def failover_in_rolling_restart() -> Scenario:
    """Restart ten members, one after the other; as the fourth leaves the coordinator crashes.

    That a member has left a classic group is in the coordinator's memory until the leader's next
    plan is written. The next coordinator knows the generation before: the member that is gone is in
    the group again, until its session ends there after 45 seconds, and nobody consumes what it had.
    Under KIP-848 the leave is a record, which was replicated a few milliseconds after it came: the
    restart goes on as if nothing had happened.
    """
    at_ms = SETTLED_MS + 3 * 30_000 + 500
    return _failing(restarts(group()), FaultKind.COORDINATOR_CRASH, from_ms=at_ms)


def failover_loses_commits() -> Scenario:
    """Let the coordinator crash whose followers are four seconds behind, and with it one member.

    The member's last commit was written and not replicated, so it was not answered, and is lost;
    and the process is gone that would send it again. Whoever gets its partitions begins at the
    commit before that one, and does five seconds of records more again than after a crash of the
    member alone. No commit is lost that was answered.
    """
    slow = _busy(group(), auto_commit_ms=5000)
    slow = replace(slow, broker=replace(slow.broker, append_us=4_000_000))
    crash = Action(at_ms=FROM_MS + 6500, do=Verb.CRASH, member="c3")
    return _failing(planned(slow, [crash]), FaultKind.COORDINATOR_CRASH, from_ms=crash.at_ms)


def zombie_coordinator() -> Scenario:
    """Elect another coordinator, of which the old one hears nothing for 100 seconds.

    Members that only send heartbeats do not notice: the old one answers them. A new member finds
    the new coordinator, which waits for the others until their sessions end, and then gives it
    everything. All partitions have two consumers until the old coordinator learns that it is none.
    """
    start = Action(at_ms=FROM_MS + 10_000, do=Verb.START, member="c10")
    late = group()
    joiner = replace(late.members[0], name="c10", starts_at_ms=None)
    late = planned(replace(late, members=(*late.members, joiner)), [start], settles_ms=240_000)
    return _failing(late, FaultKind.COORDINATOR_ZOMBIE, lasts_ms=100_000)


def zombie_coordinator_and_commits() -> Scenario:
    """Do the same in a group that commits every five seconds.

    The old coordinator cannot write, so it answers the first commit of each member with
    NOT_COORDINATOR. Everybody has found the new one long before a session ends, and no partition
    has two consumers.
    """
    return _busy(zombie_coordinator(), auto_commit_ms=5000)


STORIES = {
    "coordinator-crash": Story(
        scenario=coordinator_crash_at_rest,
        everywhere={
            "rounds": 0,
            "gaps": 0,
            "failovers": 1,
            "records_lost": 0,
            "first_heartbeat_ms": (8 * SECOND, 10 * SECOND),
            "recovery_ms": (8 * SECOND, 12 * SECOND),
        },
        expected={CLASSIC: {"records_replayed": 2}, CONSUMER: {"records_replayed": (40, 70)}},
    ),
    "failover-in-rolling-restart": Story(
        scenario=failover_in_rolling_restart,
        everywhere={"failovers": 1},
        expected={
            CLASSIC: {
                "rounds": (20, 29),
                "records_lost": 0,
                "longest_gap_ms": (50 * SECOND, 56 * SECOND),
                "recovery_ms": (50 * SECOND, 56 * SECOND),
            },
            CONSUMER: {
                "rounds": 20,
                "records_lost": (0, 1),
                "longest_gap_ms": (8 * SECOND, 10 * SECOND),
                "recovery_ms": (8 * SECOND, 11 * SECOND),
            },
        },
    ),
    "failover-loses-commits": Story(
        scenario=failover_loses_commits,
        everywhere={
            "rounds": 1,
            "records_lost": (10, 100),
            "reprocessed_records": (600, 1000),
            "longest_gap_ms": (50 * SECOND, 65 * SECOND),
        },
        expected={CLASSIC: {}, CONSUMER: {}},
    ),
    "zombie-coordinator": Story(
        scenario=zombie_coordinator,
        everywhere={
            "failovers": 1,
            "moves": (190, 195),
            "longest_double_ms": (45 * SECOND, 60 * SECOND),
            "double_partition_ms": (4500 * SECOND, 5500 * SECOND),
            "recovery_ms": (100 * SECOND, 112 * SECOND),
        },
        expected={CLASSIC: {"rounds": 3}, CONSUMER: {"rounds": 21}},
    ),
    "zombie-coordinator-and-commits": Story(
        scenario=zombie_coordinator_and_commits,
        everywhere={
            "moves": 9,
            "fenced_commits": 0,
            "duplicate_records": 0,
            "recovery_ms": (2 * SECOND, 8 * SECOND),
        },
        expected={CLASSIC: {"rounds": 2}, CONSUMER: {"rounds": 1}},
    ),
}


def _failing(
    scenario: Scenario, kind: FaultKind, *, from_ms: int = FROM_MS, lasts_ms: int = 6000
) -> Scenario:
    """Return the scenario with a coordinator that is lost, and one that loads for two seconds."""
    fault = Fault(kind=kind, from_ms=from_ms, until_ms=from_ms + lasts_ms, by_ms=2000)
    return replace(scenario, faults=(fault,))


def _busy(scenario: Scenario, **commits: int) -> Scenario:
    """Return the scenario with ten records a second for each partition, and with commits."""
    return replace(
        with_members(scenario, **commits), processing=ProcessingConfig(records_per_second=10)
    )
