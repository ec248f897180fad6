"""Any assignment is judged, however wrong: the check never raises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assignors import Group, RebalanceProtocol
from assignors.checks import Rule, check
from assignors.testing import groups
from assignors.testing.groups import MEMBER_IDS, TOPICS

NUMBERS = st.one_of(st.integers(-2, 8), st.integers(-(2**63), 2**63 - 1))
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


@given(groups())
def test_no_answer_at_all_misses_every_entry_and_every_partition(group: Group) -> None:
    asked = {topic for member in group.members for topic in member.topics}
    sizes = {name: topic.partition_count for name, topic in group.cluster.topics.items()}
    rules = [violation.rule for violation in check(group, {}).violations]
    assert rules.count(Rule.MISSING_ENTRY) == len(group.members)
    assert rules.count(Rule.UNASSIGNED) == sum(sizes[name] for name in asked & set(sizes))
    assert len(rules) == rules.count(Rule.MISSING_ENTRY) + rules.count(Rule.UNASSIGNED)
