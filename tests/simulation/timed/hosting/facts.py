"""What a group that runs, and the records of a log, have in common: compared with each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any, NamedTuple

from assignors.simulation.timed.execution.port import Entry, State
from assignors.simulation.timed.hosting.live_group import LiveGroup, restored_group
from assignors.simulation.timed.hosting.record_bytes import TopicNames, group_of
from assignors.simulation.timed.protocols.kafka.restore import Restored, summary


class Made(NamedTuple):
    """What the handler has made of an event, and of what."""

    is_change: bool
    before: dict[bytes, bytes]
    """The records of the group that it has seen."""
    entries: tuple[Entry, ...]
    group: str
    after: Any
    """What the group is then (`facts`)."""


def of_group(state: State, name: str) -> dict[bytes, bytes]:
    """The records of a group, of those of a partition."""
    keys = [key for key in state if isinstance(key, bytes)]
    return {key: state[key] for key in keys if group_of(key) == name}


def agrees(live: LiveGroup, entries: Sequence[Entry]) -> bool:
    """Whether a group that runs is what these records make."""
    return is_same(facts(live), facts_of(live.name, entries, live.topics))


def facts(live: LiveGroup) -> dict[str, Any]:
    """What a group that runs has in common with its records; a copy, as it goes on."""
    coordinator = live.coordinator
    return _facts(Restored(group=coordinator.group, offsets=coordinator.offsets.table))


def facts_of(name: str, entries: Iterable[Entry], topics: TopicNames) -> dict[str, Any]:
    """What the records of a log make of a group."""
    rows = [(key, value) for key, value in entries if isinstance(key, bytes)]
    found, odd = restored_group([each for each in rows if group_of(each[0]) == name], topics)
    assert not odd
    return _facts(found)


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
