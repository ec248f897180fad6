"""A target is computed from what has changed since the last one: it is that of all members anew."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from hypothesis import given

from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.protocols.consumer.assignment import rounds, targets
from assignors.simulation.timed.scenario import GroupProtocol, Scenario
from assignors.simulation.timed.simulation import Played, simulate
from tests.conftest import cases
from tests.simulation.timed.drawn import PLAYABLE
from tests.simulation.timed.test_consumer_starts import scenarios


def all_three(scenario: Scenario) -> tuple[Played, Played, Played]:
    """The run as it is, as if the group were large, and with all members looked at every time."""
    again = simulate(scenario, keeps_history=True)
    with patch.object(rounds, "MANY", 2):
        as_large = simulate(scenario, keeps_history=True)
    with patch.object(targets, "FEW", -1):
        return again, as_large, simulate(scenario, keeps_history=True)


@cases(10)
@given(scenarios())
def test_a_target_is_the_same_whether_all_members_are_looked_at_or_those_that_changed(
    scenario: Scenario,
) -> None:
    again, as_large, anew = all_three(scenario)
    assert again == as_large == anew


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name.startswith("rolling") else pytest.mark.deep)
        for name, each in PLAYABLE
        if each is GroupProtocol.CONSUMER
    ],
)
def test_the_gallery_is_the_same_with_targets_of_those_that_changed(name: str) -> None:
    again, as_large, anew = all_three(named(name, seed=3, protocol=GroupProtocol.CONSUMER))
    assert again == as_large == anew
