"""Random scenarios: what is drawn, and a planted fault that is found and made small."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from assignors.documents.values import DocumentError
from assignors.simulation.timed.explore.fuzz import fuzz, random_scenario
from assignors.simulation.timed.explore.random_scenarios import (
    EVERYTHING,
    FAULT_VALUES,
    LAWFUL,
    Choices,
    random_document,
)
from assignors.simulation.timed.explore.settings import BREAK_RULES, BROKER, MEMBER, PUSH
from assignors.simulation.timed.explore.shrinking import shrunk
from assignors.simulation.timed.faults.live import FAULTS
from assignors.simulation.timed.monitors.rules import Monitoring
from assignors.simulation.timed.scenario import ClientModel, FaultKind, GroupProtocol, Verb
from assignors.simulation.timed.scenario_document import scenario_from_document
from assignors.simulation.timed.simulation import simulate
from tests.simulation.timed.test_mutants import gives_before_release

MANY = 150


@pytest.fixture(scope="module")
def drawn() -> Counter[str]:
    """Return how many of many scenarios have each protocol, fault, action and client model."""
    found: Counter[str] = Counter()
    for seed in range(MANY):
        scenario = random_scenario(seed)
        found.update({each.value for each in scenario.protocols})
        found.update({each.kind.value for each in scenario.faults})
        found.update({each.do.value for each in scenario.plan})
        found.update({str(each.client_model) for each in scenario.members})
        found.update({str(scenario.broker.execution.model)})
    return found


@pytest.mark.parametrize("kinds", [GroupProtocol, FaultKind, ClientModel])
def test_every_kind_is_drawn(drawn: Counter[str], kinds: type) -> None:
    assert {each.value for each in kinds} <= drawn.keys()  # type: ignore[attr-defined]


def test_every_field_of_a_fault_has_values() -> None:
    fields = {field for row in FAULTS.values() for field in (*row.needs, *row.may)}
    assert fields - {"member"} == FAULT_VALUES.keys()


def test_single_actions_are_drawn(drawn: Counter[str]) -> None:
    single = {Verb.START, Verb.STOP, Verb.CRASH, Verb.SUBSCRIBE, Verb.GROW, Verb.DELETE}
    assert {each.value for each in single} <= drawn.keys()


def test_a_seed_gives_the_same_scenario_again() -> None:
    assert random_document(7, EVERYTHING) == random_document(7, EVERYTHING)
    assert random_scenario(7) == random_scenario(7) != random_scenario(8)


def test_what_is_chosen_is_all_that_is_drawn() -> None:
    choices = Choices(
        protocols=(GroupProtocol.CLASSIC,),
        assignors=("java/sticky",),
        clients=(ClientModel.BACKGROUND_THREAD,),
    )
    for seed in range(30):
        scenario = random_scenario(seed, choices)
        members = [*scenario.members, *(each.member for each in scenario.arrivals)]
        assert scenario.protocols == {GroupProtocol.CLASSIC}
        assert {each.assignors for each in members} == {("java/sticky",)}
        assert {each.client_model for each in members} <= {ClientModel.BACKGROUND_THREAD, None}


def test_what_breaks_rules_by_itself_is_drawn_on_request_alone() -> None:
    known = [*MEMBER, *BROKER, *PUSH]
    assert all(each in known for each in BREAK_RULES)
    assert not any(LAWFUL.allow(each) for each in BREAK_RULES)
    assert all(EVERYTHING.allow(each) for each in BREAK_RULES)


def test_a_planted_fault_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    gives_before_release(monkeypatch)
    choices = Choices(protocols=(GroupProtocol.CONSUMER,))
    found = fuzz(20, choices=choices)
    assert found.seed is not None
    assert found.smallest is not None
    assert found.smallest.violation.monitor == "double-consumption"
    small, whole = found.smallest.scenario, random_scenario(found.seed, choices)
    assert len(small.members) + len(small.arrivals) <= 2
    assert not small.faults
    assert sum(small.topics.values()) < sum(whole.topics.values())
    assert found.smallest.violation in simulate(small).violations
    assert found.scenarios == found.seed + 1
    assert fuzz(20, choices=choices) == found
    assert fuzz(1, seed=found.seed, choices=choices).smallest == found.smallest


def test_impossible_requests_are_refused() -> None:
    with pytest.raises(ValueError, match="0 scenarios: at least 1"):
        fuzz(0)
    with pytest.raises(ValueError, match="seed -1: a natural number"):
        fuzz(1, seed=-1)
    with pytest.raises(ValueError, match="server/uniform assigns in the broker"):
        Choices(assignors=("server/uniform",))
    with pytest.raises(ValueError, match="in classic groups alone"):
        Choices(assignors=("java/range",), protocols=(GroupProtocol.PUSH,))
    with pytest.raises(DocumentError, match="java/rang"):
        fuzz(1, choices=Choices(assignors=("java/rang",)))


HANGING = {"kind": "hanging_transaction", "topic": "t"}
NO_VIOLATION: dict[str, dict[str, Any]] = {
    "two producers from outside get answers, whose requests share a number": {
        "until_ms": 20_506,
        "topics": {"t": 1},
        "members": [{"name": "c0", "topics": []}],
        "processing": {"records_per_second": 5},
        "faults": [
            {**HANGING, "from_ms": 5000, "until_ms": 9000},
            {**HANGING, "from_ms": 20_500, "until_ms": 40_500},
        ],
    },
    "a commit from outside makes a group, which has no record": {
        "until_ms": 1,
        "topics": {"t": 1},
        "members": [{"name": "c0", "topics": ["t"]}],
        "processing": {"records_per_second": 5},
        "faults": [{**HANGING, "from_ms": 0, "until_ms": 60_000}],
    },
    "the sessions of members that crashed end one after the other": {
        "until_ms": 22_000,
        "topics": {},
        "protocol": "consumer",
        "members": [{"name": "c0", "topics": ["t"]}],
        "arrivals": [
            {
                "member": {"name": "job", "topics": ["t"], "pattern": "t.*"},
                "every_ms": 500,
                "lifetime_ms": 0,
                "until_ms": 60_000,
                "ends": "crash",
            }
        ],
    },
}


@pytest.mark.parametrize("name", NO_VIOLATION)
def test_what_monitors_once_reported_by_mistake(name: str) -> None:
    scenario = scenario_from_document({"version": 1, **NO_VIOLATION[name]})
    assert simulate(scenario, monitoring=Monitoring.FULL).violations == []


def test_metadata_of_an_older_change_never_takes_the_place_of_newer_metadata() -> None:
    """A member hears of changes late and in any order: partitions of `u` stayed without owner."""
    scenario = scenario_from_document(
        {
            "version": 1,
            "seed": 63,
            "until_ms": 22_000,
            "topics": {"t": 1, "u": 1},
            "members": [{"name": "c3", "topics": ["u"]}],
            "plan": [
                {"at_ms": 5000, "do": "grow", "topic": "t", "partitions": 13},
                {"at_ms": 10_000, "do": "grow", "topic": "u", "partitions": 6},
            ],
            "network": {"least_us": 1, "mean_us": 1_000_000},
        }
    )
    assert simulate(scenario, monitoring=Monitoring.FULL).violations == []


def test_a_violation_at_the_end_of_a_run_is_made_small() -> None:
    """A partition without an owner is found when the group had the time to settle, not before."""
    common = {
        "assignors": ["java/cooperative-sticky"],
        "timing": {"heartbeats_go_on": True, "wake_ms": 500},
    }
    members = [{"name": "c0", "topics": []}]
    members += [{"name": f"c{number}", "topics": ["u"]} for number in (1, 2, 3, 4)]
    scenario = scenario_from_document(
        {
            "version": 1,
            "until_ms": 8000,
            "topics": {"u": 1},
            "members": [{**each, **common} for each in members],
        }
    )
    small = shrunk(scenario)
    assert small is not None
    assert small.violation.monitor == "partition-without-owner"
    assert len(small.scenario.members) == 2
