"""Share groups (KIP-932): record types 10 to 15.

The records of a KIP-848 group, and one more: which partitions of which topics have share state
(15). Type 9, the partition metadata of previews, is gone.
"""

from __future__ import annotations

from wire.layout import INT8, INT32, INT64, STRING, UUID, ArrayOf, Field, Layout, Struct
from wire.records.consumer_group import (
    GROUP_KEY_FIELDS,
    MEMBER_KEY_FIELDS,
    TARGET_METADATA_FIELDS,
    TOPIC_PARTITIONS,
)

SHARE_GROUP_MEMBER_METADATA_KEY = Layout(
    "ShareGroupMemberMetadataKey", versions=range(1), fields=MEMBER_KEY_FIELDS
)

SHARE_GROUP_MEMBER_METADATA = Layout(
    "ShareGroupMemberMetadataValue",
    versions=range(1),
    flexible_from=0,
    fields=(
        Field("rackId", STRING, nullable=True),
        Field("clientId", STRING),
        Field("clientHost", STRING),
        Field("subscribedTopicNames", ArrayOf(STRING)),
    ),
)

SHARE_GROUP_METADATA_KEY = Layout(
    "ShareGroupMetadataKey", versions=range(1), fields=GROUP_KEY_FIELDS
)

SHARE_GROUP_METADATA = Layout(
    "ShareGroupMetadataValue",
    versions=range(1),
    flexible_from=0,
    fields=(Field("epoch", INT32), Field("metadataHash", INT64)),
)

SHARE_GROUP_TARGET_ASSIGNMENT_METADATA_KEY = Layout(
    "ShareGroupTargetAssignmentMetadataKey", versions=range(1), fields=GROUP_KEY_FIELDS
)

SHARE_GROUP_TARGET_ASSIGNMENT_METADATA = Layout(
    "ShareGroupTargetAssignmentMetadataValue",
    versions=range(1),
    flexible_from=0,
    fields=TARGET_METADATA_FIELDS,
)

SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY = Layout(
    "ShareGroupTargetAssignmentMemberKey", versions=range(1), fields=MEMBER_KEY_FIELDS
)

SHARE_GROUP_TARGET_ASSIGNMENT_MEMBER = Layout(
    "ShareGroupTargetAssignmentMemberValue",
    versions=range(1),
    flexible_from=0,
    fields=(Field("topicPartitions", ArrayOf(TOPIC_PARTITIONS)),),
)

SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY = Layout(
    "ShareGroupCurrentMemberAssignmentKey", versions=range(1), fields=MEMBER_KEY_FIELDS
)

SHARE_GROUP_CURRENT_MEMBER_ASSIGNMENT = Layout(
    "ShareGroupCurrentMemberAssignmentValue",
    versions=range(1),
    flexible_from=0,
    fields=(
        Field("memberEpoch", INT32),
        Field("previousMemberEpoch", INT32),
        Field("state", INT8),
        Field("assignedPartitions", ArrayOf(TOPIC_PARTITIONS)),
    ),
)

SHARE_GROUP_STATE_PARTITION_METADATA_KEY = Layout(
    "ShareGroupStatePartitionMetadataKey", versions=range(1), fields=GROUP_KEY_FIELDS
)

TOPIC = Struct((Field("topicId", UUID), Field("topicName", STRING)))

TOPIC_WITH_PARTITIONS = Struct((*TOPIC.fields, Field("partitions", ArrayOf(INT32))))

SHARE_GROUP_STATE_PARTITION_METADATA = Layout(
    "ShareGroupStatePartitionMetadataValue",
    versions=range(1),
    flexible_from=0,
    fields=(
        Field("initializingTopics", ArrayOf(TOPIC_WITH_PARTITIONS)),
        Field("initializedTopics", ArrayOf(TOPIC_WITH_PARTITIONS)),
        Field("deletingTopics", ArrayOf(TOPIC)),
    ),
)
