"""Figures that operators count, and the hash by which two runs are compared."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import pytest

from assignors.ownership.changes import Change
from assignors.ownership.intervals import by_partition, ownerships
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.ledger import Ledger
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.scenario import GroupProtocol, ProcessingConfig, Scenario
from assignors.simulation.timed.simulation import simulate

SCRIPT = """
from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.scenario import GroupProtocol
from assignors.simulation.timed.simulation import simulate
for protocol in GroupProtocol:
    print(simulate(named("rolling-restart", seed=5, protocol=protocol)).result.events_hash)
"""


def test_a_run_has_the_same_hash_in_every_process() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for hash_seed in ("0", "1")
    }
    assert len(found) == 1
    assert len(set(found.pop().split())) == len(GroupProtocol)


def test_another_seed_or_a_delay_of_a_message_has_another_hash() -> None:
    usual = named("crash", seed=1)
    slower = replace(usual, network=replace(usual.network, least_us=usual.network.least_us + 1))
    runs = [usual, replace(usual, seed=2), slower]
    assert len({simulate(each).result.events_hash for each in runs}) == 3
    assert len(simulate(usual).result.events_hash) == 16


def test_gaps_that_overlap_stop_something_once_and_the_group_where_all_do() -> None:
    ledger = Ledger(count_from=10)
    ledger.grow(0, "t", 2)
    for at, member, numbers in (
        (5, "a", (0,)),
        (8, "b", (1,)),
        (20, "a", ()),  # 0 stops
        (25, "b", ()),  # 1 too
        (31, "a", (0,)),  # 0 after 11, and the group after 6
        (40, "b", (1,)),  # 1 after 15
        (50, "a", ()),
        (53, "b", (0, 1)),  # 0 after 3
    ):
        ledger.consume(at, member, {"t": numbers} if numbers else {}, "test")
    ledger.close(60, {"t"})
    assert (ledger.unavailable, ledger.longest_gap) == (11 + 15 + 3, 15)
    assert (ledger.any_stopped, ledger.group_stopped) == (20 + 3, 6)


@pytest.mark.parametrize("name", ["rolling-restart-eager", "rolling-restart", "stop-all"])
def test_stopped_times_are_those_of_the_history(name: str) -> None:
    scenario = named(name, seed=3)
    played = simulate(scenario, keeps_history=True)
    result = played.result
    assert result.unowned == 0
    any_stopped, group_stopped = stopped(scenario, played.changes)
    assert result.any_stopped_ms == any_stopped / MILLISECOND
    assert result.group_stopped_ms == group_stopped / MILLISECOND
    assert result.longest_gap_ms <= result.any_stopped_ms <= result.unavailable_partition_ms


def stopped(scenario: Scenario, changes: list[Change]) -> tuple[int, int]:
    """The slow way: at every moment at which something changes, look at every partition."""
    edges = {scenario.count_from_ms * MILLISECOND, scenario.until_ms * MILLISECOND}
    owned = by_partition(ownerships(changes))
    for listed in owned.values():
        edges |= {each.start for each in listed} | {each.until for each in listed}
    count = sum(scenario.topics.values())
    counted = scenario.count_from_ms * MILLISECOND, scenario.until_ms * MILLISECOND
    moments = sorted(each for each in edges if counted[0] <= each <= counted[1])
    some = every = 0
    for begin, end in pairwise(moments):
        consumed = sum(
            any(one.start <= begin < one.until for one in listed) for listed in owned.values()
        )
        some += (end - begin) * (consumed < count)
        every += (end - begin) * (consumed == 0)
    return some, every


def test_what_waits_for_a_consumer_is_counted_in_records_at_the_given_rate() -> None:
    usual = named("crash", seed=1)
    result = simulate(replace(usual, processing=ProcessingConfig(records_per_second=50))).result
    assert result.delayed_records == int(50 * result.unavailable_partition_ms / 1000)
    without = replace(usual, processing=ProcessingConfig())
    assert simulate(without).result.delayed_records == 0
