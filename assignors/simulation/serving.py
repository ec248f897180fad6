"""Records of a source as the logs of a simulated broker, which goes on with their groups, and back.

So groups of a real cluster can be asked what they would be asked next: a member's heartbeat, a
commit, somebody who joins. What the broker writes meanwhile is a source again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from assignors.model import Cluster
from assignors.replay.sources import Raw, is_json_lines
from assignors.replay.sources.writing import write_records
from assignors.simulation.timed.broker import Broker, BrokerSettings
from assignors.simulation.timed.group_protocols import GroupProtocol
from assignors.simulation.timed.offsets_topic import (
    TOPIC,
    LogEntry,
    TopicNames,
    log_entries,
    topic_ids,
)
from assignors.simulation.timed.scenario import Scenario
from assignors.simulation.timed.simulation import Played
from assignors.simulation.timed.tables.rows import simulate_with_all_figures


class OddRow(NamedTuple):
    """A row of which no group is made, and why."""

    partition: int | None
    offset: int | None
    reason: str


class Served(NamedTuple):
    """A broker that leads the partitions of a source."""

    broker: Broker
    odd: list[OddRow]
    """In the order of their partitions and offsets; those without a place come first."""
    aborted: int
    """Commits of transactions that did not end well, which are left out. Only segment files say how
    a transaction ended: in other forms these commits are among the others."""


def served(rows: Iterable[Raw], settings: BrokerSettings) -> Served:
    """Return a broker that has read these rows, partition by partition, and runs their groups.

    Ids of topics are taken from the rows where `settings.cluster` has none; it has to have the
    partition counts, which no record has. Raises `ValueError` for rows of more than one
    topic. Cost: O(bytes); memory: that of the rows.
    """
    logs: dict[int, list[LogEntry]] = {}
    odd: list[OddRow] = []
    topics: set[str] = set()
    aborted = 0
    for row in rows:
        topics.add(row.topic or TOPIC)
        if row.error is not None:
            odd.append(OddRow(row.partition, row.offset, row.error))
        elif row.transaction not in {None, "committed"}:
            aborted += 1
        else:
            log = logs.setdefault(row.partition or 0, [])
            offset = len(log) if row.offset is None else row.offset
            log.append(LogEntry(offset, row.timestamp_ms or 0, row.key, row.value))
    if len(topics) > 1:
        raise ValueError(f"rows of more than one topic: {', '.join(sorted(topics))}")
    cluster, names = _known(settings.cluster, logs)
    broker = Broker.of(
        replace(settings, cluster=cluster),
        partitions=max(logs, default=0) + 1,
        topics=names,
    )
    for partition, log in sorted(logs.items()):
        log.sort(key=lambda entry: entry.offset)
        odd += (OddRow(partition, *each) for each in broker.load(partition, log))
    odd.sort(key=lambda each: (-1 if each.partition is None else each.partition, each.offset or 0))
    return Served(broker, odd, aborted)


def _known(cluster: Cluster, logs: dict[int, list[LogEntry]]) -> tuple[Cluster, TopicNames]:
    """Return the cluster with the ids that the logs have, and the names of all ids."""
    ids = topic_ids((each.key, each.value) for log in logs.values() for each in log)
    topics = {
        name: replace(topic, topic_id=topic.topic_id or ids.get(name))
        for name, topic in cluster.topics.items()
    }
    with_ids = Cluster(topics=topics)
    return with_ids, TopicNames.of({**ids, **TopicNames.of_cluster(with_ids).ids})


def raws_of(batch: Sequence[LogEntry], partition: int = 0) -> list[Raw]:
    """Return the entries of a simulated log as the rows of a source. Cost: O(entries)."""
    return [
        Raw(
            key=each.key,
            value=each.value,
            topic=TOPIC,
            partition=partition,
            offset=each.offset,
            timestamp_ms=each.timestamp_ms,
            timestamp_type=0,
        )
        for each in batch
    ]


def written(broker: Broker, partition: int = 0) -> Iterator[list[Raw]]:
    """Yield the log of a partition batch by batch, for `sources.writing.write_records`."""
    for batch in broker.logs[partition]:
        yield raws_of(batch, partition)


STARTS_AT_MS = 1_767_225_600_000
"""When a written run begins: the first of January 2026."""

Batches = Callable[[Iterable[Sequence[LogEntry]]], Iterable[Sequence[LogEntry]]]


def write_run(scenario: Scenario, path: str, *, progress: Batches = iter) -> Played:
    """Play a scenario and write it as records of `__consumer_offsets`, which `replay` reads.

    The path ends in `.jsonl`, `.jsonl.gz` or `.parquet`, or is a folder for log segments. Returns
    the run with all its figures. Raises `ValueError` for another ending and for the push protocol,
    which has no records, and `SourceError` or `OSError` for a path that cannot be written.
    """
    if scenario.protocol is GroupProtocol.PUSH:
        raise ValueError("Kafka has no records for groups of the push protocol")
    place = Path(path)
    is_file = is_json_lines(place) or place.suffix == ".parquet"
    if place.suffix and not (is_file or place.is_dir() or path.endswith("/")):
        words = "ends neither in .jsonl nor in .parquet; a folder ends in /, or has no ending"
        raise ValueError(f"{path}: {words}")
    played = simulate_with_all_figures(scenario)
    group = scenario.name or "simulated"
    batches = log_entries(played.records, group=group, starts_at_ms=STARTS_AT_MS)
    write_records(place, map(raws_of, progress(batches)))
    return played
