"""Which group there is as of the last batch in the local log: to that one Kafka goes back.

What records cannot say of it has to be kept: a classic group is more than its record, and a
consumer group without members may have gone, or another one have come, without any record
(`mixed.coordinator`, `_restart_as_classic`). What a consumer group's records say is read from the
log, but for its epochs: those of one that went without a record are still in there.

Source: `SnapshotRegistry` of Kafka 4.4, `GroupMetadataManager.groups`.
"""

from __future__ import annotations

from typing import NamedTuple

from assignors.simulation.timed.protocols.classic.coordinator_state import (
    ClassicCoordinator,
    WaitingAppend,
)
from assignors.simulation.timed.protocols.classic.group import ClassicGroup
from assignors.simulation.timed.protocols.consumer.coordinator_state import ConsumerCoordinator
from assignors.simulation.timed.protocols.consumer.group import ConsumerGroup


class Epochs(NamedTuple):
    """What the records of a consumer group say that are not about one member or pattern."""

    epoch: int
    topics_seen: frozenset[tuple[str, int]]
    target_epoch: int
    target_at_ms: int
    has_epoch_records: tuple[bool, bool]


class WrittenGroup(NamedTuple):
    """The group that there was as of the last batch: of one kind at most."""

    classic: ClassicGroup | None
    appends: dict[int, WaitingAppend]
    """What waited for those of the classic group."""
    consumer: ConsumerGroup | None
    epochs: Epochs
    still_watched: frozenset[str]


def group_now(classic: ClassicCoordinator, consumer: ConsumerCoordinator) -> WrittenGroup:
    """Return the group that there is. Cost: O(1)."""
    return WrittenGroup(
        classic.group if classic.exists else None,
        classic.appends,
        consumer.group if consumer.exists else None,
        epochs_of(consumer.group),
        frozenset(consumer.still_watched),
    )


def epochs_of(group: ConsumerGroup) -> Epochs:
    """Return the epochs of a consumer group. Cost: O(1)."""
    return Epochs(*(getattr(group, name) for name in Epochs._fields))


def put_epochs(group: ConsumerGroup, epochs: Epochs) -> None:
    """Let a consumer group have these epochs. Cost: O(1)."""
    for name, value in zip(Epochs._fields, epochs, strict=True):
        setattr(group, name, value)
