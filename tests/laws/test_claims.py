"""Whom the claims favour and what may happen at once, told again without arrays."""

from __future__ import annotations

from collections import Counter
from itertools import product

import pytest
from hypothesis import given

from assignors import Assignor, Cluster, Group, Member, UserData
from assignors.claims import claims_of, favoured_owners, read_claim
from assignors.problem import NOBODY, problem_of
from assignors.testing import groups
from tests.laws.laws import EVERY_COOPERATIVE


@pytest.mark.parametrize("kind", [UserData.STICKY, UserData.COOPERATIVE])
@given(group=groups())
def test_the_newest_subscribed_claimant_is_favoured_and_of_equals_nobody(
    kind: UserData, group: Group
) -> None:
    problem = problem_of(group)
    favoured = favoured_owners(claims_of(problem, group, kind))
    claims = [read_claim(member, kind) for member in problem.members]
    last = group.generation
    if last is None:
        last = max((claim.generation for claim in claims), default=-1)
    for partition, found in enumerate(favoured.tolist()):
        topic = problem.topics[problem.topic_of[partition]]
        here = partition - int(problem.first[problem.topic_of[partition]])
        heard = {
            position: claim.generation if claim.generation <= last else -1
            for position, claim in enumerate(claims)
            if here in claim.owned.get(topic, ()) and topic in problem.members[position].topics
        }
        newest = max(heard.values(), default=None)
        best = [position for position, said in heard.items() if said == newest]
        assert found == (best[0] if len(best) == 1 else NOBODY)


GENERATION = {"none": -1, "old": 4, "last": 5, "future": 9}


@EVERY_COOPERATIVE
@pytest.mark.parametrize("others", [1, 2])
def test_a_partition_that_only_one_asks_for_is_given_or_waits_by_the_rule(
    others: int, assignor: Assignor
) -> None:
    """Every claim of one partition: the only one who asks for it gets it, now or later."""
    for own, *rest in product(GENERATION, repeat=others + 1):
        group = Group(
            cluster=Cluster.of({"t": 1}),
            members=tuple(
                Member(
                    member_id=f"m{position}",
                    topics=("t",) if position == 0 else (),
                    owned={} if claim == "none" else {"t": (0,)},
                    generation=GENERATION[claim],
                )
                for position, claim in enumerate((own, *rest))
            ),
            generation=5,
        )
        heard = Counter(rest)
        is_free = heard["none"] == others
        is_owner = own == "last" and not heard["last"]
        answer = assignor.assign(group)
        assert (answer.assignment["m0"] == {"t": (0,)}) == (is_free or is_owner), (own, rest)
        assert (answer.withheld == {"t": (0,)}) != (is_free or is_owner)
        assert answer.follow_up == bool(answer.withheld and own != "last")
