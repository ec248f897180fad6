"""The rows of the tables: a dataclass for each table, with a line on each column.

The annotations here are the only schema: `assignors.arrow.schemas` derives those of Arrow and Spark
from it.

* `groups`: a row for each life of a group, as `kafka-consumer-groups.sh --list --state` has it
* `offsets`: a row for each offset commit, or the tombstone of one
* `generations`: a row for each generation (classic) or group epoch (KIP-848, share, streams)
* `members`: a row for each member of each generation
* `assignments`: a row for each interval in which a member owned a partition
* `findings`: a row for each finding
* `outcomes`: a row for each generation and each assignor that was tried instead

A *life* is a group from its first record to its tombstone: one name may be a classic group, then a
KIP-848 group, then classic again. Lives are numbered from 1. Times are those of the records, in
epoch milliseconds. The end of an interval is `None` while it lasts.

What the offsets topic does not record is `None`: `columns.NOT_RECORDED` says why, and
`columns.ESTIMATED` has the models of estimated columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from wire import TopicPartitions


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    """One life of a group."""

    group: str
    life: int
    kind: str
    from_ms: int
    to_ms: int | None
    """When its tombstone was written."""
    state: str
    """At the end of the records: Stable, Empty, Dead, Reconciling; Unknown where the last record of
    the group itself cannot be read."""
    protocol: str | None
    """ASSIGNMENT-STRATEGY, the last one."""
    member_count: int
    """#MEMBERS, at the end of the records."""
    member_count_max: int
    generation_count: int
    """How many generations have a record."""
    generations_missing: int
    """How many have none: compacted away, or never completed."""
    moved: int
    """Partitions that moved, all generations together."""
    commit_count: int
    """Offsets written; tombstones and aborted transactions are not counted."""
    tombstone_count: int
    """Offsets deleted."""
    finding_count: int
    double_owned_ms: int | None
    """Time with two owners or more, as far as `double-ownership` findings have an end."""
    unassigned_partition_ms: int | None
    """Time in which partitions of subscribed topics were unassigned."""
    downtime_partition_ms: int | None
    """Estimate, see `columns.ESTIMATED`."""
    severity: str | None = None
    """That of its worst finding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetRow:
    """One offset commit, or the tombstone of one (`offset` is `None`)."""

    group: str = ""
    topic: str
    topic_id: str | None = None
    partition: int
    offset: int | None = None
    leader_epoch: int | None = None
    metadata: str | None = None
    commit_ms: int | None = None
    expire_ms: int | None = None
    at_ms: int
    record_partition: int | None = None
    record_offset: int | None = None
    holder_id: str | None = None
    """Estimate, see `columns.ESTIMATED`."""
    is_aborted: bool | None = None
    life: int = 1
    generation: int | None = None
    """The generation or group epoch then; `None` before the first, and between two lives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationRow:
    """One generation or group epoch, from the record that completed it."""

    group: str
    life: int
    kind: str
    generation: int
    """The generation, or the group epoch."""
    at_ms: int
    until_ms: int | None
    """When the next one began, or the group ended."""
    state: str
    """Stable, Empty, Assigning, Reconciling."""
    protocol_type: str | None
    protocol: str | None
    """The assignor: chosen by the members' vote, or named by them to the broker."""
    leader_id: str | None
    leader_client_id: str | None
    leader_guess: str | None
    """Client library of that leader: a guess by its client id and the form of its bytes."""
    member_count: int
    partition_count: int
    """Partitions that are assigned."""
    joined: tuple[str, ...]
    left: tuple[str, ...]
    """Ids of members that only the generation before had."""
    moved: int
    moved_minimum: int | None
    """The fewest moves that any assignment with the best loads needs."""
    lost: int
    """Partitions assigned in the generation before and not in this one."""
    load_min: int
    load_max: int
    load_max_optimum: int | None
    balance_gap: int | None
    unassigned: int
    double: int
    """Partitions that are assigned to two or more members."""
    missing_before: int
    """Generations between the one before and this one that have no record."""
    counts_inferred: bool
    pause_ms: int | None
    """Estimate, see `columns.ESTIMATED`."""
    downtime_partition_ms: int | None
    """Estimate, see `columns.ESTIMATED`."""
    notes: tuple[str, ...]
    record_partition: int | None
    record_offset: int | None
    use_max: float | None = None
    use_bound: float | None = None
    lag: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRow:
    """One member in one generation: what it claimed, and what it was assigned."""

    group: str = ""
    life: int = 1
    kind: str = ""
    generation: int = 0
    at_ms: int = 0
    member_id: str
    instance_id: str | None = None
    client_id: str = ""
    host: str = ""
    rack_id: str | None = None
    is_leader: bool = False
    is_new: bool = False
    """Not in the generation before."""
    rebalance_timeout_ms: int | None = None
    session_timeout_ms: int | None = None
    topics: tuple[str, ...] = ()
    topic_regex: str | None = None
    subscription_version: int | None = None
    """`None` where the member has no Subscription."""
    claimed: TopicPartitions = field(default_factory=dict)
    """Owned partitions, read where its assignor reads them."""
    claims_known: bool = False
    claimed_generation: int | None = None
    assigned: TopicPartitions = field(default_factory=dict)
    assigned_count: int = 0
    """#PARTITIONS."""
    target: TopicPartitions | None = None
    """KIP-848: its part of the target assignment."""
    revoking: TopicPartitions | None = None
    """KIP-848: what it still has to revoke."""
    member_epoch: int | None = None
    member_state: str | None = None
    """KIP-848: stable, unrevoked-partitions, unreleased-partitions."""
    notes: tuple[str, ...] = ()
    """Notes of the decoder on its bytes: what was decoded, and the code."""
    error: str | None = None
    error_kind: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentRow:
    """An interval in which one member owned one partition, by the group's records."""

    group: str
    life: int
    kind: str
    topic: str
    partition: int
    member_id: str
    client_id: str
    host: str
    from_ms: int
    to_ms: int | None
    from_generation: int
    """0: before the first that has a record."""
    to_generation: int | None
    """The generation that ended it."""
    ended_by: str | None
    """`moved`, `left`, `withheld` (nobody got it then), `group-ended`, `converted` (KIP-848)."""
    is_double: bool
    """Another member owned it too, for a part of the interval at least."""
    is_certain: bool
    """False where generations are missing between its first and its last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """One finding, with what is needed to see it. What one cause repeats is one finding."""

    group: str
    life: int
    kind: str
    """Its kind, as the page of findings has it."""
    generation: int | None
    """Where `evidence` was seen: of repeated occurrences the one that lasted longest."""
    at_ms: int
    """When the first occurrence began."""
    until_ms: int | None
    """When the last one to end did; `None` where one lasts at the end of the records."""
    member_id: str | None
    """Of the member that `evidence` is about, as are the next four."""
    client_id: str | None
    topic: str | None
    partition: int | None
    count: int
    """How many: the kind says of what."""
    evidence: str
    severity: str = "low"
    """critical, high, medium, low or note."""
    occurrences: int = 1
    """How often it occurred."""
    last_ms: int | None = None
    """When the last occurrence began."""
    generations: tuple[int, ...] = ()
    """Those in which an occurrence began."""
    members: tuple[str, ...] = ()
    """Ids of the members that it touched."""
    partitions: TopicPartitions = field(default_factory=dict)
    """The partitions that it touched, where it is about partitions."""
    what_to_do: str = ""
    """What to do about it, in a sentence."""
    leader_id: str | None = None
    """Member id of the group's leader, where the leader caused it; else `None`."""
    leader_client_id: str | None = None
    """Client id of that leader: the client to look at. `client_id` is another member's."""
    leader_host: str | None = None
    """Host of that leader."""
    leader_guess: str | None = None
    """Client library of that leader, with its version where known: a guess."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutcomeRow:
    """What another assignor would have done in one generation, beside what happened.

    `generation` is `None` in the row that sums up a life; the loads there are the widest.
    """

    group: str
    life: int
    assignor: str
    generation: int | None
    at_ms: int
    member_count: int
    partition_count: int
    rounds: int
    """Rebalances until nothing waited; what happened counts 1 for each generation."""
    moved: int
    load_min: int
    load_max: int
    balance_gap: int | None
    unassigned: int
    downtime_partition_ms: int | None
    """Estimate, see `columns.ESTIMATED`."""
    actual_rounds: int
    actual_moved: int
    actual_load_min: int
    actual_load_max: int
    actual_balance_gap: int | None
    actual_unassigned: int
    actual_downtime_partition_ms: int | None
    counts_inferred: bool
    error: str | None = None
    error_kind: str | None = None
    use_max: float | None = None
    use_bound: float | None = None
    actual_use_max: float | None = None
    lag: int | None = None


Row = GroupRow | OffsetRow | GenerationRow | MemberRow | AssignmentRow | FindingRow | OutcomeRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """All tables of one replay."""

    groups: tuple[GroupRow, ...] = ()
    offsets: tuple[OffsetRow, ...] = ()
    generations: tuple[GenerationRow, ...] = ()
    members: tuple[MemberRow, ...] = ()
    assignments: tuple[AssignmentRow, ...] = ()
    findings: tuple[FindingRow, ...] = ()
    outcomes: tuple[OutcomeRow, ...] = ()


TABLES: Mapping[str, type[Row]] = {
    "groups": GroupRow,
    "offsets": OffsetRow,
    "generations": GenerationRow,
    "members": MemberRow,
    "assignments": AssignmentRow,
    "findings": FindingRow,
    "outcomes": OutcomeRow,
}


def table_of(row: Row) -> type[Row]:
    """Return the row class of a row; a member in a history is a row that has more than columns."""
    return MemberRow if isinstance(row, MemberRow) else type(row)
