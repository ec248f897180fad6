"""Partition counts and topic ids of a live cluster, read with kafka-python's admin client.

`__consumer_offsets` records neither, so a replay has to infer how many partitions a topic has and
which name an id stands for, unless it can ask the cluster.
"""

from __future__ import annotations

import uuid
from base64 import urlsafe_b64encode
from dataclasses import dataclass, field
from typing import Any

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

REACHED_MS = 10_000
"""How long to try to reach the cluster; kafka-python tries for 30 s by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTopics:
    """The topics of a cluster, as they are now."""

    partition_counts: dict[str, int] = field(default_factory=dict)
    """Topic -> number of partitions."""
    names: dict[str, str] = field(default_factory=dict)
    """Topic id, as Kafka writes it, -> name."""


def known_topics(bootstrap: str) -> KnownTopics:
    """Return the topics of the cluster at `host:port[,host:port]`.

    One request to the cluster; nothing is changed in it. Raises `ConnectionError` if it cannot
    be reached within ten seconds, or does not answer.
    """
    try:
        client = KafkaAdminClient(
            bootstrap_servers=bootstrap.split(","), bootstrap_timeout_ms=REACHED_MS
        )
    except (KafkaError, ValueError, OSError) as error:
        raise ConnectionError(f"{bootstrap}: {error}") from error
    try:
        described: list[dict[str, Any]] = client.describe_topics()
    except KafkaError as error:
        raise ConnectionError(f"{bootstrap}: {error}") from error
    finally:
        client.close()
    topics = [topic for topic in described if not topic.get("error_code")]
    return KnownTopics(
        partition_counts={topic["name"]: len(topic["partitions"]) for topic in topics},
        names={
            id_text(uuid.UUID(str(topic["topic_id"]))): topic["name"]
            for topic in topics
            if topic.get("topic_id")
        },
    )


def id_text(topic_id: uuid.UUID) -> str:
    """Return a topic id as Kafka writes it.

    >>> id_text(uuid.UUID(int=1))
    'AAAAAAAAAAAAAAAAAAAAAQ'
    """
    return urlsafe_b64encode(topic_id.bytes).decode().rstrip("=")
