"""Committed offsets that went back, and offsets that were removed while they were needed.

A consumer starts where the group's last commit of a partition is. So a commit below the one before
it means that records are processed again; and where the commit was removed, the consumer starts
where `auto.offset.reset` says. Commits of aborted transactions do not count, and a topic that was
made again under its name begins again.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from assignors.replay.analysis.drops import Drop
from assignors.replay.analysis.group_analysis import GroupAnalysis
from assignors.replay.findings.finding import Finding, amount, seconds
from assignors.replay.findings.thresholds import Thresholds
from assignors.replay.history.model import Generation

Moment = tuple[int, int | None]
"""A life and a generation of a group."""


def went_back(analysis: GroupAnalysis, _: Thresholds) -> Iterator[Finding]:
    """Yield commits that are lower than the last of their partition, while there were members."""
    for drop in _back_with_members(analysis):
        if not _is_near_handover(drop):
            yield _back(drop)


def repeated_at_handover(analysis: GroupAnalysis, _: Thresholds) -> Iterator[Finding]:
    """Yield a new owner's first commit, lower than the last by less than a commit interval."""
    for drop in _back_with_members(analysis):
        if _is_near_handover(drop):
            yield _back(drop)


def offsets_reset(analysis: GroupAnalysis, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield offsets that were set back, or removed, while the group had no members."""
    with_members = _moments_with_members(analysis)
    for drop in analysis.drops:
        if drop.commit.offset is not None and _moment(drop) not in with_members:
            yield _back(drop, by_tool=True)
    for drop, needed in _removed(analysis):
        if _is_by_tool(drop, needed, thresholds):
            yield _removal(drop, needed, by_tool=True)


def offsets_removed(analysis: GroupAnalysis, thresholds: Thresholds) -> Iterator[Finding]:
    """Yield tombstones of offsets of a topic that members subscribe to then, or later.

    An empty group that never returns misses nothing.
    """
    for drop, needed in _removed(analysis):
        if not _is_by_tool(drop, needed, thresholds):
            yield _removal(drop, needed)


def _back_with_members(analysis: GroupAnalysis) -> Iterator[Drop]:
    with_members = _moments_with_members(analysis)
    for drop in analysis.drops:
        if drop.commit.offset is not None and _moment(drop) in with_members:
            yield drop


def _moments_with_members(analysis: GroupAnalysis) -> set[Moment]:
    if not analysis.drops:
        return set()
    return {
        (life.number, one.number)
        for life in analysis.history.lives
        for one in life.generations
        if one.members
    }


def _moment(drop: Drop) -> Moment:
    return drop.commit.life, drop.commit.generation


def _is_near_handover(drop: Drop) -> bool:
    """Return whether a new owner went back by less than the old one read between two commits."""
    assert drop.last is not None
    assert drop.commit.offset is not None
    floor = None if drop.earlier is None else drop.earlier.offset
    return _is_handover(drop) and floor is not None and drop.commit.offset >= floor


def _is_handover(drop: Drop) -> bool:
    assert drop.last is not None
    return drop.commit.holder_id not in {None, drop.last.holder_id}


def _removed(analysis: GroupAnalysis) -> Iterator[tuple[Drop, Generation]]:
    """Yield tombstones, with the generation whose members subscribe to the topic then or later."""
    removed = [drop for drop in analysis.drops if drop.commit.offset is None]
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
            yield drop, needed


def _is_by_tool(drop: Drop, needed: Generation, thresholds: Thresholds) -> bool:
    """Return whether an offset went from an empty group sooner than it can expire."""
    age_ms = _age_ms(drop)
    is_empty = needed.at_ms > drop.commit.at_ms
    return is_empty and age_ms is not None and age_ms < thresholds.retention_ms


def _age_ms(drop: Drop) -> int | None:
    """Return how old the last commit was when it was removed; `None`: not in the records."""
    return None if drop.last is None else max(drop.commit.at_ms - drop.last.at_ms, 0)


def _next(generations: Sequence[Generation], at_ms: int) -> Generation | None:
    """Return the generation of a moment, or the next one."""
    begun = bisect_right(generations, at_ms, key=lambda one: one.at_ms)
    if begun and (generations[begun - 1].until_ms or at_ms + 1) > at_ms:
        return generations[begun - 1]
    return generations[begun] if begun < len(generations) else None


def _removal(drop: Drop, needed: Generation, *, by_tool: bool = False) -> Finding:
    """Return that an offset was removed which the members of a generation need."""
    commit = drop.commit
    when = "while the group had members"
    if needed.at_ms > commit.at_ms:
        away = seconds(needed.at_ms - commit.at_ms)
        when = f"{away} before the group returned with generation {needed.number}"
    age_ms = _age_ms(drop)
    age = "its last commit is not in the records"
    if age_ms is not None:
        age = f"{seconds(age_ms)} after its last commit"
    return Finding(
        life=commit.life,
        cause="removed",
        generation=commit.generation,
        at_ms=commit.at_ms,
        until_ms=commit.at_ms,
        topic=commit.topic,
        partition=commit.partition,
        partitions={commit.topic: (commit.partition,)},
        evidence=(
            f"the offset of {commit.topic}[{commit.partition}] was removed {when}, {age} "
            f"({'by a tool' if by_tool else 'offsets.retention.minutes'}): its consumer starts "
            "from auto.offset.reset"
        ),
    )


def _back(drop: Drop, *, by_tool: bool = False) -> Finding:
    commit, last = drop.commit, drop.last
    assert last is not None
    assert last.offset is not None
    assert commit.offset is not None
    number, old, new = commit.generation, last.holder_id, commit.holder_id
    if by_tool:
        where = (
            "while the group had no members: a tool set it back (--reset-offsets), or a consumer "
            "that assigns its partitions itself"
        )
    elif _is_handover(drop):
        where = f"at generation {number}, from {old or 'nobody'} to {new}"
    else:
        where = f"in generation {number}, while {new or 'no single member'} owned it"
    gone = last.offset - commit.offset
    is_other_life = last.life != commit.life
    return Finding(
        life=commit.life,
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
