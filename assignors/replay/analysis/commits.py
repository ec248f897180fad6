"""Which life of its group a commit belongs to, and which member owned its partition alone then.

A commit's record does not name the member that sent it. What records do say is who owned the
partition when it was written: where that was one member alone, it is the likely sender.

Lives and sole ownerships are disjoint intervals, so a commit falls into one of them or into none.
The plain engine looks each commit up here; the one on Spark, where commits are too many for one
machine, joins them with the same intervals (`spans`, `sole_owners`).
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from assignors.ownership.intervals import FOREVER, Ownership, by_partition, sole_ownerships
from assignors.replay.analysis.group_analysis import GroupAnalysis
from assignors.replay.history.model import Commit, Kind, Life


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """The time of one life, as commits are counted to it."""

    life: int
    from_ms: int
    to_ms: int
    """The first moment after it; `FOREVER` for the last life."""


def spans(lives: Iterable[Life]) -> list[Span]:
    """Return the time of each life: from its start to the next one's.

    What happened before the first belongs to the first, and there is no time between two.
    """
    listed = list(lives)
    starts = [life.from_ms for life in listed]
    ends = [*starts[1:], FOREVER][: len(listed)]
    return [
        Span(life=life.number, from_ms=start if position else -FOREVER, to_ms=end)
        for position, (life, start, end) in enumerate(zip(listed, starts, ends, strict=True))
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitCounts:
    """How many commits fall into a life; those of aborted transactions are left out."""

    commits: int
    """Offsets written."""
    tombstones: int
    """Offsets deleted."""


def commit_counts(commits: Iterable[Commit], lives: Sequence[Span]) -> list[CommitCounts]:
    """Return the counts of each life, in the order of `lives`. Cost: O(C log C) for C commits."""
    written: list[int] = []
    deleted: list[int] = []
    for commit in commits:
        if not commit.is_aborted:
            (deleted if commit.offset is None else written).append(commit.at_ms)
    written.sort()
    deleted.sort()
    return [
        CommitCounts(commits=_within(written, span), tombstones=_within(deleted, span))
        for span in lives
    ]


def sole_owners(analysis: GroupAnalysis) -> list[Ownership]:
    """Return when a partition had one owner alone, by partition, then time.

    Share groups are left out: several of their members read one partition, and any may commit.
    """
    return sole_ownerships(
        one
        for life_analysis in analysis.lives
        if life_analysis.life.kind is not Kind.SHARE
        for one in life_analysis.ownerships
    )


def sole_owner_ids(analysis: GroupAnalysis) -> Iterator[str | None]:
    """Yield for each commit of the history the member that owned its partition alone then.

    `None` for a tombstone, and where nobody or more than one member owned it.
    """
    owners = by_partition(sole_owners(analysis))
    starts = {one: [owner.start for owner in listed] for one, listed in owners.items()}
    for commit in analysis.history.commits:
        one = (commit.topic, commit.partition)
        begun = bisect_right(starts.get(one, []), commit.at_ms)
        last = owners[one][begun - 1] if begun else None
        is_owned = last is not None and commit.at_ms < last.until and commit.offset is not None
        yield last.member_id if last is not None and is_owned else None


def _within(times: Sequence[int], span: Span) -> int:
    """Return how many of the times, which are sorted, fall into a span."""
    return bisect_left(times, span.to_ms) - bisect_left(times, span.from_ms)
