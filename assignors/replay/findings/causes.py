"""One finding a cause: what repeats in a life of a group for the same reason is one row.

Findings that the group's leader causes have a row for each client library that led.

At three in the morning one line that says "57 times, on 12 partitions, with 9 members" is of more
use than 57 lines. The row has the evidence of the occurrence that lasted longest, and of all of
them the times, the generations, the members and the partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from assignors.replay.findings.finding import Finding, amount, times
from assignors.replay.findings.leaders import LEADERS_CLIENT, Leader
from assignors.replay.findings.table import FINDINGS, ORDER, RANK
from assignors.replay.tables.rows import FindingRow
from wire import TopicPartitions
from wire.text import utf16_key

Clients = Mapping[str, tuple[str, str]]
"""Member id -> client id and host."""


def cause_rows(
    group: str,
    life: int,
    findings: Iterable[Finding],
    clients: Clients,
    leaders: Mapping[int, Leader],
) -> Iterator[FindingRow]:
    """Yield a row for each cause, in the order of `worst_first`. Cost: O(F log F).

    `leaders` has the leader of each generation.
    """
    by_cause: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        leader = _leader(finding, leaders)
        key = (finding.kind, finding.cause, "" if leader is None else leader.cause)
        by_cause.setdefault(key, []).append(finding)
    rows = [_row(group, life, listed, clients, leaders) for listed in by_cause.values()]
    yield from sorted(rows, key=worst_first)


def _leader(finding: Finding, leaders: Mapping[int, Leader]) -> Leader | None:
    """Return the leader that caused a finding; `None` where no leader did, or none is recorded."""
    is_by_leader = finding.is_by_leader or FINDINGS[finding.kind].is_by_leader
    if not is_by_leader or finding.generation is None:
        return None
    return leaders.get(finding.generation)


def worst_first(row: FindingRow) -> tuple[int, int, int, int]:
    """Return what findings are sorted by: severity, kind, time, life."""
    kind = ORDER.get(row.kind, len(ORDER))
    return RANK.get(row.severity, len(RANK)), kind, row.at_ms, row.life


def repetition(occurrences: int, generations: Sequence[int], members: int, places: int) -> str:
    """Return how often something occurred and what it touched, as text; empty if it was once.

    `members` and `places` (partitions) are counts.

    >>> repetition(57, (3, 4, 9), 9, 1)
    '57 times, in 3 generations from 3 to 9; 9 members, 1 partition'
    """
    if occurrences == 1:
        return ""
    said = f"{times(occurrences)}"
    if len(generations) > 1:
        first, last = min(generations), max(generations)
        said += f", in {len(generations):,} generations from {first} to {last}"
    touched = [
        amount(found, noun) for found, noun in ((members, "member"), (places, "partition")) if found
    ]
    return "; ".join([said, ", ".join(touched)] if touched else [said])


def _row(
    group: str,
    life: int,
    found: Sequence[Finding],
    clients: Clients,
    leaders: Mapping[int, Leader],
) -> FindingRow:
    worst = min(found, key=_longest_first)
    known, leader = FINDINGS[worst.kind], _leader(worst, leaders)
    evidence, what_to_do = worst.evidence, known.what_to_do
    if leader is not None:
        evidence = f"{evidence}; the leader was {leader}"
        what_to_do = what_to_do.replace(LEADERS_CLIENT, f"{LEADERS_CLIENT} ({leader})", 1)
    client_id = worst.client_id
    if client_id is None and worst.member_id is not None:
        client_id = clients.get(worst.member_id, (None, None))[0]
    counts = [finding.count for finding in found]
    ends = [finding.until_ms for finding in found]
    members = {member: None for finding in found for member in _members(finding)}
    generations = {finding.generation for finding in found if finding.generation is not None}
    return FindingRow(
        group=group,
        life=life,
        kind=worst.kind,
        generation=worst.generation,
        at_ms=min(finding.at_ms for finding in found),
        until_ms=None if None in ends else max(end for end in ends if end is not None),
        member_id=worst.member_id,
        client_id=client_id,
        topic=worst.topic,
        partition=worst.partition,
        count=sum(counts) if known.is_count_added else max(counts),
        evidence=evidence,
        severity=known.severity.value,
        occurrences=len(found),
        last_ms=max(finding.at_ms for finding in found),
        generations=tuple(sorted(generations)),
        members=tuple(members),
        partitions=_joined(finding.partitions for finding in found),
        what_to_do=what_to_do,
        leader_id=None if leader is None else leader.member_id,
        leader_client_id=None if leader is None else leader.client_id,
        leader_host=None if leader is None else leader.host,
        leader_guess=None if leader is None else leader.guess,
    )


def _longest_first(finding: Finding) -> tuple[bool, int, int, int, str]:
    """Return what the occurrences of a cause are sorted by; the first one gives the evidence.

    No names are compared, so that hidden names give the same one.
    """
    ends = finding.until_ms is not None
    lasted = 0 if finding.until_ms is None else finding.until_ms - finding.at_ms
    record = finding.evidence if finding.generation is None else ""
    return ends, -lasted, -finding.count, finding.at_ms, record


def _members(finding: Finding) -> Iterator[str]:
    if finding.member_id is not None:
        yield finding.member_id
    yield from finding.members


def _joined(parts: Iterable[TopicPartitions]) -> TopicPartitions:
    """Return the partitions of all parts, topics in UTF-16 order, each number once."""
    found: dict[str, set[int]] = {}
    for part in parts:
        for topic, numbers in part.items():
            found.setdefault(topic, set()).update(numbers)
    return {topic: tuple(sorted(found[topic])) for topic in sorted(found, key=utf16_key)}
