"""From one assignor to another, by restarts."""

from __future__ import annotations

from dataclasses import replace

from assignors.simulation.timed.gallery.story import (
    CLASSIC,
    COOPERATIVE,
    EAGER,
    SECOND,
    SETTLED_MS,
    Story,
    group,
    planned,
)
from assignors.simulation.timed.scenario import Action, MemberConfig, Scenario, Verb


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
    "eager-to-cooperative": Story(
        scenario=eager_to_cooperative,
        expected={CLASSIC: {"rounds": (16, 24), "longest_gap_ms": (0, 3.3 * SECOND)}},
    ),
    "eager-to-cooperative-at-once": Story(
        scenario=eager_to_cooperative_at_once,
        expected={CLASSIC: {"rounds": 5, "longest_gap_ms": (13 * SECOND, 13.2 * SECOND)}},
    ),
}


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
