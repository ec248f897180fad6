"""A target is computed from what has changed since the last one: it is that of all members anew."""

from __future__ import annotations

from dataclasses import replace
from unittest.mock import patch

import pytest
from hypothesis import given

from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.protocols.consumer.assignment import rounds, targets
from assignors.simulation.timed.protocols.consumer.assignment.everybody import Everybody
from assignors.simulation.timed.protocols.consumer.coordinator_state import Work
from assignors.simulation.timed.scenario import (
    Action,
    BrokerConfig,
    GroupProtocol,
    Scenario,
    Verb,
)
from assignors.simulation.timed.simulation import Played, simulate
from tests.conftest import cases
from tests.simulation.timed.drawn import PLAYABLE
from tests.simulation.timed.test_consumer_starts import scenarios
from tests.simulation.timed.test_reconciling import group_of
from wire import TopicPartitions


def all_three(scenario: Scenario) -> tuple[Played, Played, Played]:
    """The run as it is, as if the group were large, and with all members looked at every time."""
    again = simulate(scenario, keeps_history=True)
    with patch.object(rounds, "MANY", 2):
        as_large = simulate(scenario, keeps_history=True)
    with patch.object(targets, "FEW", -1):
        return again, as_large, simulate(scenario, keeps_history=True)


def computed_twice(work: Work, everybody: Everybody) -> dict[str, TopicPartitions]:
    """A target, as it is computed after another one came to nothing."""
    targets.compute_target(work, everybody)
    return targets.compute_target(work, everybody)


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


@cases(10)
@given(scenarios())
def test_a_target_that_came_to_nothing_leaves_no_trace_in_the_next_one(scenario: Scenario) -> None:
    with patch.object(rounds, "MANY", 2):
        once = simulate(scenario, keeps_history=True)
        with patch.object(rounds, "compute_target", computed_twice):
            assert once == simulate(scenario, keeps_history=True)


def test_what_a_static_member_had_is_read_again_as_it_comes_back() -> None:
    """Its target is written for its new id by its own request, not by an answer of the assignor."""
    group = group_of(broker=BrokerConfig(assignment_interval_ms=1000))
    static = tuple(
        replace(each, instance_id=f"i{number}") for number, each in enumerate(group.members[:7])
    )
    late = replace(group.members[7], starts_at_ms=None)
    steps = ((0, Verb.START, "c7"), (100, Verb.STOP, "c3"), (200, Verb.START, "c3"))
    plan = [Action(at_ms=20_000 + ms, do=verb, member=who) for ms, verb, who in steps]
    plan.append(Action(at_ms=22_000, do=Verb.STOP, member="c7"))
    again, as_large, anew = all_three(replace(group, members=(*static, late), plan=tuple(plan)))
    assert again == as_large == anew
