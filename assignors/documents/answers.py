"""Write answers as JSON objects: what `assign`, `check`, `explain` and `assign --compare` print.

Each function returns the fields of one answer, in time linear in its size; whoever writes a line
adds `schema` (`values.SCHEMA`) and `error`.
"""

from __future__ import annotations

from collections.abc import Sequence

from assignors.checks import Report, Violation
from assignors.checks.compare import Comparison
from assignors.checks.explain import Explanation
from assignors.documents.values import Document
from assignors.model import Assignment, MemberNote
from assignors.rebalance import Rebalance
from wire import TopicPartitions


def rebalance_document(rebalance: Rebalance) -> Document:
    """Return an assignor's answer: assignment, withheld partitions, notes and stats.

    `stats.follow_up` is written for every assignor; `lists` and `order` by those that copy Java's
    order, `state` by those that keep one between rounds.
    """
    document: Document = {
        "assignment": _assignment_document(rebalance.assignment),
        "withheld": partitions_document(rebalance.withheld),
        "notes": [note_document(note) for note in rebalance.notes],
        "stats": {**rebalance.stats, "follow_up": rebalance.follow_up},
    }
    if rebalance.deferred:
        document["deferred"] = partitions_document(rebalance.deferred)
    if rebalance.lists is not None:
        document["lists"] = {
            member_id: [list(pair) for pair in pairs]
            for member_id, pairs in rebalance.lists.items()
        }
        document["order"] = list(rebalance.order or ())
    if rebalance.state is not None:
        document["state"] = {"max_generation": rebalance.state.max_generation}
    return document


def _assignment_document(assignment: Assignment) -> Document:
    return {
        member_id: partitions_document(partitions) for member_id, partitions in assignment.items()
    }


def partitions_document(partitions: TopicPartitions) -> Document:
    """Return `{"t": [0, 1]}`, in the given order; tuples stay, as JSON writes them like lists."""
    return {
        topic: listed if type(listed) is tuple else list(listed)
        for topic, listed in partitions.items()
    }


def note_document(note: MemberNote) -> Document:
    """Return a note on a member; `offset` only where the note is about a place in its bytes."""
    document: Document = {"member": note.member_id, "code": note.code, "text": note.text}
    if note.offset is not None:
        document["offset"] = note.offset
    return document


def report_document(report: Report) -> Document:
    """Return what a check found: violations, distances to the best assignment, notes if any."""
    document: Document = {**violations_document(report.violations), "gaps": dict(report.gaps)}
    if report.notes:
        document["notes"] = [note_document(note) for note in report.notes]
    return document


def violations_document(violations: Sequence[Violation]) -> Document:
    """Return `{"violations": [...]}`: each broken rule with its place."""
    return {
        "violations": [
            {
                "rule": violation.rule.value,
                "topic": violation.topic,
                "partition": violation.partition,
                "members": list(violation.members),
            }
            for violation in violations
        ]
    }


def explanation_document(explanation: Explanation) -> Document:
    """Return why one partition moved, stayed or waits; `by_weight` where weights matter.

    `violations` where the answer of somebody's own assignor breaks rules.
    """
    document: Document = {
        "topic": explanation.topic,
        "partition": explanation.partition,
        "verdict": explanation.verdict.value,
        "clause": explanation.clause.value,
        "text": explanation.text,
        "favoured": explanation.favoured,
        "target": explanation.target,
        "given": explanation.given,
        "last_generation": explanation.last_generation,
        "claims": [
            {
                "member": claim.member_id,
                "generation": claim.generation,
                "believed": claim.is_believed,
                "reason": claim.reason,
            }
            for claim in explanation.claims
        ],
        "topic_spread": explanation.topic_spread,
        "topic_spread_minimum": explanation.topic_spread_minimum,
    }
    if explanation.by_weight is not None:
        document["by_weight"] = {
            "weight": explanation.by_weight.weight,
            "fill": dict(explanation.by_weight.fill),
            "before": explanation.by_weight.before,
            "hold": explanation.by_weight.hold,
        }
    if explanation.violations:
        document |= violations_document(explanation.violations)
    return document


def comparison_document(comparison: Comparison) -> Document:
    """Return several assignors side by side; null where an assignor failed."""
    return {
        "owned": _assignment_document(comparison.owned),
        "compared": [
            {
                "name": column.name,
                "assignment": (
                    None
                    if column.rebalance is None
                    else _assignment_document(column.rebalance.assignment)
                ),
                "withheld": (
                    None
                    if column.rebalance is None
                    else partitions_document(column.rebalance.withheld)
                ),
                "stats": None if column.rebalance is None else dict(column.rebalance.stats),
                "gaps": dict(column.gaps) or None,
                "violations": column.violation_count,
                "first_violation": column.first_violation,
                "failure": column.failure,
            }
            for column in comparison.columns
        ],
        "violations": sum(each.violation_count for each in comparison.columns if each.is_own),
        "different": comparison.difference_count,
        "partitions": [
            {
                "topic": difference.topic,
                "partition": difference.partition,
                "answers": {
                    name: {
                        "member": reason.member_id,
                        "verdict": reason.verdict,
                        "why": reason.text,
                    }
                    for name, reason in difference.reasons.items()
                },
            }
            for difference in comparison.differences
        ],
    }
