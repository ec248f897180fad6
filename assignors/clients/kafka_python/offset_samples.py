"""The offsets of a group, read by its leader's own client in the loop of its connections.

Nothing here blocks: every question is awaited in kafka-python's event loop, between its other
requests, a thousand partitions at a time. A partition whose offset cannot be read is left out: what
was known of it before stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

from kafka.errors import KafkaError
from kafka.protocol.consumer import ListOffsetsRequest, OffsetSpec
from kafka.structs import TopicPartition

PARTITIONS_MAX = 1000
"""Partitions of one request: a larger one is encoded and decoded in one go, heartbeats wait."""

TIMEOUT_S = 10.0
"""How long to wait for committed offsets; the client repeats the question until then."""

Offsets = dict[str, list[int | None]]
Topic = ListOffsetsRequest.ListOffsetsTopic


async def read_offsets(
    coordinator: Any,  # noqa: ANN401 - kafka-python's type
    partition_counts: Mapping[str, int],
) -> tuple[Offsets, Offsets]:
    """Return the log ends and the committed offsets of topics, `None` where they cannot be read.

    Raises the first `KafkaError` where nothing can be read. Two requests for each thousand
    partitions, more where several brokers lead them.
    """
    log_end = _unknown(partition_counts)
    committed = _unknown(partition_counts)
    errors: list[KafkaError] = []
    has_read = False
    for part in _parts(partition_counts):
        questions = [(log_end, partial(_log_ends, *led)) for led in _by_leader(coordinator, part)]
        for offsets, question in (*questions, (committed, partial(_committed, part))):
            try:
                for (topic, number), offset in await question(coordinator):
                    offsets[topic][number] = offset
                has_read = True
            except KafkaError as error:
                errors.append(error)
    if errors and not has_read:
        raise errors[0]
    return log_end, committed


async def _log_ends(
    node_id: int,
    partitions: Sequence[TopicPartition],
    coordinator: Any,  # noqa: ANN401 - as above
) -> list[tuple[TopicPartition, int]]:
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
        (TopicPartition(topic.name, one.partition_index), one.offset)
        for topic in answer.topics
        for one in topic.partitions
        if one.error_code == 0
    ]


async def _committed(
    partitions: Sequence[TopicPartition],
    coordinator: Any,  # noqa: ANN401 - as above
) -> list[tuple[TopicPartition, int]]:
    """Return what the group has committed."""
    found = await coordinator.fetch_committed_offsets_async(
        list(partitions), timeout_ms=TIMEOUT_S * 1000
    )
    return [(partition, kept.offset) for partition, kept in found.items()]


def _by_leader(
    coordinator: Any,  # noqa: ANN401 - as above
    partitions: Sequence[TopicPartition],
) -> list[tuple[int, list[TopicPartition]]]:
    """Return partitions by the broker that leads them; without those whose leader is not known."""
    found: dict[int, list[TopicPartition]] = {}
    for partition in partitions:
        node_id = coordinator._cluster.leader_for_partition(partition)  # noqa: SLF001 - no other way
        if node_id is not None and node_id >= 0:
            found.setdefault(node_id, []).append(partition)
    return list(found.items())


def _parts(partition_counts: Mapping[str, int]) -> Iterator[list[TopicPartition]]:
    """Yield all partitions, a thousand at a time."""
    every = (
        TopicPartition(topic, number)
        for topic, count in partition_counts.items()
        for number in range(count)
    )
    while part := list(islice(every, PARTITIONS_MAX)):
        yield part


def _unknown(partition_counts: Mapping[str, int]) -> Offsets:
    return {topic: [None] * count for topic, count in partition_counts.items()}
