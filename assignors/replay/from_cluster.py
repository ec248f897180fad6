"""What a replay in Python takes from a live cluster: records, partition counts and topic ids."""

from __future__ import annotations

import re
from collections.abc import Mapping

from assignors.clients.librdkafka.settings import ClientSettings, read_settings
from assignors.extras import imported_from
from assignors.replay.decode.logged_records import LoggedRecord, logged_records, of_groups
from assignors.replay.sources.topic_by_consumer import open_topic


def cluster_of(bootstrap: str | None, command_config: str | None) -> ClientSettings | None:
    """Return the settings of a client for a cluster, `None` where neither names one.

    Raises `ValueError` for a file that has what this client does not have, or names no broker.
    """
    if bootstrap is None and command_config is None:
        return None
    settings = ClientSettings() if command_config is None else read_settings(command_config)
    if bootstrap is not None:
        settings = settings.at(bootstrap)
    if not settings.where:
        raise ValueError("name a broker: bootstrap")
    return settings


def counts_and_names(cluster: ClientSettings | None) -> tuple[Mapping[str, int], Mapping[str, str]]:
    """Return partition counts by topic, and topics by id; nothing without a cluster.

    Raises `ConnectionError` where the cluster cannot be reached.
    """
    if cluster is None:
        return {}, {}
    with imported_from("dump"):
        from assignors.clients.librdkafka.topics import known_topics  # noqa: PLC0415 - an extra
    known = known_topics(cluster)
    return known.partition_counts, known.names


def live_records(
    cluster: ClientSettings, wanted: re.Pattern[str] | None
) -> tuple[str, list[LoggedRecord]]:
    """Return the name of a cluster's topic, and the records that it has now, of groups that match.

    Raises `SourceError` where the topic cannot be read. Memory: the records.
    """
    others: set[str] = set()
    with open_topic(cluster) as topic:
        raws = (
            raw
            for chunk in topic.chunks
            for raw in (chunk.raws if wanted is None else of_groups(chunk.raws, wanted, others))
        )
        return topic.where, list(logged_records(raws))
