"""The two questions for offsets, in aiokafka's event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from aiokafka import TopicPartition
from aiokafka.errors import KafkaError
from aiokafka.protocol.offset import OffsetRequest

from assignors.clients.common import offset_samples
from assignors.clients.common.offset_samples import TIMEOUT_S, Found, Offsets, Partition

NO_REPLICA, READ_UNCOMMITTED, LATEST = -1, 0, -1


async def read_offsets(
    coordinator: Any,  # noqa: ANN401 - aiokafka's type
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
    """Return the log ends that a broker answers; a coordinator does not know what is committed."""
    by_topic: dict[str, list[tuple[int, int]]] = {}
    for topic, number in partitions:
        by_topic.setdefault(topic, []).append((number, LATEST))
    request = OffsetRequest(NO_REPLICA, READ_UNCOMMITTED, list(by_topic.items()))
    answer = await coordinator._client.send(node_id, request)  # noqa: SLF001 - no other way
    return [
        ((topic, number), rest[-1])
        for topic, listed in answer.topics
        for number, error_code, *rest in listed
        if error_code == 0 and isinstance(rest[-1], int)
    ]


async def _committed(
    coordinator: Any,  # noqa: ANN401 - as above
    partitions: Sequence[Partition],
) -> Found:
    """Return what the group has committed."""
    asked = [TopicPartition(*partition) for partition in partitions]
    try:
        found = await asyncio.wait_for(coordinator.fetch_committed_offsets(asked), TIMEOUT_S)
    except TimeoutError as error:
        raise KafkaError(f"no committed offsets in {TIMEOUT_S:g} s") from error
    return [(tuple(partition), kept.offset) for partition, kept in found.items()]
