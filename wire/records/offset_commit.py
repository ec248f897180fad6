"""Committed offsets: record types 0 (never written any more) and 1.

The expire timestamp stood in version 1 alone and is still written in that version when a client
asks for one. Version 4 (KAFKA-19141) is the first flexible one and carries the topic's id, which
broke every hand-written reader.
"""

from __future__ import annotations

from wire.layout import INT32, INT64, NO_ID, STRING, UUID, Field, Layout

KEY_FIELDS = (Field("group", STRING), Field("topic", STRING), Field("partition", INT32))

LEGACY_OFFSET_COMMIT_KEY = Layout("LegacyOffsetCommitKey", versions=range(1), fields=KEY_FIELDS)

LEGACY_OFFSET_COMMIT = Layout(
    "LegacyOffsetCommitValue",
    versions=range(1),
    fields=(
        Field("offset", INT64),
        Field("metadata", STRING),
        Field("commitTimestamp", INT64),
    ),
)

OFFSET_COMMIT_KEY = Layout("OffsetCommitKey", versions=range(1), fields=KEY_FIELDS)

OFFSET_COMMIT = Layout(
    "OffsetCommitValue",
    versions=range(5),
    flexible_from=4,
    fields=(
        Field("offset", INT64),
        Field("leaderEpoch", INT32, since=3, default=-1),
        Field("metadata", STRING),
        Field("commitTimestamp", INT64),
        Field("expireTimestamp", INT64, since=1, until=1, default=-1),
        Field("topicId", UUID, since=4, tag=0, default=NO_ID),
    ),
)
