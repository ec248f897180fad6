"""Groups and topics that grow."""

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
)
from assignors.simulation.timed.scenario import Action, Scenario, Verb


def scale_out() -> Scenario:
    """Add five members to five, one every two seconds.

    Under the classic protocol each newcomer interrupts the rebalance of the one before it.
    """
    members = group()
    late = tuple(
        replace(each, starts_at_ms=None if number >= 5 else each.starts_at_ms)
        for number, each in enumerate(members.members)
    )
    starts = [
        Action(at_ms=SETTLED_MS + 2000 * number, do=Verb.START, member=f"c{number + 5}")
        for number in range(5)
    ]
    return planned(replace(members, members=late), starts)


def topic_growth() -> Scenario:
    """Give the topic twenty more partitions.

    Under the classic protocol nobody reads them before the leader has refreshed its metadata, up to
    five minutes; under KIP-848 the coordinator knows at once.
    """
    grow = Action(at_ms=SETTLED_MS + 10_000, do=Verb.GROW, topic="orders", partitions=120)
    return planned(group(), [grow], settles_ms=390_000)


STORIES = {
    "scale-out": Story(
        scenario=scale_out,
        expected={
            CLASSIC: {"rounds": (3, 6), "moves": 50, "gaps": 50},
            CONSUMER: {"rounds": 5, "moves": (50, 70)},
        },
    ),
    "topic-growth": Story(
        scenario=topic_growth,
        everywhere={"gaps": 20},
        expected={
            CLASSIC: {"longest_gap_ms": (0, 304 * SECOND)},
            # The next heartbeat of anybody makes the target, and each member's own brings it.
            CONSUMER: {"longest_gap_ms": (0, 10.2 * SECOND)},
        },
    ),
}
