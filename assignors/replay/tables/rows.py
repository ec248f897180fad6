"""The tables of a replay: what each column says, and why some of them say nothing.

These tables tell what the groups of a cluster went through. A row is a frozen dataclass here,
an Arrow row in `arrow` and a row of a DataFrame in `engines.spark`: the annotations below are the
only schema there is, and the others are derived from it.

* `groups`: one row a life of a group, as `kafka-consumer-groups.sh --list --state` has it
* `offsets`: one row an offset commit, or the tombstone of one
* `generations`: one row a generation (classic) or group epoch (KIP-848, share, streams)
* `members`: one row a member of each generation
* `assignments`: one row an interval in which a member held a partition
* `anomalies`: one row a finding
* `outcomes`: one row a generation and assignor that was tried instead

A *life* is what one name was from its first record to its tombstone: a name may be a classic
group, then a KIP-848 group, then classic again; lives are numbered from 1. Times are the
records' own, in epoch milliseconds. An interval's end is `None` while it lasts.

What the topic does not record is `None`; `columns.NOT_RECORDED` says why, `columns.ESTIMATED`
after which model the rest is estimated.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from wire import TopicPartitions


class AnomalyKind(StrEnum):
    """What can be wrong with a group, a rule each; `anomalies` finds them."""

    DOUBLE_OWNERSHIP = "double-ownership"
    """Two members hold one partition at a time, by what they were given."""
    GIVEN_TOO_EARLY = "given-too-early"
    """A partition has its next owner while the one before claims it: for how long, nothing says."""
    UNASSIGNED = "unassigned"
    """A partition that somebody asked for is with nobody, and is not on its way."""
    FOREIGN_TOPIC = "foreign-topic"
    """A member was given a topic it did not ask for."""
    REBALANCE_LOOP = "rebalance-loop"
    """Rebalance after rebalance, though nobody comes, goes or asks for something else."""
    REBALANCE_STORM = "rebalance-storm"
    """Many generations in a short time."""
    NEVER_CLAIMS = "never-claims"
    """A member never says what it owns, though its protocol wants it to."""
    STARVED = "starved"
    """A member holds less than a balanced assignment would give it."""
    OVERLOADED = "overloaded"
    """A member holds more than a balanced assignment would give it."""
    IMBALANCE = "imbalance"
    """The assignment's loads are further apart than they need be."""
    NEEDLESS_MOVES = "needless-moves"
    """More partitions changed hands than a balanced assignment needs."""
    ODD_BYTES = "odd-bytes"
    """A client writes what the protocol does not say."""
    UNREADABLE = "unreadable"
    """A record, a Subscription or an Assignment that cannot be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRow:
    """One life of a group."""

    group: str
    life: int
    kind: str
    """A `Kind`."""
    from_ms: int
    to_ms: int | None
    """When its tombstone was written."""
    state: str
    """At the end of the records: Stable, Empty, Dead, Reconciling..."""
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
    """Partitions that changed hands, all generations together."""
    commit_count: int
    """Offsets written; neither tombstones nor what a transaction took back."""
    tombstone_count: int
    """Offsets deleted."""
    anomaly_count: int
    double_owned_ms: int | None
    """Partition-milliseconds with two holders or more, as far as `double-ownership` findings
    have an end; `None` where all of them last."""
    unassigned_partition_ms: int | None
    """The same of partitions that were asked for and with nobody, generation by generation."""
    downtime_partition_ms: int | None
    """Estimate, see `columns.ESTIMATED`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetRow:
    """One offset commit, or the tombstone of one (`offset` is `None`)."""

    group: str
    topic: str
    topic_id: str | None
    partition: int
    offset: int | None
    leader_epoch: int | None
    metadata: str | None
    commit_ms: int | None
    expire_ms: int | None
    at_ms: int
    record_partition: int | None
    record_offset: int | None
    holder_id: str | None
    """The one member that held the partition then: an estimate of who committed."""
    is_aborted: bool | None = None


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
    """Whose bytes the plan looks like: a guess from their form, see `fingerprint`."""
    member_count: int
    partition_count: int
    """Partitions given out."""
    joined: tuple[str, ...]
    """Ids of members that the generation before did not have."""
    left: tuple[str, ...]
    """Ids of members that only the generation before had."""
    moved: int
    """Partitions that another member held in the generation before."""
    moved_minimum: int | None
    """The fewest moves with which the best loads could be had."""
    lost: int
    """Partitions held in the generation before, by nobody now."""
    load_min: int
    load_max: int
    load_max_optimum: int | None
    balance_gap: int | None
    """Sum of squared loads above the best possible."""
    unassigned: int
    """Partitions of topics asked for that nobody has."""
    double: int
    """Partitions that two or more members were given."""
    missing_before: int
    """Generations between the one before and this one that have no record."""
    counts_inferred: bool
    """Whether partition counts come from the group's own history, not from the cluster."""
    pause_ms: int | None
    """Estimate, see `columns.ESTIMATED`."""
    downtime_partition_ms: int | None
    """Estimate, see `columns.ESTIMATED`."""
    notes: tuple[str, ...]
    record_partition: int | None
    record_offset: int | None
    reproduced: str | None = None
    """What Java's assignor makes of the same Subscriptions: the same `bytes`, the same
    `partitions` written down in another way, `no` such plan, or it `fails`. `None` where the
    protocol is none of Java's, or there is no plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberRow:
    """One member in one generation: what it said, and what it was given."""

    group: str
    life: int
    kind: str
    generation: int
    at_ms: int
    member_id: str
    instance_id: str | None
    client_id: str
    host: str
    rack_id: str | None
    is_leader: bool
    is_new: bool
    """Not in the generation before."""
    rebalance_timeout_ms: int | None
    session_timeout_ms: int | None
    topics: tuple[str, ...]
    topic_regex: str | None
    subscription_version: int | None
    """`None` where the member speaks no consumer protocol."""
    claimed: TopicPartitions
    """What it says it owns, read where its assignor reads it."""
    claims_known: bool
    claimed_generation: int | None
    assigned: TopicPartitions
    assigned_count: int
    """#PARTITIONS."""
    target: TopicPartitions | None
    """KIP-848: what the broker means it to have."""
    revoking: TopicPartitions | None
    """KIP-848: what it still has to give up."""
    member_epoch: int | None
    member_state: str | None
    """KIP-848: stable, unrevoked-partitions, unreleased-partitions."""
    notes: tuple[str, ...]
    """Codes of what was odd in its bytes."""
    error: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignmentRow:
    """An interval in which one member held one partition, by the group's records."""

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
    """`None`: still held at the end of the records."""
    from_generation: int
    """0: before the first that has a record."""
    to_generation: int | None
    """The generation that ended it."""
    ended_by: str | None
    """`moved`, `left`, `withheld` (nobody has it next), `group-ended`, `converted` (KIP-848)."""
    is_double: bool
    """Somebody else held it too, for a part of the interval at least."""
    is_certain: bool
    """False where generations are missing between its first and its last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnomalyRow:
    """One finding, with what is needed to see it."""

    group: str
    life: int
    kind: str
    """An `AnomalyKind`."""
    generation: int | None
    at_ms: int
    until_ms: int | None
    member_id: str | None
    client_id: str | None
    topic: str | None
    partition: int | None
    count: int
    """How many partitions, generations or bytes: `evidence` says of what."""
    evidence: str


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


Row = GroupRow | OffsetRow | GenerationRow | MemberRow | AssignmentRow | AnomalyRow | OutcomeRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """All tables of one replay."""

    groups: tuple[GroupRow, ...] = ()
    offsets: tuple[OffsetRow, ...] = ()
    generations: tuple[GenerationRow, ...] = ()
    members: tuple[MemberRow, ...] = ()
    assignments: tuple[AssignmentRow, ...] = ()
    anomalies: tuple[AnomalyRow, ...] = ()
    outcomes: tuple[OutcomeRow, ...] = ()


TABLES: Mapping[str, type[Row]] = {
    "groups": GroupRow,
    "offsets": OffsetRow,
    "generations": GenerationRow,
    "members": MemberRow,
    "assignments": AssignmentRow,
    "anomalies": AnomalyRow,
    "outcomes": OutcomeRow,
}
