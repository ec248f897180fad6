"""Small groups, everything that can happen to them: no monitor is violated, none is stuck."""

from __future__ import annotations

import pytest

from assignors.simulation.timed.exhaustion.cases import Case, model_of
from assignors.simulation.timed.exhaustion.search import explore
from assignors.simulation.timed.protocols.state_values import cloned, key_of
from assignors.simulation.timed.scenario import GroupProtocol
from tests.simulation.timed.exhaust import LONG, QUICK, exhaust, is_expected


@pytest.mark.parametrize("name", QUICK)
def test_every_order_of_everything_is_safe_and_ends_settled(name: str) -> None:
    found = exhaust(QUICK[name])
    assert is_expected(QUICK[name], found), (found.broken, found.stuck_first)


@pytest.mark.deep
@pytest.mark.slow
@pytest.mark.parametrize("name", ["eager-2x2-fault", "cooperative-3x2", "consumer-2x2-faults"])
def test_larger_cases_give_what_is_written_down(name: str) -> None:
    found = exhaust(LONG[name])
    assert is_expected(LONG[name], found), (found.broken, found.stuck_first)


@pytest.mark.parametrize("protocol", [GroupProtocol.CLASSIC, GroupProtocol.CONSUMER])
def test_two_searches_visit_the_same_worlds(protocol: GroupProtocol) -> None:
    assignor = "server/uniform" if protocol is GroupProtocol.CONSUMER else "java/range"
    case = Case(protocol=protocol, assignor=assignor, members=2, partitions=1)
    assert explore(*model_of(case), worlds_max=10_000) == explore(
        *model_of(case), worlds_max=10_000
    )


def test_a_search_that_is_cut_says_so() -> None:
    found = exhaust(QUICK["eager-2x2"], worlds_max=50)
    assert (found.worlds, found.is_complete) == (50, False)


def test_a_copy_of_a_state_changes_alone_and_has_the_key_of_its_original() -> None:
    case = Case(protocol=GroupProtocol.CLASSIC, assignor="java/range", members=1, partitions=1)
    model, world = model_of(case)
    state = model.coordinators.values[world.coordinator]
    copy = cloned(state)
    assert key_of(copy) == key_of(state)
    copy.group.pending_ids.add("x")
    assert key_of(copy) != key_of(state)
    assert not state.group.pending_ids
