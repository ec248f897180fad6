"""Groups to which anything happens: no rule is broken, and once it is over they settle."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assignors.simulation.timed.explore.random_scenarios import LAWFUL, PLAIN, Choices
from assignors.simulation.timed.monitors.rules import Monitoring
from assignors.simulation.timed.monitors.table import MONITORS, Kind
from assignors.simulation.timed.scenario import ClientModel, GroupProtocol, Scenario
from assignors.simulation.timed.simulation import simulate
from tests.conftest import cases
from tests.simulation.timed.drawn import known, scenarios


@cases(40)
@given(scenarios(LAWFUL))
def test_no_rule_is_broken_whatever_is_set_and_whatever_goes_wrong(scenario: Scenario) -> None:
    found = {each.monitor for each in simulate(scenario, monitoring=Monitoring.FULL).violations}
    # Some settings keep a group from ever coming to rest.
    assert {name for name in found if MONITORS[name].kind is not Kind.END} <= known(scenario)


@pytest.mark.parametrize(
    "choices",
    [
        *(replace(PLAIN, protocols=(protocol,)) for protocol in GroupProtocol),
        replace(PLAIN, clients=tuple(ClientModel)),
    ],
    ids=[*GroupProtocol, "threads"],
)
@cases(20)
@given(data=st.data())
def test_a_group_settles_after_all_that_goes_wrong(choices: Choices, data: st.DataObject) -> None:
    # The monitors let the run go on after its end, and look whether all is well then.
    scenario = data.draw(scenarios(choices))
    found = simulate(scenario, monitoring=Monitoring.FULL).violations
    assert {each.monitor for each in found} <= known(scenario)


@cases(30)
@given(scenarios())
def test_two_consume_a_partition_only_while_one_of_them_is_a_zombie(scenario: Scenario) -> None:
    assume(scenario.protocol is not GroupProtocol.PUSH and not known(scenario))
    played = simulate(scenario)
    zombie_us = sum(each.until_us - each.from_us for each in played.zombies)
    partitions = sum(scenario.topics.values()) + sum(each.partitions for each in scenario.plan)
    assert played.result.double_partition_ms * 1000 <= zombie_us * partitions


@cases(10)
@given(scenarios())
def test_the_same_scenario_gives_the_same_run(scenario: Scenario) -> None:
    assert simulate(scenario, keeps_history=True) == simulate(scenario, keeps_history=True)
