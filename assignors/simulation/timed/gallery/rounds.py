"""What decides how many rounds a rebalance takes, and how long each of them is."""

from __future__ import annotations

from dataclasses import replace

from assignors.simulation.timed.gallery.story import (
    CLASSIC,
    CONSUMER,
    EAGER,
    SECOND,
    SETTLED_MS,
    Story,
    group,
    planned,
    with_members,
)
from assignors.simulation.timed.scenario import (
    Action,
    NetworkConfig,
    ProcessingConfig,
    Scenario,
    Verb,
)


def leader_too_slow() -> Scenario:
    """Let a member leave a group whose leader computes for eight seconds.

    Everybody waits for the leader: under an eager protocol without consuming anything. Under
    KIP-848 the coordinator computes, and members go on meanwhile.
    """
    slow = replace(group(assignors=(EAGER,)), compute_us_per_partition=80_000)
    return planned(slow, [_leave()])


def leader_too_slow_cooperative() -> Scenario:
    """Let a member leave a group whose leader computes for eight seconds, under cooperative-sticky.

    The others go on consuming while they wait. What the member left behind waits for the leader,
    and nothing else does: a slow assignor is a matter of the eager protocol.
    """
    return planned(replace(group(), compute_us_per_partition=80_000), [_leave()])


def late_sync() -> Scenario:
    """Let a member join whose peers are slow to send SyncGroup, by 50 ms on average.

    A fast member has revoked its partitions and joins again before a slow one has asked for its
    assignment. That one gets REBALANCE_IN_PROGRESS in place of it, and learns a round later what
    it has to revoke: two rounds become three and more.
    """
    return _join(with_members(group(count=11, partitions=110), sync_delay_us=50_000))


def prompt_sync() -> Scenario:
    """Let a member join whose peers send SyncGroup at once.

    This is how cooperative-sticky is meant to be: one round to find out who gives up what, a
    second one to hand it over, and a heartbeat between them.
    """
    return _join(group(count=11, partitions=110))


def leave_of_one_in_three() -> Scenario:
    """Stop one of three members on a topic of three partitions, under cooperative-sticky.

    One round, one partition that moves, and nobody revokes anything. A report about librdkafka
    (issue 3891) has the same group revoke and assign both partitions of the heir seven or eight
    times: that does not come from the protocol (`commits-amid-a-rebalance`).
    """
    stop = Action(at_ms=SETTLED_MS, do=Verb.STOP, member="c0")
    return planned(group(count=3, partitions=3), [stop])


def commits_amid_a_rebalance() -> Scenario:
    """Stop one of three members that commit all the time and forget generations over it.

    A commit that is on its way when the generation changes is refused, which is no harm. librdkafka
    from 1.6 on took it for the loss of its own generation, until that was mended in 2025 (issue
    4059): with its next heartbeat or commit it gave up everything, joined again, and met the next
    commits on their way. The heirs revoke and assign what nobody else wants, twice or twenty times
    as chance has it; issue 3891 has seven or eight.
    """
    scenario = with_members(
        group(count=3, partitions=3), auto_commit_ms=60, forgets_generation=True
    )
    return replace(
        scenario,
        until_ms=120_000,
        count_from_ms=20_000,
        plan=(Action(at_ms=20_000, do=Verb.STOP, member="c0"),),
        network=NetworkConfig(mean_us=50_000),
        processing=ProcessingConfig(records_per_second=100),
    )


def heartbeat_of_ten_seconds() -> Scenario:
    """Let a member join a group with a heartbeat interval of ten seconds in place of three.

    Members of a classic group learn of a rebalance from a heartbeat alone. So an interval three
    times as long means a third of the requests, and rebalances that take three times as long.
    """
    slow = group(count=11, partitions=110)
    return _join(with_members(slow, heartbeat_interval_ms=10_000))


STORIES = {
    "leader-too-slow": Story(
        scenario=leader_too_slow,
        expected={
            CLASSIC: {"rounds": 1, "gaps": 100, "longest_gap_ms": (8 * SECOND, 12 * SECOND)},
            CONSUMER: {"rounds": 1, "gaps": 10, "longest_gap_ms": (0, 6.2 * SECOND)},
        },
    ),
    "leader-too-slow-cooperative": Story(
        scenario=leader_too_slow_cooperative,
        expected={
            CLASSIC: {
                "rounds": 1,
                "gaps": 10,
                "moves": 10,
                "longest_gap_ms": (8 * SECOND, 12 * SECOND),
            },
        },
    ),
    "late-sync": Story(scenario=late_sync, expected={CLASSIC: {"rounds": (3, 12), "moves": 10}}),
    "prompt-sync": Story(
        scenario=prompt_sync,
        expected={
            CLASSIC: {"rounds": 2, "moves": 10, "longest_gap_ms": (3 * SECOND, 3.3 * SECOND)}
        },
    ),
    "leave-of-one-in-three": Story(
        scenario=leave_of_one_in_three,
        expected={
            CLASSIC: {"rounds": 1, "moves": 1, "gaps": 1, "members_touched": 2},
            CONSUMER: {"rounds": 1, "moves": 1, "gaps": 1, "members_touched": 0},
        },
    ),
    "commits-amid-a-rebalance": Story(
        scenario=commits_amid_a_rebalance,
        expected={
            CLASSIC: {"rounds": (2, 40), "gaps": (3, 70), "fenced_commits": (5, 250)},
        },
    ),
    "heartbeat-of-ten-seconds": Story(
        scenario=heartbeat_of_ten_seconds,
        expected={
            CLASSIC: {"rounds": 2, "moves": 10, "longest_gap_ms": (10 * SECOND, 10.3 * SECOND)},
        },
    ),
}


def _leave() -> Action:
    return Action(at_ms=SETTLED_MS + 10_000, do=Verb.STOP, member="c3")


def _join(scenario: Scenario) -> Scenario:
    """Return the scenario with its last member joining late."""
    *others, last = scenario.members
    late = replace(scenario, members=(*others, replace(last, starts_at_ms=None)))
    return planned(late, [Action(at_ms=SETTLED_MS, do=Verb.START, member=last.name)])
