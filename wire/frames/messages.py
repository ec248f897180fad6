"""The fields of JoinGroup, SyncGroup and DescribeGroups messages, and of a request's header.

Every version that Kafka 4.4 lists as valid or has removed since (KIP-896). A DescribeGroups request
has no bytes of members.
"""

from __future__ import annotations

from wire.layout import INT8, INT16, INT32, PLACE, STRING, ArrayOf, Field, Layout, Struct

SUBSCRIPTION, ASSIGNMENT = "subscription", "assignment"
INSTANCE = "group_instance_id"

JOIN_REQUEST = Layout(
    "JoinGroup request",
    versions=range(10),
    flexible_from=6,
    fields=(
        Field("group_id", STRING),
        Field("session_timeout_ms", INT32),
        Field("rebalance_timeout_ms", INT32, since=1),
        Field("member_id", STRING),
        Field(INSTANCE, STRING, since=5, nullable=True),
        Field("protocol_type", STRING),
        Field(
            "protocols",
            ArrayOf(Struct((Field("name", STRING), Field(SUBSCRIPTION, PLACE)))),
        ),
        Field("reason", STRING, since=8, nullable=True),
    ),
)
JOIN_RESPONSE = Layout(
    "JoinGroup response",
    versions=range(10),
    flexible_from=6,
    fields=(
        Field("throttle_time_ms", INT32, since=2),
        Field("error_code", INT16),
        Field("generation_id", INT32),
        Field("protocol_type", STRING, since=7, nullable=True),
        Field("protocol_name", STRING, nullable=True),
        Field("leader", STRING),
        Field("skip_assignment", INT8, since=9),
        Field("member_id", STRING),
        Field(
            "members",
            ArrayOf(
                Struct(
                    (
                        Field("member_id", STRING),
                        Field(INSTANCE, STRING, since=5, nullable=True),
                        Field(SUBSCRIPTION, PLACE),
                    )
                )
            ),
        ),
    ),
)
SYNC_REQUEST = Layout(
    "SyncGroup request",
    versions=range(6),
    flexible_from=4,
    fields=(
        Field("group_id", STRING),
        Field("generation_id", INT32),
        Field("member_id", STRING),
        Field(INSTANCE, STRING, since=3, nullable=True),
        Field("protocol_type", STRING, since=5, nullable=True),
        Field("protocol_name", STRING, since=5, nullable=True),
        Field(
            "assignments",
            ArrayOf(Struct((Field("member_id", STRING), Field(ASSIGNMENT, PLACE)))),
        ),
    ),
)
SYNC_RESPONSE = Layout(
    "SyncGroup response",
    versions=range(6),
    flexible_from=4,
    fields=(
        Field("throttle_time_ms", INT32, since=1),
        Field("error_code", INT16),
        Field("protocol_type", STRING, since=5, nullable=True),
        Field("protocol_name", STRING, since=5, nullable=True),
        Field(ASSIGNMENT, PLACE),
    ),
)
DESCRIBED = "groups"
DESCRIBE_RESPONSE = Layout(
    "DescribeGroups response",
    versions=range(7),
    flexible_from=5,
    fields=(
        Field("throttle_time_ms", INT32, since=1),
        Field(
            DESCRIBED,
            ArrayOf(
                Struct(
                    (
                        Field("error_code", INT16),
                        Field("error_message", STRING, since=6, nullable=True),
                        Field("group_id", STRING),
                        Field("group_state", STRING),
                        Field("protocol_type", STRING),
                        Field("protocol_data", STRING),
                        Field(
                            "members",
                            ArrayOf(
                                Struct(
                                    (
                                        Field("member_id", STRING),
                                        Field(INSTANCE, STRING, since=4, nullable=True),
                                        Field("client_id", STRING),
                                        Field("client_host", STRING),
                                        Field(SUBSCRIPTION, PLACE),
                                        Field(ASSIGNMENT, PLACE),
                                    )
                                )
                            ),
                        ),
                        Field("authorized_operations", INT32, since=3),
                    )
                )
            ),
        ),
    ),
)
REQUESTS = {11: JOIN_REQUEST, 14: SYNC_REQUEST}
RESPONSES = (JOIN_RESPONSE, SYNC_RESPONSE, DESCRIBE_RESPONSE)
HEADER = Layout(
    "request header",
    versions=range(1),
    fields=(
        Field("api_key", INT16),
        Field("api_version", INT16),
        Field("correlation_id", INT32),
        Field("client_id", STRING, nullable=True),
    ),
)
TAGS = Layout("tags of a header", versions=range(1), flexible_from=0, fields=())
"""What follows the header in flexible versions."""
