"""From a group's history to the rows of the tables. Nothing is judged here, only told.

`analysed_group` computes once what several tables need: partition counts, the figures of every
generation, who held what when. Each table is then a function of it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assignors.ownership.double import Overlap, double_time, overlaps
from assignors.ownership.intervals import Ownership, by_partition, sole_ownerships
from assignors.replay.analysis.commits import Span, spans
from assignors.replay.analysis.figures import Figures, figures
from assignors.replay.analysis.fingerprint import guessed_writer
from assignors.replay.analysis.ownership import ownerships_of
from assignors.replay.history.model import (
    Generation,
    GroupHistory,
    Kind,
    Life,
    Participant,
    partition_count,
)
from assignors.replay.history.partition_counts import counts_of
from assignors.replay.tables.rows import (
    AssignmentRow,
    GenerationRow,
    GroupRow,
    MemberRow,
    OffsetRow,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationAnalysis:
    """One generation with its figures and the generation before."""

    generation: Generation
    before: Generation | None
    figures: Figures


@dataclass(frozen=True, slots=True, kw_only=True)
class LifeAnalysis:
    """One life with everything that is computed of it."""

    life: Life
    chapters: tuple[GenerationAnalysis, ...]
    ownerships: tuple[Ownership, ...]
    overlaps: tuple[Overlap, ...]
    """Empty for share groups, where several members may hold a partition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAnalysis:
    """A group's history with everything that is computed of it."""

    history: GroupHistory
    counts: Mapping[str, int]
    inferred: frozenset[str]
    """Topics whose partition counts come from the history itself."""
    lives: tuple[LifeAnalysis, ...]


def analysed_group(
    history: GroupHistory, partition_counts: Mapping[str, int] | None = None
) -> GroupAnalysis:
    """Return the history with its figures. Cost: that of the optimal solver, a generation."""
    counts, inferred = counts_of(history, partition_counts)
    return GroupAnalysis(
        history=history,
        counts=counts,
        inferred=inferred,
        lives=tuple(_life_analysis(life, counts) for life in history.lives),
    )


def group_rows(of: GroupAnalysis, anomaly_counts: Mapping[int, int]) -> Iterator[GroupRow]:
    """Yield a row a life; `anomaly_counts` is life -> how many findings it has."""
    commits = [commit for commit in of.history.commits if not commit.is_aborted]
    commit_ms = sorted(commit.at_ms for commit in commits if commit.offset is not None)
    tombstone_ms = sorted(commit.at_ms for commit in commits if commit.offset is None)
    for told_life, span in zip(of.lives, spans(of.history.lives), strict=True):
        life = told_life.life
        generations = life.generations
        last = generations[-1] if generations else None
        named = [g.protocol for g in generations if g.protocol]
        yield GroupRow(
            group=of.history.group,
            life=life.number,
            kind=life.kind.value,
            from_ms=life.from_ms,
            to_ms=life.to_ms,
            state=_state(life, last),
            protocol=named[-1] if named else None,
            member_count=len(last.members) if last is not None and life.to_ms is None else 0,
            member_count_max=max((len(g.members) for g in generations), default=0),
            generation_count=len(generations),
            generations_missing=sum(g.missing_before for g in generations),
            moved=sum(chapter.figures.moved for chapter in told_life.chapters),
            commit_count=_within(commit_ms, span),
            tombstone_count=_within(tombstone_ms, span),
            anomaly_count=anomaly_counts.get(life.number, 0),
            double_owned_ms=double_time(told_life.overlaps),
            unassigned_partition_ms=added(map(_unassigned_ms, told_life.chapters)),
            downtime_partition_ms=added(map(downtime, told_life.chapters)),
        )


def offset_rows(of: GroupAnalysis) -> Iterator[OffsetRow]:
    """Yield a row a commit, with who held the partition then if it was one member alone."""
    holdings = by_partition(holdings_of(of))
    starts = {place: [one.start for one in listed] for place, listed in holdings.items()}
    for commit in of.history.commits:
        place = (commit.topic, commit.partition)
        until = bisect_right(starts.get(place, []), commit.at_ms)
        last = holdings[place][until - 1] if until else None
        is_held = last is not None and commit.at_ms < last.until and commit.offset is not None
        yield OffsetRow(
            group=of.history.group,
            topic=commit.topic,
            topic_id=commit.topic_id,
            partition=commit.partition,
            offset=commit.offset,
            leader_epoch=commit.leader_epoch,
            metadata=commit.metadata,
            commit_ms=commit.commit_ms,
            expire_ms=commit.expire_ms,
            at_ms=commit.at_ms,
            record_partition=commit.record_partition,
            record_offset=commit.record_offset,
            is_aborted=commit.is_aborted,
            holder_id=last.member_id if last is not None and is_held else None,
        )


def holdings_of(of: GroupAnalysis) -> list[Ownership]:
    """Return who held each partition alone; of a share group nobody ever does."""
    return sole_ownerships(
        interval
        for told_life in of.lives
        if told_life.life.kind is not Kind.SHARE
        for interval in told_life.ownerships
    )


def generation_rows(of: GroupAnalysis) -> Iterator[GenerationRow]:
    """Yield a row a generation."""
    for told_life in of.lives:
        for chapter in told_life.chapters:
            yield _generation_row(of, told_life.life, chapter)


def member_rows(of: GroupAnalysis) -> Iterator[MemberRow]:
    """Yield a row a member of each generation, in the order of the records."""
    for told_life in of.lives:
        for chapter in told_life.chapters:
            joined = frozenset(chapter.figures.joined)
            for member in chapter.generation.members:
                is_new = member.member_id in joined
                yield _member_row(of, told_life.life, chapter.generation, member, is_new=is_new)


def assignment_rows(of: GroupAnalysis) -> Iterator[AssignmentRow]:
    """Yield a row an interval in which a member held a partition, by begin."""
    for told_life in of.lives:
        double = {id(i) for o in told_life.overlaps for i in (o.first, o.second)}
        clients = client_of(told_life.life)
        for interval in told_life.ownerships:
            client_id, host = clients.get(interval.member_id, ("", ""))
            yield AssignmentRow(
                group=of.history.group,
                life=told_life.life.number,
                kind=told_life.life.kind.value,
                topic=interval.topic,
                partition=interval.partition,
                member_id=interval.member_id,
                client_id=client_id,
                host=host,
                from_ms=interval.start,
                to_ms=interval.end,
                from_generation=interval.from_generation,
                to_generation=interval.to_generation,
                ended_by=interval.ended_by,
                is_double=id(interval) in double,
                is_certain=interval.is_certain,
            )


def client_of(life: Life) -> dict[str, tuple[str, str]]:
    """Return member id -> (client id, host)."""
    return {
        member.member_id: (member.client_id, member.host)
        for generation in life.generations
        for member in generation.members
    }


def downtime(chapter: GenerationAnalysis) -> int | None:
    """Return the partition-milliseconds that a generation's round cost: `columns.ESTIMATED`."""
    generation = chapter.generation
    if generation.pause_ms is None:
        return 0 if not generation.members else None
    return generation.pause_ms * chapter.figures.stopped


def _unassigned_ms(chapter: GenerationAnalysis) -> int | None:
    """Return the partition-milliseconds with nobody, `None` where they have no end."""
    generation, count = chapter.generation, partition_count(chapter.figures.unassigned)
    if not count:
        return 0
    return None if generation.until_ms is None else count * (generation.until_ms - generation.at_ms)


def added(values: Iterable[int | None]) -> int | None:
    """Return the sum of what is known, `None` where nothing is."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _within(times: Sequence[int], span: Span) -> int:
    """Return how many of the times, which are sorted, fall into a span."""
    return bisect_left(times, span.to_ms) - bisect_left(times, span.from_ms)


def _life_analysis(life: Life, counts: Mapping[str, int]) -> LifeAnalysis:
    chapters = []
    before: Generation | None = None
    for generation in life.generations:
        counted = figures(life.kind, generation, before, counts)
        chapters.append(GenerationAnalysis(generation=generation, before=before, figures=counted))
        before = generation
    found = ownerships_of(life)
    return LifeAnalysis(
        life=life,
        chapters=tuple(chapters),
        ownerships=found,
        overlaps=() if life.kind is Kind.SHARE else overlaps(found),
    )


def _generation_row(of: GroupAnalysis, life: Life, chapter: GenerationAnalysis) -> GenerationRow:
    generation, counted = chapter.generation, chapter.figures
    leader = next((m for m in generation.members if m.member_id == generation.leader_id), None)
    asked = {topic for member in generation.members for topic in member.topics}
    return GenerationRow(
        group=of.history.group,
        life=life.number,
        kind=life.kind.value,
        generation=generation.number,
        at_ms=generation.at_ms,
        until_ms=generation.until_ms,
        state=generation.state,
        protocol_type=generation.protocol_type,
        protocol=generation.protocol,
        leader_id=generation.leader_id,
        leader_client_id=None if leader is None else leader.client_id,
        leader_guess=guessed_writer(generation),
        member_count=len(generation.members),
        partition_count=counted.given_count,
        joined=counted.joined,
        left=counted.left,
        moved=counted.moved,
        moved_minimum=counted.moved_minimum,
        lost=counted.lost,
        load_min=counted.load_min,
        load_max=counted.load_max,
        load_max_optimum=counted.load_max_optimum,
        balance_gap=counted.balance_gap,
        unassigned=partition_count(counted.unassigned),
        double=len(counted.double),
        missing_before=generation.missing_before,
        counts_inferred=bool(asked & of.inferred),
        pause_ms=generation.pause_ms,
        downtime_partition_ms=downtime(chapter),
        notes=generation.notes,
        record_partition=generation.partition,
        record_offset=generation.offset,
        reproduced=generation.reproduced,
    )


def _member_row(
    of: GroupAnalysis, life: Life, generation: Generation, member: Participant, *, is_new: bool
) -> MemberRow:
    return MemberRow(
        group=of.history.group,
        life=life.number,
        kind=life.kind.value,
        generation=generation.number,
        at_ms=generation.at_ms,
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        host=member.host,
        rack_id=member.rack_id,
        is_leader=member.member_id == generation.leader_id,
        is_new=is_new,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        session_timeout_ms=member.session_timeout_ms,
        topics=member.topics,
        topic_regex=member.topic_regex,
        subscription_version=member.version,
        claimed=member.claimed,
        claims_known=member.claims_known,
        claimed_generation=member.claimed_generation,
        assigned=member.assigned,
        assigned_count=partition_count(member.assigned),
        target=member.target,
        revoking=member.revoking,
        member_epoch=member.member_epoch,
        member_state=member.state,
        notes=tuple(str(oddity) for oddity in member.oddities),
        error=member.error,
    )


def _state(life: Life, last: Generation | None) -> str:
    """Return the state that `kafka-consumer-groups.sh --state` would show now."""
    if life.to_ms is not None:
        return "Dead"
    return "Empty" if last is None else last.state
