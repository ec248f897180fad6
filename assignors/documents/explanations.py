"""Explanations and comparisons as JSON objects: what `explain` and `assign --compare` print."""

from __future__ import annotations

from assignors.checks.compare import Comparison
from assignors.checks.explain import Explanation
from assignors.documents.values import Document, DocumentError, ErrorCode
from assignors.model import Group


def require_partition(group: Group, topic: str, partition: int) -> None:
    """Raise `DocumentError`, at the topic's place, if the cluster has no such partition."""
    known = group.cluster.topics.get(topic)
    if known is None:
        words = f"the cluster has no topic {topic!r}"
        raise DocumentError(ErrorCode.UNKNOWN, words, ("topics", topic))
    if not 0 <= partition < known.partition_count:
        words = f"topic {topic!r} has {known.partition_count} partitions, none is {partition}"
        raise DocumentError(ErrorCode.OUT_OF_RANGE, words, ("topics", topic))


def explanation_document(explanation: Explanation) -> Document:
    """Return why one partition moved, stayed or waits."""
    return {
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
    }


def comparison_document(comparison: Comparison) -> Document:
    """Return several assignors side by side; null where an assignor failed."""
    return {
        "compared": [
            {
                "name": column.name,
                "stats": None if column.rebalance is None else dict(column.rebalance.stats),
                "gaps": dict(column.gaps) or None,
                "violations": column.violation_count,
                "failure": column.failure,
            }
            for column in comparison.columns
        ],
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
