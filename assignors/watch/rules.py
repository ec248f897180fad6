"""When a condition becomes an alert, and when it is over: one row for each kind.

The numbers that make a finding are the thresholds of `replay`; `Rules` adds those of conditions
that no record says. `for_ms` keeps an alert back while a condition may still be part of a healthy
change, such as a rolling deployment. `keep_ms` keeps it open while the condition may come back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from assignors.replay.findings.table import FINDINGS, RANK, Severity
from assignors.replay.findings.thresholds import Thresholds
from assignors.watch.events import WatchKind

SECOND, MINUTE = 1_000, 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules(Thresholds):
    """The thresholds of `replay`, and those of a watch. Times are in milliseconds."""

    storm_rounds: int = 4
    """So many rebalances within `storm_rounds_ms` that no first change of a member slot explains
    are a storm."""
    storm_rounds_ms: int = 600_000
    """The time that counts for a storm."""
    flap_joins: int = 3
    """A member slot flaps that joined so often within `flap_ms`."""
    flap_ms: int = 1_800_000
    """The time that counts for a flapping slot."""
    flap_stay_ms: int = 600_000
    """A slot that stays longer, by the median, does not flap."""
    silence_ms: int = 120_000
    """A partition with records to read has been silent for too long after so much time without a
    commit, if it used to commit more often."""
    silence_gaps: int = 5
    """And after so many of its usual gaps between commits."""
    silence_commits: int = 10
    """Commits from which the usual gap is learned."""
    assigning_ms: int = 60_000
    """A broker computes the target of an epoch within this time."""
    heartbeats_ms: int = 10_000
    """Two heartbeats: the time that a member has beyond its rebalance timeout to reconcile."""
    metadata_age_ms: int = 300_000
    """`metadata.max.age.ms`: a client learns of new partitions within this time."""
    double_ms: int = 1_000
    """Double ownership of less is no alert."""
    unassigned_ms: int = 30_000
    """Partitions that nobody has for less are no alert."""
    uneven_ms: int = 300_000
    """Loads that are uneven for less are no alert."""
    keep_ms: int = 60_000
    """An alert is resolved when its condition has been gone for so long."""
    repeat_ms: int = 60_000
    """A repeated alert is sent at most once in this time."""
    behind_ms: int = 60_000
    """The watch is behind if the records that it reads are older than this."""


NAMES = tuple(field.name for field in fields(Rules))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """How a kind of alert opens and closes."""

    severity: Severity
    for_name: str | None = None
    """The field of `Rules` with the time for which the condition must hold; `None`: none."""
    keep_name: str = "keep_ms"
    """The field with the time for which it must be gone."""
    what_to_do: str = ""


OWN: Mapping[str, Rule] = {
    "double-ownership": Rule(severity=Severity.CRITICAL, for_name="double_ms"),
    "unassigned": Rule(severity=Severity.HIGH, for_name="unassigned_ms"),
    "rebalance-storm": Rule(
        severity=Severity.HIGH,
        keep_name="storm_rounds_ms",
        what_to_do=FINDINGS["rebalance-storm"].what_to_do,
    ),
    WatchKind.STUCK: Rule(
        severity=Severity.HIGH,
        what_to_do=(
            "Look whether the members named are alive (a thread dump shows what they wait for); "
            "restart the one that hangs, or shorten max.poll.interval.ms"
        ),
    ),
    WatchKind.MEMBER_FLAPS: Rule(
        severity=Severity.MEDIUM,
        keep_name="flap_ms",
        what_to_do=(
            "Look into the log of this client: a stay of about session.timeout.ms means lost "
            "heartbeats, of about max.poll.interval.ms that processing is too slow"
        ),
    ),
    WatchKind.WATCH_BEHIND: Rule(
        severity=Severity.MEDIUM, what_to_do="Give the watch more CPU, or watch fewer groups"
    ),
    WatchKind.WATCH_BLIND: Rule(
        severity=Severity.MEDIUM,
        what_to_do="Find the hanging transaction: kafka-transactions.sh find-hanging",
    ),
    "foreign-topic": Rule(severity=Severity.MEDIUM, for_name="unassigned_ms"),
    "never-assigned": Rule(severity=Severity.LOW, for_name="uneven_ms"),
    "imbalance": Rule(severity=Severity.LOW, for_name="uneven_ms"),
}
"""Kinds with a rule of their own. The rest opens at once, and no other kind is above medium: a
page in the night needs records that are processed twice or not at all."""


def rule_of(kind: str) -> Rule:
    """Return the rule of a kind of alert.

    >>> rule_of("went-back").severity.value, rule_of("double-ownership").severity.value
    ('medium', 'critical')
    """
    if kind in OWN:
        return OWN[kind]
    severity = FINDINGS[kind].severity
    return Rule(severity=max(severity, Severity.MEDIUM, key=lambda one: RANK[one.value]))


def for_ms(kind: str, rules: Rules) -> int:
    """Return how long a condition of this kind must hold before its alert opens."""
    name = rule_of(kind).for_name
    return 0 if name is None else int(getattr(rules, name))


def kept_ms(kind: str, rules: Rules) -> int:
    """Return for how long a condition of this kind must be gone before its alert is resolved."""
    return int(getattr(rules, rule_of(kind).keep_name))
