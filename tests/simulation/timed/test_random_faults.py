"""Groups to which anything happens: no rule is broken, and once it is over they settle."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import assume, given

from assignors.simulation.timed.monitors.rules import Monitoring
from assignors.simulation.timed.possible import without_unread
from assignors.simulation.timed.scenario import GroupProtocol, Scenario
from assignors.simulation.timed.scenario_document import (
    document_from_scenario,
    scenario_from_document,
)
from assignors.simulation.timed.simulation import simulate
from tests.conftest import cases
from tests.simulation.timed.drawn import scenarios
from tests.simulation.timed.drawn_faults import known, with_faults

SESSION_MS, REBALANCE_MS, REQUEST_MS = 10_000, 20_000, 30_000
"""The longest in `drawn`."""


@cases(40)
@given(with_faults(scenarios()))
def test_faults_break_no_rule_and_the_group_settles_after_them(scenario: Scenario) -> None:
    # The monitors let the run go on after its end, and look whether all is well then.
    found = simulate(scenario, monitoring=Monitoring.FULL).violations
    assert {each.monitor for each in found} <= known(scenario)


@cases(30)
@given(with_faults(scenarios()))
def test_every_partition_has_one_consumer_again_once_time_limits_are_over(
    scenario: Scenario,
) -> None:
    # A JoinGroup that is lost is noticed last: after the rebalance timeout and five seconds.
    after = 2 * (SESSION_MS + REBALANCE_MS + REQUEST_MS)
    longer = replace(scenario, until_ms=90_000 + after)
    assert simulate(longer).result.unowned == 0


@cases(30)
@given(with_faults(scenarios()))
def test_a_run_with_faults_repeats_itself_from_its_document(scenario: Scenario) -> None:
    scenario = without_unread(replace(scenario, seed=min(scenario.seed, 2**63 - 1)))
    first = simulate(scenario, keeps_history=True)
    document = json.loads(json.dumps(document_from_scenario(scenario)))
    assert first == simulate(scenario_from_document(document), keeps_history=True)


@cases(30)
@given(with_faults(scenarios()))
def test_two_consume_a_partition_only_while_one_of_them_is_a_zombie(scenario: Scenario) -> None:
    assume(scenario.protocol is not GroupProtocol.PUSH and not known(scenario))
    played = simulate(scenario)
    zombie_us = sum(each.until_us - each.from_us for each in played.zombies)
    double_us = played.result.double_partition_ms * 1000
    assert double_us <= zombie_us * sum(scenario.topics.values())


@cases(30)
@given(with_faults(scenarios()))
def test_heartbeats_may_be_computed_between_faults(scenario: Scenario) -> None:
    computed = simulate(scenario, keeps_history=True)
    queued = simulate(scenario, keeps_history=True, queues_heartbeats=True)
    results = [
        replace(
            each.result, events=0, events_hash="", first_violation=None
        )  # it has the number of an event
        for each in (computed, queued)
    ]
    assert results[0] == results[1]
    assert computed.changes == queued.changes
    assert computed.zombies == queued.zombies
