"""What another assignor would have done in the same group.

The members and their subscriptions are taken from the records, generation by generation. What each
member owns is not: it is what the assignor that is tried assigned before. So the first generation
starts from nothing, as the group did, and every later one from that assignor's own past.

The model, in full:

* Every member claims what it was assigned, with the last generation. Clients that claim nothing,
  or too much, are part of what happened and not of what is tried.
* A static member that comes back under a new id keeps what it had.
* A generation with the members and subscriptions of the one before is taken for an effect of the
  assignor that ran then (the second round of a cooperative hand-over, a loop). The one that is
  tried has settled already and does nothing. After generations without a record this is not known,
  so it assigns again.
* A cooperative assignor gets as many rounds as it needs, `ROUNDS_MAX` at most: another one while
  some member has to revoke something, or the leader requests one. An eager assignor gets one round;
  so does a broker's, whose members then move one by one.
* Every round takes as long as the round that is replaced took (`pause_ms`), and interrupts what
  its protocol interrupts (`figures.stopped_count`). What happened is measured by the same rule
  (`group_analysis.downtime_ms`), in every table. The pause of a KIP-848 epoch is that of the
  whole hand-over, so it counts once there, however many rounds are tried.
* The assignment with which the broker itself turns a KIP-848 group into a classic one has no row:
  no leader made it. The leader that came after and the one that is tried both start from it.
* Racks and partition counts that change in the course of a history are not recorded, so not
  tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from assignors.assignor import Assignor
from assignors.leader import REPAIR, Memory, lead_members
from assignors.model import NO_GENERATION, Assignment, Cluster, Group, Member, Topic
from assignors.ownership.changes import pairs
from assignors.replay.analysis.figures import Figures, figures
from assignors.replay.analysis.group_analysis import (
    GenerationAnalysis,
    GroupAnalysis,
    LifeAnalysis,
    downtime_ms,
    sum_of_known,
)
from assignors.replay.history.model import Generation, Kind, partition_count
from assignors.replay.tables.rows import OutcomeRow

ROUNDS_MAX = 10
"""Rounds after which a group that has not settled gets an error in its row."""

SERVER = "server"
"""The family whose results are target assignments, which members reach one by one."""

EVERY_GROUP = "*"
"""Stands for the group in a row that sums up all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One generation under the assignor that is tried."""

    generation: Generation
    """The members with what they end up with."""
    rounds: int
    moved: int
    stopped: int
    """Partitions interrupted, all rounds together."""
    figures: Figures
    memory: Memory
    """What its leader remembers."""
    error: str | None = None


def what_if(analysis: GroupAnalysis, assignor: Assignor) -> Iterator[OutcomeRow]:
    """Yield a row for each generation that had members, and one that sums up each life.

    An assignor that raises leaves everything where it was, and its row has the error. Where a copy
    of Java's would raise, a repaired answer is used. Share groups and streams groups are left out:
    their assignors solve another problem. Cost: that of the assignor and of the solver.
    """
    chosen = assignor.configured(REPAIR)
    for life_analysis in analysis.lives:
        if life_analysis.life.kind in {Kind.CLASSIC, Kind.CONSUMER}:
            rows = list(_of_life(analysis, life_analysis, chosen))
            yield from rows
            if rows:
                yield _summed(rows)


def total(rows: Iterable[OutcomeRow]) -> Iterator[OutcomeRow]:
    """Yield a row for each assignor that sums up all groups, from the rows that sum up lives."""
    by_name: dict[str, list[OutcomeRow]] = {}
    for row in rows:
        if row.generation is None:
            by_name.setdefault(row.assignor, []).append(row)
    for listed in by_name.values():
        yield replace(_summed(listed), group=EVERY_GROUP, life=0)


def _of_life(
    analysis: GroupAnalysis, life_analysis: LifeAnalysis, assignor: Assignor
) -> Iterator[OutcomeRow]:
    before: Generation | None = None
    memory = Memory()
    last: GenerationAnalysis | None = None
    for analysed in life_analysis.generations:
        if not analysed.generation.members:
            before, memory, last = None, Memory(), None
            continue
        if analysed.generation.is_from_broker:
            before, memory, last = analysed.generation, Memory(), None
            continue
        if last is not None and before is not None and _is_unchanged(analysed, last):
            tried = _idle(analysis, assignor, analysed, before, memory)
        else:
            tried = _settled(analysis, assignor, analysed, before, memory)
        if life_analysis.life.kind is Kind.CONSUMER and tried.rounds > 1:
            whole = figures(_kind(assignor), tried.generation, before, analysis.partition_counts)
            tried = replace(tried, stopped=whole.stopped)
        before, memory, last = tried.generation, tried.memory, analysed
        yield _row(analysis, life_analysis, assignor, analysed, tried)


def _settled(
    analysis: GroupAnalysis,
    assignor: Assignor,
    analysed: GenerationAnalysis,
    before: Generation | None,
    memory: Memory,
) -> Tried:
    """Return the generation after as many rounds as the assignor needs, at most `ROUNDS_MAX`."""
    kind, cluster = _kind(assignor), cluster_of(analysis)
    moved = stopped = rounds = 0
    error: str | None = None
    current = before
    counted = Figures()
    is_over = False
    while not is_over:
        start = _with_earlier_partitions(assignor, analysed.generation, current)
        # Its own count of generations: those of the records are another assignor's.
        last = NO_GENERATION if current is None else current.number
        group = Group(cluster=cluster, members=_members(start, current, last), generation=last)
        try:
            answer, memory, must_follow = lead_members(assignor, group, memory=memory)
        except Exception as failure:  # noqa: BLE001 - the assignor may be anybody's
            error = f"{type(failure).__name__}: {failure}"
            counted = figures(kind, start, current, analysis.partition_counts)
            current = start
            break
        rounds += 1
        given = _given(start, answer.assignment, last + 1)
        counted = figures(kind, given, current, analysis.partition_counts)
        moved, stopped = moved + counted.moved, stopped + counted.stopped
        is_over = not (must_follow or _must_revoke(start, answer.assignment))
        is_over = is_over or kind is Kind.CONSUMER or not assignor.is_cooperative
        current = given
        if not is_over and rounds == ROUNDS_MAX:
            error = f"not settled after {ROUNDS_MAX} rounds"
            break
    assert current is not None
    return Tried(
        generation=current,
        rounds=rounds,
        moved=moved,
        stopped=stopped,
        figures=counted,
        memory=memory,
        error=error,
    )


def _idle(
    analysis: GroupAnalysis,
    assignor: Assignor,
    analysed: GenerationAnalysis,
    before: Generation,
    memory: Memory,
) -> Tried:
    """Return the generation with every partition where it was, after no round."""
    same = _with_earlier_partitions(assignor, analysed.generation, before)
    same = replace(same, number=before.number)
    counted = figures(_kind(assignor), same, before, analysis.partition_counts)
    return Tried(generation=same, rounds=0, moved=0, stopped=0, figures=counted, memory=memory)


def cluster_of(analysis: GroupAnalysis) -> Cluster:
    """Return the topics as far as they are known, with their ids."""
    ids = {name: topic_id for topic_id, name in analysis.history.topic_names.items()}
    return Cluster(
        topics={
            name: Topic(partition_count=count, topic_id=ids.get(name))
            for name, count in analysis.partition_counts.items()
        }
    )


def _with_earlier_partitions(
    assignor: Assignor, generation: Generation, before: Generation | None
) -> Generation:
    """Return a generation whose members have what they had before it."""
    had: dict[str, Mapping[str, tuple[int, ...]]] = {}
    by_instance: dict[str, Mapping[str, tuple[int, ...]]] = {}
    for member in before.members if before is not None else ():
        had[member.member_id] = member.assigned
        if member.instance_id is not None:
            by_instance[member.instance_id] = member.assigned
    members = tuple(
        replace(
            member,
            assigned=had.get(member.member_id, by_instance.get(member.instance_id or "", {})),
            target=None,
        )
        for member in generation.members
    )
    return replace(generation, members=members, protocol=assignor.name)


def _members(start: Generation, current: Generation | None, last: int) -> tuple[Member, ...]:
    """Return the members as they would join: claiming what they have, if they were there."""
    were_here = {member.member_id for member in current.members} if current else set()
    return tuple(
        Member(
            member_id=member.member_id,
            topics=tuple(dict.fromkeys(member.topics)),
            owned=member.assigned,
            generation=last if member.member_id in were_here or member.assigned else NO_GENERATION,
            instance_id=member.instance_id,
            rack_id=member.rack_id,
        )
        for member in start.members
    )


def _given(start: Generation, assignment: Assignment, number: int) -> Generation:
    members = tuple(
        replace(member, assigned=dict(assignment.get(member.member_id, {})))
        for member in start.members
    )
    return replace(start, members=members, number=max(number, 1))


def _must_revoke(start: Generation, assignment: Assignment) -> bool:
    """Return whether some member has to revoke something, and so joins again."""
    return any(
        pairs(member.assigned).keys() - pairs(assignment.get(member.member_id, {})).keys()
        for member in start.members
    )


def _is_unchanged(analysed: GenerationAnalysis, last: GenerationAnalysis) -> bool:
    if analysed.generation.missing_before:
        return False
    return _signature(analysed.generation) == _signature(last.generation)


def _signature(generation: Generation) -> list[tuple[str, list[str]]]:
    return sorted(
        (member.instance_id or member.member_id, sorted(set(member.topics)))
        for member in generation.members
    )


def _kind(assignor: Assignor) -> Kind:
    return Kind.CONSUMER if assignor.family == SERVER else Kind.CLASSIC


def _row(
    analysis: GroupAnalysis,
    life_analysis: LifeAnalysis,
    assignor: Assignor,
    analysed: GenerationAnalysis,
    tried: Tried,
) -> OutcomeRow:
    generation, happened, counted = analysed.generation, analysed.figures, tried.figures
    topics = {topic for member in generation.members for topic in member.topics}
    pause_ms = generation.pause_ms
    return OutcomeRow(
        group=analysis.history.group,
        life=life_analysis.life.number,
        assignor=assignor.full_name,
        generation=generation.number,
        at_ms=generation.at_ms,
        member_count=len(generation.members),
        partition_count=counted.given_count,
        rounds=tried.rounds,
        moved=tried.moved,
        load_min=counted.load_min,
        load_max=counted.load_max,
        balance_gap=counted.balance_gap,
        unassigned=partition_count(counted.unassigned),
        downtime_partition_ms=None if pause_ms is None else pause_ms * tried.stopped,
        actual_rounds=1,
        actual_moved=happened.moved,
        actual_load_min=happened.load_min,
        actual_load_max=happened.load_max,
        actual_balance_gap=happened.balance_gap,
        actual_unassigned=partition_count(happened.unassigned),
        actual_downtime_partition_ms=downtime_ms(analysed),
        counts_inferred=bool(topics & analysis.inferred_topics),
        error=tried.error,
    )


def _summed(rows: list[OutcomeRow]) -> OutcomeRow:
    """Return rows as one: figures added up, loads the widest, gaps the worst."""
    errors = [row.error for row in rows if row.error is not None]
    return OutcomeRow(
        group=rows[0].group,
        life=rows[0].life,
        assignor=rows[0].assignor,
        generation=None,
        at_ms=min(row.at_ms for row in rows),
        member_count=max(row.member_count for row in rows),
        partition_count=max(row.partition_count for row in rows),
        rounds=sum(row.rounds for row in rows),
        moved=sum(row.moved for row in rows),
        load_min=min(row.load_min for row in rows),
        load_max=max(row.load_max for row in rows),
        balance_gap=_worst(row.balance_gap for row in rows),
        unassigned=max(row.unassigned for row in rows),
        downtime_partition_ms=sum_of_known(row.downtime_partition_ms for row in rows),
        actual_rounds=sum(row.actual_rounds for row in rows),
        actual_moved=sum(row.actual_moved for row in rows),
        actual_load_min=min(row.actual_load_min for row in rows),
        actual_load_max=max(row.actual_load_max for row in rows),
        actual_balance_gap=_worst(row.actual_balance_gap for row in rows),
        actual_unassigned=max(row.actual_unassigned for row in rows),
        actual_downtime_partition_ms=sum_of_known(row.actual_downtime_partition_ms for row in rows),
        counts_inferred=any(row.counts_inferred for row in rows),
        error=None if not errors else f"{len(errors)} generations: {errors[0]}",
    )


def _worst(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)
