"""Which part of its plan a leader gives out at once, under a cooperative assignor.

Members consume during a rebalance, so a partition that changes its owner waits until the old one
has revoked it. Leaders find out which partitions do so from the claims, and clients differ in
whose claim they take for ownership (`IS_OWNER`). A client with a rule of its own applies it to the
plan before anything is withheld, that of the eager assignor of the same family.

Source: `AdjustCooperative` of franz-go's `group_balancer.go`, 1.21.3 and 1.21.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import NamedTuple

from assignors.assignor import Assignor
from assignors.model import Assignment
from assignors.own_assignors.answers import CheckedAssign
from assignors.registry import ASSIGNORS
from wire import TopicPartitions


class HandOver(StrEnum):
    """When a member that is to get a partition counts as its owner already."""

    ASSIGNOR = "assignor"
    """The assignor withholds what has to wait: the client has no rule of its own."""
    OWN_CLAIM = "own claim"
    """It claims it, however old the claim is (franz-go up to 1.21.3)."""
    NEWEST_CLAIM = "newest claim"
    """It claims it, and nobody claims it in a higher generation (franz-go from 1.21.4)."""


class Claim(NamedTuple):
    """What a member says it owns, and since when."""

    owned: TopicPartitions
    generation: int


IS_OWNER: Mapping[HandOver, Callable[[int, int], bool]] = {
    HandOver.OWN_CLAIM: lambda _generation, _newest: True,
    HandOver.NEWEST_CLAIM: lambda generation, newest: generation >= newest,
}
"""Rule -> whether a claim of this generation is ownership, if the newest one is of that."""


def eager_sibling(assignor: Assignor) -> Assignor | None:
    """Return the assignor of the same family that withholds nothing; `None` if there is none.

    An assignor of somebody's own has none, whatever it is called: it withholds by itself, as own
    balancers of franz-go call `AdjustCooperative` themselves.

    >>> eager_sibling(ASSIGNORS["java/cooperative-sticky"]).full_name
    'java/sticky'
    """
    if isinstance(assignor.assign, CheckedAssign):
        return None
    return ASSIGNORS.get(assignor.full_name.replace("cooperative-", ""))


def given_now(rule: HandOver, target: Assignment, claims: Mapping[str, Claim]) -> Assignment:
    """Return the part of `target` that a leader with this rule gives out in this round.

    A partition waits if its member is not its owner yet and another one claims it, however old
    that claim is: to wait is always safe. Cost: O(partitions + claims).

    >>> target = {"a": {"t": (0,)}, "b": {"t": (1,)}}
    >>> claims = {"a": Claim({"t": (0,)}, 1), "b": Claim({"t": (0, 1)}, 2)}
    >>> given_now(HandOver.OWN_CLAIM, target, claims)
    {'a': {'t': (0,)}, 'b': {'t': (1,)}}
    >>> given_now(HandOver.NEWEST_CLAIM, target, claims)
    {'a': {}, 'b': {'t': (1,)}}
    """
    is_owner = IS_OWNER[rule]
    newest: dict[tuple[str, int], int] = {}
    revoked: set[tuple[str, int]] = set()
    for member_id, (owned, generation) in claims.items():
        share = target.get(member_id, {})
        for topic, numbers in owned.items():
            revoked.update((topic, number) for number in {*numbers} - {*share.get(topic, ())})
            for number in numbers:
                newest[topic, number] = max(newest.get((topic, number), generation), generation)

    def owns(member_id: str, topic: str, number: int) -> bool:
        owned, generation = claims.get(member_id, Claim({}, -1))
        is_claimed = number in owned.get(topic, ())
        return is_claimed and is_owner(generation, newest[topic, number])

    given: dict[str, TopicPartitions] = {}
    for member_id, share in target.items():
        kept = {
            topic: tuple(
                number
                for number in numbers
                if (topic, number) not in revoked or owns(member_id, topic, number)
            )
            for topic, numbers in share.items()
        }
        given[member_id] = {topic: numbers for topic, numbers in kept.items() if numbers}
    return given
