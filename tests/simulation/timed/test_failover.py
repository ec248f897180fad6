"""The coordinator is lost: at any moment the next one goes on with what the log says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from assignors.simulation.timed.monitors.table import Monitoring
from assignors.simulation.timed.scenario import (
    Fault,
    FaultKind,
    GroupProtocol,
    MemberConfig,
    Scenario,
)
from assignors.simulation.timed.simulation import Played, simulate

CLASSIC, CONSUMER = GroupProtocol.CLASSIC, GroupProtocol.CONSUMER
LOST_MS = 20_000


def group(protocol: GroupProtocol, *faults: Fault, **changes: Any) -> Scenario:
    """Three members that have settled long before their coordinator is lost."""
    made = Scenario(
        seed=5,
        until_ms=120_000,
        protocol=protocol,
        topics={"t": 6},
        members=tuple(
            MemberConfig(
                name=f"c{number}",
                topics=("t",),
                assignors=("java/cooperative-sticky",),
                starts_at_ms=10 * number,
            )
            for number in range(3)
        ),
        faults=faults,
    )
    return replace(made, **changes)


def lost(kind: FaultKind, *, after_ms: int = 3000, loads_ms: int = 1000, **more: Any) -> Fault:
    return Fault(kind=kind, from_ms=LOST_MS, until_ms=LOST_MS + after_ms, by_ms=loads_ms, **more)


def played(scenario: Scenario) -> Played:
    """The run; no monitor may find anything."""
    found = simulate(scenario, monitoring=Monitoring.FULL)
    assert found.violations == []
    return found


@pytest.mark.parametrize("protocol", [CLASSIC, CONSUMER])
@pytest.mark.parametrize("kind", [FaultKind.COORDINATOR_CRASH, FaultKind.COORDINATOR_HANDOVER])
def test_a_group_at_rest_notices_nothing_but_a_pause(
    protocol: GroupProtocol, kind: FaultKind
) -> None:
    result = played(group(protocol, lost(kind), count_from_ms=15_000)).result
    assert (result.rounds, result.moves, result.gaps) == (0, 0, 0)
    assert (result.failovers, result.records_lost) == (1, 0)
    assert result.records_replayed > 0
    assert result.requests["FindCoordinator"] >= 3
    assert result.recovery_ms is not None
    assert result.first_heartbeat_ms is not None
    assert 4000 <= result.first_heartbeat_ms <= result.recovery_ms < 12_000
