"""Coordinators and members with a fault put into a step: a monitor finds each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.monitors.table import Monitoring
from assignors.simulation.timed.protocols.classic import (
    barriers,
    coordinator,
    coordinator_state,
    member_rounds,
)
from assignors.simulation.timed.protocols.classic.messages import ErrorCode
from assignors.simulation.timed.protocols.consumer import member as consumer_member
from assignors.simulation.timed.protocols.consumer.assignment import rounds
from assignors.simulation.timed.protocols.consumer.assignment.reconciliation import reconciled
from assignors.simulation.timed.scenario import GroupProtocol
from assignors.simulation.timed.simulation import simulate
from tests.simulation.timed.exhaust import QUICK, exhaust

Patch = Callable[[pytest.MonkeyPatch], None]


def gives_before_release(patch: pytest.MonkeyPatch) -> None:
    """KIP-848's coordinator takes every partition for free."""

    def hasty(member: Any, **settings: Any) -> Any:
        return reconciled(member, **{**settings, "partition_epochs": {}})

    patch.setattr(rounds, "reconciled", hasty)


def keeps_silent(patch: pytest.MonkeyPatch) -> None:
    """The classic coordinator answers every heartbeat with NONE, whatever has happened."""
    patch.setattr(coordinator, "_heartbeat", lambda _state, _request: ErrorCode.NONE)


def joins_without_revoking(patch: pytest.MonkeyPatch) -> None:
    """A classic member keeps what an eager one has to give up."""
    patch.setattr(member_rounds, "count", lambda partitions: 0 * sum(map(len, partitions.values())))


def reports_too_early(patch: pytest.MonkeyPatch) -> None:
    """KIP-848's member says that it owns nothing more while its callback runs."""
    original = consumer_member._poll

    def hasty(state: Any) -> None:
        original(state)
        state.confirmed, state.must_report = state.owned, True
        consumer_member.send_now(state)

    patch.setitem(consumer_member._TIMERS, "poll", hasty)


def writes_another_plan(patch: pytest.MonkeyPatch) -> None:
    """The classic coordinator writes a record without the assignments."""
    original = coordinator_state.append

    def forgetful(state: Any, waiting: Any, plan: Any) -> None:
        original(state, waiting, dict.fromkeys(plan, b""))

    patch.setattr(coordinator, "append", forgetful)


def goes_back(patch: pytest.MonkeyPatch) -> None:
    """The classic coordinator counts generations down."""
    original = barriers.complete_join

    def backwards(state: Any) -> None:
        state.group.generation -= 2 * (state.group.generation > 2)
        original(state)

    patch.setattr(barriers, "complete_join", backwards)


def counts_no_generation(patch: pytest.MonkeyPatch) -> None:
    """The classic coordinator lets a rebalance end in the generation in which it began."""
    original = barriers.complete_join

    def still(state: Any) -> None:
        state.group.generation -= state.group.generation > 0
        original(state)

    patch.setattr(barriers, "complete_join", still)


CLASSIC, CONSUMER = GroupProtocol.CLASSIC, GroupProtocol.CONSUMER


@pytest.mark.parametrize(
    ("mutate", "name", "protocol", "monitors"),
    [
        (gives_before_release, "scale-out", CONSUMER, {"double-consumption"}),
        (keeps_silent, "scale-out", CLASSIC, {"double-consumption"}),
        (joins_without_revoking, "rolling-restart", CLASSIC, {"partition-without-owner"}),
        (writes_another_plan, "crash", CLASSIC, {"log-differs-from-state"}),
        (goes_back, "rolling-restart", CLASSIC, {"epoch-went-back"}),
        (counts_no_generation, "rolling-restart", CLASSIC, {"generation-given-twice"}),
    ],
)
def test_a_monitor_finds_the_mutant(
    monkeypatch: pytest.MonkeyPatch,
    mutate: Patch,
    name: str,
    protocol: GroupProtocol,
    monitors: set[str],
) -> None:
    scenario = named(name, seed=3, protocol=protocol)
    mutate(monkeypatch)
    found = simulate(scenario, monitoring=Monitoring.FULL).violations
    assert {each.monitor for each in found} & monitors


@pytest.mark.parametrize(
    ("mutate", "case", "monitor"),
    [
        (gives_before_release, "consumer-2x2-fault", "double-consumption"),
        (reports_too_early, "consumer-2x2-fault", "handed-over-before-commit"),
    ],
)
def test_a_small_case_has_the_mutant(
    monkeypatch: pytest.MonkeyPatch, mutate: Patch, case: str, monitor: str
) -> None:
    mutate(monkeypatch)
    found = exhaust(QUICK[case])
    assert monitor in found.broken
    assert found.broken[monitor].lines
