"""Groups that the broker assigns (KIP-848): record types 3 to 8 and 16.

A group is spread over many records: its epoch (3), each member (5), the target (6 for the whole,
7 for each member), what each member has now (8), and what a regular expression resolved to (16).
Type 4 is written as tombstones only, since the hash in type 3 replaced it (KIP-1101).

Two tags have a default that is not null. A member without classic metadata is stored with an
explicit null; without the tag it has empty metadata. The same holds for `assignmentEpochs`
(KIP-1251).
"""

from __future__ import annotations

from wire.layout import BYTES, INT8, INT32, INT64, STRING, UUID, ArrayOf, Field, Layout, Struct

GROUP_KEY_FIELDS = (Field("groupId", STRING),)
MEMBER_KEY_FIELDS = (Field("groupId", STRING), Field("memberId", STRING))

CONSUMER_GROUP_METADATA_KEY = Layout(
    "ConsumerGroupMetadataKey", versions=range(1), fields=GROUP_KEY_FIELDS
)

CONSUMER_GROUP_METADATA = Layout(
    "ConsumerGroupMetadataValue",
    versions=range(1),
    flexible_from=0,
    fields=(Field("epoch", INT32), Field("metadataHash", INT64, tag=0, default=0)),
)

CONSUMER_GROUP_PARTITION_METADATA_KEY = Layout(
    "ConsumerGroupPartitionMetadataKey", versions=range(1), fields=GROUP_KEY_FIELDS
)

PARTITION_METADATA = Struct((Field("partition", INT32), Field("racks", ArrayOf(STRING))))

CONSUMER_GROUP_PARTITION_METADATA = Layout(
    "ConsumerGroupPartitionMetadataValue",
    versions=range(1),
    flexible_from=0,
    fields=(
        Field(
            "topics",
            ArrayOf(
                Struct(
                    (
                        Field("topicId", UUID),
                        Field("topicName", STRING),
                        Field("numPartitions", INT32),
                        Field("partitionMetadata", ArrayOf(PARTITION_METADATA)),
                    )
                )
            ),
        ),
    ),
)

CONSUMER_GROUP_MEMBER_METADATA_KEY = Layout(
    "ConsumerGroupMemberMetadataKey", versions=range(1), fields=MEMBER_KEY_FIELDS
)

CLASSIC_PROTOCOL = Struct((Field("name", STRING), Field("metadata", BYTES)))

CLASSIC_MEMBER_METADATA = Struct(
    (
        Field("sessionTimeoutMs", INT32),
        Field("supportedProtocols", ArrayOf(CLASSIC_PROTOCOL)),
    )
)

CONSUMER_GROUP_MEMBER_METADATA = Layout(
    "ConsumerGroupMemberMetadataValue",
    versions=range(1),
    flexible_from=0,
    fields=(
        Field("instanceId", STRING, nullable=True),
        Field("rackId", STRING, nullable=True),
        Field("clientId", STRING),
        Field("clientHost", STRING),
        Field("subscribedTopicNames", ArrayOf(STRING)),
        Field("subscribedTopicRegex", STRING, nullable=True),
        Field("rebalanceTimeoutMs", INT32),
        Field("serverAssignor", STRING, nullable=True),
        Field(
            "classicMemberMetadata",
            CLASSIC_MEMBER_METADATA,
            tag=0,
            nullable=True,
            default={"sessionTimeoutMs": 0, "supportedProtocols": []},
        ),
    ),
)

CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA_KEY = Layout(
    "ConsumerGroupTargetAssignmentMetadataKey", versions=range(1), fields=GROUP_KEY_FIELDS
)

TARGET_METADATA_FIELDS = (
    Field("assignmentEpoch", INT32),
    Field("assignmentTimestamp", INT64, tag=0, default=0),  # KIP-1263
)

CONSUMER_GROUP_TARGET_ASSIGNMENT_METADATA = Layout(
    "ConsumerGroupTargetAssignmentMetadataValue",
    versions=range(1),
    flexible_from=0,
    fields=TARGET_METADATA_FIELDS,
)

CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY = Layout(
    "ConsumerGroupTargetAssignmentMemberKey", versions=range(1), fields=MEMBER_KEY_FIELDS
)

TOPIC_PARTITIONS = Struct((Field("topicId", UUID), Field("partitions", ArrayOf(INT32))))

CONSUMER_GROUP_TARGET_ASSIGNMENT_MEMBER = Layout(
    "ConsumerGroupTargetAssignmentMemberValue",
    versions=range(1),
    flexible_from=0,
    fields=(Field("topicPartitions", ArrayOf(TOPIC_PARTITIONS)),),
)

CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY = Layout(
    "ConsumerGroupCurrentMemberAssignmentKey", versions=range(1), fields=MEMBER_KEY_FIELDS
)

ASSIGNMENT_EPOCHS = Field("assignmentEpochs", ArrayOf(INT32), tag=0, nullable=True, default=[])

TOPIC_PARTITIONS_WITH_EPOCHS = Struct((*TOPIC_PARTITIONS.fields, ASSIGNMENT_EPOCHS))

CONSUMER_GROUP_CURRENT_MEMBER_ASSIGNMENT = Layout(
    "ConsumerGroupCurrentMemberAssignmentValue",
    versions=range(1),
    flexible_from=0,
    fields=(
        Field("memberEpoch", INT32),
        Field("previousMemberEpoch", INT32),
        Field("state", INT8),  # 0 stable, 1 partitions to revoke, 2 to be released by others
        Field("assignedPartitions", ArrayOf(TOPIC_PARTITIONS_WITH_EPOCHS)),
        Field("partitionsPendingRevocation", ArrayOf(TOPIC_PARTITIONS_WITH_EPOCHS)),
    ),
)

CONSUMER_GROUP_REGULAR_EXPRESSION_KEY = Layout(
    "ConsumerGroupRegularExpressionKey",
    versions=range(1),
    fields=(Field("groupId", STRING), Field("regularExpression", STRING)),
)

CONSUMER_GROUP_REGULAR_EXPRESSION = Layout(
    "ConsumerGroupRegularExpressionValue",
    versions=range(1),
    flexible_from=0,
    fields=(
        Field("topics", ArrayOf(STRING)),
        Field("version", INT64),
        Field("timestamp", INT64),
    ),
)
