"""Partition counts and topic ids of a live cluster.

`__consumer_offsets` records neither, so a replay has to infer how many partitions a topic has and
which name an id stands for, unless it can ask the cluster.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from confluent_kafka import (
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from assignors.clients.librdkafka.connection import (
    UNKNOWN_TOPIC,
    Events,
    client_options,
    explained,
    reached,
)
from assignors.clients.librdkafka.settings import ClientSettings

NO_ID = "AAAAAAAAAAAAAAAAAAAAAA"
"""A topic id of zeros: a cluster that has none, before Kafka 2.8."""

DESCRIBED_S = 15.0

UNSEEN = frozenset(
    {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.TOPIC_AUTHORIZATION_FAILED, UNKNOWN_TOPIC}
)
"""Errors of a topic that was deleted meanwhile, or is not to be seen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownTopics:
    """The topics of a cluster, as they are now."""

    partition_counts: dict[str, int] = field(default_factory=dict)
    """Topic -> number of partitions."""
    names: dict[str, str] = field(default_factory=dict)
    """Topic id, as Kafka writes it, -> name."""


def known_topics(settings: ClientSettings) -> KnownTopics:
    """Return the topics of a cluster that may be seen.

    Two requests; nothing is changed in the cluster. Raises `ConnectionError` where it cannot be
    reached, or refuses.
    """
    where, events = settings.where, Events()
    client = _client(settings, events)
    listed = reached(
        where, lambda step_s: client.list_topics(timeout=step_s), lambda: client.poll(0), events
    )
    wanted = TopicCollection(list(listed.topics))
    described = client.describe_topics(wanted, request_timeout=DESCRIBED_S)
    counts, names = {}, {}
    for name, answer in described.items():
        try:
            topic = answer.result()
        except KafkaException as error:
            if error.args[0].code() in UNSEEN:
                continue
            client.poll(0)  # to get its reasons
            raise ConnectionError(f"{where}: {explained(error.args[0], events)}") from error
        counts[name] = len(topic.partitions)
        if topic.topic_id is not None and str(topic.topic_id) != NO_ID:
            names[str(topic.topic_id)] = name
    return KnownTopics(partition_counts=counts, names=names)


def end_offsets(
    settings: ClientSettings, partition_counts: Mapping[str, int], *, is_stable: bool = False
) -> dict[str, tuple[int | None, ...]]:
    """Return the end of each partition of these topics, `None` where it is not known.

    With `is_stable` the end for a reader of committed records: the last stable offset. Raises
    `ConnectionError` where the cluster cannot be reached. One request for each broker.
    """
    events = Events()
    client = _client(settings, events)
    latest = OffsetSpec.latest()  # type: ignore[no-untyped-call]  # as above
    places = {
        TopicPartition(topic, number): latest
        for topic, count in partition_counts.items()
        for number in range(count)
    }
    if not places:
        return {}
    level = IsolationLevel.READ_COMMITTED if is_stable else IsolationLevel.READ_UNCOMMITTED
    found: dict[str, list[int | None]] = {
        topic: [None] * count for topic, count in partition_counts.items()
    }
    answers = client.list_offsets(places, isolation_level=level, request_timeout=DESCRIBED_S)
    failure = None
    for place, answer in answers.items():
        try:
            found[place.topic][place.partition] = answer.result().offset
        except KafkaException as error:
            failure = error.args[0]
    if failure is not None and not any(one is not None for ends in found.values() for one in ends):
        client.poll(0)  # to get its reasons
        raise ConnectionError(f"{settings.where}: {explained(failure, events)}")
    return {topic: tuple(ends) for topic, ends in found.items()}


def _client(settings: ClientSettings, events: Events) -> AdminClient:
    try:
        return AdminClient(client_options(settings.options, events))
    except KafkaException as error:
        raise ConnectionError(f"{settings.where}: {error.args[0].str()}") from error
