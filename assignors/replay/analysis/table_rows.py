"""From the analysis of a group to the rows of the tables: a function for each table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from assignors.ownership.double import double_time
from assignors.replay.analysis.group_analysis import (
    GenerationAnalysis,
    GroupAnalysis,
    LifeAnalysis,
    client_of,
    downtime_ms,
    sum_of_known,
    sum_where_most_are_known,
    unassigned_ms,
)
from assignors.replay.analysis.ownership import given_too_early
from assignors.replay.history.model import Generation, Life, partition_count
from assignors.replay.tables.rows import (
    AssignmentRow,
    FindingRow,
    GenerationRow,
    GroupRow,
    MemberRow,
)


def group_rows(analysis: GroupAnalysis, found: Sequence[FindingRow]) -> Iterator[GroupRow]:
    """Yield a row for each life; `found` are the findings of the group, worst first."""
    by_life: dict[int, list[FindingRow]] = {}
    for finding in found:
        by_life.setdefault(finding.life, []).append(finding)
    counts = Counter(
        (commit.life, commit.offset is None)
        for commit in analysis.history.commits
        if not commit.is_aborted
    )
    for life_analysis in analysis.lives:
        life = life_analysis.life
        generations = life.generations
        last = generations[-1] if generations else None
        listed = by_life.get(life.number, ())
        named = [g.protocol for g in generations if g.protocol]
        yield GroupRow(
            group=analysis.history.group,
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
            moved=sum(analysed.figures.moved for analysed in life_analysis.generations),
            commit_count=counts[life.number, False],
            tombstone_count=counts[life.number, True],
            finding_count=len(listed),
            double_owned_ms=_double_owned_ms(life_analysis),
            unassigned_partition_ms=sum_of_known(map(unassigned_ms, life_analysis.generations)),
            downtime_partition_ms=sum_where_most_are_known(
                downtime_ms(analysed)
                for analysed in life_analysis.generations
                if analysed.generation.members
            ),
            severity=listed[0].severity if listed else None,
        )


def generation_rows(analysis: GroupAnalysis) -> Iterator[GenerationRow]:
    """Yield a row for each generation."""
    for life_analysis in analysis.lives:
        for analysed in life_analysis.generations:
            yield _generation_row(analysis, life_analysis.life, analysed)


def member_rows(analysis: GroupAnalysis) -> Iterator[MemberRow]:
    """Yield a row for each member of each generation, in the order of the records."""
    for life_analysis in analysis.lives:
        for analysed in life_analysis.generations:
            yield from analysed.generation.members


def assignment_rows(analysis: GroupAnalysis) -> Iterator[AssignmentRow]:
    """Yield a row for each ownership, in the order in which they began."""
    for life_analysis in analysis.lives:
        double = {id(i) for o in life_analysis.overlaps for i in (o.first, o.second)}
        clients = client_of(life_analysis.life)
        for interval in life_analysis.ownerships:
            client_id, host = clients.get(interval.member_id, ("", ""))
            yield AssignmentRow(
                group=analysis.history.group,
                life=life_analysis.life.number,
                kind=life_analysis.life.kind.value,
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


def _generation_row(
    analysis: GroupAnalysis, life: Life, analysed: GenerationAnalysis
) -> GenerationRow:
    generation, counted = analysed.generation, analysed.figures
    leader = next((m for m in generation.members if m.member_id == generation.leader_id), None)
    topics = {topic for member in generation.members for topic in member.topics}
    return GenerationRow(
        group=analysis.history.group,
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
        leader_guess=generation.writer,
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
        counts_inferred=bool(topics & analysis.inferred_topics),
        pause_ms=generation.pause_ms,
        downtime_partition_ms=downtime_ms(analysed),
        notes=generation.notes,
        record_partition=generation.partition,
        record_offset=generation.offset,
        use_max=None if analysed.uses is None else analysed.uses.most,
        use_bound=None if analysed.uses is None else analysed.uses.bound,
        lag=analysed.lag,
    )


def _double_owned_ms(analysis: LifeAnalysis) -> int | None:
    """Return how long partitions were double-owned, `None` where no record says how long."""
    known = double_time(analysis.overlaps)
    if known == 0 and any(
        True
        for analysed in analysis.generations
        for _ in given_too_early(analysed.generation, analysed.before)
    ):
        return None
    return known


def _state(life: Life, last: Generation | None) -> str:
    """Return the state that `kafka-consumer-groups.sh --state` would show now."""
    if life.to_ms is not None:
        return "Dead"
    if not life.is_state_known:
        return "Unknown"
    return "Empty" if last is None else last.state
