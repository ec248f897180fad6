"""The hand-over law in its smallest cases: one partition, and who may start it."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given

from assignors import ASSIGNORS, Cluster, Group, Member, RebalanceProtocol, UserData
from assignors.checks import Rule, check
from assignors.claims import claims_of, favoured_owners
from assignors.optimal.assign import target_assignment
from assignors.problem import assignment_of, problem_of
from assignors.testing import groups

NONE, OLD, LAST, FUTURE, UNKNOWN = "none", "old", "last", "future", "unknown"
GENERATION = {NONE: -1, OLD: 4, LAST: 5, FUTURE: 9, UNKNOWN: -1}


def member(member_id: str, claim: str) -> Member:
    return Member(
        member_id=member_id,
        topics=("t",),
        owned={} if claim in (NONE, UNKNOWN) else {"t": (0,)},
        generation=GENERATION[claim],
        owned_known=claim != UNKNOWN,
    )


def group_of(own: str, *others: str) -> Group:
    return Group(
        cluster=Cluster.of({"t": 1}),
        members=(member("x", own), *(member(f"o{n}", claim) for n, claim in enumerate(others))),
        generation=5,
    )


def too_early(group: Group) -> tuple[str, ...] | None:
    """Return the evidence against giving the partition to x; `None` where nothing is wrong."""
    nothing: dict[str, dict[str, tuple[int, ...]]] = {
        other.member_id: {} for other in group.members[1:]
    }
    report = check(group, {"x": {"t": (0,)}, **nothing}, protocol=RebalanceProtocol.COOPERATIVE)
    # Nobody knows whether it is wrong where nobody else claims it, and somebody may own it.
    is_claimed = any(other.owned for other in group.members[1:])
    assert not (report.violations if not is_claimed else report.in_doubt)
    found = report.violations + report.in_doubt
    assert len(found) <= 1
    assert all(violation.rule is Rule.GIVEN_TOO_EARLY for violation in found)
    return found[0].members if found else None


# Rows: what x claims. Columns: what the other one claims. True: x may start it now.
ALLOWED = {
    #          none,  old,  last, future, unknown
    NONE: (True, False, False, False, False),
    OLD: (True, False, False, False, False),
    LAST: (True, True, False, True, True),
    FUTURE: (True, False, False, False, False),
    UNKNOWN: (False, False, False, False, False),
}
CASES = [
    (own, other, allowed)
    for own, row in ALLOWED.items()
    for other, allowed in zip((NONE, OLD, LAST, FUTURE, UNKNOWN), row, strict=True)
]


@pytest.mark.parametrize(("own", "other", "allowed"), CASES)
def test_of_two_members(own: str, other: str, allowed: bool) -> None:  # noqa: FBT001
    evidence = too_early(group_of(own, other))
    assert (evidence is None) == allowed
    assert evidence is None or set(evidence) <= {"x", "o0"}


@pytest.mark.parametrize(("own", "one", "two"), list(product(GENERATION, repeat=3)))
def test_a_third_member_allows_nothing_that_two_forbid(own: str, one: str, two: str) -> None:
    forbidden = [too_early(group_of(own, other)) is not None for other in (one, two)]
    assert (too_early(group_of(own, one, two)) is not None) == any(forbidden)


@given(groups())
def test_the_law_and_the_assignor_agree_on_what_must_wait(group: Group) -> None:
    """Handed out at once, exactly the partitions that the assignor withholds are too early.

    The assignor works on arrays and the law on dictionaries: neither calls the other.
    """
    answer = ASSIGNORS["optimal/cooperative-sticky"].assign(group)
    problem = problem_of(group)
    favoured = favoured_owners(claims_of(problem, group, UserData.COOPERATIVE))
    target = target_assignment(problem, favoured)
    report = check(group, assignment_of(problem, target), protocol=RebalanceProtocol.COOPERATIVE)
    found = report.violations + report.in_doubt
    assert {violation.rule for violation in found} <= {Rule.GIVEN_TOO_EARLY}
    assert sorted((violation.topic, violation.partition) for violation in found) == sorted(
        (topic, n) for topic, numbers in answer.withheld.items() for n in numbers
    )


@pytest.mark.parametrize(
    ("claim", "follow_up"), [(OLD, True), (FUTURE, True), (UNKNOWN, True), (LAST, False)]
)
def test_only_an_owner_of_the_last_generation_is_sure_to_rejoin(
    claim: str,
    follow_up: bool,  # noqa: FBT001
) -> None:
    report = check(
        group_of(NONE, claim),
        {"x": {}, "o0": {}},
        withheld={"t": (0,)},
        protocol=RebalanceProtocol.COOPERATIVE,
    )
    assert report.violations == ()
    assert report.gaps["follow_up"] is follow_up


def test_without_any_generation_no_claim_is_of_the_last_one() -> None:
    """Version 1 has no generation: where nobody names one, nobody is sure to let go and rejoin."""
    claims = Member(member_id="a", topics=("t",), owned={"t": (0,)})
    silent = Member(member_id="b", topics=("t",), version=0, owned_known=False)
    group = Group(cluster=Cluster.of({"t": 1}), members=(claims, silent))
    given = check(group, {"a": {"t": (0,)}, "b": {}}, protocol=RebalanceProtocol.COOPERATIVE)
    assert [found.rule for found in given.in_doubt] == [Rule.GIVEN_TOO_EARLY]
    answer = ASSIGNORS["optimal/cooperative-sticky"].assign(group)
    assert (answer.withheld, answer.follow_up) == ({"t": (0,)}, True)
    waits = check(
        group, answer.assignment, withheld=answer.withheld, protocol=RebalanceProtocol.COOPERATIVE
    )
    assert waits.violations == ()
    assert waits.gaps["follow_up"] is True


def test_an_owner_that_no_longer_asks_for_the_topic_is_not_sure_to_rejoin() -> None:
    owner = Member(member_id="o", topics=(), owned={"t": (0,)}, generation=5)
    group = Group(cluster=Cluster.of({"t": 1}), members=(member("x", NONE), owner), generation=5)
    report = check(
        group,
        {"x": {}, "o": {}},
        withheld={"t": (0,)},
        protocol=RebalanceProtocol.COOPERATIVE,
    )
    assert report.gaps["follow_up"] is True


def test_eager_members_have_let_go_before_the_round() -> None:
    group = group_of(NONE, LAST)
    assert check(group, {"x": {"t": (0,)}, "o0": {}}).violations == ()
    (found,) = check(group, {"x": {}, "o0": {}}, withheld={"t": (0,)}).violations
    assert found.rule is Rule.WITHHELD_WITHOUT_REASON
