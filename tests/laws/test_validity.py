"""Whatever members claim, every answer is one that may be sent."""

from __future__ import annotations

from hypothesis import given

from assignors import Assignor, Group
from assignors.checks import check
from assignors.testing import groups
from tests.laws.laws import EVERY_ASSIGNOR, protocol_of


@EVERY_ASSIGNOR
@given(group=groups())
def test_no_law_is_broken(assignor: Assignor, group: Group) -> None:
    answer = assignor.assign(group)
    report = check(
        group, answer.assignment, withheld=answer.withheld, protocol=protocol_of(assignor)
    )
    assert report.violations == ()
    assert report.gaps["follow_up"] == answer.follow_up
    assert set(answer.assignment) == {member.member_id for member in group.members}
    for share in (*answer.assignment.values(), answer.withheld):
        for numbers in share.values():
            assert numbers
            assert list(numbers) == sorted(numbers)
