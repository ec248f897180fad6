"""A run that is over is freed at once: nothing is left of it for Python's search for garbage."""

from __future__ import annotations

import gc
from dataclasses import replace

import pytest

from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.monitors.rules import Monitoring
from assignors.simulation.timed.scenario import GroupProtocol, Scenario
from assignors.simulation.timed.simulation import simulate


def restarts(protocol: GroupProtocol) -> Scenario:
    """Two of many members restart: enough members for rounds by stage."""
    scenario = named("rolling-restart", protocol=protocol)
    members = tuple(replace(scenario.members[0], name=f"c{number}") for number in range(20))
    plan = scenario.plan[:4]
    return replace(scenario, members=members, topics={"orders": 60}, plan=plan, until_ms=150_000)


@pytest.mark.parametrize("monitoring", [Monitoring.BASIC, Monitoring.FULL])
@pytest.mark.parametrize("protocol", GroupProtocol)
def test_a_run_that_is_over_leaves_no_garbage(
    protocol: GroupProtocol, monitoring: Monitoring
) -> None:
    scenario = restarts(protocol)
    if monitoring is Monitoring.FULL:
        scenario = replace(scenario, members=scenario.members[:3], plan=(), until_ms=20_000)
    simulate(scenario, monitoring=monitoring)  # fills caches
    gc.collect()
    gc.disable()
    try:
        simulate(scenario, monitoring=monitoring)
        assert gc.collect() == 0
    finally:
        gc.enable()
