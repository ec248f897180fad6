"""The two questions for offsets, in kafka-python's event loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from kafka.errors import KafkaError
from kafka.protocol.consumer import ListOffsetsRequest, OffsetSpec
from kafka.structs import TopicPartition

from assignors.clients.common import offset_samples
from assignors.clients.common.offset_samples import TIMEOUT_S, Found, Offsets, Partition

Topic = ListOffsetsRequest.ListOffsetsTopic


async def read_offsets(
    coordinator: Any,  # noqa: ANN401 - kafka-python's type
    partition_counts: Mapping[str, int],
) -> tuple[Offsets, Offsets]:
    """Return log ends and committed offsets; raises `KafkaError` where nothing can be read."""
    cluster = coordinator._cluster  # noqa: SLF001 - no other way
    return await offset_samples.read_offsets(
        partition_counts,
        leader_of=lambda partition: cluster.leader_for_partition(TopicPartition(*partition)),
        log_ends=partial(_log_ends, coordinator),
        committed=partial(_committed, coordinator),
        client_error=KafkaError,
    )


async def _log_ends(
    coordinator: Any,  # noqa: ANN401 - as above
    node_id: int,
    partitions: Sequence[Partition],
) -> Found:
    """Return the log ends that a broker answers, as its consumer would see them."""
    isolation = coordinator._isolation_level  # noqa: SLF001 - no other way
    by_topic: dict[str, list[Any]] = {}
    for topic, number in partitions:
        asked = Topic.ListOffsetsPartition(
            partition_index=number, current_leader_epoch=-1, timestamp=OffsetSpec.LATEST
        )
        by_topic.setdefault(topic, []).append(asked)
    request = ListOffsetsRequest(
        isolation_level=isolation,
        topics=list(by_topic.items()),
        min_version=max(1, ListOffsetsRequest.min_version_for_isolation_level(isolation)),
    )
    answer = await coordinator._manager.send(request, node_id=node_id)  # noqa: SLF001 - as above
    return [
        ((topic.name, one.partition_index), one.offset)
        for topic in answer.topics
        for one in topic.partitions
        if one.error_code == 0
    ]


async def _committed(
    coordinator: Any,  # noqa: ANN401 - as above
    partitions: Sequence[Partition],
) -> Found:
    """Return what the group has committed."""
    asked = [TopicPartition(*partition) for partition in partitions]
    found = await coordinator.fetch_committed_offsets_async(asked, timeout_ms=TIMEOUT_S * 1000)
    return [(tuple(partition), kept.offset) for partition, kept in found.items()]
