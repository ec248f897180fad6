"""Compare assignors: the assignments of several for one group, side by side.

Loads, moves, the distance from the best, and which partitions go to different members and why.
Each assignor reads the claims from the field of its own protocol. Where a copy of Kafka's fails
as Kafka does, its column holds the failure and the others are complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assignors.assignor import Assignor, UserData
from assignors.checks import check, protocol_of, summary
from assignors.checks.explain import Evidence, evidence, explanation
from assignors.jvm.failure import JavaFailure
from assignors.model import Assignment, Group
from assignors.own_assignors.answers import AssignorError, is_from_outside
from assignors.problem import NOBODY, Int32, owners
from assignors.rebalance import Rebalance

DIFFERENCES_MAX = 100
"""Partitions listed one by one; the rest is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One assignor's assignment in figures."""

    name: str
    rebalance: Rebalance | None
    gaps: Mapping[str, int | float | bool | None]
    """As `checks.check` has them; empty where the assignor failed."""
    is_own: bool = False
    """Whether the assignor is from outside this package."""
    violation_count: int = 0
    """Rules that it breaks; an own assignor without an answer breaks one."""
    first_violation: str | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """The member that one assignor gives a partition to, and why."""

    member_id: str | None
    verdict: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A partition that goes to different members, with a reason by assignor."""

    topic: str
    partition: int
    reasons: Mapping[str, Reason]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The assignors side by side."""

    owned: Assignment
    """What each member says it owns before the round, by member id."""

    columns: tuple[Column, ...]
    difference_count: int
    differences: tuple[Difference, ...]
    """The first of them, by topic and partition."""


def compare(group: Group, assignors: Sequence[Assignor]) -> Comparison:
    """Return the assignments of these assignors side by side.

    At most `DIFFERENCES_MAX` differences are listed. Where an assignor raises `JavaFailure`, or
    one from outside this package raises or returns what is no answer (`AssignorError`), its column
    holds the failure; any other exception is raised.
    Cost: that of each assignor and of the optimal solver, plus O(M) for each difference listed.

    >>> from assignors import Cluster, Member, assignor_named
    >>> members = (
    ...     Member(member_id="a", topics=("t",), owned={"t": (1, 3)}, generation=4),
    ...     Member(member_id="b", topics=("t",), owned={"t": (0, 2)}, generation=4),
    ... )
    >>> group = Group(cluster=Cluster.of({"t": 4}), members=members)
    >>> found = compare(group, [assignor_named("range"), assignor_named("sticky")])
    >>> [column.gaps["moved"] for column in found.columns], found.difference_count
    ([2, 0], 2)
    """
    columns: list[Column] = []
    known: list[Evidence] = []
    for assignor in assignors:
        try:
            found = evidence(group, assignor)
        except (JavaFailure, AssignorError) as failure:
            no_answer = Column(
                name=assignor.full_name,
                rebalance=None,
                gaps={},
                is_own=is_from_outside(assignor),
                violation_count=int(isinstance(failure, AssignorError)),
                failure=str(failure),
            )
            columns.append(no_answer)
            continue
        known.append(found)
        columns.append(_column(group, found))
    given = [owners(found.problem, found.rebalance.assignment) for found in known]
    differs = _differing(given)
    return Comparison(
        owned={member.member_id: member.owned for member in group.members},
        columns=tuple(columns),
        difference_count=len(differs),
        differences=tuple(
            _difference(known, given, int(place)) for place in differs[:DIFFERENCES_MAX]
        ),
    )


def _column(group: Group, found: Evidence) -> Column:
    kind = found.assignor.user_data
    report = check(
        group,
        found.rebalance.assignment,
        withheld=found.rebalance.withheld,
        protocol=protocol_of(found.assignor),
        user_data=None if kind is UserData.NONE else kind,
    )
    return Column(
        name=found.assignor.full_name,
        rebalance=found.rebalance,
        gaps=report.gaps,
        is_own=is_from_outside(found.assignor),
        violation_count=len(report.violations),
        first_violation=summary(report.violations),
    )


def _differing(given: Sequence[Int32]) -> Int32:
    """Return the partitions that not all assignors give to the same member."""
    if not given:
        return np.zeros(0, dtype=np.int32)
    table = np.stack(given)
    differing: Int32 = np.flatnonzero((table != table[0]).any(axis=0)).astype(np.int32)
    return differing


def _difference(known: Sequence[Evidence], given: Sequence[Int32], place: int) -> Difference:
    problem = known[0].problem
    topic = int(problem.topic_of[place])
    name, partition = problem.topics[topic], place - int(problem.first[topic])
    reasons = {}
    for found, owner in zip(known, given, strict=True):
        number = int(owner[place])
        member_id = None if number == NOBODY else problem.members[number].member_id
        reason = explanation(found, name, partition, given=member_id, target=member_id)
        reasons[found.assignor.full_name] = Reason(
            member_id=member_id, verdict=reason.verdict.value, text=reason.text
        )
    return Difference(topic=name, partition=partition, reasons=reasons)
