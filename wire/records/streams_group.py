"""Streams groups (KIP-1071): record types 17 and 19 to 23.

Members run tasks: a subtopology and partition numbers, active, standby or warming up. The group's
topology, which its members sent, is a record too (23). Type 18, the partition metadata of
previews, is gone.
"""

from __future__ import annotations

from wire.layout import INT8, INT16, INT32, INT64, STRING, UINT16, ArrayOf, Field, Layout, Struct
from wire.records.consumer_group import (
    ASSIGNMENT_EPOCHS,
    GROUP_KEY_FIELDS,
    MEMBER_KEY_FIELDS,
    TARGET_METADATA_FIELDS,
)

KEY_VALUE = Struct((Field("key", STRING), Field("value", STRING)))

STREAMS_GROUP_METADATA_KEY = Layout(
    "StreamsGroupMetadataKey", versions=range(1), fields=GROUP_KEY_FIELDS
)

STREAMS_GROUP_METADATA = Layout(
    "StreamsGroupMetadataValue",
    versions=range(1),
    flexible_from=0,
    fields=(
        Field("epoch", INT32),
        Field("metadataHash", INT64),
        Field("validatedTopologyEpoch", INT32, tag=0, default=-1),
        Field("lastAssignmentConfigs", ArrayOf(KEY_VALUE), tag=1, nullable=True, default=[]),
        Field("storedDescriptionTopologyEpoch", INT32, tag=2, default=-1),
        Field("failedDescriptionTopologyEpoch", INT32, tag=3, default=-1),
    ),
)

STREAMS_GROUP_MEMBER_METADATA_KEY = Layout(
    "StreamsGroupMemberMetadataKey", versions=range(1), fields=MEMBER_KEY_FIELDS
)

ENDPOINT = Struct((Field("host", STRING), Field("port", UINT16)))

STREAMS_GROUP_MEMBER_METADATA = Layout(
    "StreamsGroupMemberMetadataValue",
    versions=range(1),
    flexible_from=0,
    fields=(
        Field("instanceId", STRING, nullable=True),
        Field("rackId", STRING, nullable=True),
        Field("clientId", STRING),
        Field("clientHost", STRING),
        Field("rebalanceTimeoutMs", INT32),
        Field("topologyEpoch", INT32),
        Field("processId", STRING),
        Field("userEndpoint", ENDPOINT, nullable=True),
        Field("clientTags", ArrayOf(KEY_VALUE)),
    ),
)

STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA_KEY = Layout(
    "StreamsGroupTargetAssignmentMetadataKey", versions=range(1), fields=GROUP_KEY_FIELDS
)

STREAMS_GROUP_TARGET_ASSIGNMENT_METADATA = Layout(
    "StreamsGroupTargetAssignmentMetadataValue",
    versions=range(1),
    flexible_from=0,
    fields=TARGET_METADATA_FIELDS,
)

STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER_KEY = Layout(
    "StreamsGroupTargetAssignmentMemberKey", versions=range(1), fields=MEMBER_KEY_FIELDS
)

TASKS = Struct((Field("subtopologyId", STRING), Field("partitions", ArrayOf(INT32))))

STREAMS_GROUP_TARGET_ASSIGNMENT_MEMBER = Layout(
    "StreamsGroupTargetAssignmentMemberValue",
    versions=range(1),
    flexible_from=0,
    fields=(
        Field("activeTasks", ArrayOf(TASKS)),
        Field("standbyTasks", ArrayOf(TASKS)),
        Field("warmupTasks", ArrayOf(TASKS)),
    ),
)

STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT_KEY = Layout(
    "StreamsGroupCurrentMemberAssignmentKey", versions=range(1), fields=MEMBER_KEY_FIELDS
)

TASKS_WITH_EPOCHS = Struct((*TASKS.fields, ASSIGNMENT_EPOCHS))

STREAMS_GROUP_CURRENT_MEMBER_ASSIGNMENT = Layout(
    "StreamsGroupCurrentMemberAssignmentValue",
    versions=range(1),
    flexible_from=0,
    fields=(
        Field("memberEpoch", INT32),
        Field("previousMemberEpoch", INT32),
        Field("state", INT8),
        Field("activeTasks", ArrayOf(TASKS_WITH_EPOCHS)),
        Field("standbyTasks", ArrayOf(TASKS_WITH_EPOCHS)),
        Field("warmupTasks", ArrayOf(TASKS_WITH_EPOCHS)),
        Field("activeTasksPendingRevocation", ArrayOf(TASKS_WITH_EPOCHS)),
        Field("standbyTasksPendingRevocation", ArrayOf(TASKS_WITH_EPOCHS)),
        Field("warmupTasksPendingRevocation", ArrayOf(TASKS_WITH_EPOCHS)),
    ),
)

STREAMS_GROUP_TOPOLOGY_KEY = Layout(
    "StreamsGroupTopologyKey", versions=range(1), fields=GROUP_KEY_FIELDS
)

TOPIC_INFO = Struct(
    (
        Field("name", STRING),
        Field("partitions", INT32),
        Field("replicationFactor", INT16),
        Field("topicConfigs", ArrayOf(KEY_VALUE)),
    )
)

COPARTITION_GROUP = Struct(
    (
        Field("sourceTopics", ArrayOf(INT16)),
        Field("sourceTopicRegex", ArrayOf(INT16)),
        Field("repartitionSourceTopics", ArrayOf(INT16)),
    )
)

SUBTOPOLOGY = Struct(
    (
        Field("subtopologyId", STRING),
        Field("sourceTopics", ArrayOf(STRING)),
        Field("sourceTopicRegex", ArrayOf(STRING)),
        Field("stateChangelogTopics", ArrayOf(TOPIC_INFO)),
        Field("repartitionSinkTopics", ArrayOf(STRING)),
        Field("repartitionSourceTopics", ArrayOf(TOPIC_INFO)),
        Field("copartitionGroups", ArrayOf(COPARTITION_GROUP)),
    )
)

STREAMS_GROUP_TOPOLOGY = Layout(
    "StreamsGroupTopologyValue",
    versions=range(1),
    flexible_from=0,
    fields=(Field("epoch", INT32), Field("subtopologies", ArrayOf(SUBTOPOLOGY))),
)
