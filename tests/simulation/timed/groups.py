"""Groups that tests begin with: members `c0`, `c1`, ... on the topic `orders`, and their plans."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from assignors.simulation.timed.dialects.timing import Timing
from assignors.simulation.timed.scenario import Action, MemberConfig, Scenario, Verb

SETTLED_MS = 60_000
"""When costs begin to count: the group has settled by then."""
EXACT: dict[str, Any] = {"poll_ms": 100, "poll_spread_ms": 0, "timing": Timing()}
"""A member of a world that does not exist, for exact moments: quick, even polls, and a client that
is never late."""


def group(
    count: int = 10,
    partitions: int = 100,
    assignors: tuple[str, ...] = ("java/cooperative-sticky",),
) -> Scenario:
    """A group with nothing planned; its members start 100 ms one after the other."""
    return Scenario(
        until_ms=SETTLED_MS,
        count_from_ms=SETTLED_MS,
        topics={"orders": partitions},
        members=tuple(
            MemberConfig(
                name=f"c{number}",
                topics=("orders",),
                assignors=assignors,
                starts_at_ms=100 * number,
            )
            for number in range(count)
        ),
    )


def planned(scenario: Scenario, plan: Iterable[Action], *, settles_ms: int = 120_000) -> Scenario:
    """The scenario with a plan, and some time after its last action to settle."""
    actions = tuple(plan)
    return replace(scenario, plan=actions, until_ms=actions[-1].at_ms + settles_ms)


def with_members(scenario: Scenario, **changes: Any) -> Scenario:
    """The scenario with these fields of every member changed."""
    return replace(scenario, members=tuple(replace(each, **changes) for each in scenario.members))


def churn_at(every_ms: int, *, lives_ms: int = 10_000, count: int = 16) -> Scenario:
    """Five lasting members, and short-lived ones that come so often."""
    lasting = group(count=5)
    (first, *_) = lasting.members
    passing = tuple(
        replace(first, name=f"job{number}", starts_at_ms=None) for number in range(count)
    )
    plan = sorted(
        (
            Action(at_ms=SETTLED_MS + every_ms * number + after, do=verb, member=each.name)
            for number, each in enumerate(passing)
            for after, verb in ((0, Verb.START), (lives_ms, Verb.STOP))
        ),
        key=lambda action: action.at_ms,
    )
    return planned(replace(lasting, members=lasting.members + passing), plan, settles_ms=30_000)
