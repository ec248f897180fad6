"""Scenarios drawn at random (`explore.random_scenarios`), and those of the gallery."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import strategies as st

from assignors.simulation.timed.explore.fuzz import random_scenario
from assignors.simulation.timed.explore.random_scenarios import (
    EVERYTHING,
    LAWFUL,
    PLAIN,
    Choices,
    Document,
    random_document,
)
from assignors.simulation.timed.faults.live import FAULTS, OF_THE_COORDINATOR
from assignors.simulation.timed.gallery import GALLERY, named
from assignors.simulation.timed.scenario import MIGRATING, FaultKind, GroupProtocol, Scenario, Verb
from tests.simulation.timed.exhaust import STALE_REPORT

PLAYABLE = [
    (name, protocol)
    for name in GALLERY
    for protocol in GroupProtocol
    for story in [named(name, protocol=protocol)]
    if protocol in MIGRATING
    or (len(story.protocols) == 1 and not {one.kind for one in story.faults} & OF_THE_COORDINATOR)
]
"""Every story under every protocol that it can have: the push protocol has no log to load."""
LONGEST = ("commits-without-linger", "commits-with-linger", "join-storm-two-stage")
"""Stories of many events, of kinds that shorter ones have too."""
HALF_OF_THE_GALLERY = [
    pytest.param(
        *(name, protocol),
        marks=()
        if number % (2 * len(played)) == 2 * turn and name not in LONGEST
        else pytest.mark.deep,
    )
    for number, name in enumerate(GALLERY)
    for played in [[protocol for each, protocol in PLAYABLE if each == name]]
    for turn, protocol in enumerate(played)
]
"""Every other story under one protocol, another one for the next; `make deep`: all under all."""
BY_CHANCE = frozenset(kind for kind, row in FAULTS.items() if "percent" in row.needs)
LONGER = frozenset(kind for kind, row in FAULTS.items() if "by_ms" in row.needs)
"""Faults that say how long something takes."""
SEEDS = st.integers(0, 2**32 - 1)


def documents(choices: Choices = EVERYTHING) -> st.SearchStrategy[Document]:
    """Documents of any seed, with settings that break rules among the others."""
    return SEEDS.map(partial(random_document, choices=choices))


def scenarios(choices: Choices = LAWFUL) -> st.SearchStrategy[Scenario]:
    """Scenarios of any seed, with a bound on their events."""
    return SEEDS.map(partial(random_scenario, choices=choices))


def undisturbed(choices: Choices = PLAIN) -> st.SearchStrategy[Scenario]:
    """Scenarios in which nothing fails but members."""
    return scenarios(choices).map(lambda each: replace(each, faults=()))


def known(scenario: Scenario) -> frozenset[str]:
    """What Kafka itself does: an answer that is lost makes a consumer report too little.

    A failover loses answers, and so does an append that fails. See `EXHAUSTED.md`, and
    `test_failover_phases`, which shows it. Who leaves while an append fails stays a member without
    a session (the story `leave-that-is-not-written`). Where a topic is gone and comes back before
    anybody hears of it, its owners go on and nobody else does.
    """
    kinds = {each.kind for each in scenario.faults}
    fails = FaultKind.APPEND_FAILURE in kinds
    is_modern = GroupProtocol.CONSUMER in scenario.protocols
    found = STALE_REPORT if is_modern and (fails or kinds & OF_THE_COORDINATOR) else frozenset()
    if (is_modern and fails) or any(each.do is Verb.DELETE for each in scenario.plan):
        found |= {"partition-without-owner"}
    return found
