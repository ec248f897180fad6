"""What the tests tell the broker and ask it: topics, groups, offsets.

Every question opens a connection, asks once and hangs up: an answer is the state of this moment,
and after a broker's restart there is nothing to mend.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from kio.schema.consumer_group_describe.v1.request import ConsumerGroupDescribeRequest
from kio.schema.consumer_group_describe.v1.response import ConsumerGroupDescribeResponse
from kio.schema.create_partitions.v3.request import CreatePartitionsRequest, CreatePartitionsTopic
from kio.schema.create_partitions.v3.response import CreatePartitionsResponse
from kio.schema.create_topics.v7.request import CreatableTopic, CreateTopicsRequest
from kio.schema.create_topics.v7.response import CreateTopicsResponse
from kio.schema.describe_groups.v5.request import DescribeGroupsRequest
from kio.schema.describe_groups.v5.response import DescribeGroupsResponse
from kio.schema.errors import ErrorCode
from kio.schema.incremental_alter_configs.v1.request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kio.schema.incremental_alter_configs.v1.response import IncrementalAlterConfigsResponse
from kio.schema.list_offsets.v7.request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kio.schema.list_offsets.v7.response import ListOffsetsResponse
from kio.schema.metadata.v12.request import MetadataRequest, MetadataRequestTopic
from kio.schema.metadata.v12.response import MetadataResponse
from kio.schema.offset_fetch.v8.request import OffsetFetchRequest, OffsetFetchRequestGroup
from kio.schema.offset_fetch.v8.response import OffsetFetchResponse
from kio.schema.types import BrokerId, GroupId, TopicName
from kio.static.primitive import i8, i16, i32, i32Timedelta, i64

from tests.interop.connection import Answer, Connection
from tests.interop.events import Partition
from wire import decode_assignment

PATIENCE = i32Timedelta.parse(timedelta(seconds=10))
LATEST = i64(-1)
SET, OF_A_GROUP = i8(0), i8(32)
"""What is done with a configuration, and of what kind of resource it is."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribedMember:
    """A member as the broker has it."""

    member_id: str
    client_id: str
    instance_id: str | None
    partitions: tuple[Partition, ...]
    """Sorted; what stands twice in the assignment stands twice here."""
    blob: bytes = b""
    """The assignment as the leader wrote it; empty in groups the broker assigns."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribedGroup:
    """A group as the broker has it."""

    state: str
    """`Stable`, `Empty`, `Dead`, `PreparingRebalance`, ..., or an error's name."""
    protocol: str
    """The chosen assignor's name."""
    members: tuple[DescribedMember, ...]


class Admin:
    """Questions to one broker."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = bootstrap

    def create_topics(self, partition_counts: Mapping[str, int]) -> None:
        """Create topics, and wait until the broker serves them."""
        topics = tuple(
            CreatableTopic(
                name=TopicName(name),
                num_partitions=i32(count),
                replication_factor=i16(1),
                assignments=(),
                configs=(),
            )
            for name, count in partition_counts.items()
        )
        request = CreateTopicsRequest(topics=topics, timeout=PATIENCE)
        for topic in self._ask(request, CreateTopicsResponse).topics:
            _require(topic.error_code, topic.name, topic.error_message)

    def add_partitions(self, topic: str, count: int) -> None:
        """Let a topic grow to `count` partitions."""
        grown = CreatePartitionsTopic(name=TopicName(topic), count=i32(count), assignments=None)
        request = CreatePartitionsRequest(topics=(grown,), timeout=PATIENCE, validate_only=False)
        for result in self._ask(request, CreatePartitionsResponse).results:
            _require(result.error_code, result.name, result.error_message)

    def configure_group(self, group: str, settings: Mapping[str, str]) -> None:
        """Set configurations of a group, as `consumer.heartbeat.interval.ms`."""
        configs = tuple(
            AlterableConfig(name=name, config_operation=SET, value=value)
            for name, value in settings.items()
        )
        resource = AlterConfigsResource(
            resource_type=OF_A_GROUP, resource_name=group, configs=configs
        )
        request = IncrementalAlterConfigsRequest(resources=(resource,), validate_only=False)
        for result in self._ask(request, IncrementalAlterConfigsResponse).responses:
            _require(result.error_code, group, result.error_message)

    def partition_counts(self, topics: list[str]) -> dict[str, int]:
        """How many partitions each topic has that exists."""
        wanted = tuple(MetadataRequestTopic(topic_id=None, name=TopicName(name)) for name in topics)
        request = MetadataRequest(
            topics=wanted,
            allow_auto_topic_creation=False,
            include_topic_authorized_operations=False,
        )
        answer = self._ask(request, MetadataResponse)
        return {
            str(topic.name): len(topic.partitions)
            for topic in answer.topics
            if topic.error_code is ErrorCode.none
        }

    def describe(self, group: str) -> DescribedGroup:
        """The group at this moment, of either kind."""
        classic = self._describe_classic(group)
        # A group of the other kind is no error to the classic question: it is dead.
        return self._describe_consumer(group) or classic if classic.state == "Dead" else classic

    def _describe_classic(self, group: str) -> DescribedGroup:
        request = DescribeGroupsRequest(
            groups=(GroupId(group),), include_authorized_operations=False
        )
        (found,) = self._ask(request, DescribeGroupsResponse).groups
        members = tuple(
            DescribedMember(
                member_id=one.member_id,
                client_id=one.client_id,
                instance_id=one.group_instance_id,
                partitions=_partitions(one.member_assignment),
                blob=one.member_assignment,
            )
            for one in found.members
        )
        failed = found.error_code is not ErrorCode.none
        return DescribedGroup(
            state=found.error_code.name if failed else found.group_state,
            protocol=found.protocol_data,
            members=members,
        )

    def _describe_consumer(self, group: str) -> DescribedGroup | None:
        request = ConsumerGroupDescribeRequest(
            group_ids=(GroupId(group),), include_authorized_operations=False
        )
        (found,) = self._ask(request, ConsumerGroupDescribeResponse).groups
        if found.error_code is not ErrorCode.none:
            return None
        members = tuple(
            DescribedMember(
                member_id=one.member_id,
                client_id=one.client_id,
                instance_id=one.instance_id,
                partitions=tuple(
                    sorted(
                        (str(topic.topic_name), int(number))
                        for topic in one.assignment.topic_partitions
                        for number in topic.partitions
                    )
                ),
            )
            for one in found.members
        )
        return DescribedGroup(
            state=found.group_state, protocol=found.assignor_name, members=members
        )

    def committed(self, group: str) -> dict[Partition, int]:
        """Every offset the group has committed."""
        wanted = OffsetFetchRequestGroup(group_id=GroupId(group), topics=None)
        request = OffsetFetchRequest(groups=(wanted,), require_stable=True)
        (found,) = self._ask(request, OffsetFetchResponse).groups
        _require(found.error_code, group, None)
        return {
            (str(topic.name), int(one.partition_index)): int(one.committed_offset)
            for topic in found.topics
            for one in topic.partitions
        }

    def ends(self, partition_counts: Mapping[str, int]) -> dict[Partition, int]:
        """The offset that the next record of each partition will get."""
        topics = tuple(
            ListOffsetsTopic(
                name=TopicName(name),
                partitions=tuple(
                    ListOffsetsPartition(partition_index=i32(number), timestamp=LATEST)
                    for number in range(count)
                ),
            )
            for name, count in partition_counts.items()
        )
        request = ListOffsetsRequest(replica_id=BrokerId(-1), isolation_level=i8(0), topics=topics)
        return {
            (str(topic.name), int(one.partition_index)): int(one.offset)
            for topic in self._ask(request, ListOffsetsResponse).topics
            for one in topic.partitions
        }

    def _ask(self, request: Any, answer: type[Answer]) -> Answer:
        with Connection(self._bootstrap, client_id="judge") as connection:
            return connection.ask(request, answer)


def _require(error: ErrorCode, name: str, message: str | None) -> None:
    if error is not ErrorCode.none:
        raise RuntimeError(f"{name}: {error.name}: {message}")


def _partitions(blob: bytes) -> tuple[Partition, ...]:
    """What an assignment gives; nothing where it cannot be read, as before the first one."""
    value = decode_assignment(blob).value
    topics = value.partitions if value else {}
    return tuple(sorted((topic, number) for topic in topics for number in topics[topic]))
