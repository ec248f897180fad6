"""The history of a group as data: lives, generations, members, changes.

`fold` builds these from records, and everything else reads them. A `Generation` says who was
in the group at one point, what each member claimed and what it was assigned. A `Change` says from
when on a member owned what. In a classic group both say the same, as ownership changes with the
generation; in a KIP-848 group members change one by one between two generations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from assignors.ownership.changes import Change
from assignors.replay.tables.rows import MemberRow, OffsetRow
from wire import MemberAssignment, NoteCode, TopicPartitions
from wire.records.members import CONSUMER

LEFT = "left"
"""The `Change.reason` of a member that left the group."""


class Kind(StrEnum):
    """The type of a group in one of its lives."""

    CLASSIC = "classic"
    """Members agree through a leader: GROUP_METADATA records."""
    CONSUMER = "consumer"
    """KIP-848: the broker assigns."""
    SHARE = "share"
    """KIP-932: several members may own one partition."""
    STREAMS = "streams"
    """KIP-1071: tasks of a topology."""
    SIMPLE = "simple"
    """Commits alone, no members: its consumers assign partitions themselves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Oddity:
    """A note of the decoder on the bytes that a member or its leader wrote."""

    blob: str
    """`subscription`, `user-data` or `assignment`: the last is the leader's."""
    code: NoteCode
    offset: int
    text: str

    def __str__(self) -> str:
        """Return it as the members table shows it."""
        return f"{self.blob} {self.code.value}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Participant(MemberRow):
    """One member in one generation: its row of the table, and what the row is checked by."""

    server_assignor: str | None = None
    oddities: tuple[Oddity, ...] = ()
    written: MemberAssignment | None = None
    """Classic: its Assignment field by field, `None` where the bytes are none."""
    assignment_bytes: bytes | None = None
    odd_subscription: bytes | None = None
    """Classic: its Subscription as it wrote it, if the decoder has a note on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation:
    """One generation (classic) or group epoch, from the record that completed it."""

    number: int
    at_ms: int
    until_ms: int | None = None
    state: str
    members: tuple[Participant, ...] = ()
    """In the order of the record, which is the order in which a classic leader received them."""
    protocol_type: str | None = None
    protocol: str | None = None
    leader_id: str | None = None
    missing_before: int = 0
    """Generations between the one before and this one that have no record."""
    pause_ms: int | None = None
    """See `tables.columns.ESTIMATED`."""
    notes: tuple[str, ...] = ()
    is_from_broker: bool = False
    """Written by the broker itself, as it turned a KIP-848 group into a classic one."""
    late_topics: Mapping[str, int] = field(default_factory=dict)
    """Topic -> when a static member that came back subscribed to it, after the assignment."""
    partition: int | None = None
    offset: int | None = None
    writer: str | None = None
    """Classic: the client library that wrote the assignment, a guess (`fingerprint`)."""

    @property
    def other_protocol(self) -> str | None:
        """The protocol type where it is not `consumer`: what its members write is not read."""
        return None if self.protocol_type == CONSUMER else self.protocol_type


@dataclass(frozen=True, slots=True, kw_only=True)
class Takeover:
    """A static member's group instance id went from one member to the next."""

    instance_id: str
    generation: int
    at_ms: int
    before: Participant
    since_ms: int
    """When `before` had taken it, or joined."""
    after: Participant


LifeRow = Generation | Participant | Takeover | Change
"""A closed generation, a static member whose id is replaced, a takeover, or a change of owners."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """A group from its first record to its tombstone, or to the end of the records."""

    number: int
    kind: Kind
    from_ms: int
    to_ms: int | None = None
    is_converted: bool = False
    """It went on as the next life, of another kind, at once."""
    generations: tuple[Generation, ...] = ()
    replaced: tuple[Participant, ...] = ()
    """Static members under ids that they lost within a generation: no generation has them."""
    takeovers: tuple[Takeover, ...] = ()
    """Classic: in order of time."""
    changes: tuple[Change, ...] = ()
    """In order of time, in epoch milliseconds. A member that left the group has `LEFT` as the
    reason of its last change; one `after_gap` comes after generations that have no record."""
    is_state_known: bool = True
    """False where the last record of the group itself cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A record of the group that cannot be read."""

    at_ms: int
    name: str | None
    text: str
    is_record: bool = True
    """Whether there was a record at all: a line or a file that is cut short has none."""
    partition: int | None = None
    offset: int | None = None


HistoryRow = LifeRow | OffsetRow | Unreadable | Life
"""What a step of a group says; a `Life` comes when it is over, behind its rows and without them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupHistory:
    """Everything that the records of one group name contain."""

    group: str
    lives: tuple[Life, ...] = ()
    commits: tuple[OffsetRow, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    topic_names: Mapping[str, str] = field(default_factory=dict)
    """Topic id -> name, as far as they are known."""


def partition_count(partitions: TopicPartitions) -> int:
    """Return how many partitions there are, a number that is listed twice counted once.

    >>> partition_count({"t": (0, 1), "u": (3,)})
    3
    """
    return sum([len(set(numbers)) for numbers in partitions.values()])
