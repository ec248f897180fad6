"""Coordinators and members with a fault put into a step: a monitor finds each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from assignors.simulation.timed.gallery import named
from assignors.simulation.timed.monitors.rules import Monitoring
from assignors.simulation.timed.protocols.kafka import (
    classic,
    classic_member,
    consumer,
    consumer_member,
    coordinator,
)
from assignors.simulation.timed.protocols.kafka.messages import ErrorCode
from assignors.simulation.timed.protocols.kafka.reconciliation import reconciled
from assignors.simulation.timed.scenario import (
    BrokerConfig,
    Fault,
    FaultKind,
    GroupProtocol,
    MemberConfig,
    ProcessingConfig,
    Scenario,
)
from assignors.simulation.timed.simulation import simulate
from assignors.simulation.timed.threads import client
from tests.simulation.timed.exhaust import QUICK, exhaust

Patch = Callable[[pytest.MonkeyPatch], None]


def gives_before_release(patch: pytest.MonkeyPatch) -> None:
    """KIP-848's coordinator takes every partition for free."""

    def hasty(member: Any, **settings: Any) -> Any:
        return reconciled(member, **{**settings, "partition_epochs": {}})

    patch.setattr(consumer, "reconciled", hasty)


def keeps_silent(patch: pytest.MonkeyPatch) -> None:
    """The classic coordinator answers every heartbeat with NONE, whatever has happened."""
    patch.setattr(classic, "_heartbeat", lambda _state, _request: ErrorCode.NONE)


def joins_without_revoking(patch: pytest.MonkeyPatch) -> None:
    """A classic member keeps what an eager one has to give up."""
    patch.setattr(
        classic_member, "count", lambda partitions: 0 * sum(map(len, partitions.values()))
    )


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
    original = classic.append

    def forgetful(state: Any, waiting: Any, plan: Any) -> None:
        original(state, waiting, dict.fromkeys(plan, b""))

    patch.setattr(classic, "append", forgetful)


def goes_back(patch: pytest.MonkeyPatch) -> None:
    """The classic coordinator counts generations down."""
    original = classic.complete_join

    def backwards(state: Any) -> None:
        state.classic.generation -= 2 * (state.classic.generation > 2)
        original(state)

    patch.setattr(classic, "complete_join", backwards)


def counts_no_generation(patch: pytest.MonkeyPatch) -> None:
    """The classic coordinator lets a rebalance end in the generation in which it began."""
    original = classic.complete_join

    def still(state: Any) -> None:
        state.classic.generation -= state.classic.generation > 0
        original(state)

    patch.setattr(classic, "complete_join", still)


def answers_before_the_append(patch: pytest.MonkeyPatch) -> None:
    """KIP-848's coordinator does not wait until its records are replicated."""
    original = coordinator._asked

    def hasty(state: Any, changes: Any, number: int | None) -> list[Any]:
        found = original(state, changes, number)
        if not changes.records:
            return found
        early, state.waiting[state.tokens] = state.waiting[state.tokens], []
        return [*found[:-1], *early, found[-1]]

    patch.setattr(coordinator, "_asked", hasty)


def takes_an_epoch_back(patch: pytest.MonkeyPatch) -> None:
    """KIP-848's coordinator brings members that are on their way to the epoch before."""

    def backwards(member: Any, **settings: Any) -> Any:
        after = reconciled(member, **settings)
        is_older = after.state is not member.state and after.epoch > 1
        return after._replace(epoch=after.epoch - 1) if is_older else after

    patch.setattr(consumer, "reconciled", backwards)


CLASSIC, CONSUMER = GroupProtocol.CLASSIC, GroupProtocol.CONSUMER


@pytest.mark.parametrize(
    ("mutate", "name", "protocol", "monitors"),
    [
        (gives_before_release, "scale-out", CONSUMER, {"double-consumption"}),
        (keeps_silent, "scale-out", CLASSIC, {"partition-with-two-owners"}),
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
    # A refused commit would tell members what a silent coordinator does not.
    without_commits = ProcessingConfig()
    scenario = replace(named(name, seed=3, protocol=protocol), processing=without_commits)
    mutate(monkeypatch)
    for monitoring in (Monitoring.BASIC, Monitoring.FULL):
        found = simulate(scenario, monitoring=monitoring).violations
        assert {each.monitor for each in found} & monitors


@pytest.mark.parametrize(
    ("mutate", "case", "monitor"),
    [
        (gives_before_release, "consumer-3x2", "double-consumption"),
        (reports_too_early, "consumer-3x2", "handed-over-before-commit"),
    ],
)
def test_a_small_case_has_the_mutant(
    monkeypatch: pytest.MonkeyPatch, mutate: Patch, case: str, monitor: str
) -> None:
    assert not QUICK[case].broken
    mutate(monkeypatch)
    found = exhaust(QUICK[case])
    assert monitor in found.broken
    assert found.broken[monitor].lines


def test_requests_that_a_stalled_thread_forgets_leave_a_group_stuck(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    original = client._resumed

    def forgetful(own: Any, step: Any) -> list[Any]:
        own.unsent = []
        return original(own, step)

    monkeypatch.setattr(client, "_resumed", forgetful)
    found = exhaust(QUICK["consumer-2x2-stalled-thread"])
    assert found.stuck
    assert any("stalled_thread" in line for line in found.stuck_first)


def test_an_epoch_that_goes_back_is_found_on_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = named("scale-out", seed=3, protocol=CONSUMER)
    takes_an_epoch_back(monkeypatch)
    found = simulate(scenario).violations
    texts = [each.text for each in found if each.monitor == "epoch-went-back"]
    assert {text.startswith("the coordinator's ") for text in texts} == {True, False}


def test_only_whom_the_coordinator_has_removed_is_a_zombie(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whom it has never known has no excuse for consuming what another member has.

    The record by which `a` joined is lost with the coordinator, and `a` is cut off. To the next
    coordinator it is a stranger, who must have got nothing.
    """
    scenario = Scenario(
        until_ms=60_000,
        protocol=CONSUMER,
        topics={"t": 2},
        members=(
            MemberConfig(name="a", topics=("t",), starts_at_ms=1000),
            MemberConfig(name="b", topics=("t",), starts_at_ms=3000),
        ),
        broker=BrokerConfig(append_us=300_000),
        faults=(
            Fault(kind=FaultKind.COORDINATOR_CRASH, from_ms=1100, until_ms=2000),
            Fault(kind=FaultKind.CUT, member="a", from_ms=1050, until_ms=6000),
        ),
    )
    for monitoring in (Monitoring.BASIC, Monitoring.FULL):
        assert simulate(scenario, monitoring=monitoring).violations == []
    answers_before_the_append(monkeypatch)
    for monitoring in (Monitoring.BASIC, Monitoring.FULL):
        played = simulate(scenario, monitoring=monitoring)
        assert {each.monitor for each in played.violations} == {"double-consumption"}
        assert played.zombies == []
