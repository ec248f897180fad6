"""What members of a consumer group subscribe to: topics by name, and those that patterns match.

A background thread looks up which topics a pattern matches (KIP-848), one lookup of a group at a
time and no more often than every ten seconds: when a pattern is new, when there are new topics, and
when the last lookup is too old. A pattern matches nothing until the first answer. Nothing here runs
by itself: a heartbeat begins it.

Source: `GroupMetadataManager.maybeUpdateRegularExpressions`, `handleRegularExpressionsResult`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum, auto

from assignors.jvm.hash_order import put_order, string_hashes
from assignors.model import Cluster
from assignors.server.spec import made_id
from assignors.simulation.timed.protocols.effects import MILLISECOND
from assignors.simulation.timed.protocols.kafka.consumer_group import (
    ConsumerGroup,
    ConsumerMember,
    Counts,
    in_java_order,
)
from assignors.simulation.timed.protocols.kafka.messages import ErrorCode
from assignors.simulation.timed.protocols.kafka.records import GroupEpochRecord, PatternRecord
from assignors.simulation.timed.protocols.kafka.state import (
    Changes,
    GroupCoordinator,
    Refused,
    Work,
)
from assignors.simulation.topic_patterns import matching, require_pattern


def topics_seen(
    cluster: Cluster, counts: Counts, resolved: Mapping[str, PatternRecord]
) -> frozenset[tuple[str, int]]:
    """Return the subscribed topics that exist, with their partition counts. Cost: O(topics)."""
    known = cluster.topics
    subscribed = set(counts.topics)
    for each in resolved.values():
        subscribed.update(each.topics or ())
    return frozenset(
        (topic, known[topic].partition_count) for topic in subscribed if topic in known
    )


def subscribed_topics(
    member: ConsumerMember, resolved: Mapping[str, PatternRecord]
) -> tuple[str, ...]:
    """Return what a member subscribes to: first the larger of the two sets, as in Kafka."""
    found = resolved.get(member.pattern) if member.pattern else None
    if found is None or not found.topics:
        return member.topics
    first, second = in_java_order(found.topics), member.topics
    if len(second) > len(first):
        first, second = second, first
    return (*first, *(topic for topic in second if topic not in first))


def with_ids(cluster: Cluster) -> Cluster:
    """Return the cluster with an id for every topic, made from its name. Cost: O(topics).

    The broker's assignors order topics by them.
    """
    return Cluster(
        topics={
            name: topic if topic.topic_id else replace(topic, topic_id=made_id(name))
            for name, topic in cluster.topics.items()
        }
    )


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
    state, group, out = work
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
    if (must_look or counts) and state.lookup is None and _may_look(state, group):
        asked = group.counts.changed(member, updated).patterns.keys()
        if asked and (must_look or _is_due(state, group, len(asked))):
            state.lookup = frozenset(asked)
            out.timers.append((LOOKUP_KEY, state.config.lookup_ms * MILLISECOND, 0))
    return change


def looked_up(state: GroupCoordinator) -> Changes:
    """Take over what the background thread has found."""
    out, group = Changes(), state.consumer
    asked, state.lookup = state.lookup, None
    if group is None or asked is None:
        return out
    found = {}
    for pattern in _in_java_order(asked):
        if group.counts.patterns[pattern]:
            topics = matching(pattern, state.cluster.topics)
            found[pattern] = PatternRecord(pattern, topics, state.version, state.now_ms)
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


def _is_due(state: GroupCoordinator, group: ConsumerGroup, asked: int) -> bool:
    last = group.first_resolved
    return last is None or (
        asked != len(group.resolved)
        or last.version < state.version_of_new_topics
        or state.now_ms > last.at_ms + state.config.refresh_interval_ms
    )


def _may_look(state: GroupCoordinator, group: ConsumerGroup) -> bool:
    last = group.first_resolved
    return last is None or state.now_ms > last.at_ms + MIN_INTERVAL_MS


def _require_valid(pattern: str) -> None:
    try:
        require_pattern(pattern)
    except re.error:
        raise Refused(ErrorCode.INVALID_REGULAR_EXPRESSION) from None


def _topics(record: PatternRecord | None) -> tuple[str, ...]:
    return () if record is None or record.topics is None else record.topics


def _in_java_order(patterns: frozenset[str]) -> list[str]:
    """Return the patterns in the order of a `HashMap` made for so many."""
    listed = sorted(patterns)
    order = put_order(string_hashes(listed), capacity=len(listed))
    return [listed[number] for number in order.tolist()]
