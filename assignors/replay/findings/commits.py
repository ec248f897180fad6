"""Committed offsets that went back, and offsets that were removed while they were needed.

A consumer starts where the group's last commit of a partition is. So a commit below the one before
it means that records are processed again; and where the commit was removed, the consumer starts
where `auto.offset.reset` says. Commits of aborted transactions do not count, and a topic that was
made again under its name begins again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from assignors.ownership.changes import TopicPartition
from assignors.ownership.intervals import by_partition
from assignors.replay.analysis.commits import Span, sole_owners, spans
from assignors.replay.analysis.group_analysis import GroupAnalysis
from assignors.replay.findings.finding import Finding, amount, seconds
from assignors.replay.findings.thresholds import Thresholds
from assignors.replay.history.model import Commit, Generation
from assignors.replay.tables.rows import FindingKind


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drop:
    """A commit below the last one of its partition, or a tombstone."""

    earlier: Commit | None
    """The commit before `last`."""
    last: Commit | None
    commit: Commit


def commits_back(analysis: GroupAnalysis, _: Thresholds) -> Iterator[tuple[int, Finding]]:
    """Yield, with their lives, commits that are lower than the last of their partition.

    Cost: linear in the commits.
    """
    drops = [drop for drop in _drops(analysis) if drop.commit.offset is not None]
    if not drops:
        return
    times = _Times(analysis)
    for drop in drops:
        yield times.life_at(drop.commit.at_ms).life, _back(drop, times)


def offsets_removed(
    analysis: GroupAnalysis, thresholds: Thresholds
) -> Iterator[tuple[int, Finding]]:
    """Yield, with their lives, tombstones of offsets of a topic that members subscribe to then.

    Or later: an empty group that never returns misses nothing. Cost: linear in the commits.
    """
    removed = [drop for drop in _drops(analysis) if drop.commit.offset is None]
    if not removed:
        return
    times = _Times(analysis)
    for drop in removed:
        commit = drop.commit
        needed = times.next_with_topic(commit.topic, commit.at_ms)
        if needed is not None:
            yield times.life_at(commit.at_ms).life, _removed(drop, needed, times, thresholds)


def _removed(drop: _Drop, needed: Generation, times: _Times, thresholds: Thresholds) -> Finding:
    """Return that an offset was removed which the members of a generation need."""
    commit = drop.commit
    is_empty = needed.at_ms > commit.at_ms
    when = "while the group had members"
    if is_empty:
        away = seconds(needed.at_ms - commit.at_ms)
        when = f"{away} before the group returned with generation {needed.number}"
    age_ms = None if drop.last is None else max(commit.at_ms - drop.last.at_ms, 0)
    age = "its last commit is not in the records"
    if age_ms is not None:
        age = f"{seconds(age_ms)} after its last commit"
    is_by_tool = is_empty and age_ms is not None and age_ms < thresholds.retention_ms
    here = times.generation_at(commit.at_ms)
    return Finding(
        kind=FindingKind.OFFSETS_RESET if is_by_tool else FindingKind.OFFSETS_REMOVED,
        cause="removed",
        generation=None if here is None else here.number,
        at_ms=commit.at_ms,
        until_ms=commit.at_ms,
        topic=commit.topic,
        partition=commit.partition,
        partitions={commit.topic: (commit.partition,)},
        evidence=(
            f"the offset of {commit.topic}[{commit.partition}] was removed {when}, {age} "
            f"({'by a tool' if is_by_tool else 'offsets.retention.minutes'}): its consumer starts "
            "from auto.offset.reset"
        ),
    )


def _drops(analysis: GroupAnalysis) -> Iterator[_Drop]:
    """Yield each commit below the last of its partition, and each tombstone after a commit."""
    last: dict[TopicPartition, Commit | None] = {}
    earlier: dict[TopicPartition, Commit] = {}
    for commit in analysis.history.commits:
        if commit.is_aborted:
            continue
        place = commit.topic, commit.partition
        before = last.get(place)
        if before is not None and _is_same_record(commit, before):
            continue  # Spark may choose one for several reasons
        if commit.offset is None:
            if before is not None or place not in last:
                yield _Drop(earlier=None, last=before, commit=commit)
            earlier.pop(place, None)
            last[place] = None
            continue
        if before is not None:
            assert before.offset is not None, "what is removed is None"
            if None is not before.topic_id != commit.topic_id is not None:
                earlier.pop(place, None)  # a topic of the same name
            else:
                if commit.offset < before.offset:
                    yield _Drop(earlier=earlier.get(place), last=before, commit=commit)
                earlier[place] = before
        last[place] = commit


def _is_same_record(commit: Commit, before: Commit) -> bool:
    return (
        commit.offset == before.offset
        and commit.record_offset == before.record_offset is not None
        and commit.record_partition == before.record_partition
    )


def _back(drop: _Drop, times: _Times) -> Finding:
    commit, last, earlier = drop.commit, drop.last, drop.earlier
    assert last is not None
    assert last.offset is not None
    assert commit.offset is not None
    place = commit.topic, commit.partition
    generation = times.generation_at(commit.at_ms)
    number = None if generation is None else generation.number
    old, new = times.owner_at(place, last.at_ms), times.owner_at(place, commit.at_ms)
    is_handover = new is not None and new != old
    floor = None if earlier is None else earlier.offset
    if generation is None or not generation.members:
        kind = FindingKind.OFFSETS_RESET
        where = (
            "while the group had no members: a tool set it back (--reset-offsets), or a consumer "
            "that assigns its partitions itself"
        )
    elif is_handover:
        is_near = floor is not None and commit.offset >= floor
        kind = FindingKind.REPEATED if is_near else FindingKind.WENT_BACK
        where = f"at generation {number}, from {old or 'nobody'} to {new}"
    else:
        kind = FindingKind.WENT_BACK
        where = f"in generation {number}, while {new or 'no single member'} owned it"
    gone = last.offset - commit.offset
    is_other_life = times.life_at(last.at_ms) != times.life_at(commit.at_ms)
    return Finding(
        kind=kind,
        generation=number,
        at_ms=commit.at_ms,
        until_ms=commit.at_ms,
        count=gone,
        member_id=new,
        members=() if old is None or new is None or is_other_life else (old,),
        topic=commit.topic,
        partition=commit.partition,
        partitions={commit.topic: (commit.partition,)},
        evidence=(
            f"{commit.topic}[{commit.partition}] went back by {amount(gone, 'record')} {where} "
            f"(offset {last.offset:,}, then {commit.offset:,})"
        ),
    )


class _Times:
    """Which life, generation and owner there was at a moment."""

    def __init__(self, analysis: GroupAnalysis) -> None:
        lives = analysis.history.lives
        self.lives = spans(lives)
        self.starts = [span.from_ms for span in self.lives]
        self.generations = [one for life in lives for one in life.generations]
        self.begun = [one.at_ms for one in self.generations]
        self.owners = by_partition(sole_owners(analysis))
        self.with_topic: dict[str, list[Generation]] = {}
        """Topic -> generations with members that subscribe to it, made when first asked for."""

    def life_at(self, at_ms: int) -> Span:
        """Return the life; what was before the first belongs to it."""
        return self.lives[max(bisect_right(self.starts, at_ms) - 1, 0)]

    def generation_at(self, at_ms: int) -> Generation | None:
        """Return the generation, `None` before the first, and after the end of a life."""
        begun = bisect_right(self.begun, at_ms)
        found = self.generations[begun - 1] if begun else None
        is_over = found is not None and found.until_ms is not None and found.until_ms < at_ms
        return None if is_over else found

    def owner_at(self, place: TopicPartition, at_ms: int) -> str | None:
        """Return the only owner of a partition."""
        listed = self.owners.get(place, [])
        begun = bisect_right(listed, at_ms, key=lambda one: one.start)
        last = listed[begun - 1] if begun else None
        return last.member_id if last is not None and at_ms < last.until else None

    def next_with_topic(self, topic: str, at_ms: int) -> Generation | None:
        """Return the generation at a moment if members subscribe to the topic, or the next."""
        if not self.with_topic:
            for generation in self.generations:
                for name in {one for member in generation.members for one in member.topics}:
                    self.with_topic.setdefault(name, []).append(generation)
        listed = self.with_topic.get(topic, [])
        begun = bisect_right(listed, at_ms, key=lambda one: one.at_ms)
        if begun and (listed[begun - 1].until_ms or at_ms + 1) > at_ms:
            return listed[begun - 1]
        return listed[begun] if begun < len(listed) else None
