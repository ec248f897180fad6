"""Who may commit under the push protocol, and what a member may read.

A member may commit what it has been granted, until its notification, or until the brokers took it
away. One partition that it may not commit fails the whole request.

A member consumes a partition as long as it believes to own it and may fetch it or commit it. The
request to give it up takes the right to fetch and leaves that to commit: until its next poll the
member works on what it has fetched. A member that was fenced for its silence, or whose lease is
over, has neither, whatever it believes; what it has in hand is read again by the next owner.
"""

from __future__ import annotations

from dataclasses import dataclass

from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    CoordinatorEvent,
    Effect,
    Record,
)
from assignors.simulation.timed.protocols.kafka import offsets
from assignors.simulation.timed.protocols.kafka.messages import ErrorCode, OffsetCommit, OffsetFetch
from assignors.simulation.timed.protocols.kafka.state import CLOCK_STARTS_MS
from assignors.simulation.timed.protocols.push.coordinator import PushCoordinator
from wire import TopicPartitions


@dataclass(slots=True)
class _PushGroup:
    """A group of the push protocol, as its committed offsets see it."""

    coordinator: PushCoordinator

    def exists(self) -> bool:
        return True

    def make(self) -> None:
        raise AssertionError("it always exists")

    def commit_refusal(self, request: OffsetCommit) -> ErrorCode:
        coordinator = self.coordinator
        is_outside = not request.member_id and request.generation < 0
        if is_outside and (request.is_transactional or not coordinator.members):
            return ErrorCode.NONE
        member = coordinator.members.get(request.member_id)
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        has_all = request.member_id not in coordinator.expired and all(
            (topic, number) in member.assigned or (topic, number) in member.removing
            for topic, number, _ in request.offsets
        )
        return ErrorCode.NONE if has_all else ErrorCode.ILLEGAL_GENERATION

    def fetch_refusal(self, _: OffsetFetch) -> ErrorCode:
        return ErrorCode.NONE

    def delete_refusal(self) -> ErrorCode:
        return ErrorCode.NONE

    def after_commit(self, _: OffsetCommit) -> list[Effect]:
        return []

    def subscribes(self, topic: str) -> bool:
        return any(topic in each.topics for each in self.coordinator.members.values())

    def retained_since(self, committed_ms: int) -> int | None:
        return committed_ms

    def is_empty(self) -> bool:
        return not self.coordinator.members

    def remove(self) -> list[Record]:
        return []  # the design has no records of groups


def step(coordinator: PushCoordinator, at_us: int, event: CoordinatorEvent) -> list[Effect]:
    """Return what a coordinator does about an event that concerns offsets alone."""
    now_ms = CLOCK_STARTS_MS + at_us // MILLISECOND
    return offsets.step(coordinator.offsets, _PushGroup(coordinator), now_ms, event)


def readable(
    coordinator: PushCoordinator, member_id: str, owned: TopicPartitions
) -> TopicPartitions:
    """Return the part of `owned` that brokers let a member read. Cost: O(1) where it is all."""
    if member_id in coordinator.expired:
        return {}
    closed = coordinator.closed.get(member_id)
    if not closed:
        return owned
    kept = {
        topic: tuple(n for n in numbers if (topic, n) not in closed)
        for topic, numbers in owned.items()
    }
    return {topic: numbers for topic, numbers in kept.items() if numbers}
