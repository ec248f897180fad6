"""What the finders of `replay` find in the rows that are kept, as conditions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from assignors.replay.analysis.group_analysis import (
    GroupAnalysis,
    client_of,
    generation_analysis,
    life_analysis,
)
from assignors.replay.findings import FINDINGS, Finding, Selection, Severity, found
from assignors.replay.findings.causes import cause_rows
from assignors.replay.findings.leaders import leaders_of
from assignors.replay.history.model import Generation, GroupHistory, Life
from assignors.replay.history.partition_counts import committed_count, inferred_counts
from assignors.replay.tables.rows import FindingRow
from assignors.watch.group_state import Cluster, GroupWatch
from assignors.watch.life_cycle import Condition
from assignors.watch.rules import Rules

ELSEWHERE = frozenset({"rebalance-storm", "uneven-load"})
"""Kinds that the watch does not take from `replay`: storms count by member slot (`slots`), and
rates need a history of commits."""

WANTED = Selection(
    kinds=[
        kind.name
        for kind in FINDINGS.values()
        if kind.severity is not Severity.NOTE and kind.name not in ELSEWHERE
    ]
)

NOW = {
    "to the end of the records": "until now",
    "at the end of the records": "now",
}
"""Words of `replay` -> those of a watch."""


def conditions_of_rows(
    watch: GroupWatch, life: Life | None, rules: Rules, cluster: Cluster
) -> Iterator[Condition]:
    """Yield the findings of `replay` on a life with the rows that are kept, one for each cause.

    Cost: that of the finders over the rings, and of the optimal solver for each generation.
    """
    rest = watch.opened()
    history = GroupHistory(
        group=watch.group,
        lives=() if life is None else (life,),
        unreadable=tuple(rest.unreadable),
        topic_names=rest.names,
    )
    analysis = _analysed(watch, history, life, cluster)
    by_cause: dict[tuple[int, str, str], list[Finding]] = {}
    for finding in found(analysis, rules, WANTED):
        key = finding.life, finding.kind, finding.cause
        by_cause.setdefault(key, []).append(finding)
    clients = {} if life is None else client_of(life)
    leaders = leaders_of(analysis.lives[0]) if life is not None else {}
    for (number, _, cause), listed in by_cause.items():
        for row in cause_rows(watch.group, number, listed, clients, leaders):
            yield _held_back(_condition(row, cause), rest.grown, rules)


def _analysed(
    watch: GroupWatch, history: GroupHistory, life: Life | None, cluster: Cluster
) -> GroupAnalysis:
    """Return the analysis of the rows that are kept."""
    rest = watch.opened()
    _count(watch, history, cluster)
    if rest.analysed_for != rest.counts:
        rest.analysed, rest.analysed_for = {}, dict(rest.counts)
    before: Generation | None = None
    known, rest.analysed = rest.analysed, {}
    for generation in () if life is None else life.generations:
        found = known.get(generation.number)
        if (
            found is None
            or found.before is not before
            or not _is_same(found.generation, generation)
        ):
            assert life is not None, "a generation has a life"
            found = generation_analysis(life.kind, generation, before, rest.counts)
        elif found.generation is not generation:
            found = replace(found, generation=generation)
        rest.analysed[generation.number] = found
        before = generation
    return GroupAnalysis(
        history=history,
        partition_counts=rest.counts,
        inferred_topics=frozenset(rest.counts) - frozenset(cluster.counts),
        lives=() if life is None else (life_analysis(life, rest.analysed.values()),),
        drops=tuple(rest.drops),
    )


def _is_same(one: Generation, other: Generation) -> bool:
    """Return whether a generation was looked at before, perhaps without its end."""
    return one is other or replace(one, until_ms=other.until_ms) == other


def _count(watch: GroupWatch, history: GroupHistory, cluster: Cluster) -> None:
    """Bring the partition counts up to the rows: those of the cluster, else the largest so far."""
    rest = watch.opened()
    committed: dict[str, set[int]] = {}
    for topic, number in watch.places:
        committed.setdefault(topic, set()).add(number)
    found = inferred_counts(history)
    for topic, numbers in committed.items():
        found[topic] = max(found.get(topic, 0), committed_count(numbers, len(numbers)))
    topics = dict.fromkeys(
        topic
        for life in history.lives
        for generation in life.generations
        for member in generation.members
        for topic in member.topics
    )
    for topic in {**found, **topics}:
        before = rest.counts.get(topic, 0)
        now = cluster.counts.get(topic, max(found.get(topic, 0), before))
        if now > before > 0:
            rest.grown[topic] = watch.clock_ms
        if now:
            rest.counts[topic] = now


def _condition(row: FindingRow, cause: str) -> Condition:
    evidence = row.evidence
    for old, new in NOW.items():
        evidence = evidence.replace(old, new)
    who = row.leader_client_id or row.leader_id
    where = f" at {row.leader_host}" if row.leader_host else ""
    guess = f", guessed to be {row.leader_guess}" if row.leader_guess else ""
    return Condition(
        life=row.life,
        kind=row.kind,
        subject=f"{cause} {row.leader_guess or who or ''}".strip(),
        since_ms=row.at_ms if row.last_ms is None else row.last_ms,
        until_ms=row.until_ms,
        evidence=evidence,
        what_to_do=row.what_to_do,
        leader=None if who is None else f"{who}{where}{guess}",
        numbers={"count": row.count, "occurrences": row.occurrences},
        partitions=row.partitions,
        members=row.members,
    )


def _held_back(condition: Condition, grown: Mapping[str, int], rules: Rules) -> Condition:
    """Return partitions that nobody has as if they began when every client knows of them.

    Clients learn of new partitions with their next metadata.
    """
    known_ms = [
        grown[topic] + rules.metadata_age_ms for topic in condition.partitions if topic in grown
    ]
    if condition.kind != "unassigned" or len(known_ms) < len(condition.partitions):
        return condition
    return replace(condition, since_ms=max(condition.since_ms, *known_ms))
