"""Any assignment is judged, however wrong: the check never raises."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors import Cluster, Group, Member, RebalanceProtocol, UserData, assignor_named
from assignors.checks import Rule, check
from assignors.testing import groups
from assignors.testing.groups import MEMBER_IDS, TOPICS

NUMBERS = st.one_of(st.integers(-2, 8), st.integers(-(2**70), 2**70))
SHARES = st.dictionaries(
    st.sampled_from((*TOPICS, "", "nowhere")), st.lists(NUMBERS, max_size=5).map(tuple)
)
ASSIGNMENTS = st.dictionaries(st.sampled_from((*MEMBER_IDS, "", "nobody")), SHARES)


@pytest.mark.parametrize("protocol", RebalanceProtocol, ids=lambda protocol: protocol.name.lower())
@given(
    group=groups(),
    assignment=ASSIGNMENTS,
    withheld=SHARES,
)
def test_no_assignment_is_too_wrong_to_be_judged(
    protocol: RebalanceProtocol,
    group: Group,
    assignment: dict[str, dict[str, tuple[int, ...]]],
    withheld: dict[str, tuple[int, ...]],
) -> None:
    report = check(group, assignment, withheld=withheld, protocol=protocol)
    rules = {violation.rule for violation in report.violations}
    known = {member.member_id for member in group.members}
    assert (Rule.UNKNOWN_MEMBER in rules) == bool(set(assignment) - known)
    assert (Rule.MISSING_ENTRY in rules) == bool(known - set(assignment))
    named = [(t, n) for s in (*assignment.values(), withheld) for t in s for n in s[t]]
    unknown = any(topic not in group.cluster.topics for topic, _ in named)
    assert (Rule.UNKNOWN_TOPIC in rules) == unknown
    gap = report.gaps["balance_gap"]
    assert gap is None or gap >= 0, "nothing is better than the best"


def test_what_is_no_assignment_is_refused_with_what_was_expected() -> None:
    group = Group(cluster=Cluster.of({"t": 1}), members=(Member(member_id="a", topics=("t",)),))
    answer: Any = assignor_named("sticky").assign(group)
    with pytest.raises(ValueError, match=r"a Rebalance has it as \.assignment, found Rebalance"):
        check(group, answer)
    document: Any = {"topics": {"t": 1}, "members": [{"id": "a", "topics": ["t"]}]}
    with pytest.raises(ValueError, match=r"group: expected a Group; .*, found dict"):
        check(document, {"a": {}})
    wrong: Any = {"a": [("t", 0)]}
    with pytest.raises(ValueError, match="assignment of 'a': expected topic -> partition numbers"):
        check(group, wrong)
    for share in {"t": ("0",)}, {"t": 0}, {"t": "0"}, {"t": (None,)}:
        unread: Any = {"a": share}
        with pytest.raises(ValueError, match=r"assignment of 'a'\['t'\]: expected a"):
            check(group, unread)
        with pytest.raises(ValueError, match=r"withheld\['t'\]: expected a"):
            check(group, {"a": {}}, withheld=unread["a"])
    named: Any = "cooperative"
    with pytest.raises(ValueError, match="protocol: expected a RebalanceProtocol, found 'coop"):
        check(group, answer.assignment, protocol=named)


@given(groups())
def test_no_answer_at_all_misses_every_entry_and_every_partition(group: Group) -> None:
    asked = {topic for member in group.members for topic in member.topics}
    sizes = {name: topic.partition_count for name, topic in group.cluster.topics.items()}
    rules = [violation.rule for violation in check(group, {}).violations]
    assert rules.count(Rule.MISSING_ENTRY) == len(group.members)
    assert rules.count(Rule.UNASSIGNED) == sum(sizes[name] for name in asked & set(sizes))
    assert len(rules) == rules.count(Rule.MISSING_ENTRY) + rules.count(Rule.UNASSIGNED)


def test_what_is_given_to_one_who_did_not_ask_makes_nothing_better() -> None:
    members = (Member(member_id="a", topics=("t",)), Member(member_id="b"))
    group = Group(cluster=Cluster.of({"t": 2}), members=members)
    report = check(group, {"a": {"t": (0,)}, "b": {"t": (1,)}})
    assert [(found.rule, found.members) for found in report.violations] == [
        (Rule.NOT_SUBSCRIBED, ("b",))
    ]
    assert (report.gaps["balance_gap"], report.gaps["unassigned"]) == (None, 1)


@pytest.mark.parametrize("number", [2, -1, 2**31, 2**63, -(2**70)])
def test_a_number_of_any_size_is_a_finding(number: int) -> None:
    group = Group(cluster=Cluster.of({"t": 2}), members=(Member(member_id="a", topics=("t",)),))
    (found,) = check(group, {"a": {"t": (0, 1, number)}}).violations
    assert (found.rule, found.partition) == (Rule.UNKNOWN_PARTITION, number)


@pytest.mark.parametrize(("kind", "moved"), [(UserData.NONE, 0), (UserData.STICKY, 1), (None, 1)])
def test_moves_are_counted_from_where_the_claims_are_said_to_stand(
    kind: UserData | None, moved: int
) -> None:
    owner = Member(member_id="a", topics=("t",), owned={"t": (0,)}, generation=1)
    members = (owner, Member(member_id="b", topics=("t",)))
    group = Group(cluster=Cluster.of({"t": 1}), members=members)
    report = check(group, {"a": {}, "b": {"t": (0,)}}, user_data=kind)
    assert report.violations == ()
    assert (report.gaps["moved"], report.gaps["moved_minimum"]) == (moved, 0)
