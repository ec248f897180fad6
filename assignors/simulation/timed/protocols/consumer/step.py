"""The coordinator of a consumer group as a step: events in, effects out.

A response leaves once the records of its request are replicated.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from assignors.simulation.timed.protocols.consumer.coordinator import fired, heartbeat
from assignors.simulation.timed.protocols.consumer.coordinator_state import (
    Changes,
    ConsumerCoordinator,
)
from assignors.simulation.timed.protocols.consumer.messages import ConsumerHeartbeat
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Append,
    Arrived,
    Cancel,
    Committed,
    CoordinatorEvent,
    Effect,
    Fired,
    Reply,
    Schedule,
)

CLOCK_STARTS_MS = 1
"""Kafka's clock never shows 0, which stands for "never"."""


@dataclass(slots=True, kw_only=True)
class WaitingCoordinator:
    """A coordinator, and the responses that wait for their records."""

    coordinator: ConsumerCoordinator
    waiting: dict[int, Reply | None] = field(default_factory=dict)
    """By the token of the append."""
    tokens: int = 0


def step(state: WaitingCoordinator, at_us: int, event: CoordinatorEvent) -> list[Effect]:
    """Return what the coordinator does about an event at `at_us`; `state` changes in place."""
    match event:
        case Arrived(number, ConsumerHeartbeat() as request):
            now_ms = CLOCK_STARTS_MS + at_us // MILLISECOND
            changes = heartbeat(state.coordinator, now_ms, request)
            assert changes.response is not None
            return _effects(state, changes, Reply(number, changes.response))
        case Fired((kind, member_id), data):
            changes = fired(state.coordinator, (kind, member_id), data)
            return _effects(state, changes, None)
        case Committed(token):
            reply = state.waiting.pop(token)
            return [] if reply is None else [reply]
    raise AssertionError(event)


def _effects(state: WaitingCoordinator, changes: Changes, reply: Reply | None) -> list[Effect]:
    out: list[Effect] = [
        Cancel(key) if after_us is None else Schedule(key, after_us, data)
        for key, after_us, data in changes.timers
    ]
    if changes.records:
        state.tokens += 1
        state.waiting[state.tokens] = reply
        out.append(Append(tuple(changes.records), state.tokens))
    elif reply is not None:
        out.append(reply)
    return out
