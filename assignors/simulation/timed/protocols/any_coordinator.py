"""A coordinator of any kind, as whoever lets brokers fail has to handle it: play, load, copy.

The kinds are those that write records: classic and consumer groups, groups that migrate between
these, and each of them with its committed offsets.
"""

from __future__ import annotations

from functools import partial
from typing import TypeVar

from assignors.simulation.timed.protocols.classic import coordinator as classic_coordinator
from assignors.simulation.timed.protocols.classic.coordinator_state import ClassicCoordinator
from assignors.simulation.timed.protocols.consumer.step import WaitingCoordinator
from assignors.simulation.timed.protocols.consumer.step import step as consumer_step
from assignors.simulation.timed.protocols.effects import CoordinatorEvent, Effect, Schedule
from assignors.simulation.timed.protocols.failover import (
    load_classic,
    load_consumer,
    load_mixed,
    load_offsets,
)
from assignors.simulation.timed.protocols.mixed.coordinator import MixedCoordinator
from assignors.simulation.timed.protocols.mixed.coordinator import step as mixed_step
from assignors.simulation.timed.protocols.offsets.access import (
    GroupAccess,
    classic_access,
    consumer_access,
)
from assignors.simulation.timed.protocols.offsets.coordinator import OffsetsCoordinator
from assignors.simulation.timed.protocols.offsets.coordinator import step as offsets_step
from assignors.simulation.timed.protocols.offsets.mixed_access import mixed_access
from assignors.simulation.timed.protocols.restore import Restored
from assignors.simulation.timed.protocols.state_values import cloned

C = TypeVar("C")


def step(coordinator: object, at_us: int, event: CoordinatorEvent) -> list[Effect]:
    """Return what a coordinator does about an event at `at_us`; its state changes in place."""
    match coordinator:
        case ClassicCoordinator():
            return classic_coordinator.step(coordinator, event)
        case WaitingCoordinator():
            return consumer_step(coordinator, at_us, event)
        case MixedCoordinator():
            return mixed_step(coordinator, at_us, event)
        case OffsetsCoordinator():
            return offsets_step(coordinator, at_us, event)
    raise AssertionError(coordinator)


def note_written(coordinator: object) -> None:
    """Let a coordinator take note that all that it appended is in the local log.

    Whoever lets appends fail has to say so at first and after each batch. Cost: O(1).
    """
    match coordinator:
        case MixedCoordinator():
            coordinator.note_written()
        case OffsetsCoordinator():
            note_written(coordinator.inner)


def load(coordinator: object, log: Restored) -> list[Schedule]:
    """Let a coordinator begin with what a log says; return the timers that start.

    Its state changes in place. Cost: O(members and partitions).
    """
    match coordinator:
        case ClassicCoordinator():
            return load_classic(coordinator, log)
        case WaitingCoordinator():
            return load_consumer(coordinator, log)
        case MixedCoordinator():
            return load_mixed(coordinator, log)
        case OffsetsCoordinator():
            found = load(coordinator.inner, log)
            return found + load_offsets(coordinator, _access(coordinator, log.since_ms), log)
    raise AssertionError(coordinator)


def copied(coordinator: C) -> C:
    """Return a coordinator that goes on from here by itself. Cost: O(members and partitions)."""
    made = cloned(coordinator)
    match made:
        case MixedCoordinator():
            made.consumer.downgrade = made.downgrade_without
            if made.written is not None:
                made.note_written()
        case OffsetsCoordinator():
            made.inner = copied(made.inner)
            made.group = _access(made, None)
    return made


def _access(offsets: OffsetsCoordinator, since_ms: int | None) -> GroupAccess:
    """Return the access to the group of these offsets, which came into its state at `since_ms`."""
    clock_starts_ms = offsets.config.clock_starts_ms
    match offsets.inner:
        case ClassicCoordinator() as classic:
            return classic_access(classic, clock_starts_ms=clock_starts_ms, since_ms=since_ms)
        case MixedCoordinator() as mixed:
            return mixed_access(mixed, clock_starts_ms=clock_starts_ms, since_ms=since_ms)
        case WaitingCoordinator() as waiting:
            return consumer_access(waiting.coordinator, partial(step, waiting))
    raise AssertionError(offsets.inner)
