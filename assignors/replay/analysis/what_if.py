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
* Assignors by weight get the rates that the group's commits had shown before the generation, and
  the lag where log ends are given (`rates`). Before any rate is known they balance by count.
* Racks and partition counts that change in the course of a history are not recorded, so not
  tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from assignors.assignor import Assignor
from assignors.checks import judged, summary
from assignors.leader import REPAIR, Memory, lead_members
from assignors.model import NO_GENERATION, Assignment, Cluster, Group, Member, Topic
from assignors.ownership.changes import pairs
from assignors.replay.analysis.figures import Figures, figures
from assignors.replay.analysis.group_analysis import (
    GenerationAnalysis,
    GroupAnalysis,
    LifeAnalysis,
)
from assignors.replay.analysis.outcome_rows import Tried, outcome_row, summed
from assignors.replay.analysis.rates import WINDOW_MS, known_at
from assignors.replay.history.model import Generation, Kind
from assignors.replay.tables.rows import OutcomeRow
from assignors.weighting import Weighting
from assignors.workload import Snapshot, weighting_at

ROUNDS_MAX = 10
"""Rounds after which a group that has not settled gets an error in its row."""

FAILED, BROKEN_RULES, NOT_SETTLED = "failed", "broken-rules", "not-settled"
"""`error_kind` of an outcome: the assignor raised, its answer breaks a rule, or rounds go on."""

SERVER = "server"
"""The family whose results are target assignments, which members reach one by one."""


def what_if(analysis: GroupAnalysis, assignor: Assignor) -> Iterator[OutcomeRow]:
    """Yield a row for each generation that had members, and one that sums up each life.

    An assignor that raises leaves everything where it was, and its row has the error; so has a row
    in which the answer of somebody's own assignor breaks a rule. Where a copy of Java's would
    raise, a repaired answer is used. Share groups, streams groups and protocol types other than
    `consumer` are left out: their assignors solve another problem. Cost: that of the assignor and
    of the solver.
    """
    chosen = assignor.configured(REPAIR)
    for life_analysis in analysis.lives:
        if life_analysis.life.kind in {Kind.CLASSIC, Kind.CONSUMER}:
            rows = list(_of_life(analysis, life_analysis, chosen))
            yield from rows
            if rows:
                yield summed(rows)


def _of_life(
    analysis: GroupAnalysis, life_analysis: LifeAnalysis, assignor: Assignor
) -> Iterator[OutcomeRow]:
    before: Generation | None = None
    memory = Memory()
    last: GenerationAnalysis | None = None
    for analysed in life_analysis.generations:
        if not analysed.generation.members or analysed.generation.other_protocol is not None:
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
        yield outcome_row(analysis, life_analysis, assignor, analysed, tried)


def _settled(
    analysis: GroupAnalysis,
    assignor: Assignor,
    analysed: GenerationAnalysis,
    before: Generation | None,
    memory: Memory,
) -> Tried:
    """Return the generation after as many rounds as the assignor needs, at most `ROUNDS_MAX`."""
    kind, cluster = _kind(assignor), cluster_of(analysis)
    weighting = _weighting(analysis, analysed.generation)
    moved = stopped = rounds = 0
    error: str | None = None
    error_kind: str | None = None
    current = before
    counted = Figures()
    is_over = False
    while not is_over:
        start = _with_earlier_partitions(assignor, analysed.generation, current)
        # Its own count of generations: those of the records are another assignor's.
        last = NO_GENERATION if current is None else current.number
        group = Group(
            cluster=cluster,
            members=_members(start, current, last),
            generation=last,
            weighting=weighting,
        )
        try:
            answer, memory, must_follow = lead_members(assignor, group, memory=memory)
        except Exception as failure:  # noqa: BLE001 - the assignor may be anybody's
            error, error_kind = f"{type(failure).__name__}: {failure}", FAILED
            counted = figures(kind, start, current, analysis.partition_counts)
            current = start
            break
        if error is None and (broken := judged(group, assignor, answer)):
            error, error_kind = f"broken rules: {summary(broken)}", BROKEN_RULES
        rounds += 1
        given = _given(start, answer.assignment, last + 1)
        counted = figures(kind, given, current, analysis.partition_counts)
        moved, stopped = moved + counted.moved, stopped + counted.stopped
        is_over = not (must_follow or _must_revoke(start, answer.assignment))
        is_over = is_over or kind is Kind.CONSUMER or not assignor.is_cooperative
        current = given
        if not is_over and rounds == ROUNDS_MAX:
            error, error_kind = f"not settled after {ROUNDS_MAX} rounds", NOT_SETTLED
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
        error_kind=error_kind,
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


def _weighting(analysis: GroupAnalysis, generation: Generation) -> Weighting | None:
    """Return the weights that a leader could have known then.

    `None` before any rate is known: partitions count alike. Where the group has committed for long
    and nothing is known any more, the weighting says that nothing may move.
    """
    seen = analysis.observed
    if seen is None:
        return None
    known = known_at(seen, generation.at_ms)
    weights = {} if known is None else known.work(len(generation.members))
    if not weights and not (seen.known_since < generation.at_ms - WINDOW_MS).any():
        return None
    snapshot = Snapshot(at_ms=generation.at_ms, weights=weights)
    return weighting_at(snapshot, generation.at_ms, partition_counts=analysis.partition_counts)


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
