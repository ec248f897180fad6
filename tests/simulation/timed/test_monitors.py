"""Monitors: nothing is found in runs of the steps as they are, and a mutant of a step is found."""

from __future__ import annotations

from dataclasses import asdict, replace

import pytest

from assignors.simulation.timed.explore.history import history
from assignors.simulation.timed.gallery import GALLERY, named
from assignors.simulation.timed.monitors.rules import Monitoring
from assignors.simulation.timed.scenario import (
    Fault,
    FaultKind,
    GroupProtocol,
    MemberConfig,
    NetworkConfig,
    Scenario,
)
from assignors.simulation.timed.simulation import simulate
from tests.simulation.timed.drawn import LONGEST, PLAYABLE

DEEP = [pytest.mark.deep]
CLASSIC = GroupProtocol.CLASSIC
FOUND = {
    ("topic-named-twice", CLASSIC): {
        *("member-not-at-rest", "partition-without-owner", "too-many-rounds"),
    },
    ("two-services-in-one-group", CLASSIC): {"partition-without-owner"},
    ("claims-after-unsubscribing", CLASSIC): {"partition-without-owner"},
    ("leave-that-is-not-written", GroupProtocol.CONSUMER): {"partition-without-owner"},
    ("handover-before-commit", GroupProtocol.PUSH): {"double-owned-in-epoch"},
}
"""The stories of groups that do not come to rest, or leave partitions alone for ever, and of owners
that brokers refuse already and that have not heard of it."""

REPEATED = {
    *(*LONGEST, "join-storm-waiting-for-replication", "stops-after-eviction"),
    *("slow-checks-in-one-queue", "slow-checks-evict-nobody"),
}
"""Long stories that others resemble in all that monitors look at."""
BROKEN = {
    name
    for name, story in GALLERY.items()
    if any(figures.get("violations") for figures in story.expected.values())
}
"""The stories of clients that break a rule."""


@pytest.mark.parametrize(
    ("name", "protocol"),
    [
        pytest.param(
            *(name, protocol),
            marks=[] if number % len(GroupProtocol) == turn and name not in REPEATED else DEEP,
        )
        for number, name in enumerate(name for name in GALLERY if name not in BROKEN)
        for turn, protocol in enumerate(GroupProtocol)
        if (name, protocol) in PLAYABLE
    ],
)
def test_nothing_is_found_in_the_gallery_and_looking_changes_nothing(
    name: str, protocol: GroupProtocol
) -> None:
    scenario = named(name, seed=3, protocol=protocol)
    watched = simulate(scenario, monitoring=Monitoring.FULL)
    assert {each.monitor for each in watched.violations} == FOUND.get((name, protocol), set())
    alone = simulate(scenario, monitoring=Monitoring.OFF).result
    # Heartbeats that nobody looks at need fewer events.
    same = {"events": alone.events, "violations": 0, "first_violation": None}
    assert {**asdict(watched.result), **same} == asdict(alone)


def test_a_history_has_a_line_for_whatever_changes_something() -> None:
    lines = list(history(named("crash")))
    assert lines[-1] == "no violation"
    assert any("the session of c" in line for line in lines)
    assert not any("time for a heartbeat" in line for line in lines)


def test_a_group_that_waits_for_its_next_target_has_not_settled() -> None:
    """The second member's first heartbeats are lost; it comes within the assignment interval."""
    timing = MemberConfig(
        name="c0", topics=("t",), assignors=("server/uniform",), rebalance_timeout_ms=20_000
    )
    scenario = Scenario(
        name="late",
        seed=0,
        until_ms=90_000,
        protocol=GroupProtocol.CONSUMER,
        topics={"t": 2},
        members=(timing, replace(timing, name="c1")),
        faults=(Fault(kind=FaultKind.LOSS, from_ms=0, until_ms=60_101, percent=100),),
        network=NetworkConfig(least_us=0, mean_us=0),
    )
    assert simulate(scenario, monitoring=Monitoring.FULL).violations == []
