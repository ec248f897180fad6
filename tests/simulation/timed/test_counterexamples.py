"""Violations made small, and in words."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import replace

import pytest

from assignors.simulation.timed.explore.history import history
from assignors.simulation.timed.explore.shrinking import shrunk
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.monitors.rules import Monitoring
from assignors.simulation.timed.protocols.kafka import consumer as rounds
from assignors.simulation.timed.protocols.kafka import reconciliation
from assignors.simulation.timed.scenario import GroupProtocol, NetworkConfig, Scenario
from assignors.simulation.timed.simulation import simulate
from assignors.simulation.timed.tables.rows import IntervalRow, intervals

BROKEN = replace(named("generation-from-user-data", seed=3), protocol=GroupProtocol.CLASSIC)
"""A group of several clients whose leader gives away what is owned."""


def test_a_small_scenario_violates_the_same_monitor_and_nothing_more_can_go() -> None:
    small = shrunk(BROKEN)
    assert small is not None
    first = simulate(BROKEN, monitoring=Monitoring.FULL).violations[0]
    again = simulate(small.scenario, monitoring=Monitoring.FULL).violations
    assert small.violation in again
    assert small.violation.monitor == first.monitor
    assert len(small.scenario.members) < len(BROKEN.members)
    assert small.scenario.network == NetworkConfig(mean_us=0)
    assert small.scenario.until_ms < BROKEN.until_ms
    least = shrunk(small.scenario)
    assert least is not None
    assert least.scenario == small.scenario


def test_the_same_scenario_is_made_small_in_the_same_way() -> None:
    assert shrunk(BROKEN, runs_max=40) == shrunk(BROKEN, runs_max=40)


def test_a_scenario_without_a_violation_is_not_made_small() -> None:
    assert shrunk(named("crash")) is None


def test_a_history_ends_with_the_violation() -> None:
    *_, event, violation = history(BROKEN)
    assert violation.startswith("given-while-owned at event ")
    assert "ms  coordinator: " in event


def restart(protocol: GroupProtocol) -> Scenario:
    """Two of three members restart."""
    whole = named("rolling-restart", protocol=protocol)
    names = {"c0", "c1", "c2"}
    return replace(
        whole,
        until_ms=130_000,
        topics={"orders": 12},
        members=tuple(each for each in whole.members if each.name in names),
        plan=tuple(each for each in whole.plan if each.member in {"c0", "c1"}),
    )


def whole_and_of(subject: str, protocol: GroupProtocol) -> tuple[dict[str, str], dict[str, str]]:
    """Number of an event -> its line, of all events and of those about one member or partition."""
    scenario = restart(protocol)
    whole, own = (
        {line[:7]: line[21:] for line in list(history(scenario, subjects))[:-1]}
        for subjects in ((), (subject,))
    )
    assert {*own} < {*whole}
    return whole, own


@pytest.mark.parametrize("protocol", list(GroupProtocol))
def test_the_history_of_a_member_is_all_that_happens_at_it_and_names_it(
    protocol: GroupProtocol,
) -> None:
    whole, own = whole_and_of("c1", protocol)
    at_it = {number: line for number, line in whole.items() if " c1: " in line}
    assert at_it.items() <= own.items()
    assert len(at_it) > 15
    others = {line.split(": ")[0].strip() for number, line in own.items() if number not in at_it}
    assert {each.split()[-1] for each in others} == {"coordinator"}
    of_it = {number for number, line in whole.items() if re.search(r"coordinator: .*\bc1\b", line)}
    assert of_it - {*own} == {
        number for number in of_it - {*own} if re.search(r"answers [^;]*\bc1-", whole[number])
    }, "left out is at most an answer to somebody else"
    first = next(iter(own.values()))
    assert "c1: is to start" in first


@pytest.mark.parametrize("protocol", list(GroupProtocol))
def test_the_history_of_a_partition_has_every_change_of_its_consumer(
    protocol: GroupProtocol,
) -> None:
    scenario = restart(protocol)
    by_partition: dict[int, list[IntervalRow]] = defaultdict(list)
    for each in intervals(simulate(scenario, keeps_history=True)):
        by_partition[each.partition].append(each)
    number, spans = max(by_partition.items(), key=lambda each: len(each[1]))
    assert len(spans) > 1
    _, own = whole_and_of(f"orders:{number}", protocol)
    seen: list[tuple[str, bool]] = []
    for line in own.values():
        who = line.split(": ")[0].split()[-1]
        if line.endswith(f"; no longer orders-{number}"):
            seen.append((who, False))
        elif re.search(rf"-> .*consumes orders-{number}\b", line) and (who, True) not in seen[-1:]:
            seen.append((who, True))
    assert [who for who, begins in seen if begins] == [each.member for each in spans]
    assert sum(not begins for _, begins in seen) == sum(each.end_ms is not None for each in spans)


def test_a_coordinator_that_gives_partitions_before_their_release_is_found_and_made_small(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def hasty(member: object, **settings: object) -> object:
        return reconciliation.reconciled(member, **{**settings, "partition_epochs": {}})  # type: ignore[arg-type]

    monkeypatch.setattr(rounds, "reconciled", hasty)
    small = shrunk(named("scale-out", protocol=GroupProtocol.CONSUMER))
    assert small is not None
    assert small.violation.monitor in {"double-owned-in-epoch", "double-consumption"}
    assert len(small.scenario.members) == 2
    assert sum(small.scenario.topics.values()) <= 2
