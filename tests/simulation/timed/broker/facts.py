"""What a group that runs, and the records of a log, have in common: compared with each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any

from assignors.simulation.timed.broker import Broker
from assignors.simulation.timed.execution.port import Entry
from assignors.simulation.timed.offsets_topic import LogEntry, TopicNames, read_log
from assignors.simulation.timed.protocols.kafka.restore import Restored, summary
from assignors.simulation.timed.protocols.kafka.state import GroupCoordinator


def agrees(broker: Broker, name: str, entries: Sequence[Entry]) -> bool:
    """Whether a group of a broker is what these records make."""
    return is_same(facts(broker.groups[name]), facts_of(name, entries, broker.topics))


def facts(coordinator: GroupCoordinator) -> dict[str, Any]:
    """What a group that runs has in common with its records; a copy, as it goes on."""
    return _facts(Restored(group=coordinator.group, offsets=coordinator.offsets.table))


def facts_of(name: str, entries: Iterable[Entry], topics: TopicNames) -> dict[str, Any]:
    """What the records of a log make of a group."""
    read = read_log(log_of(entries), topics)
    assert not read.odd
    return _facts(read.groups.get(name, Restored()))


def log_of(entries: Iterable[Entry]) -> list[LogEntry]:
    """Entries as they stand in a log."""
    return [LogEntry(offset, 0, *each) for offset, each in enumerate(entries)]  # type: ignore[arg-type]  # its keys are bytes


def _facts(restored: Restored) -> dict[str, Any]:
    """As `summary`, without what no record has: the topics of an epoch, assignors not chosen."""
    said = summary(restored)
    if said["kind"] == "classic":
        said["members"] = {
            each.member_id: (each.client_id, each.instance_id, each.assignment)
            for each in said["members"].values()
        }
    said.pop("topics", None)
    return {key: copy(value) for key, value in said.items()}


def is_same(ours: dict[str, Any], logged: dict[str, Any]) -> bool:
    """Whether a group is what its records make.

    No record says that a classic group rebalances, or that there is one in which nobody was yet.
    And where a classic member is refused by a consumer group without members, that one is gone
    without a record, as in Kafka (`mixed.coordinator`).
    """
    is_moving = ours["kind"] == "classic" and ours["state"].value != "Stable"
    was_refused = ours["kind"] is None and logged["kind"] == "consumer" and not logged["members"]
    if is_moving or was_refused:
        return bool(ours["offsets"] == logged["offsets"])
    return ours == logged
