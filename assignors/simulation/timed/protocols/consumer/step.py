"""The coordinator of a consumer group as a step: events in, effects out.

A response leaves once the records of its request are replicated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from assignors.jvm.hash_order import string_hash
from assignors.jvm.timeline_order import TimelineOrder
from assignors.simulation.timed.protocols.consumer.coordinator import fired, heartbeat
from assignors.simulation.timed.protocols.consumer.coordinator_state import (
    Changes,
    ConsumerCoordinator,
    Timer,
)
from assignors.simulation.timed.protocols.consumer.group import ConsumerGroup
from assignors.simulation.timed.protocols.consumer.messages import ConsumerHeartbeat
from assignors.simulation.timed.protocols.consumer.records import CurrentRecord, MemberRecord
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Append,
    AppendFailed,
    Arrived,
    Cancel,
    Committed,
    CoordinatorEvent,
    Effect,
    Fired,
    Record,
    Reply,
    Schedule,
)
from assignors.simulation.timed.protocols.restore import Restored, restored

CLOCK_STARTS_MS = 1
"""Kafka's clock never shows 0, which stands for "never"."""


class Written(NamedTuple):
    """Records that are appended, and the group to which they were applied."""

    group: ConsumerGroup
    records: tuple[Record, ...]


@dataclass(slots=True, kw_only=True)
class WaitingCoordinator:
    """A coordinator, and the responses that wait for their records."""

    coordinator: ConsumerCoordinator
    waiting: dict[int, list[Effect]] = field(default_factory=dict)
    """Answers, and timers that start with them, by the token of the append."""
    tokens: int = 0
    written: dict[int, Written] = field(default_factory=dict, compare=False)
    """What each append that may still fail has changed."""


def step(state: WaitingCoordinator, at_us: int, event: CoordinatorEvent) -> list[Effect]:
    """Return what the coordinator does about an event at `at_us`; `state` changes in place."""
    if isinstance(event, Arrived) and isinstance(event.request, ConsumerHeartbeat):
        now_ms = CLOCK_STARTS_MS + at_us // MILLISECOND
        return effects(state, heartbeat(state.coordinator, now_ms, event.request), event.number)
    match event:
        case Fired((kind, member_id), data):
            now_ms = CLOCK_STARTS_MS + at_us // MILLISECOND
            return effects(state, fired(state.coordinator, now_ms, (kind, member_id), data), None)
        case Committed(token):
            return committed(state, token)
        case AppendFailed(tokens, records):
            revert(state, restored(records), tokens, before=state.coordinator.group)
            return []
    raise AssertionError(event)


def effects(state: WaitingCoordinator, changes: Changes, number: int | None) -> list[Effect]:
    """Return what a step asks for; what answers request `number` waits for its records."""
    out: list[Effect] = [Reply(*each) for each in changes.replies]
    out += _timers(changes.timers)
    after = _timers(changes.later)
    if changes.response is not None:
        assert number is not None
        after.append(Reply(number, changes.response))
    if not changes.records:
        return out + after
    state.tokens += 1
    state.waiting[state.tokens] = after
    records = tuple(changes.records)
    state.written[state.tokens] = Written(state.coordinator.group, records)
    out.append(Append(records, state.tokens))
    return out


def committed(state: WaitingCoordinator, token: int) -> list[Effect]:
    """Return what has waited for an append."""
    state.written.pop(token, None)
    return state.waiting.pop(token)


def revert(
    state: WaitingCoordinator, log: Restored, lost: Collection[int], *, before: ConsumerGroup
) -> None:
    """Take the group back to what its records say, and drop what waited for those that are lost.

    `before` is the group as it became since then. What runs in the background and the timers are as
    they were: none of that is in the log. Nor is to which epoch topics led: if that is lost they
    are looked at once more (Kafka's `hasMetadataExpired` compares the epochs). Cost: O(members).
    """
    coordinator = state.coordinator
    undone = [each for made in drop(state, lost) if made.group is before for each in made.records]
    coordinator.exists = isinstance(log.group, ConsumerGroup)
    coordinator.group = log.group if isinstance(log.group, ConsumerGroup) else ConsumerGroup()
    if coordinator.exists:
        _revert_order(before, coordinator.group, undone)
    coordinator.group.must_refresh = before.must_refresh
    coordinator.group.refreshed_in = before.refreshed_in


def drop(state: WaitingCoordinator, lost: Collection[int]) -> list[Written]:
    """Drop what waited for appends that are lost; return what these have changed, in order."""
    for token in lost:
        state.waiting.pop(token, None)
    return [state.written.pop(token) for token in sorted(lost) if token in state.written]


def _revert_order(before: ConsumerGroup, group: ConsumerGroup, undone: Iterable[Record]) -> None:
    """Let members have the order that Kafka's map has after it went back.

    Whoever was put or removed since then is taken out, and comes back as it was, last and in the
    order of another map. The map stays as large as it was (`SnapshottableHashTable.executeRevert`).
    """
    order, put_back = before.order, TimelineOrder()
    changed = {each.member_id for each in undone if isinstance(each, MemberRecord | CurrentRecord)}
    for member_id in [each for each in order if each in changed]:
        order.remove(member_id, string_hash(member_id))
    for each in undone:
        if isinstance(each, MemberRecord | CurrentRecord) and each.member_id in group.members:
            put_back.put(each.member_id, string_hash(each.member_id))
    for member_id in put_back.in_slots():
        order.put(member_id, string_hash(member_id))
    if order.size == len(group.members):
        group.order = order


def _timers(timers: list[Timer]) -> list[Effect]:
    return [
        Cancel(key) if after_us is None else Schedule(key, after_us, data)
        for key, after_us, data in timers
    ]
