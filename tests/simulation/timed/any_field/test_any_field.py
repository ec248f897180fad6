"""Any scenario that can be written: it is played, and by every engine in the same way."""

from __future__ import annotations

import json
from dataclasses import fields, replace

import pytest
from hypothesis import given, note

from assignors.simulation.timed.explore import settings
from assignors.simulation.timed.explore.random_scenarios import Document
from assignors.simulation.timed.scenario import (
    Arrivals,
    BrokerConfig,
    MemberConfig,
    NetworkConfig,
    ProcessingConfig,
    PushConfig,
    Scenario,
)
from assignors.simulation.timed.scenario.broker import PlacementConfig
from assignors.simulation.timed.scenario.execution import ExecutionConfig, OtherGroups
from assignors.simulation.timed.scenario_document import brief_document, scenario_from_document
from tests.conftest import DEEP, cases
from tests.simulation.timed.drawn import documents
from tests.simulation.timed.engines import require_same_run

EVENTS_MAX = 20_000
"""Runs that need more are left out."""


@cases(60 if DEEP == 1 else 150)
@given(documents())
def test_any_scenario_runs_the_same_with_every_heartbeat_queued(document: Document) -> None:
    scenario = replace(scenario_from_document(document), event_limit=EVENTS_MAX)
    brief = json.dumps(brief_document(scenario))
    note(f"the smallest document: {brief}")
    assert scenario_from_document(json.loads(brief)) == scenario
    require_same_run(scenario)


LISTED = {"members", "plan", "arrivals", "faults"}
NOT_DRAWN = {"name", "seed", "event_limit", "kept_limit"}
"""What results call a run, the seed that is drawn for, and limits, which the test sets itself."""
SET: dict[type, tuple[list[Document], set[str]]] = {
    Scenario: (settings.RUN, LISTED | NOT_DRAWN | {"broker", "network", "processing"}),
    MemberConfig: (settings.MEMBER, {"name"}),
    BrokerConfig: (settings.BROKER, {"placement", "push", "execution"}),
    PlacementConfig: (settings.PLACEMENT, set()),
    PushConfig: (settings.PUSH, set()),
    ExecutionConfig: (settings.EXECUTION, {"others"}),
    OtherGroups: (settings.OTHERS, set()),
    NetworkConfig: (settings.NETWORK, set()),
    ProcessingConfig: (settings.PROCESSING, set()),
    Arrivals: (settings.ARRIVALS, {"member"}),
}
"""Part of a scenario -> the entries that set its fields, and its other fields."""


@pytest.mark.parametrize("part", SET)
def test_every_field_is_drawn(part: type) -> None:
    entries, others = SET[part]
    assert {field for entry in entries for field in entry} | others == {
        each.name for each in fields(part)
    }
