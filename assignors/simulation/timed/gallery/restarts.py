"""Restarts and deployments: members go away on purpose and come back."""

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
    restarts,
    with_members,
)
from assignors.simulation.timed.scenario import Action, Scenario, Verb


def rolling_restart() -> Scenario:
    """Restart ten members one after the other, each away for ten seconds.

    Every leave and every join is a rebalance. Under cooperative-sticky and KIP-848 only the
    partitions that move stop, under an eager protocol all of them.
    """
    return restarts(group())


def rolling_restart_eager() -> Scenario:
    """Restart ten members under an eager assignor that is not sticky.

    Each rebalance stops all partitions and moves most of them.
    """
    return restarts(group(assignors=(EAGER,)))


def rolling_restart_static() -> Scenario:
    """Restart ten static members (KIP-345).

    Nothing is rebalanced, and each member's partitions wait until it is back: that is dearer than a
    rebalance where the restart takes longer than a heartbeat.
    """
    dynamic = group()
    static = tuple(replace(each, instance_id=f"i-{each.name}") for each in dynamic.members)
    return restarts(replace(dynamic, members=static))


def slow_polls() -> Scenario:
    """Restart ten members that take up to five seconds between two polls.

    A classic rebalance waits for the slowest member, so one slow poll stops the others as well;
    under KIP-848 nobody waits for another one's poll.
    """
    return restarts(with_members(group(), poll_ms=5000))


def stop_all() -> Scenario:
    """Stop all members at once and start them again: a deployment without a rolling restart.

    The first members of an empty classic group wait three seconds for more of them, and three more
    while any come (`group.initial.rebalance.delay.ms`): one rebalance then, not one for each.
    """
    members = group()
    plan = [
        Action(at_ms=SETTLED_MS + after, do=verb, member=each.name)
        for after, verb in ((0, Verb.STOP), (10_000, Verb.START))
        for each in members.members
    ]
    return planned(members, plan)


STORIES = {
    "rolling-restart": Story(
        scenario=rolling_restart,
        everywhere={"moves": 200, "moves_beyond_optimum": 0, "gaps": 200},
        expected={
            CLASSIC: {"rounds": 30, "longest_gap_ms": (0, 3.3 * SECOND)},
            CONSUMER: {"rounds": 20, "longest_gap_ms": (0, 5.1 * SECOND)},
        },
    ),
    "rolling-restart-eager": Story(
        scenario=rolling_restart_eager,
        expected={CLASSIC: {"rounds": 20, "gaps": 2000, "moves": (601, 1800)}},
    ),
    "rolling-restart-static": Story(
        scenario=rolling_restart_static,
        everywhere={
            "rounds": 0,
            "moves": 0,
            "gaps": 100,
            "longest_gap_ms": (10 * SECOND, 10.2 * SECOND),
        },
        expected={CLASSIC: {}, CONSUMER: {}},
    ),
    "slow-polls": Story(
        scenario=slow_polls,
        expected={
            CLASSIC: {"longest_gap_ms": (5 * SECOND, 8.2 * SECOND)},
            CONSUMER: {"longest_gap_ms": (0, 5.1 * SECOND)},
        },
    ),
    # Ten seconds away, three of delay, and three more as members came in the first three.
    "stop-all": Story(
        scenario=stop_all,
        expected={
            CLASSIC: {"rounds": 2, "longest_gap_ms": (16 * SECOND, 16.2 * SECOND)},
            CONSUMER: {"rounds": 20, "longest_gap_ms": (10 * SECOND, 10.2 * SECOND)},
        },
    ),
}
