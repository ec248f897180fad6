"""Figures of a result as people read them: what the table of the command and the report show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

SECOND_MS = 1000.0

LABELS: dict[str, str] = {
    "rounds": "rounds or epochs",
    "moves": "partitions moved",
    "moves_beyond_optimum": "more than the best balance needs",
    "members_touched": "members interrupted",
    "members_failed": "members stopped by an error",
    "unavailable_partition_ms": "partition-seconds without a consumer",
    "longest_gap_ms": "longest of them, s",
    "group_stopped_ms": "seconds in which the whole group stood still",
    "any_stopped_ms": "seconds in which any partition did",
    "round_ms_median": "rebalance, median, s",
    "round_ms_max": "rebalance, longest, s",
    "convergence_ms": "from the last action to rest, s",
    "double_partition_ms": "partition-seconds with two consumers",
    "longest_double_ms": "longest of them with two, s",
    "pauses_ended": "pauses ended by rebalances",
    "commits": "commits",
    "fenced_commits": "commits refused",
    "reprocessed_records": "records processed again",
    "duplicate_records": "records processed by two at once",
    "delayed_records": "records written meanwhile to partitions without a consumer",
    "failovers": "coordinators lost",
    "recovery_ms": "from the loss to rest, longest, s",
    "first_heartbeat_ms": "from the loss to the first heartbeat, longest, s",
    "records_replayed": "records of the group replayed",
    "records_lost": "records of the group lost",
    "evictions": "members evicted whose requests waited",
    "coordinator_p99_ms": "time at the coordinator, 99th percentile, ms",
    "coordinator_waiting_max": "most requests at the coordinator",
    "commit_p50_ms": "commit, median, ms",
    "commit_p99_ms": "commit, 99th percentile, ms",
    "failed_appends": "appends that failed",
    "join_wait_ms": "member-seconds waiting for JoinGroup",
    "sync_wait_ms": "member-seconds waiting for SyncGroup",
    "commit_wait_ms": "member-seconds waiting for commits",
    "offset_fetch_wait_ms": "member-seconds waiting for offsets",
    "locked_partition_ms": "partition-seconds locked meanwhile",
    "poll_blocked_ms": "member-seconds in poll without a partition",
    "callback_blocked_ms": "member-seconds in callbacks",
    "commit_blocked_ms": "member-seconds in synchronous commits",
    "close_blocked_ms": "member-seconds in close",
    "state_bytes_max": "bytes a broker keeps for the group, most",
    "state_bytes": "bytes of these at the end",
    "offsets_bytes": "bytes of committed offsets in them",
    "written_bytes": "bytes of records written",
    "unowned": "without a consumer at the end",
    "violations": "violations",
    "events": "events",
}
"""Figure -> label, in the order in which they are shown. Times are labelled in seconds."""

IN_MILLISECONDS = {"coordinator_p99_ms", "commit_p50_ms", "commit_p99_ms"}
"""Times that are too short for that."""

WHERE_NOT_ZERO = {
    "members_failed",
    "longest_double_ms",
    "pauses_ended",
    "commits",
    "fenced_commits",
    "reprocessed_records",
    "duplicate_records",
    "delayed_records",
    "failovers",
    "recovery_ms",
    "first_heartbeat_ms",
    "records_replayed",
    "records_lost",
    "evictions",
    "coordinator_p99_ms",
    "coordinator_waiting_max",
    "commit_p50_ms",
    "commit_p99_ms",
    "failed_appends",
    "join_wait_ms",
    "sync_wait_ms",
    "commit_wait_ms",
    "offset_fetch_wait_ms",
    "locked_partition_ms",
    "poll_blocked_ms",
    "callback_blocked_ms",
    "commit_blocked_ms",
    "close_blocked_ms",
    "state_bytes_max",
    "state_bytes",
    "offsets_bytes",
    "written_bytes",
}
"""Figures that are shown where a run has some: most scenarios have no records, no zombies, and no
execution model."""


ALWAYS = ("protocol", "coordinator_model", "client_model")
VARIANT = ("protocol", "assignor", "coordinator_model", "client_model")
"""Columns of a result that are compared side by side."""


def compared_by(rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the columns that tell these results apart: without the assignor where it is one.

    >>> compared_by([{"protocol": "classic", "assignor": name} for name in ("java/range", "x")])
    ('protocol', 'assignor', 'coordinator_model', 'client_model')
    """
    found: dict[tuple[Any, ...], Any] = {}
    for row in rows:
        assignor = row.get("assignor")
        if found.setdefault(tuple(row.get(name) for name in ALWAYS), assignor) != assignor:
            return VARIANT
    return ALWAYS


def variant_of(row: Mapping[str, Any], columns: Iterable[str] = VARIANT) -> str:
    """Return what a result is compared by: its protocol, and what else it was run with.

    >>> variant_of({"protocol": "classic", "client_model": "in_poll"})
    'classic, in_poll'
    """
    return ", ".join(str(row[name]) for name in columns if row.get(name) is not None)


def labels_of(values: Iterable[tuple[str, float | None]]) -> dict[str, str]:
    """Return the labels that are shown for these figures and values, in order.

    >>> [figure for figure in labels_of([("commits", 0), ("moves", 0)]) if figure != "rounds"][:1]
    ['moves']
    """
    some = {figure for figure, value in values if value}
    return {
        figure: label
        for figure, label in LABELS.items()
        if figure in some or figure not in WHERE_NOT_ZERO
    }


def figure_text(figure: str, value: float | None, *, signed: bool = False) -> str:
    """Return a figure in the unit of its label, `-` where there is none.

    >>> figure_text("longest_gap_ms", 3102.4), figure_text("moves", -1200, signed=True)
    ('3.10', '-1,200')
    """
    if value is None:
        return "-"
    sign = "+" if signed else ""
    if figure in IN_MILLISECONDS:
        return f"{value:{sign},.1f}"
    if figure.endswith("_ms") or "_ms_" in figure:
        return f"{value / SECOND_MS:{sign},.2f}"
    return f"{value:{sign},.0f}" if float(value).is_integer() else f"{value:{sign},.1f}"


def difference_text(figure: str, summary: Mapping[str, Any]) -> str | None:
    """Return a figure's mean difference and its interval; `None` where there is no difference.

    `summary` has the fields of a `SummaryRow`.

    >>> row = {"difference": 2.0, "difference_low": 1.0, "difference_high": 3.0}
    >>> difference_text("moves", row)
    '+2 (+1 to +3)'
    """
    if summary["difference"] is None:
        return None
    mean = figure_text(figure, summary["difference"], signed=True)
    if summary["difference_low"] is None:
        return mean
    low = figure_text(figure, summary["difference_low"], signed=True)
    high = figure_text(figure, summary["difference_high"], signed=True)
    return f"{mean} ({low} to {high})"
