"""The brokers' settings for groups of the push protocol, and how a scenario writes them."""

from __future__ import annotations

from dataclasses import dataclass, fields

from assignors.simulation.timed.scenario.reading import (
    Reader,
    as_boolean,
    as_natural,
    settings_reader,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PushConfig:
    """What coordinator and brokers do under the protocol `push`.

    Heartbeat interval and session timeout are each member's own, as in the classic protocol.
    """

    parks_heartbeats: bool = True
    """Members keep a request at the coordinator that is answered with the next news, beside their
    heartbeats: an assignment is pushed at once. Otherwise it waits for the next heartbeat."""
    fences_fetches: bool = True
    """Brokers refuse fetches of partitions that a member has no right to any more. The coordinator
    informs them first, and waits until all have acknowledged."""
    brokers: int = 3
    """Live brokers that have to acknowledge; each leads an equal share of the partitions."""
    waits_for_commit: bool = True
    """The next owner starts after the PartitionCommittedNotification of the one before. Otherwise
    it starts once the brokers have acknowledged, from the offset that was committed last."""
    has_epochs: bool = True
    """Every grant of a partition has a number, and a notification counts only for its grant."""
    moves_per_second: int = 0
    """At most so many owned partitions are moved a second, and at a time; 0: no limit. Partitions
    without an owner never wait."""
    lease_ms: int = 0
    """A member may fetch that long after its last heartbeat; 0: until it is fenced."""
    fetch_ms: int = 500
    """The time between two fetches of a member is up to this (`fetch.max.wait.ms`)."""


READERS: dict[str, Reader] = {
    each.name: as_boolean if each.type == "bool" else as_natural for each in fields(PushConfig)
}
"""Field -> what reads it."""

read_push = settings_reader(PushConfig, READERS)
