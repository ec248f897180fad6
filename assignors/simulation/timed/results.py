"""The figures of a timed run: one field each, with its label, its unit and its feature.

Rows, columns, schemas, terminal tables and reference pages follow from the class. Figures of a
feature, such as failovers, are one nested column of a row; a run without it has no such column.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, NamedTuple, get_args, get_type_hints


class Feature(StrEnum):
    """What not every run has, or not everybody wants to read."""

    PROCESSING = "processing"
    FAILOVER = "failover"
    EXECUTION = "execution"
    PUSH = "push"
    WAITING = "waiting"
    BLOCKED = "blocked"
    STATE = "state"


PROCESSING, FAILOVER, EXECUTION, PUSH, WAITING, BLOCKED, STATE = Feature
EXPLAINING = (WAITING, BLOCKED, STATE)
"""Every run has these. They say where its time goes; a terminal has no room for them."""
FEATURE_TEXTS: Mapping[Feature, str] = {
    PROCESSING: "Records and commits; absent where the scenario has no records.",
    FAILOVER: "The coordinator's losses; absent where no fault is one of the coordinator.",
    EXECUTION: "Time at the coordinator; absent where it has no execution model.",
    PUSH: "Of groups that push assignments to brokers; absent in others.",
    WAITING: "How long members wait for answers.",
    BLOCKED: "How long calls of the client block.",
    STATE: "What a broker keeps for the group.",
}
"""What the figures of a feature are, and which runs have it."""


class Figure(NamedTuple):
    """How a figure is shown; in class `TimedResult`, the mark of its field."""

    label: str = ""
    """Empty: in no table of the command or the report."""
    feature: Feature | None = None
    hides_zero: bool = False
    """Shown only where some run has some; so is every figure of a feature."""
    in_milliseconds: bool = False
    """Shown in milliseconds, as it is kept; other times are shown in seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedResult:
    """What a run cost. Times are milliseconds, in fractions where a message takes less."""

    rounds: Annotated[int, Figure("generations or epochs")]
    """Generations that began since costs are counted."""
    moves: Annotated[int, Figure("partitions moved")]
    """How often a partition went to another member than the one before."""
    moves_beyond_optimum: Annotated[int, Figure("more than the best balance needs")]
    """Moves more than the best balance needs, from one moment at rest to the next; a worse balance
    that needs fewer counts 0."""
    members_touched: Annotated[int, Figure("members interrupted")]
    """Members interrupted: they had to rejoin or to give up partitions while they consumed. Summed
    over generations; their own stops and crashes do not count."""
    members_failed: Annotated[int, Figure("members stopped by an error", hides_zero=True)] = 0
    """Members whose client stopped with an error that it does not recover from, in the whole run,
    each time counted; those that the plan stops or crashes are not."""
    fatal_errors: dict[str, int] = field(default_factory=dict)
    """Of these: how many stopped with which error."""
    unavailable_partition_ms: Annotated[float, Figure("partition-seconds without a consumer")]
    """Partitions times milliseconds without a consumer."""
    longest_gap_ms: Annotated[float, Figure("longest of them, s")]
    """The longest time that one partition was without a consumer."""
    gaps: int
    """Times in which a partition was without a consumer."""
    group_stopped_ms: Annotated[float, Figure("seconds in which the whole group stood still")]
    """Time in which nobody in the group consumed anything."""
    any_stopped_ms: Annotated[float, Figure("seconds in which any partition did")]
    """Time in which at least one partition had no consumer."""
    round_ms_median: Annotated[float, Figure("rebalance, median, s")]
    """From the begin of a rebalance to its end: in a classic group, when the coordinator has stored
    the leader's assignment; in others, when every member has reported what it was to get."""
    round_ms_max: Annotated[float, Figure("rebalance, longest, s")]
    """The longest of these."""
    convergence_ms: Annotated[float | None, Figure("from the last action to rest, s")]
    """From the last action of the plan, or the begin of a later fault, until nothing changed any
    more; null where the group has not settled."""
    double_partition_ms: Annotated[float, Figure("partition-seconds with two consumers")]
    """Partitions times milliseconds with two consumers or more."""
    longest_double_ms: Annotated[float, Figure("longest of them with two, s", hides_zero=True)]
    """The longest time that one partition had two consumers."""
    pauses_ended: Annotated[int, Figure("pauses ended by rebalances", hides_zero=True)]
    """How often a rebalance ended the pause of a partition: its consumer reads on unasked."""
    unowned: Annotated[int, Figure("without a consumer at the end")]
    """Partitions of subscribed topics without a consumer at the end."""
    is_settled: bool
    """Every member that runs has its assignment, and every partition a consumer."""
    violations: Annotated[int, Figure("violations")] = 0
    """How often a rule was broken that monitors hold every run against."""
    first_violation: str | None = None
    """The first of them, with its event's number, its time and the seed."""
    requests: dict[str, int]
    """Requests that reached the coordinator in the whole run, by type."""
    events: Annotated[int, Figure("events")]
    """Events that were played one by one: all but heartbeats of idle members."""
    events_hash: str = ""
    """A hash of the events, as 16 hexadecimal digits: the same scenario and seed give the same in
    every process."""
    stopped_by: str | None = None
    """The bound that ended the run early: `event_limit` or `kept_limit`, and its value."""

    commits: Annotated[int, Figure("commits", PROCESSING)] = 0
    """Commits of offsets that were accepted, since costs are counted."""
    fenced_commits: Annotated[int, Figure("commits refused", PROCESSING)] = 0
    """Commits that were refused: of another generation or epoch, or from outside the group."""
    reprocessed_records: Annotated[int, Figure("records processed again", PROCESSING)] = 0
    """Records that were processed again: their commit was lost, refused, or never sent."""
    duplicate_records: Annotated[int, Figure("records processed by two at once", PROCESSING)] = 0
    """Records that a second member processed while another one still did."""
    delayed_records: Annotated[int, Figure("records that waited for a consumer", PROCESSING)] = 0
    """Records that were written while nobody consumed their partition."""
    lag_records: Annotated[int, Figure("", PROCESSING)] = 0
    """Records that are written and not committed at the end."""

    failovers: Annotated[int, Figure("coordinators lost", FAILOVER)] = 0
    """How often the group lost its coordinator."""
    recovery_ms: Annotated[float | None, Figure("from the loss to rest, longest, s", FAILOVER)] = (
        None
    )
    """From the loss of a coordinator until every member had heard of the next one and the group was
    at rest, the longest; null where that has not come about, or nothing was lost."""
    first_heartbeat_ms: Annotated[
        float | None, Figure("from the loss to the first heartbeat, longest, s", FAILOVER)
    ] = None
    """From the loss of a coordinator until the next one first answered a heartbeat, the longest."""
    records_replayed: Annotated[int, Figure("records of the group replayed", FAILOVER)] = 0
    """Records of the group that coordinators read when they took over, each time counted."""
    records_lost: Annotated[int, Figure("records of the group lost", FAILOVER)] = 0
    """Records of the group that were written and not replicated when their broker crashed."""

    coordinator_p99_ms: Annotated[
        float | None,
        Figure("time at the coordinator, 99th percentile, ms", EXECUTION, in_milliseconds=True),
    ] = None
    """Of the group's requests: the 99th percentile of the time that the coordinator had one, with
    all that it waited for."""
    coordinator_waiting_max: Annotated[
        int | None, Figure("most requests at the coordinator", EXECUTION)
    ] = None
    """The most requests that it had at a time, those of other groups among them."""
    commit_p50_ms: Annotated[
        float | None, Figure("commit, median, ms", EXECUTION, in_milliseconds=True)
    ] = None
    """The median of the time from a commit that was accepted to its answer, at the coordinator."""
    commit_p99_ms: Annotated[
        float | None, Figure("commit, 99th percentile, ms", EXECUTION, in_milliseconds=True)
    ] = None
    """The 99th percentile of that."""
    evictions: Annotated[int | None, Figure("members evicted whose requests waited", EXECUTION)] = (
        None
    )
    """Members whose session was over while a request of theirs waited for its turn."""
    failed_appends: Annotated[int | None, Figure("appends that failed", EXECUTION)] = None
    """Appends that failed."""

    fetches_refused: Annotated[int, Figure("", PUSH)] = 0
    """Fetches that brokers refused before the member had heard that it lost the partition."""

    join_wait_ms: Annotated[
        float | None, Figure("member-seconds waiting for JoinGroup", WAITING)
    ] = None
    """Members times milliseconds from JoinGroup, or the heartbeat that joins, to its answer. This
    and those below are counted by `tables.rows`, from `count_from_ms` on."""
    sync_wait_ms: Annotated[
        float | None, Figure("member-seconds waiting for SyncGroup", WAITING)
    ] = None
    """Members times milliseconds from SyncGroup to its answer."""
    commit_wait_ms: Annotated[
        float | None, Figure("member-seconds waiting for commits", WAITING)
    ] = None
    """The same from commits of offsets to their answers."""
    offset_fetch_wait_ms: Annotated[
        float | None, Figure("member-seconds waiting for offsets", WAITING)
    ] = None
    """The same from the question for committed offsets to its answer."""
    locked_partition_ms: Annotated[
        float | None, Figure("partition-seconds locked meanwhile", WAITING)
    ] = None
    """Of `unavailable_partition_ms`, between two consumers of a partition: while some member waited
    for the answer to JoinGroup or SyncGroup."""

    poll_blocked_ms: Annotated[
        float | None, Figure("member-seconds in poll without a partition", BLOCKED)
    ] = None
    """Members times milliseconds in `poll` with nothing to return: without a partition, from their
    start or their last one's loss until they have one. Who gets none is not counted."""
    callback_blocked_ms: Annotated[float | None, Figure("member-seconds in callbacks", BLOCKED)] = (
        None
    )
    """Members times milliseconds in callbacks for revoked and assigned partitions, `Setup` and
    `Cleanup`, with the commits that they wait for."""
    commit_blocked_ms: Annotated[
        float | None, Figure("member-seconds in synchronous commits", BLOCKED)
    ] = None
    """Members times milliseconds in synchronous commits, outside callbacks."""
    close_blocked_ms: Annotated[float | None, Figure("member-seconds in close", BLOCKED)] = None
    """Members times milliseconds from a call of `close` until the member leaves: with its callbacks
    and what its thread has to finish first."""

    state_bytes_max: Annotated[
        int | None, Figure("bytes a broker keeps for the group, most", STATE)
    ] = None
    """The most of that at a time."""
    state_bytes: Annotated[int | None, Figure("bytes of these at the end", STATE)] = None
    """What the coordinator's broker keeps for the group at the end: keys and values of its records
    as compaction leaves them, with subscriptions, assignments and offsets. In a group of the push
    protocol what every broker keeps: 44 bytes for each partition that somebody may read."""
    offsets_bytes: Annotated[int | None, Figure("bytes of committed offsets in them", STATE)] = None
    """Committed offsets in `state_bytes`."""
    written_bytes: Annotated[int | None, Figure("bytes of records written", STATE)] = None
    """Keys and values of all records that were written in the whole run."""


def _figures() -> Mapping[str, Figure]:
    hints = get_type_hints(TimedResult, include_extras=True)
    marks = {name: getattr(hint, "__metadata__", (Figure(),)) for name, hint in hints.items()}
    return {name: mark for name, (mark, *_) in marks.items()}


FIGURES = _figures()
"""Name -> how it is shown, in the order in which figures are shown."""
FEATURES: Mapping[Feature, tuple[str, ...]] = {
    feature: tuple(name for name, each in FIGURES.items() if each.feature is feature)
    for feature in Feature
}
"""Feature -> its figures."""
OF_EVERY_RUN = tuple(name for name, each in FIGURES.items() if each.feature is None)
"""Figures without a feature, which are columns of their own."""
NUMBERS = tuple(
    name
    for name, hint in get_type_hints(TimedResult).items()
    if not {str, dict[str, int]}.intersection((hint, *get_args(hint)))
)
"""Figures that are numbers; `is_settled` is the share of runs that settled."""
SECOND_MS = 1000.0


def figure_of(row: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 - a number, mostly
    """Return a figure of a result row; `None` where the run failed, or does not have its feature.

    >>> figure_of({"moves": 3, "failover": {"failovers": 1}, "error": None}, "failovers")
    1
    """
    if row["error"] is not None:
        return None
    feature = FIGURES[name].feature
    columns = row if feature is None else row.get(feature)
    return None if columns is None else columns[name]


def labels_of(values: Iterable[tuple[str, float | None]]) -> dict[str, str]:
    """Return the labels that are shown for these figures and values, in order.

    >>> [figure for figure in labels_of([("commits", 0), ("moves", 0)]) if figure != "rounds"][:1]
    ['moves']
    """
    some = {name for name, value in values if value}
    return {
        name: each.label
        for name, each in FIGURES.items()
        if each.label and (name in some or (each.feature is None and not each.hides_zero))
    }


def figure_text(name: str, value: float | None, *, signed: bool = False) -> str:
    """Return a figure in the unit of its label, `-` where there is none.

    >>> figure_text("longest_gap_ms", 3102.4), figure_text("moves", -1200, signed=True)
    ('3.10', '-1,200')
    """
    if value is None:
        return "-"
    sign = "+" if signed else ""
    if FIGURES[name].in_milliseconds:
        return f"{value:{sign},.1f}"
    if "_ms" in name:
        return f"{value / SECOND_MS:{sign},.2f}"
    return f"{value:{sign},.0f}" if float(value).is_integer() else f"{value:{sign},.1f}"


def difference_text(name: str, summary: Mapping[str, Any]) -> str | None:
    """Return a figure's mean difference and its interval; `None` where there is no difference.

    `summary` has the fields of a `SummaryRow`.

    >>> row = {"difference": 2.0, "difference_low": 1.0, "difference_high": 3.0}
    >>> difference_text("moves", row)
    '+2 (+1 to +3)'
    """
    mean, low, high = (
        figure_text(name, summary[each], signed=True)
        for each in ("difference", "difference_low", "difference_high")
    )
    if summary["difference"] is None:
        return None
    return mean if summary["difference_low"] is None else f"{mean} ({low} to {high})"
