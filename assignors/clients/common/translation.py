"""From a client's values to ours: partitions, clusters, and assignments that it cannot read."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from assignors.group_bytes.members import ReadMembers
from assignors.model import Cluster, Member, Topic
from wire import TopicPartitions, decode_assignment

TOPIC_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")


def valid_topics(topics: Iterable[str]) -> list[str]:
    """Return the names that a topic can have: clients raise when they are to watch any other.

    >>> valid_topics(["orders.v2", "", "..", "a b"])
    ['orders.v2']
    """
    return [topic for topic in topics if TOPIC_NAME.fullmatch(topic) and topic not in {".", ".."}]


def readable_assignment(blob: bytes, logger: logging.Logger) -> TopicPartitions:
    """Return what can be read of an Assignment that the client cannot read, and log it.

    >>> readable_assignment(b"", logging.getLogger("quiet"))
    {}
    """
    decoded = decode_assignment(blob)
    read = {} if decoded.value is None else decoded.value.partitions
    noted = "; ".join(note.text for note in decoded.notes)
    logger.warning("the leader wrote an odd assignment, read as %s: %s", dict(read), noted)
    return {topic: read[topic] for topic in valid_topics(read)}


def partitions_by_topic(partitions: Iterable[tuple[str, int]]) -> TopicPartitions:
    """Return (topic, number) pairs as topic -> sorted numbers.

    >>> partitions_by_topic([("u", 3), ("t", 1), ("t", 0)])
    {'t': (0, 1), 'u': (3,)}
    """
    found: dict[str, list[int]] = {}
    for topic, number in sorted(set(partitions)):
        found.setdefault(topic, []).append(number)
    return {topic: tuple(numbers) for topic, numbers in found.items()}


def cluster_of(
    metadata: Any,  # noqa: ANN401 - the client's type
    members: Sequence[Member],
    racks: Mapping[int, str],
    replicas: Callable[[str, int], Sequence[int]],
) -> Cluster:
    """Return the topics that members subscribe to and the client's cluster metadata has.

    `racks` has the rack of a broker by its number, and `replicas` returns the brokers that hold a
    partition of a topic: asked only where a member has a rack. Cost: O(partitions + members).
    """
    topics, has_racks = _asked(members)
    known = {}
    for topic in topics:
        numbers = metadata.partitions_for_topic(topic)
        if numbers is not None:
            count = len(numbers)
            replica_racks = (
                tuple(
                    tuple(racks[broker] for broker in replicas(topic, number) if broker in racks)
                    for number in range(count)
                )
                if racks and has_racks
                else ()
            )
            known[topic] = Topic(partition_count=count, racks=replica_racks)
    return Cluster(topics=known)


def _asked(members: Sequence[Member]) -> tuple[Iterable[str], bool]:
    """Return the topics that members subscribe to, and whether a member has a rack."""
    if isinstance(members, ReadMembers):
        return members.subscriptions()[0], any(members.arrays.rack_ids.names)
    topics = chain.from_iterable(member.topics for member in members)
    return dict.fromkeys(topics), any(member.rack_id for member in members)
