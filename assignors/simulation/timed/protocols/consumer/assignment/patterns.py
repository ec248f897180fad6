"""Subscriptions by pattern: the coordinator looks up which topics match (KIP-848).

A background thread does so, one lookup of a group at a time and no more often than every ten
seconds: when a pattern is new, when there are new topics, and when the last lookup is too old. A
pattern matches nothing until the first answer. Nothing here runs by itself: a heartbeat begins it.

Source: `GroupMetadataManager.maybeUpdateRegularExpressions`, `handleRegularExpressionsResult`.
"""

from __future__ import annotations

import re
from enum import Enum, auto

from assignors.jvm.hash_order import put_order, string_hashes
from assignors.simulation.timed.protocols.consumer.assignment.topics import topics_seen
from assignors.simulation.timed.protocols.consumer.coordinator_state import (
    Changes,
    ConsumerCoordinator,
    Refused,
    Work,
)
from assignors.simulation.timed.protocols.consumer.group import ConsumerGroup, ConsumerMember
from assignors.simulation.timed.protocols.consumer.messages import ConsumerError
from assignors.simulation.timed.protocols.consumer.records import GroupEpochRecord, PatternRecord
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.topic_patterns import matching, require_pattern

LOOKUP_KEY = ("lookup", "")
MIN_INTERVAL_MS = 10_000
"""A new lookup begins no sooner after the last one."""


class PatternChange(Enum):
    """What a request changes about the pattern of its member."""

    NONE = auto()
    CHANGED = auto()
    """It has another pattern, and what that matches is not known yet."""
    RESOLVED = auto()
    """It has another pattern, or none any more, and it is known what that matches."""


def change_pattern(work: Work, member: ConsumerMember, updated: ConsumerMember) -> PatternChange:
    """Take over a member's pattern, and begin a lookup if one is due. Raises `Refused`."""
    state, group, now_ms, out = work
    old, new = member.pattern, updated.pattern
    must_look, change = False, PatternChange.NONE
    counts = group.counts.patterns
    if old != new:
        change = PatternChange.CHANGED
        if old and counts[old] == 1:
            out.records.append(PatternRecord(old))
        if not new or (counts[new] and new in group.resolved):
            change = PatternChange.RESOLVED
        elif not counts[new]:
            _require_valid(new)
            must_look = True
    if (must_look or counts) and state.lookup is None and _may_look(group, now_ms):
        asked = group.counts.changed(member, updated).patterns.keys()
        if asked and (must_look or _is_due(state, group, now_ms, len(asked))):
            state.lookup = frozenset(asked)
            out.timers.append((LOOKUP_KEY, state.config.lookup_ms * MILLISECOND, 0))
    return change


def looked_up(state: ConsumerCoordinator, now_ms: int) -> Changes:
    """Take over what the background thread has found."""
    out, group = Changes(), state.group
    asked, state.lookup = state.lookup, None
    if not state.exists or asked is None:
        return out
    found = {}
    for pattern in _in_java_order(asked):
        if group.counts.patterns[pattern]:
            topics = matching(pattern, state.cluster.topics)
            found[pattern] = PatternRecord(pattern, topics, state.version, now_ms)
    has_changed = any(
        set(each.topics or ()) != set(_topics(group.resolved.get(pattern)))
        for pattern, each in found.items()
    )
    out.records += found.values()
    seen = topics_seen(state.cluster, group.counts, {**group.resolved, **found})
    if has_changed or seen != group.topics_seen:
        group.must_refresh, group.refreshed_in = False, group.epoch + 1
        out.records.append(GroupEpochRecord(group.refreshed_in, seen))
    return out


def _is_due(state: ConsumerCoordinator, group: ConsumerGroup, now_ms: int, asked: int) -> bool:
    last = group.first_resolved
    return last is None or (
        asked != len(group.resolved)
        or last.version < state.version_of_new_topics
        or now_ms > last.at_ms + state.config.refresh_interval_ms
    )


def _may_look(group: ConsumerGroup, now_ms: int) -> bool:
    last = group.first_resolved
    return last is None or now_ms > last.at_ms + MIN_INTERVAL_MS


def _require_valid(pattern: str) -> None:
    try:
        require_pattern(pattern)
    except re.error:
        raise Refused(ConsumerError.INVALID_REGULAR_EXPRESSION) from None


def _topics(record: PatternRecord | None) -> tuple[str, ...]:
    return () if record is None or record.topics is None else record.topics


def _in_java_order(patterns: frozenset[str]) -> list[str]:
    """Return the patterns in the order of a `HashMap` made for so many."""
    listed = sorted(patterns)
    order = put_order(string_hashes(listed), capacity=len(listed))
    return [listed[number] for number in order.tolist()]
