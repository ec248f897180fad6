"""Faults of a run: when they begin and end, and what they do to network and members."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from assignors.simulation.timed.network import MILLION, Network
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Command,
    Disturbance,
    Disturbed,
    MemberEvent,
)
from assignors.simulation.timed.scenario import Fault, FaultKind
from assignors.simulation.timed.scenario.faults import LONGER

DISTURBANCES = {
    FaultKind.LONG_POLL: Disturbance.LONG_POLL,
    FaultKind.SLOW_CALLBACK: Disturbance.SLOW_CALLBACK,
    FaultKind.SLOW_ASSIGNOR: Disturbance.SLOW_ASSIGNOR,
    FaultKind.STALLED_THREAD: Disturbance.STALLED_THREAD,
}
"""Faults of the application's thread, as a member notices them."""


class FaultEvent(NamedTuple):
    """An event: a fault begins or ends."""

    fault: Fault
    begins: bool


def fault_events(faults: Iterable[Fault]) -> Iterator[tuple[int, FaultEvent]]:
    """Yield when each fault begins and ends, in microseconds. Cost: O(faults)."""
    for fault in faults:
        yield fault.from_ms * MILLISECOND, FaultEvent(fault, begins=True)
        if fault.kind is not FaultKind.LOST_GENERATION:
            yield fault.until_ms * MILLISECOND, FaultEvent(fault, begins=False)


def member_event(event: FaultEvent) -> MemberEvent | None:
    """Return what a member notices of a fault of its own; `None` for one that it cannot notice."""
    fault, begins = event
    if fault.kind is FaultKind.LOST_GENERATION:
        return Command.LOSE_GENERATION
    disturbance = DISTURBANCES.get(fault.kind)
    if disturbance is None:
        return None
    longest = fault.until_ms - fault.from_ms
    by_ms = fault.by_ms if fault.kind in LONGER else longest
    return Disturbed(disturbance, by_ms * MILLISECOND * begins)


def disturb(network: Network, members: Iterable[int], event: FaultEvent) -> None:
    """Let a fault of the network begin or end for these members. Cost: O(members)."""
    fault, begins = event
    sign = 1 if begins else -1
    for number in members:
        trouble = network.trouble(number)
        if fault.kind is FaultKind.CUT and begins:
            trouble.cut_until = max(trouble.cut_until, fault.until_ms * MILLISECOND)
        elif fault.kind is FaultKind.DELAY:
            trouble.extra_us += sign * fault.by_ms * MILLISECOND
        elif fault.kind is FaultKind.LOSS:
            trouble.loss += sign * round(fault.percent * MILLION / 100)
