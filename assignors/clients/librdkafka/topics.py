"""Partition counts and topic ids of a live cluster.

`__consumer_offsets` records neither, so a replay has to infer how many partitions a topic has and
which name an id stands for, unless it can ask the cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient

from assignors.clients.librdkafka.connection import Events, client_options, reached

NO_ID = "AAAAAAAAAAAAAAAAAAAAAA"
"""A topic id of zeros: a cluster that has none, before Kafka 2.8."""

DESCRIBED_S = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTopics:
    """The topics of a cluster, as they are now."""

    partition_counts: dict[str, int] = field(default_factory=dict)
    """Topic -> number of partitions."""
    names: dict[str, str] = field(default_factory=dict)
    """Topic id, as Kafka writes it, -> name."""


def known_topics(
    bootstrap: str | None, options: Mapping[str, str] = MappingProxyType({})
) -> KnownTopics:
    """Return the topics of the cluster at `host:port[,host:port]` that may be seen.

    `options` are librdkafka's; without `bootstrap` they name the brokers. Two requests; nothing is
    changed in the cluster. Raises `ConnectionError` where it cannot be reached or refuses.
    """
    where = bootstrap or options["bootstrap.servers"]
    events = Events()
    try:
        client = AdminClient(client_options(bootstrap, options, events))
    except KafkaException as error:
        raise ConnectionError(f"{where}: {error.args[0].str()}") from error
    listed = reached(
        where, lambda step_s: client.list_topics(timeout=step_s), lambda: client.poll(0), events
    )
    wanted = TopicCollection(list(listed.topics))
    described = client.describe_topics(wanted, request_timeout=DESCRIBED_S)
    counts, names = {}, {}
    for name, answer in described.items():
        try:
            topic = answer.result()
        except KafkaException:
            continue  # deleted meanwhile, or not to be seen
        counts[name] = len(topic.partitions)
        if topic.topic_id is not None and str(topic.topic_id) != NO_ID:
            names[str(topic.topic_id)] = name
    return KnownTopics(partition_counts=counts, names=names)
