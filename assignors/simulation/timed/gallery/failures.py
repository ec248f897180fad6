"""Members that fail."""

from __future__ import annotations

from dataclasses import replace

from assignors.simulation.timed.gallery.story import (
    CLASSIC,
    CONSUMER,
    EAGER,
    PUSH,
    SECOND,
    SETTLED_MS,
    Story,
    group,
    planned,
)
from assignors.simulation.timed.scenario import Action, Scenario, Verb


def crash() -> Scenario:
    """Let one member of ten die without a word.

    Its partitions stop for the session timeout, 45 seconds, under every protocol.
    """
    return planned(group(), [Action(at_ms=SETTLED_MS + 10_000, do=Verb.CRASH, member="c3")])


def crash_and_return() -> Scenario:
    """Let a member crash and start again after ten seconds, under a new member id.

    The coordinator cannot know that the two are one. A classic rebalance waits for the dead one to
    join until its session ends, 45 seconds after its last heartbeat; meanwhile the others go on
    consuming. Under KIP-848 dead and newcomer get a share each, and partitions move twice.
    """
    return planned(group(), _crashes("c3", count=1))


def crash_and_return_eager() -> Scenario:
    """Let a member crash and start again after ten seconds, under an eager assignor.

    The newcomer starts a rebalance that waits for the dead one, and everybody has stopped for it:
    one process that is restarted at once stops the whole group for half a minute. One that stays
    away costs its own partitions alone.
    """
    return planned(group(assignors=(EAGER,)), _crashes("c3", count=1))


def static_crash_and_return() -> Scenario:
    """Let a static member crash and start again after ten seconds.

    In a classic group it gets its own partitions back without a rebalance, so the crash costs ten
    seconds. Under KIP-848 a static member that did not say it leaves for a while is still there:
    its successor is refused with UNRELEASED_INSTANCE_ID, which is fatal for it, and the session
    timeout is waited for after all.
    """
    members = tuple(replace(each, instance_id=f"i-{each.name}") for each in group().members)
    return planned(replace(group(), members=members), _crashes("c3", count=1))


def crash_loop() -> Scenario:
    """Let a member crash every 30 seconds, six times, and start again after ten.

    Each life leaves a member behind until its session ends. A classic rebalance waits for the dead,
    and the next life joins before it is over: some partitions have no consumer for minutes. Under
    KIP-848 the dead have shares, and one broken process of ten stops a part of the topic all the
    time.
    """
    return planned(group(), _crashes("c3", count=6))


def _crashes(name: str, *, count: int) -> list[Action]:
    return [
        Action(at_ms=SETTLED_MS + 30_000 * number + after, do=verb, member=name)
        for number in range(count)
        for after, verb in ((10_000, Verb.CRASH), (20_000, Verb.START))
    ]


STORIES = {
    "crash": Story(
        scenario=crash,
        everywhere={"gaps": 10, "longest_gap_ms": (40 * SECOND, 51 * SECOND)},
        expected={CLASSIC: {}, CONSUMER: {}, PUSH: {}},
    ),
    "crash-and-return": Story(
        scenario=crash_and_return,
        everywhere={"longest_gap_ms": (40 * SECOND, 51 * SECOND)},
        expected={
            CLASSIC: {"rounds": 1, "moves": 0, "gaps": 10},
            CONSUMER: {"rounds": 2, "moves": (10, 30)},
        },
    ),
    "crash-and-return-eager": Story(
        scenario=crash_and_return_eager,
        expected={
            CLASSIC: {
                "rounds": 1,
                "gaps": 100,
                "unavailable_partition_ms": (3000 * SECOND, 3800 * SECOND),
            },
        },
    ),
    "static-crash-and-return": Story(
        scenario=static_crash_and_return,
        everywhere={"gaps": 10},
        expected={
            CLASSIC: {
                "rounds": 0,
                "moves": 0,
                "longest_gap_ms": (10 * SECOND, 10.2 * SECOND),
            },
            CONSUMER: {
                "rounds": 1,
                "moves": 10,
                "longest_gap_ms": (40 * SECOND, 51 * SECOND),
                "members_failed": 1,
            },
        },
    ),
    "crash-loop": Story(
        scenario=crash_loop,
        expected={
            CLASSIC: {"rounds": (3, 6), "longest_gap_ms": (100 * SECOND, 260 * SECOND)},
            CONSUMER: {"rounds": 12, "longest_gap_ms": (40 * SECOND, 130 * SECOND)},
        },
    ),
}
