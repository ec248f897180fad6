"""Whole JoinGroup, SyncGroup and DescribeGroups messages, as on the wire, in any version."""

from wire.frames.messages import (
    ASSIGNMENT,
    DESCRIBE_RESPONSE,
    JOIN_REQUEST,
    JOIN_RESPONSE,
    SUBSCRIPTION,
    SYNC_REQUEST,
    SYNC_RESPONSE,
)
from wire.frames.reading import UNSOUND, GroupFrame, Part, group_frames

__all__ = [
    "ASSIGNMENT",
    "DESCRIBE_RESPONSE",
    "JOIN_REQUEST",
    "JOIN_RESPONSE",
    "SUBSCRIPTION",
    "SYNC_REQUEST",
    "SYNC_RESPONSE",
    "UNSOUND",
    "GroupFrame",
    "Part",
    "group_frames",
]
