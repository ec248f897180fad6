"""From members to answer, claims included: nothing is better balanced, and nothing moves less.

The judge is OR-tools (`tests/optimal/oracles.py`); what is new here is all that happens before
and after the solver. The cooperative answer is judged by where it leads: its next round.
"""

from __future__ import annotations

from hypothesis import given

from assignors import Group, UserData
from assignors.checks import check
from assignors.claims import claims_of, favoured_owners
from assignors.optimal.assign import target_assignment
from assignors.problem import owners
from assignors.testing import groups
from tests.conftest import cases
from tests.laws.laws import COOPERATIVE, STICKY, applied, as_arrays
from tests.optimal.oracles import best_by_flow


@cases(120)
@given(groups())
def test_sticky_is_as_good_as_or_tools(group: Group) -> None:
    problem, made = as_arrays(group, UserData.STICKY)
    answer = STICKY.assign(group)
    assert made.figures(owners(problem, answer.assignment)) == best_by_flow(made)
    gaps = check(group, answer.assignment).gaps
    assert gaps["balance_gap"] == 0
    assert gaps["moved"] == gaps["moved_minimum"]


@cases(120)
@given(groups())
def test_cooperative_sticky_hands_out_part_of_what_or_tools_finds(group: Group) -> None:
    problem, made = as_arrays(group, UserData.COOPERATIVE)
    favoured = favoured_owners(claims_of(problem, group, UserData.COOPERATIVE))
    target = target_assignment(problem, favoured)
    best = best_by_flow(made)
    assert made.figures(target) == best
    answer = COOPERATIVE.assign(group)
    now = owners(problem, answer.assignment)
    held = now >= 0
    assert (now[held] == target[held]).all()
    # The next round completes it: as balanced and as local as planned.
    second = COOPERATIVE.assign(applied(group, answer.assignment))
    assert made.figures(owners(problem, second.assignment))[:2] == best[:2]
