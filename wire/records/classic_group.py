"""Groups whose leader assigns: record type 2.

One record holds the whole group, written when a generation is complete. Of each member it has
the Subscription under the *chosen* protocol only, and its Assignment: zero bytes where the leader
sent none. Both are opaque bytes here; for protocol type "consumer" `wire.records.members` decodes
them.

Redpanda writes an int16, the version, before each member, so Kafka cannot read a group of it.
"""

from __future__ import annotations

from dataclasses import replace

from wire.layout import BYTES, INT16, INT32, INT64, STRING, ArrayOf, Field, Layout, Struct

GROUP_METADATA_KEY = Layout("GroupMetadataKey", versions=range(1), fields=(Field("group", STRING),))

MEMBER = Struct(
    (
        Field("memberId", STRING),
        Field("groupInstanceId", STRING, since=3, nullable=True, default=None),
        Field("clientId", STRING),
        Field("clientHost", STRING),
        Field("rebalanceTimeout", INT32, since=1, default=-1),
        Field("sessionTimeout", INT32),
        Field("subscription", BYTES),
        Field("assignment", BYTES),
    )
)

GROUP_METADATA = Layout(
    "GroupMetadataValue",
    versions=range(5),
    flexible_from=4,
    fields=(
        Field("protocolType", STRING),
        Field("generation", INT32),
        Field("protocol", STRING, nullable=True),
        Field("leader", STRING, nullable=True),
        Field("currentStateTimestamp", INT64, since=2, default=-1),
        Field("members", ArrayOf(MEMBER)),
    ),
)

MEMBER_VERSION = "memberVersion"
REDPANDA_GROUP_METADATA = replace(
    GROUP_METADATA,
    versions=range(4),
    fields=(
        *GROUP_METADATA.fields[:-1],
        Field("members", ArrayOf(Struct((Field(MEMBER_VERSION, INT16), *MEMBER.fields)))),
    ),
)
"""Source: `member_state::encode` in Redpanda's `group_metadata.cc`."""
