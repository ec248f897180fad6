"""What a watch keeps of one group: the fold's state, the newest rows, the last commits, alerts.

The bound is members, partitions and rings, never history. The commits are apart from the rest,
because nine of ten records of the topic are commits: the rest is packed while only commits come.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from assignors.ownership.changes import Change, TopicPartition
from assignors.replay.analysis.drops import Drop
from assignors.replay.analysis.group_analysis import GenerationAnalysis
from assignors.replay.history.epochs import EpochLife
from assignors.replay.history.fold import GroupState
from assignors.replay.history.model import Generation, Participant, Takeover, Unreadable
from assignors.watch.encoding import from_bytes, to_bytes
from assignors.watch.life_cycle import Alerts

GENERATIONS = 8
"""Closed generations that are kept."""

RING = 64
"""Commits that went back, changes of static members, and unreadable records that are kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """What a cluster says of its topics at one moment."""

    at_ms: int
    counts: Mapping[str, int] = field(default_factory=dict)
    """Topic -> partition count."""
    ends: Mapping[str, tuple[int | None, ...]] = field(default_factory=dict)
    """Topic -> the offset that the next record of each partition gets, `None` where not known."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Topic id -> name."""


@dataclass(slots=True)
class Place:
    """The last commit of a partition, and how regular commits are."""

    offset: int
    at_ms: int
    floor: int | None
    """The offset of the commit before."""
    record_offset: int | None
    topic_id: str | None
    life: int
    generation: int | None
    holder_id: str | None
    """The owner of the partition when it was committed."""
    owner_id: str | None
    """The owner now."""
    owner_ms: int = 0
    """When the owner last changed."""
    gap_ms: float = 0.0
    """The usual time between two commits."""
    count: int = 1
    behind_ms: int | None = None
    """Since when records are left to read, as far as the ends of the partition are known."""


@dataclass(slots=True)
class Stay:
    """One time that a member slot was in the group."""

    joined_ms: int
    left_ms: int | None = None


@dataclass(slots=True)
class Slots:
    """The member slots of a group, and the rebalances that they do not explain."""

    members: dict[str, list[str]] = field(default_factory=dict)
    """Slot -> ids of the members that have it in the last generation that was looked at."""
    stays: dict[str, list[Stay]] = field(default_factory=dict)
    """Slot -> its newest stays."""
    noted: int | None = None
    """The last generation that was looked at."""
    topics: tuple[str, ...] = ()
    """Its subscriptions, and how many partitions they have."""
    is_waiting: bool = False
    """Whether partitions were withheld in it: a rebalance follows."""
    rounds: list[tuple[int, int]] = field(default_factory=list)
    """Time and generation of the rebalances that nothing explains."""


@dataclass(slots=True)
class Rest:
    """What is packed while only commits come."""

    fold: GroupState
    generations: list[Generation] = field(default_factory=list)
    """The newest closed generations of the life."""
    changes: list[Change] = field(default_factory=list)
    """The newest changes, behind the last older one of each member."""
    takeovers: list[Takeover] = field(default_factory=list)
    replaced: list[Participant] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    drops: list[Drop] = field(default_factory=list)
    """Commits that went back or were removed, with those that they follow."""
    slots: Slots = field(default_factory=Slots)
    alerts: Alerts = field(default_factory=dict)
    told_ms: dict[str, int] = field(default_factory=dict)
    """Member of a KIP-848 group -> the time of its last record."""
    names: dict[str, str] = field(default_factory=dict)
    """Topic id -> name, by the group's own records."""
    counts: dict[str, int] = field(default_factory=dict)
    """Topic -> partition count: the cluster's, else the largest so far."""
    grown: dict[str, int] = field(default_factory=dict)
    """Topic -> when its count last grew."""
    analysed: dict[int, GenerationAnalysis] = field(
        default_factory=dict, metadata={"is_kept": False}
    )
    """Generation -> its figures, computed again after a restart."""
    analysed_for: dict[str, int] = field(default_factory=dict, metadata={"is_kept": False})
    """The partition counts by which they are."""

    def share_names(self) -> None:
        """Let the fold read the names of topics that are learned from now on."""
        self.fold.topic_names = self.names
        if isinstance(self.fold.life, EpochLife):
            self.fold.life.topic_names = self.names


@dataclass(slots=True)
class GroupWatch:
    """One group under watch."""

    group: str
    places: dict[TopicPartition, Place] = field(default_factory=dict)
    clock_ms: int = 0
    """The greatest time of a record or tick."""
    offset: int = -1
    """Of the last record in the partition of the offsets topic that has the group."""
    told_ms: int = 0
    """The time of the last record."""
    late_count: int = 0
    """Records that came again, or out of order."""
    due_ms: int | None = None
    """When the group has to be looked at, if no record comes before."""
    silent_ms: int | None = None
    """When the first partition with records to read will have been silent for too long."""
    life: int = 1
    generation: int | None = None
    patience_ms: int | None = None
    """The longest rebalance timeout of the members; `None` without members."""
    is_any_silent: bool = False
    topics: tuple[str, ...] = ()
    """The topics that its members subscribe to."""
    is_forgotten: bool = False
    """Whether nothing is left of it: no members, offsets or alerts for a day."""
    is_any_open: bool = False
    """Whether an alert is open."""
    packed: bytes | None = None
    """`Rest`, while only commits come."""
    rest: Rest | None = field(default=None, metadata={"is_kept": False})

    def opened(self) -> Rest:
        """Return the rest of the state, unpacked. Cost: linear in it, if it was packed."""
        if self.rest is None:
            if self.packed is None:
                self.rest = Rest(fold=GroupState(self.group, {}))
            else:
                self.rest = from_bytes(Rest, zlib.decompress(self.packed))
            self.rest.share_names()
            self.packed = None
        return self.rest

    def looked_at(self) -> Rest:
        """Return the rest of the state to read it; it stays packed if it is."""
        kept = self.packed
        rest = self.opened()
        if kept is not None:
            self.packed, self.rest = kept, None
        return rest

    def pack(self) -> None:
        """Pack the rest of the state: a twentieth of the memory."""
        if self.rest is not None:
            self.packed, self.rest = zlib.compress(to_bytes(self.rest), 1), None


def state_bytes(watch: GroupWatch) -> bytes:
    """Return the state of a group as bytes, for a checkpoint or Spark; it stays usable."""
    watch.pack()
    return to_bytes(watch)


def state_from_bytes(data: bytes) -> GroupWatch:
    """Return what `state_bytes` wrote. Raises `StateError` for another version, or other bytes."""
    return from_bytes(GroupWatch, data)
