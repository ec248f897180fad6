"""What the files of laws share: assignors by name, groups as arrays, a plan's claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import pytest

from assignors import (
    ASSIGNORS,
    Assignment,
    Assignor,
    Group,
    Member,
    OnFailure,
    Options,
    RebalanceProtocol,
    UserData,
)
from assignors.claims import claims_of, favoured_owners
from assignors.optimal.assign import assign_by_arrays
from assignors.problem import Problem, problem_of
from tests.optimal.groups import Arrays

STICKY = ASSIGNORS["optimal/sticky"]
COOPERATIVE = ASSIGNORS["optimal/cooperative-sticky"]
BY_ARRAYS = [
    replace(
        each, name=f"{each.name} on arrays", assign=partial(assign_by_arrays, kind=each.user_data)
    )
    for each in (STICKY, COOPERATIVE)
]
"""The same on arrays whatever the size: small groups take lists otherwise."""
LAWFUL = [
    assignor.configured(Options(on_failure=OnFailure.REPAIR))
    for name, assignor in ASSIGNORS.items()
    if name in {"java/range", "java/roundrobin"} or assignor.family == "optimal"
] + BY_ARRAYS
"""Copies of Java's sticky assignors and of the broker's keep the faults of what they copy."""
EVERY_ASSIGNOR = pytest.mark.parametrize(
    "assignor", LAWFUL, ids=[assignor.full_name for assignor in LAWFUL]
)
EVERY_COOPERATIVE = pytest.mark.parametrize(
    "assignor", [COOPERATIVE, BY_ARRAYS[1]], ids=["by size", "on arrays"]
)


def protocol_of(assignor: Assignor) -> RebalanceProtocol:
    return RebalanceProtocol.COOPERATIVE if assignor.is_cooperative else RebalanceProtocol.EAGER


def as_arrays(group: Group, kind: UserData) -> tuple[Problem, Arrays]:
    """Return the group as the solver's tests see groups, owners as the claims resolve to."""
    problem = problem_of(group)
    made = Arrays(
        first=problem.first,
        takes=problem.takes,
        class_of=problem.class_of,
        owner=favoured_owners(claims_of(problem, group, kind)),
        rack=problem.rack,
        replica_set=problem.replica_set,
        replica_racks=problem.replica_racks,
    )
    return problem, made


def applied(group: Group, assignment: Assignment) -> Group:
    """Return the group in its next round, after everybody did what the plan says."""
    generation = max(group.generation or 0, *(m.generation for m in group.members), 0) + 1
    return replace(
        group,
        generation=generation,
        members=tuple(
            replace(
                member,
                owned=assignment[member.member_id],
                generation=generation,
                version=None,
                user_data=None,
                owned_known=True,
            )
            for member in group.members
        ),
    )


def members(**described: Mapping[str, object]) -> tuple[Member, ...]:
    """Return members by id from the fields that matter."""
    return tuple(Member(member_id=name, **fields) for name, fields in described.items())  # type: ignore[arg-type]
