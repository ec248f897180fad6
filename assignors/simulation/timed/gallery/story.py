"""What a named scenario is made of: a function that makes it, and the figures it must give.

Most scenarios begin with the same group: ten members on a topic of a hundred partitions, which
has settled when costs begin to count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from assignors.simulation.timed.results import TimedResult
from assignors.simulation.timed.scenario import (
    Action,
    GroupProtocol,
    MemberConfig,
    Scenario,
    Verb,
)

SETTLED_MS = 60_000
"""When costs begin to count: the group has settled by then."""
EAGER = "java/range"
COOPERATIVE = "java/cooperative-sticky"
SECOND = 1000
CLASSIC, CONSUMER, PUSH = GroupProtocol.CLASSIC, GroupProtocol.CONSUMER, GroupProtocol.PUSH

Figures = Mapping[str, Any]
"""Field of `TimedResult` -> the value it must have, or the least and the greatest as a tuple."""

SOUND: Figures = {
    "is_settled": True,
    "double_partition_ms": 0,
    "members_failed": 0,
    "stopped_by": None,
}
"""What every run must give whose story does not say otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """A named scenario and what must come out."""

    scenario: Callable[[], Scenario]
    """Makes it, for any protocol and seed; its docstring says what it shows."""
    expected: Mapping[GroupProtocol, Figures]
    """The protocols it is meant for, and the figures under each, whatever the seed."""
    everywhere: Figures = field(default_factory=dict)
    """Figures that are the same under all of these protocols."""

    @property
    def text(self) -> str:
        """What it shows: the first line in short, then why."""
        lines = (self.scenario.__doc__ or "").splitlines()
        return "\n".join(line.strip() for line in lines).strip()


def unexpected(story: Story, protocol: GroupProtocol, result: TimedResult) -> dict[str, Any]:
    """Return the figures that are not what the story says, with their values.

    Raises `KeyError` for a protocol that the story is not meant for.
    """
    wanted = {**SOUND, **story.everywhere, **story.expected[protocol]}
    values = {name: getattr(result, name) for name in wanted}
    return {name: value for name, value in values.items() if not _fits(value, wanted[name])}


def _fits(value: Any, wanted: Any) -> bool:  # noqa: ANN401 - figures have several types
    if isinstance(wanted, tuple):
        least, greatest = wanted
        return bool(least <= value <= greatest)
    return bool(value == wanted)


def group(
    count: int = 10, partitions: int = 100, assignors: tuple[str, ...] = (COOPERATIVE,)
) -> Scenario:
    """Return members `c0`, `c1`, ... on the topic `orders`, with nothing planned."""
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
    """Return the scenario with a plan, and some time after its last action to settle."""
    actions = tuple(plan)
    return replace(scenario, plan=actions, until_ms=actions[-1].at_ms + settles_ms)


def with_members(scenario: Scenario, **changes: Any) -> Scenario:  # noqa: ANN401 - any field
    """Return the scenario with these fields of every member changed."""
    return replace(scenario, members=tuple(replace(each, **changes) for each in scenario.members))


def restarts(scenario: Scenario, *, down_ms: int = 10_000, every_ms: int = 30_000) -> Scenario:
    """Return the scenario with a restart of every member, one after the other."""
    return planned(
        scenario,
        [
            Action(at_ms=SETTLED_MS + every_ms * number + after, do=verb, member=each.name)
            for number, each in enumerate(scenario.members)
            for after, verb in ((0, Verb.STOP), (down_ms, Verb.START))
        ],
    )
