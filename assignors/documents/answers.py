"""Answers as JSON objects: what `assign`, `check`, `explain` and `assign --compare` print.

Each class declares the keys of an answer or of a part of one (`documents.keys`); each function
fills one in, in time linear in its size. A line has `schema` and the keys of its error besides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

from assignors.checks import Report, Violation
from assignors.checks.compare import Column, Comparison
from assignors.checks.explain import Explanation
from assignors.checks.verdicts import Clause, Verdict
from assignors.checks.violation import Rule
from assignors.documents import schemas
from assignors.documents.described.groups import AssumptionCode
from assignors.documents.keys import brief, of_schema, schema_of
from assignors.documents.schemas import Schema
from assignors.documents.values import Document
from assignors.model import Assignment, MemberNote, MemberNoteCode
from assignors.rebalance import Rebalance
from assignors.weighted.solve import Hold
from assignors.weighting import MustHold
from wire import NoteCode, TopicPartitions

PROTOCOL = schemas.one_of(("eager", "cooperative"))
Count = Annotated[int, of_schema(schemas.COUNT)]
Integer = Annotated[int, of_schema(schemas.INTEGER)]
Partitions = Annotated[TopicPartitions, of_schema(schemas.PARTITIONS_BY_TOPIC)]
"""Written as `{"t": [0, 1]}`."""
Assigned = Mapping[str, Partitions]
HoldCode = Annotated[str, of_schema(schemas.one_of([*Hold, *MustHold]))]
_FIGURE = {"type": ["number", "boolean", "string", "null"]}
Figure = Annotated[object, of_schema(_FIGURE)]


# Parts of answers


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteRow:
    """Something odd in a group, or what was assumed about it."""

    member: str | None
    """The member it is about; null: the group."""
    code: Annotated[str, of_schema(schemas.one_of([*NoteCode, *MemberNoteCode, *AssumptionCode]))]
    """What is odd, as a code."""
    text: str
    """The same, for people."""
    offset: Count | None = None
    """The byte where it is, of a note on bytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ViolationRow:
    """A rule that an assignment breaks."""

    rule: Rule
    """Which rule, as a code."""
    topic: str | None
    """Of the partition; null: it is about a member."""
    partition: Integer | None
    """Its number."""
    members: tuple[str, ...]
    """The members that show it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightFigures:
    """Figures of an assignment of a group that has weights."""

    use_max: float | None = None
    """Weights: the largest weight for a capacity."""
    use_min: float | None = None
    """Weights: the least weight for a capacity."""
    use_bound: float | None = None
    """Weights: no assignment of the group has a smaller `use_max`."""
    use_bound_budget: float | None = None
    """Weights: no assignment whose moves the budget pays for has a smaller `use_max`."""
    weight_moved: Count | None = None
    """Weights: that of the partitions that move."""
    moves_least: Count | None = None
    """Weights: no assignment with such a `use_max` moves fewer partitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Figures of an assignment; own assignors may add more."""

    follow_up: bool
    """The leader must start another round itself."""
    member_count: Count | None = None
    """Members."""
    partition_count: Count | None = None
    """Partitions of subscribed topics."""
    load_max: Count | None = None
    """Partitions of the member with the most."""
    load_min: Count | None = None
    """Partitions of the member with the fewest."""
    load_square_sum: Count | None = None
    """Sum of squared loads: smaller is more even."""
    moved: Count | None = None
    """Partitions that a member owns by a valid claim and that go to another member, in this round
    or after waiting for it."""
    kept: Count | None = None
    """Partitions that stay with their owner."""
    withheld: Count | None = None
    """Partitions that wait for the next round."""
    unassigned: Count | None = None
    """Partitions that nobody gets now."""
    topic_spread: Count | None = None
    """Sum over topics and members of how many of a topic's partitions the member has, squared: the
    least where every topic is even."""
    topic_spread_max: Count | None = None
    """The widest gap between two subscribers of one topic."""
    rack_mismatches: Count | None = None
    """Partitions without a replica in their member's rack."""
    deferred: Count | None = None
    """`weighted/*`: partitions that a later round moves if the budget allows."""
    batches_left: Count | None = None
    """`weighted/*`: rounds of this budget, at least, until nothing is put off."""
    hold: HoldCode | None = None
    """`weighted/*`: why nothing moves; absent where something does."""
    limit_reached: bool | None = None
    """Whether `--limit` ended the search."""
    balance_gap_max: float | None = None
    """The most that the sum of squared loads can be above the best."""
    moves_gap_max: Count | None = None
    """No best answer keeps more partitions than this one and so many more."""
    racks_gap_max: Count | None = None
    """No best answer has fewer rack mismatches than this one less so many."""
    spread_gap_max: Count | None = None
    """The most that `topic_spread` can be above that of a best answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gaps:
    """How far an assignment is from the best."""

    balance_gap: Count | None
    """Sum of squared loads above the best possible; null while partitions wait."""
    load_max: Count
    """Partitions of the member with the most."""
    load_max_optimum: Count
    """The same under the best possible balance."""
    load_min: Count
    """Partitions of the member with the fewest."""
    moved: Count
    """As in the `stats` of `assign`."""
    moved_minimum: Count
    """The fewest that a perfectly balanced assignment moves."""
    unassigned: Count
    """Partitions that somebody could get, and nobody does."""
    topic_spread: Count | None
    """As in the `stats` of `assign`; null while partitions wait."""
    topic_spread_minimum: Count
    """The least of the assignments that are best in balance, racks and moves."""
    topic_spread_max: Count
    """The widest gap between two subscribers of one topic."""
    rack_mismatches: Count
    """Partitions without a replica in their member's rack."""
    follow_up: bool | None = None
    """The leader must start another round itself."""


def _stats() -> Schema:
    return {**schema_of(Stats, WeightFigures, is_open=True), "additionalProperties": _FIGURE}


def _gaps() -> Schema:
    return schema_of(Gaps, WeightFigures, is_open=True)


StatsOf = Annotated[Mapping[str, object], of_schema(_stats)]
GapsOf = Annotated[Mapping[str, object], of_schema(_gaps)]
Figures = Mapping[str, Figure]
_PAIR = schemas.pair(schemas.STRING, schemas.INTEGER)
Lists = Annotated[Mapping[str, object], of_schema(schemas.mapping(schemas.array(_PAIR)))]


# Answers


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignorRow:
    """An assignor of the registry."""

    name: str
    """Full name, FAMILY/NAME."""
    short: str | None
    """Name without a family; null where it has none."""
    protocols: Annotated[tuple[str, ...], of_schema(schemas.array(PROTOCOL))]
    """Rebalance protocols it supports."""
    user_data: str
    """What it reads claims from: none, sticky, cooperative."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateRow:
    """What an assignor keeps between rounds."""

    max_generation: Integer
    """The highest generation it saw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssignAnswer:
    """The assignment of a group."""

    assignment: Assigned
    """Member id -> topic -> partition numbers."""
    withheld: Partitions
    """Partitions that wait for the next round."""
    notes: tuple[NoteRow, ...]
    """What was odd in the group, or was assumed."""
    stats: StatsOf
    """Figures of the assignment; own assignors may add more."""
    deferred: Partitions | None = None
    """`weighted/*`: partitions that a later round moves if the budget allows."""
    lists: Lists | None = None
    """`java/*`, `server/*`: each member's partitions in Java's order."""
    order: tuple[str, ...] | None = None
    """`java/*`, `server/*`: the members in the order of Java's map."""
    state: StateRow | None = None
    """`java/sticky`, `java/cooperative-sticky`: give it back with the next group."""
    violations: tuple[ViolationRow, ...] | None = None
    """Own assignors: every rule that the answer breaks, if it breaks any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckAnswer:
    """What is wrong with an assignment."""

    violations: tuple[ViolationRow, ...]
    """Every rule that the assignment breaks, with its place."""
    gaps: GapsOf
    """How far the assignment is from the best."""
    notes: tuple[NoteRow, ...] | None = None
    """What was odd in the group, or was assumed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimRow:
    """A claim to a partition."""

    member: str
    """Who claims the partition."""
    generation: Integer
    """With which generation; -1: none."""
    believed: bool
    """Whether the claim counts."""
    reason: str
    """Why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByWeight:
    """What weights have to do with a partition."""

    weight: Count
    """Of the partition."""
    fill: Mapping[str, float]
    """Member id -> its use before any move, in parts of its fair use; of the favoured member and
    the target."""
    before: Count | None
    """Put off: so many move before it; else null."""
    hold: HoldCode | None
    """Why nothing moves; null where something does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainAnswer:
    """Why a partition moves, stays or waits."""

    topic: str
    """Of the partition."""
    partition: Integer
    """Its number."""
    verdict: Verdict
    """What happens to it, as a code."""
    clause: Clause
    """Which part of the hand-over rule decided, as a code."""
    text: str
    """The same in a sentence."""
    favoured: str | None
    """The member that stickiness favours."""
    target: str | None
    """Who gets it now, or in the next round."""
    given: str | None
    """Who gets it in this round."""
    last_generation: Integer
    """The last generation that the group completed; -1: none."""
    claims: tuple[ClaimRow, ...]
    """Every claim to the partition."""
    topic_spread: Count | None
    """As in `gaps` of `check`."""
    topic_spread_minimum: Count
    """The same."""
    by_weight: ByWeight | None = None
    """`weighted/*`, where the group has weights: what they have to do with it."""
    violations: tuple[ViolationRow, ...] | None = None
    """Own assignors: every rule that the answer breaks, if it breaks any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedRow:
    """One assignor's answer."""

    name: str
    """Full name of the assignor."""
    assignment: Assigned | None
    """Member id -> topic -> partition numbers."""
    withheld: Partitions | None
    """Partitions that wait."""
    stats: Figures | None
    """Its figures, as in `assign`."""
    gaps: Figures | None
    """How far it is from the best, as in `check`."""
    violations: Count | None
    """Rules that its answer breaks."""
    first_violation: str | None
    """The first of them, in words."""
    failure: str | None
    """Why it has no answer; else null."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonRow:
    """What one assignor does with a partition."""

    member: str | None
    """Who gets it; null: nobody."""
    verdict: Annotated[str, of_schema(schemas.one_of(Verdict))]
    """What happens to it."""
    why: str
    """Why, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceRow:
    """A partition that goes to different members."""

    topic: str
    """Of the partition."""
    partition: Integer
    """Its number."""
    answers: Mapping[str, ReasonRow]
    """Full name of an assignor -> what it does with the partition."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareAnswer:
    """Several assignors on one group."""

    owned: Assigned
    """Member id -> what it says it owns."""
    compared: tuple[ComparedRow, ...]
    """An entry for each assignor."""
    violations: Count
    """Rules that own assignors break; one that fails counts one."""
    different: Count
    """Partitions that the assignors place differently."""
    partitions: tuple[DifferenceRow, ...]
    """Some of them, each with the reasons."""


def rebalance_document(
    rebalance: Rebalance, *, notes: Sequence[Document] = (), broken: Sequence[Violation] = ()
) -> Document:
    """Return an assignor's answer: assignment, withheld partitions, notes and stats.

    `stats.follow_up` is written for every assignor; `lists` and `order` by those that copy Java's
    order, `state` by those that keep one between rounds. `notes` come before the answer's own.
    """
    state, lists = rebalance.state, rebalance.lists
    answer = AssignAnswer(
        assignment=_assignment_document(rebalance.assignment),
        withheld=partitions_document(rebalance.withheld),
        notes=(),
        stats={**rebalance.stats, "follow_up": rebalance.follow_up},
        deferred=partitions_document(rebalance.deferred) if rebalance.deferred else None,
        lists=None
        if lists is None
        else {member_id: [*map(list, pairs)] for member_id, pairs in lists.items()},
        order=None if lists is None else tuple(rebalance.order or ()),
        state=None if state is None else StateRow(max_generation=state.max_generation),
        violations=_violations(broken) or None,
    )
    return {**brief(answer), "notes": [*notes, *map(note_document, rebalance.notes)]}


def _assignment_document(assignment: Assignment) -> dict[str, TopicPartitions]:
    return {
        member_id: partitions_document(partitions) for member_id, partitions in assignment.items()
    }


def partitions_document(partitions: TopicPartitions) -> TopicPartitions:
    """Return `{"t": [0, 1]}`, in the given order; tuples stay, as JSON writes them like lists."""
    return {
        topic: listed if type(listed) is tuple else list(listed)  # type: ignore[misc]  # for JSON
        for topic, listed in partitions.items()
    }


def note_document(note: MemberNote) -> Document:
    """Return a note on a member; `offset` only where the note is about a place in its bytes."""
    return brief(_note(note))


def _note(note: MemberNote) -> NoteRow:
    return NoteRow(member=note.member_id, code=note.code, text=note.text, offset=note.offset)


def _violations(violations: Sequence[Violation]) -> tuple[ViolationRow, ...]:
    return tuple(
        ViolationRow(
            rule=each.rule, topic=each.topic, partition=each.partition, members=each.members
        )
        for each in violations
    )


def report_document(report: Report) -> Document:
    """Return what a check found: violations, distances to the best assignment, notes if any."""
    answer = CheckAnswer(
        violations=_violations(report.violations),
        gaps=dict(report.gaps),
        notes=tuple(map(_note, report.notes)) or None,
    )
    return brief(answer)


def explanation_document(explanation: Explanation) -> Document:
    """Return why one partition moved, stayed or waits; `by_weight` where weights matter.

    `violations` where the answer of somebody's own assignor breaks rules.
    """
    weight = explanation.by_weight
    copied = ("topic", "partition", "verdict", "clause", "text", "favoured", "target", "given")
    figures = ("last_generation", "topic_spread", "topic_spread_minimum")
    answer = ExplainAnswer(
        **{name: getattr(explanation, name) for name in (*copied, *figures)},
        claims=tuple(
            ClaimRow(
                member=claim.member_id,
                generation=claim.generation,
                believed=claim.is_believed,
                reason=claim.reason,
            )
            for claim in explanation.claims
        ),
        by_weight=None
        if weight is None
        else ByWeight(
            weight=weight.weight, fill=dict(weight.fill), before=weight.before, hold=weight.hold
        ),
        violations=_violations(explanation.violations) or None,
    )
    return brief(answer)


def comparison_document(comparison: Comparison) -> Document:
    """Return several assignors side by side; null where an assignor failed."""
    answer = CompareAnswer(
        owned=_assignment_document(comparison.owned),
        compared=tuple(map(_compared, comparison.columns)),
        violations=sum(each.violation_count for each in comparison.columns if each.is_own),
        different=comparison.difference_count,
        partitions=tuple(
            DifferenceRow(
                topic=difference.topic,
                partition=difference.partition,
                answers={
                    name: ReasonRow(member=one.member_id, verdict=one.verdict, why=one.text)
                    for name, one in difference.reasons.items()
                },
            )
            for difference in comparison.differences
        ),
    )
    return brief(answer)


def _compared(column: Column) -> ComparedRow:
    found = column.rebalance
    return ComparedRow(
        name=column.name,
        assignment=None if found is None else _assignment_document(found.assignment),
        withheld=None if found is None else partitions_document(found.withheld),
        stats=None if found is None else dict(found.stats),
        gaps=dict(column.gaps) or None,
        violations=column.violation_count,
        first_violation=column.first_violation,
        failure=column.failure,
    )
