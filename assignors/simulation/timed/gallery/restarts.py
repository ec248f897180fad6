"""Restarts and deployments: members go away on purpose and come back, with other settings too."""

from __future__ import annotations

from dataclasses import replace

from assignors.simulation.timed.gallery.story import (
    CLASSIC,
    CONSUMER,
    COOPERATIVE,
    EAGER,
    PUSH,
    SECOND,
    SETTLED_MS,
    Story,
    group,
    planned,
    restarts,
    with_members,
)
from assignors.simulation.timed.scenario import Action, MemberConfig, Scenario, Verb


def rolling_restart() -> Scenario:
    """Restart ten members one after the other, each away for ten seconds.

    Every leave and every join is a rebalance. Under cooperative-sticky and KIP-848 only the
    partitions that move stop, under an eager protocol all of them. Under the push protocol of 2014
    each of them stops for the few messages of its own hand-over.
    """
    return restarts(group())


def rolling_restart_eager() -> Scenario:
    """Restart ten members under an eager assignor that is not sticky.

    Each rebalance stops all partitions and moves most of them.
    """
    return restarts(group(assignors=(EAGER,)))


def rolling_restart_static() -> Scenario:
    """Restart ten static members (KIP-345).

    Nothing is rebalanced, and each member's partitions wait until it is back: that costs more than
    a rebalance where the restart takes longer than a heartbeat.
    """
    return restarts(_static(group()))


def static_restart_within_a_heartbeat() -> Scenario:
    """Restart ten static members, each away for a second.

    This is what static membership is for: the coordinator never notices, and a restart costs its
    own second and nothing else. No dynamic member is back without two rebalances.
    """
    return restarts(_static(group()), down_ms=1000)


def static_restart_too_slow() -> Scenario:
    """Restart ten static members, each away for a minute: longer than the session timeout.

    Nothing is saved. The partitions wait 45 seconds for the member before they are given away, and
    are moved back when it returns: two rebalances, as without static membership, and a gap that
    a dynamic member never has.
    """
    return restarts(_static(group()), down_ms=60_000, every_ms=120_000)


def blue_green() -> Scenario:
    """Start ten new members, and stop the ten old ones a minute later.

    The old ones leave within a second, and the classic group gives their partitions to the new
    ones in one or two rebalances. Every partition has moved when it is over: half when the new
    members come, half when the old ones go.
    """
    old = group()
    new = tuple(
        replace(each, name=f"new{number}", starts_at_ms=None)
        for number, each in enumerate(old.members)
    )
    plan = [
        *(
            Action(at_ms=SETTLED_MS + 50 * number, do=Verb.START, member=each.name)
            for number, each in enumerate(new)
        ),
        *(
            Action(at_ms=2 * SETTLED_MS + 100 * number, do=Verb.STOP, member=each.name)
            for number, each in enumerate(old.members)
        ),
    ]
    return planned(replace(old, members=old.members + new), plan)


def slow_polls() -> Scenario:
    """Restart ten members that take up to five seconds between two polls.

    A classic rebalance waits for the slowest member, so one slow poll holds up the others as well.
    Under KIP-848 nobody waits for another one's poll; but a member that gives partitions up reports
    it one poll later, and who gets them consumes from its own next poll on. So a partition that
    moves may be without a consumer for two polls more than a heartbeat.
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


def paused_partitions() -> Scenario:
    """Let all members pause what they read, and restart one of them.

    An application pauses a partition when the database behind it is down. Under cooperative-sticky
    and KIP-848 a pause lasts as long as the member owns the partition. Those of what moves are
    over, and who has it now reads on.
    """
    return _paused(group())


def paused_partitions_eager() -> Scenario:
    """Let all members pause what they read, and restart one of them, under an eager assignor.

    Everybody gives up everything in a rebalance, and with it every pause, also of partitions that
    it gets back at once: one restart, and all of them read on.
    """
    return _paused(group(assignors=(EAGER,)))


def paused_partitions_kept() -> Scenario:
    """Let all members pause what they read, and restart one of them: eager, with clients like Go's.

    Sarama (from 1.60.1 on) and franz-go keep a pause until the application ends it. What a member
    gets back from the rebalance stays paused; only what goes to another member is read on. So the
    same restart ends far fewer pauses than with Java's client, and an application has to resume
    partitions that it gave up long ago.
    """
    return _paused(with_members(group(assignors=(EAGER,)), keeps_pauses=True))


def eager_to_cooperative() -> Scenario:
    """Go from range to cooperative-sticky in two rolling restarts, as KIP-429 prescribes.

    First every member names both assignors, and range is the one that all have in common. Then
    every member names cooperative-sticky alone. The group has an owner for every partition at the
    end of each rebalance.
    """
    return _bounces((EAGER,), (COOPERATIVE, EAGER), (COOPERATIVE,))


def eager_to_cooperative_at_once() -> Scenario:
    """Go from range to cooperative-sticky in one rolling restart.

    Members that come back have no assignor in common with the others and are refused with
    INCONSISTENT_GROUP_PROTOCOL. The old members take over everything, one fewer each time, until
    the last of them stops. Then nobody consumes anything, until a new one is let in.
    """
    return _bounces((EAGER,), (COOPERATIVE,))


STORIES = {
    "rolling-restart": Story(
        scenario=rolling_restart,
        everywhere={"moves": 200, "moves_beyond_optimum": 0, "gaps": 200},
        expected={
            CLASSIC: {"rounds": 30, "longest_gap_ms": (0, 3.3 * SECOND)},
            CONSUMER: {"rounds": 20, "longest_gap_ms": (0, 5.2 * SECOND)},
            PUSH: {"rounds": 20, "longest_gap_ms": (0, 0.1 * SECOND)},
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
    "static-restart-within-a-heartbeat": Story(
        scenario=static_restart_within_a_heartbeat,
        everywhere={
            "rounds": 0,
            "moves": 0,
            "gaps": 100,
            "longest_gap_ms": (1 * SECOND, 1.2 * SECOND),
            "members_touched": 0,
        },
        expected={CLASSIC: {}, CONSUMER: {}},
    ),
    "static-restart-too-slow": Story(
        scenario=static_restart_too_slow,
        everywhere={"moves": 200, "longest_gap_ms": (42 * SECOND, 51 * SECOND)},
        expected={CLASSIC: {"rounds": 30}, CONSUMER: {"rounds": 20}},
    ),
    "blue-green": Story(
        scenario=blue_green,
        expected={
            CLASSIC: {"moves": (100, 120), "rounds": (3, 8)},
            CONSUMER: {"moves": 100, "rounds": 20},
        },
    ),
    "slow-polls": Story(
        scenario=slow_polls,
        expected={
            CLASSIC: {"longest_gap_ms": (5 * SECOND, 8.2 * SECOND)},
            CONSUMER: {"longest_gap_ms": (10 * SECOND, 15.2 * SECOND)},
        },
    ),
    # Ten seconds away, three of delay, and three more as members came in the first three.
    "stop-all": Story(
        scenario=stop_all,
        expected={
            CLASSIC: {"rounds": 2, "longest_gap_ms": (16 * SECOND, 16.2 * SECOND)},
            CONSUMER: {"rounds": 20, "longest_gap_ms": (10 * SECOND, 10.2 * SECOND)},
            PUSH: {"rounds": 20, "longest_gap_ms": (10 * SECOND, 10.2 * SECOND)},
        },
    ),
    "paused-partitions": Story(
        scenario=paused_partitions,
        everywhere={"moves": 20, "pauses_ended": (1, 10)},
        expected={CLASSIC: {"rounds": 3}, CONSUMER: {"rounds": 2}},
    ),
    "paused-partitions-eager": Story(
        scenario=paused_partitions_eager,
        expected={CLASSIC: {"rounds": 2, "gaps": 200, "pauses_ended": 90}},
    ),
    "paused-partitions-kept": Story(
        scenario=paused_partitions_kept,
        expected={CLASSIC: {"rounds": 2, "gaps": 200, "pauses_ended": 20}},
    ),
    "eager-to-cooperative": Story(
        scenario=eager_to_cooperative,
        expected={CLASSIC: {"rounds": (16, 24), "longest_gap_ms": (0, 3.3 * SECOND)}},
    ),
    "eager-to-cooperative-at-once": Story(
        scenario=eager_to_cooperative_at_once,
        expected={
            CLASSIC: {
                "rounds": 5,
                "longest_gap_ms": (13 * SECOND, 13.2 * SECOND),
                "members_failed": 3,
            }
        },
    ),
}


def _paused(scenario: Scenario) -> Scenario:
    """Return the scenario with a pause of everything, and then a restart of one member."""
    pauses = [
        Action(at_ms=SETTLED_MS, do=Verb.PAUSE, member=each.name, topic="orders")
        for each in scenario.members
    ]
    stop = Action(at_ms=SETTLED_MS + 10_000, do=Verb.STOP, member="c3")
    start = Action(at_ms=SETTLED_MS + 20_000, do=Verb.START, member="c3")
    return planned(scenario, [*pauses, stop, start])


def _static(scenario: Scenario) -> Scenario:
    """Return the scenario with an instance id for every member."""
    members = tuple(replace(each, instance_id=f"i-{each.name}") for each in scenario.members)
    return replace(scenario, members=members)


def _bounces(*configured: tuple[str, ...]) -> Scenario:
    """Return four members that are replaced by others, one by one, for each next list."""
    first = group(count=4, partitions=40)
    members: list[MemberConfig] = []
    plan: list[Action] = []
    for bounce, assignors in enumerate(configured):
        for number, each in enumerate(first.members):
            starts = each.starts_at_ms if bounce == 0 else None
            new = replace(
                each, name=f"v{bounce}-{number}", assignors=assignors, starts_at_ms=starts
            )
            members.append(new)
            if bounce:
                at_ms = SETTLED_MS + 30_000 * (4 * (bounce - 1) + number)
                stopped = f"v{bounce - 1}-{number}"
                plan.append(Action(at_ms=at_ms, do=Verb.STOP, member=stopped))
                plan.append(Action(at_ms=at_ms + 10_000, do=Verb.START, member=new.name))
    return planned(replace(first, members=tuple(members)), plan)
