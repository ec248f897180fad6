"""Every kind of finding: a row of `FINDINGS`, with the function that finds it.

The row says how severe the kind is, what it means, how sure it is and what to do. Tables, schemas,
the report and the reference page show these texts. Findings are listed in the order of the rows,
worst first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from assignors.replay.findings.balance import imbalances, needless_moves, uneven_loads
from assignors.replay.findings.commits import (
    offsets_removed,
    offsets_reset,
    repeated_at_handover,
    went_back,
)
from assignors.replay.findings.finding import Finder, each_life
from assignors.replay.findings.ownership import (
    double_ownership,
    early_handovers,
    foreign_topics,
    left_out,
    never_assigned,
    unassigned,
)
from assignors.replay.findings.protocol_use import (
    client_layouts,
    never_claims,
    odd_bytes,
    other_protocols,
    unreadable,
)
from assignors.replay.findings.rebalance_frequency import (
    probing_rebalances,
    rebalance_loops,
    rebalance_storms,
    worker_rebalances,
)
from assignors.replay.findings.static_members import fenced_instances
from assignors.replay.findings.upgrade import classic_only


class Severity(StrEnum):
    """How bad a finding is, worst first."""

    CRITICAL = "critical"
    """Records are processed twice."""
    HIGH = "high"
    """Records are not processed, or something cannot be read."""
    MEDIUM = "medium"
    """The group stops and starts more often than it has to."""
    LOW = "low"
    """Work is spread badly, or bytes are odd; every record is processed."""
    NOTE = "note"
    """Nothing is wrong: worth knowing when something else is."""

    def is_at_least(self, other: Severity) -> bool:
        """Return whether this is as severe as `other`, or more.

        >>> Severity.HIGH.is_at_least(Severity.LOW), Severity.NOTE.is_at_least(Severity.LOW)
        (True, False)
        """
        return RANK[self] <= RANK[other]


RANK: Mapping[str, int] = {severity.value: rank for rank, severity in enumerate(Severity)}
"""Severity -> its place, 0 is the worst."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingKind:
    """A kind of finding; each text is one or two sentences without a full stop."""

    name: str
    """As tables and options have it."""
    severity: Severity
    find: Finder
    """Finds it in the history of one group, and nothing else; see `finding.Finder`."""
    meaning: str
    how_sure: str
    """What the records prove, and what they cannot show."""
    what_to_do: str
    count: str
    """What `FindingRow.count` counts."""
    thresholds: tuple[str, ...] = ()
    """The fields of `Thresholds` that decide it."""
    is_count_added: bool = True
    """Whether the counts of repeated findings are added; else the largest one is kept."""
    is_by_leader: bool = False
    """Whether a classic group's leader causes it, whichever member it shows up with."""


_ROWS = (
    FindingKind(
        name="double-ownership",
        find=each_life(double_ownership),
        severity=Severity.CRITICAL,
        meaning=(
            "a partition was assigned to two members at the same time, by the recorded assignments"
        ),
        how_sure="certain for the assignments; whether both members consumed is not recorded",
        what_to_do=(
            "Expect records processed twice in this time; stop one of the members, then update "
            "the leader's client or replace its assignor"
        ),
        count="owners of the partition",
        is_count_added=False,
        is_by_leader=True,
    ),
    FindingKind(
        name="given-too-early",
        find=each_life(early_handovers),
        severity=Severity.CRITICAL,
        meaning=(
            "a partition was assigned to its next owner while the previous owner still claimed it: "
            "both consumed it until the previous owner revoked it, and that time is not recorded"
        ),
        how_sure=(
            "certain that it was assigned too early; how long both consumed it is an upper bound"
        ),
        what_to_do=(
            "Expect records processed twice; the leader's cooperative assignor must withhold "
            "claimed partitions for a round: update the leader's client, or have all members use "
            "one client library"
        ),
        count="owners of the partition",
        is_count_added=False,
        is_by_leader=True,
    ),
    FindingKind(
        name="unassigned",
        find=each_life(unassigned),
        thresholds=("passing_ms",),
        severity=Severity.HIGH,
        meaning=(
            "a partition of a subscribed topic was assigned to no member, and was not part of a "
            "hand-over"
        ),
        how_sure=(
            "certain where partition counts are known (--partitions, --bootstrap); else the count "
            "is the largest that the group's own records show"
        ),
        what_to_do=(
            "If it lasts, the lag of these partitions grows: look whether the leader's client "
            "knows the topic, and make the group rebalance, with enforceRebalance() or a member "
            "that stays away longer than its session.timeout.ms (the restart of a static member, "
            "even of the leader, causes no rebalance)"
        ),
        count="partitions",
        is_by_leader=True,
    ),
    FindingKind(
        name="foreign-topic",
        find=each_life(foreign_topics),
        severity=Severity.HIGH,
        meaning="a member was assigned a topic that it did not subscribe to",
        how_sure=(
            "certain for the records; a subscription that changed during the round looks the same"
        ),
        what_to_do=(
            "Perhaps no member consumes these partitions: look at the assignor of the leader's "
            "client, and whether members of one group subscribe to different topics on purpose"
        ),
        count="partitions",
        is_by_leader=True,
    ),
    FindingKind(
        name="unreadable",
        find=unreadable,
        severity=Severity.HIGH,
        meaning=("a record, or a member's subscription or assignment, could not be decoded"),
        how_sure="certain; what the bytes meant to say is unknown",
        what_to_do=(
            "Without a group: the source is damaged or cut short, so write it anew. Otherwise look "
            "at the bytes with `kafka-assignors decode`; a member whose subscription cannot be "
            "read gets nothing: update or remove that client"
        ),
        count="records, or subscriptions",
    ),
    FindingKind(
        name="went-back",
        find=went_back,
        severity=Severity.HIGH,
        meaning=(
            "the group committed a lower offset than before while it had members: the records "
            "between the two were processed again"
        ),
        how_sure=(
            "certain for the offsets; who committed is concluded from who owned the partition, and "
            "a consumer that seeks back on purpose looks the same"
        ),
        what_to_do=(
            "Expect records processed twice. At a hand-over the new owner did not start at the "
            "group's last commit: look whether it fetches committed offsets, at its "
            "auto.offset.reset, and whether it seeks or assigns when partitions are assigned"
        ),
        count="records",
    ),
    FindingKind(
        name="offsets-removed",
        find=offsets_removed,
        thresholds=("retention_ms",),
        severity=Severity.HIGH,
        meaning=(
            "a committed offset was removed while members subscribed to its topic, or before the "
            "group returned: a consumer without one starts where auto.offset.reset says"
        ),
        how_sure=(
            "certain for the tombstone; a deleted topic, a deleted group and `--delete-offsets` "
            "leave the same one as a broker after offsets.retention.minutes"
        ),
        what_to_do=(
            "If the last commit is older than offsets.retention.minutes (7 days unless set), make "
            "that longer than the group may be away; look for skipped or repeated records from "
            "its return on"
        ),
        count="partitions",
    ),
    FindingKind(
        name="left-out",
        find=each_life(left_out),
        severity=Severity.HIGH,
        meaning=(
            "the leader's assignment does not have a member of the group, which got zero bytes "
            "instead of an empty assignment"
        ),
        how_sure=(
            "certain for the bytes; Java's client throws IllegalStateException on them, and what "
            "other clients do differs"
        ),
        what_to_do=(
            "Correct the assignor of the leader's client: it has to return an assignment for "
            "every member, an empty one too"
        ),
        count="generations",
        is_by_leader=True,
    ),
    FindingKind(
        name="fenced-instance",
        find=each_life(fenced_instances),
        thresholds=("instance_changes", "instance_window_ms"),
        severity=Severity.HIGH,
        meaning=(
            "a group.instance.id went from one process to the next, over and over: each one that "
            "joins with it has the one before fenced"
        ),
        how_sure=(
            "certain for the changes; one process that restarts over and over looks the same, as "
            "brokers keep the client id and host of the first"
        ),
        what_to_do=(
            "Give each process a group.instance.id of its own, and look whether two deployments "
            "or replicas share a configuration; if only one has it, find out why it restarts"
        ),
        count="changes",
    ),
    FindingKind(
        name="rebalance-loop",
        find=each_life(rebalance_loops),
        thresholds=("loop_generations", "loop_window_ms", "probing_ms"),
        severity=Severity.MEDIUM,
        meaning=(
            "one rebalance followed another, although no member joined, left or changed its "
            "subscription"
        ),
        how_sure=(
            "certain for the generations; why a member asked for a rebalance is not recorded"
        ),
        what_to_do=(
            "Look in the members' logs for the reason of each join; a frequent one is an assignor "
            "of the leader's client that never settles among clients of different libraries: use "
            "one library, or `range`"
        ),
        count="generations",
        is_by_leader=True,
    ),
    FindingKind(
        name="rebalance-storm",
        find=each_life(rebalance_storms),
        thresholds=("storm_generations", "storm_window_ms"),
        severity=Severity.MEDIUM,
        meaning="many generations in a short time",
        how_sure="certain for the generations; a deployment of many members looks the same",
        what_to_do=(
            "If nobody deployed, look for members that restart or exceed max.poll.interval.ms; "
            "if somebody did, use static membership (group.instance.id) or restart fewer at a time"
        ),
        count="generations",
    ),
    FindingKind(
        name="worker-rebalances",
        find=each_life(worker_rebalances),
        thresholds=("loop_generations", "loop_window_ms", "storm_generations", "storm_window_ms"),
        severity=Severity.MEDIUM,
        meaning=(
            "rebalance after rebalance in a group whose members are no consumers, such as the "
            "workers of Kafka Connect"
        ),
        how_sure=(
            "certain for the generations; connectors and tasks are not read, and why a worker "
            "asked for a rebalance is not recorded"
        ),
        what_to_do=(
            "Look in the workers' logs for the reason of each join. In Kafka Connect: workers of "
            "two clusters with one group.id or one config topic, a worker that cannot read the "
            "config topic to its end, connectors whose configuration is written over and over"
        ),
        count="generations",
    ),
    FindingKind(
        name="never-claims",
        find=each_life(never_claims),
        thresholds=("claims_missed",),
        severity=Severity.MEDIUM,
        meaning=("a member never reported its owned partitions, although its protocol requires it"),
        how_sure=(
            "certain for the bytes; a member that loses its state before each rebalance looks the "
            "same"
        ),
        what_to_do=(
            "Its partitions move at every rebalance: update the member's client, or keep it out "
            "of a group with a sticky assignor"
        ),
        count="rebalances without a claim",
    ),
    FindingKind(
        name="imbalance",
        find=each_life(imbalances),
        thresholds=("balance_gap", "passing_ms"),
        severity=Severity.LOW,
        meaning=(
            "the loads of the members differed by more than necessary: some had fewer partitions, "
            "or more, than in any balanced assignment"
        ),
        how_sure=(
            "certain for partition counts as the records show them; partitions count alike, "
            "however much is written to them"
        ),
        what_to_do=(
            "If the most loaded members lag, change the assignor of the leader's client; `replay "
            "--what-if` shows what another one would have done (`range` is uneven with several "
            "topics by design)"
        ),
        count="the sum of squared loads above the best possible",
        is_count_added=False,
        is_by_leader=True,
    ),
    FindingKind(
        name="uneven-load",
        find=each_life(uneven_loads),
        thresholds=("uneven_load_percent", "passing_ms"),
        severity=Severity.LOW,
        meaning=(
            "one member had far more records to process than necessary: its partitions were the "
            "busy ones, however many it had"
        ),
        how_sure=(
            "an estimate by the offsets that the group committed, which do not show what a member "
            "that lags behind has left unread: with --log-ends the records written count"
        ),
        what_to_do=(
            "If the member lags, spread records over partitions by another key, or assign by "
            "weight: `replay --what-if cooperative-weighted` shows what it would have moved"
        ),
        count="percent of records a second above what is necessary",
        is_count_added=False,
    ),
    FindingKind(
        name="needless-moves",
        find=each_life(needless_moves),
        thresholds=("needless_moves",),
        severity=Severity.LOW,
        meaning="more partitions moved than a balanced assignment needs",
        how_sure=(
            "certain for the assignments; compared with the best balance and the fewest moves to it"
        ),
        what_to_do=(
            "Caches and state of moved partitions are built again: if that is expensive, have the "
            "leader's client use a sticky assignor; `replay --what-if` shows what it would have "
            "moved"
        ),
        count="moves above the fewest",
        is_by_leader=True,
    ),
    FindingKind(
        name="repeated-at-handover",
        find=repeated_at_handover,
        severity=Severity.LOW,
        meaning=(
            "at a hand-over the new owner's first commit was lower than the last of the old one, "
            "by less than the old owner read between its last two commits"
        ),
        how_sure="certain for the offsets; who committed is concluded from who owned the partition",
        what_to_do=(
            "Expect a few records processed twice at each hand-over; commit when partitions are "
            "revoked to have none"
        ),
        count="records",
    ),
    FindingKind(
        name="odd-bytes",
        find=each_life(odd_bytes),
        severity=Severity.LOW,
        meaning="a client wrote bytes that differ from the protocol",
        how_sure="certain; whether other clients read them as they are meant depends on the client",
        what_to_do=(
            "Nothing urgent; if members ignore each other's claims, update the client that "
            "`client_id` names; `kafka-assignors conform` has vectors of such bytes"
        ),
        count="messages with such bytes",
    ),
    FindingKind(
        name="client-layout",
        find=each_life(client_layouts),
        severity=Severity.NOTE,
        meaning=(
            "librdkafka and franz-go write their whole assignment where Java's cooperative sticky "
            "assignor writes four bytes; this is how these clients work"
        ),
        how_sure="certain",
        what_to_do=(
            "Nothing, unless members of other libraries lose partitions they claimed: some leaders "
            "take the first four bytes for a generation"
        ),
        count="messages with this layout",
    ),
    FindingKind(
        name="offsets-reset",
        find=offsets_reset,
        thresholds=("retention_ms",),
        severity=Severity.NOTE,
        meaning="an offset was set back, or removed, while the group had no members",
        how_sure=(
            "certain for the offsets; whether a tool did it or a consumer that assigns its "
            "partitions itself is not recorded"
        ),
        what_to_do="Nothing, if somebody reset or deleted the offsets on purpose",
        count="records, or offsets removed",
    ),
    FindingKind(
        name="streams-probing",
        find=each_life(probing_rebalances),
        thresholds=("loop_generations", "loop_window_ms", "probing_ms"),
        severity=Severity.NOTE,
        meaning=(
            "Kafka Streams rebalanced every few minutes with the same members: probing "
            "rebalances, until the state of each task that shall move is restored elsewhere"
        ),
        how_sure="a guess by the protocol and the time between rebalances",
        what_to_do=(
            "Nothing, if it ends; otherwise restoring does not catch up: raise "
            "max.warmup.replicas or acceptable.recovery.lag, or "
            "probing.rebalance.interval.ms to have fewer"
        ),
        count="rebalances",
    ),
    FindingKind(
        name="never-assigned",
        find=never_assigned,
        severity=Severity.NOTE,
        meaning=(
            "members subscribed to a topic of which nobody ever had a partition, and whose "
            "partition count is not known"
        ),
        how_sure="certain for the assignments; the topic may have no partitions, or not exist",
        what_to_do="Give --partitions or --bootstrap: partitions that nobody had are findings then",
        count="topics",
    ),
    FindingKind(
        name="other-protocol",
        find=each_life(other_protocols),
        severity=Severity.NOTE,
        meaning=(
            "the protocol type of the group is not `consumer`: what its members are assigned is "
            "not read"
        ),
        how_sure="certain",
        what_to_do=(
            "Nothing; imbalance, moves, unassigned partitions and other assignors are not looked at"
        ),
        count="generations",
        is_count_added=False,
    ),
    FindingKind(
        name="classic-only",
        find=each_life(classic_only),
        severity=Severity.NOTE,
        meaning=(
            "at the end of the records a broker would refuse to convert the group to the consumer "
            "protocol (KIP-848) while it runs"
        ),
        how_sure=(
            "certain for the group as it is then, by the rules of Kafka 4.4.0; "
            "group.consumer.migration.policy and group.consumer.max.size are not in the records"
        ),
        what_to_do=(
            "Groups of Kafka Connect and of Kafka Streams stay as they are. In others, before "
            "members with group.protocol=consumer join, replace the leader's client or its "
            "assignor so that Assignments have no UserData; or stop all members first: an empty "
            "group is replaced whatever it was"
        ),
        count="members that the broker could not take over",
        is_count_added=False,
    ),
)

FINDINGS: Mapping[str, FindingKind] = {row.name: row for row in _ROWS}
"""Every kind by its name, worst first."""

ORDER: Mapping[str, int] = {name: place for place, name in enumerate(FINDINGS)}
"""Kind -> its place: within one severity, worse kinds come first."""
