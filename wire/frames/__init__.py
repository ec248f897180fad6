"""Whole JoinGroup and SyncGroup messages as they stand on the wire, in any version."""

from wire.frames.messages import (
    ASSIGNMENT,
    JOIN_REQUEST,
    JOIN_RESPONSE,
    SUBSCRIPTION,
    SYNC_REQUEST,
    SYNC_RESPONSE,
)
from wire.frames.reading import UNSOUND, GroupFrame, Part, group_frames

__all__ = [
    "ASSIGNMENT",
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
