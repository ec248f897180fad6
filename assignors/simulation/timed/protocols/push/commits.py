"""Who may commit offsets in a group of the push protocol.

A member may commit what it has been granted, until its notification, or until the brokers took it
away. One partition that it may not commit fails the whole request.
"""

from __future__ import annotations

from assignors.simulation.timed.protocols.kafka.offsets import GroupAccess, Removed, Step
from assignors.simulation.timed.protocols.kafka.messages import ErrorCode, OffsetCommit
from assignors.simulation.timed.protocols.push.group import PushCoordinator


def push_access(coordinator: PushCoordinator, step: Step) -> GroupAccess:
    """Return the access to a group; `step` is what plays its own events."""
    members = coordinator.members
    return GroupAccess(
        step=step,
        exists=lambda: True,
        make=lambda: None,
        commit_refusal=lambda request: commit_refusal(coordinator, request),
        fetch_refusal=lambda _: ErrorCode.NONE,
        delete_refusal=lambda: ErrorCode.NONE,
        after_commit=lambda _: [],
        subscribes=lambda topic: any(topic in each.topics for each in members.values()),
        retained_since=lambda committed_ms: committed_ms,
        is_empty=lambda: not members,
        # The design has no records of groups.
        remove=lambda: Removed((), lambda: None, is_reverted=False),
    )


def commit_refusal(coordinator: PushCoordinator, request: OffsetCommit) -> ErrorCode:
    """Return why a group refuses a commit. Cost: O(partitions of the commit)."""
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
