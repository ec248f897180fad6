"""Asked again with its own answer as everybody's claims, an assignor changes nothing."""

from __future__ import annotations

from hypothesis import assume, given

from assignors import Assignor, Group
from assignors.testing import groups
from tests.laws.laws import EVERY_ASSIGNOR, EVERY_COOPERATIVE, applied


@EVERY_ASSIGNOR
@given(group=groups())
def test_an_answer_in_which_nothing_waits_stays(assignor: Assignor, group: Group) -> None:
    answer = assignor.assign(group)
    assume(not answer.withheld)
    again = assignor.assign(applied(group, answer.assignment))
    assert again.assignment == answer.assignment
    assert not again.withheld
    assert not again.follow_up


@EVERY_COOPERATIVE
@given(group=groups())
def test_what_waited_is_added_in_the_next_round_and_nothing_else_moves(
    assignor: Assignor, group: Group
) -> None:
    first = assignor.assign(group)
    second = assignor.assign(applied(group, first.assignment))
    assert not second.withheld
    for member_id, share in first.assignment.items():
        for topic, numbers in share.items():
            assert set(numbers) <= set(second.assignment[member_id][topic])
