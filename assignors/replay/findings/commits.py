"""Committed offsets that went back, and offsets that were removed while they were needed.

A consumer starts where the group's last commit of a partition is. So a commit below the one before
it means that records are processed again; and where the commit was removed, the consumer starts
where `auto.offset.reset` says. Commits of aborted transactions do not count, and a topic that was
made again under its name begins again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assignors.ownership.changes import TopicPartition
from assignors.replay.analysis.group_analysis import GroupAnalysis
from assignors.replay.findings.finding import Finding, amount, seconds
from assignors.replay.findings.thresholds import Thresholds
from assignors.replay.history.model import Generation
from assignors.replay.tables.rows import FindingKind, OffsetRow


@dataclass(frozen=True, slots=True, kw_only=True)
class _Drop:
    """A commit below the last one of its partition, or a tombstone."""

    earlier: OffsetRow | None
    """The commit before `last`."""
    last: OffsetRow | None
    commit: OffsetRow


def commits_back(analysis: GroupAnalysis, _: Thresholds) -> Iterator[tuple[int, Finding]]:
    """Yield, with their lives, commits that are lower than the last of their partition.

    Cost: linear in the commits.
    """
    drops = [drop for drop in _drops(analysis) if drop.commit.offset is not None]
    if not drops:
        return
    with_members = {
        (life.number, one.number)
        for life in analysis.history.lives
        for one in life.generations
        if one.members
    }
    for drop in drops:
        here = drop.commit.life, drop.commit.generation
        yield drop.commit.life, _back(drop, has_members=here in with_members)


def offsets_removed(
    analysis: GroupAnalysis, thresholds: Thresholds
) -> Iterator[tuple[int, Finding]]:
    """Yield, with their lives, tombstones of offsets of a topic that members subscribe to then.

    Or later: an empty group that never returns misses nothing. Cost: linear in the commits.
    """
    removed = [drop for drop in _drops(analysis) if drop.commit.offset is None]
    if not removed:
        return
    with_topic: dict[str, list[Generation]] = {}
    for life in analysis.history.lives:
        for generation in life.generations:
            for topic in {topic for member in generation.members for topic in member.topics}:
                with_topic.setdefault(topic, []).append(generation)
    for drop in removed:
        needed = _next(with_topic.get(drop.commit.topic, []), drop.commit.at_ms)
        if needed is not None:
            yield drop.commit.life, _removed(drop, needed, thresholds)


def _next(generations: Sequence[Generation], at_ms: int) -> Generation | None:
    """Return the generation of a moment, or the next one."""
    begun = bisect_right(generations, at_ms, key=lambda one: one.at_ms)
    if begun and (generations[begun - 1].until_ms or at_ms + 1) > at_ms:
        return generations[begun - 1]
    return generations[begun] if begun < len(generations) else None


def _removed(drop: _Drop, needed: Generation, thresholds: Thresholds) -> Finding:
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
    return Finding(
        kind=FindingKind.OFFSETS_RESET if is_by_tool else FindingKind.OFFSETS_REMOVED,
        cause="removed",
        generation=commit.generation,
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
    last: dict[TopicPartition, OffsetRow | None] = {}
    earlier: dict[TopicPartition, OffsetRow] = {}
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


def _is_same_record(commit: OffsetRow, before: OffsetRow) -> bool:
    return (
        commit.offset == before.offset
        and commit.record_offset == before.record_offset is not None
        and commit.record_partition == before.record_partition
    )


def _back(drop: _Drop, *, has_members: bool) -> Finding:
    commit, last, earlier = drop.commit, drop.last, drop.earlier
    assert last is not None
    assert last.offset is not None
    assert commit.offset is not None
    number, old, new = commit.generation, last.holder_id, commit.holder_id
    is_handover = new is not None and new != old
    floor = None if earlier is None else earlier.offset
    if not has_members:
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
    is_other_life = last.life != commit.life
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
