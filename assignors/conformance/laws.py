"""Check whether an answer keeps the laws, where a client need not answer exactly as Java does.

The laws are those of `assignors.checks`: every partition of a subscribed topic is assigned, once,
to a member that subscribes to it; under the cooperative protocol no partition is assigned that
another member may still consume, and none waits without that reason. Then balance: range balances
each topic, the sticky assignors all partitions together, both no worse than the reference.

A law that the reference breaks in its own answer to a vector is not required for that vector.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from assignors.assignor import RebalanceProtocol
from assignors.checks import Violation, check
from assignors.conformance.groups import by_topic, group_of
from assignors.documents.values import Document
from assignors.model import Group
from wire import TopicPartitions

Lists = Mapping[str, list[tuple[str, int]]]
"""Member id -> its (topic, partition) pairs, in the order of an answer."""


def broken_laws(given: Document, answer: Lists, reference: Lists | None) -> list[str]:
    """Return a sentence for each law that an answer breaks and the reference, if any, keeps.

    Cost: that of `checks.check`, twice.

    >>> given = {"algo": "sticky", "topics": {"t": [[], []]}, "members": [
    ...     {"id": "a", "topics": ["t"]}, {"id": "b", "topics": ["t"]}]}
    >>> broken_laws(given, {"a": [("t", 0), ("t", 1)], "b": []}, {"a": [("t", 0)], "b": [("t", 1)]})
    ['unbalanced: loads 2 0, the reference 1 1']
    """
    group = group_of(given)
    is_cooperative = given["algo"] == "coop"
    violations = _judged(group, answer, is_cooperative=is_cooperative)
    forgiven = set()
    if reference is not None:
        judged = _judged(group, reference, is_cooperative=is_cooperative)
        forgiven = {violation.rule for violation in judged}
    sentences = [
        f"{violation.rule}:"
        + (f" {violation.topic}-{violation.partition}" if violation.topic is not None else "")
        + (f" ({', '.join(violation.members)})" if violation.members else "")
        for violation in violations
        if violation.rule not in forgiven
    ]
    if not sentences and reference is not None and not forgiven:
        sentences = _unbalanced(group, answer, reference, is_by_topic=given["algo"] == "range")
    return sentences


def waiting(group: Group, answer: Lists) -> TopicPartitions:
    """Return the partitions of subscribed topics that no member gets."""
    given = {pair for pairs in answer.values() for pair in pairs}
    asked = dict.fromkeys(topic for member in group.members for topic in member.topics)
    absent = {
        topic: tuple(
            partition
            for partition in range(group.cluster.topics[topic].partition_count)
            if (topic, partition) not in given
        )
        for topic in asked
        if topic in group.cluster.topics
    }
    return {topic: numbers for topic, numbers in absent.items() if numbers}


def _judged(group: Group, answer: Lists, *, is_cooperative: bool) -> tuple[Violation, ...]:
    """Return the rules that an answer breaks; what is in doubt counts: a leader has to wait."""
    assignment = {member_id: by_topic(pairs) for member_id, pairs in answer.items()}
    if not is_cooperative:
        return check(group, assignment).violations
    withheld = waiting(group, answer)
    report = check(group, assignment, withheld=withheld, protocol=RebalanceProtocol.COOPERATIVE)
    return report.violations + report.in_doubt


def _unbalanced(group: Group, answer: Lists, reference: Lists, *, is_by_topic: bool) -> list[str]:
    """Return a sentence if the loads are less balanced than the reference's, by sum of squares.

    While partitions wait, the answer does not show for whom: such rounds are not judged.
    """
    if waiting(group, answer) or waiting(group, reference):
        return []
    if is_by_topic:
        return [
            f"unbalanced in {topic}: loads {_shown(ours)}, the reference {_shown(theirs)}"
            for topic in group.cluster.topics
            if _squares(ours := _loads(answer, topic))
            > _squares(theirs := _loads(reference, topic))
        ]
    ours, theirs = _loads(answer), _loads(reference)
    if _squares(ours) <= _squares(theirs):
        return []
    return [f"unbalanced: loads {_shown(ours)}, the reference {_shown(theirs)}"]


def _loads(answer: Lists, topic: str | None = None) -> list[int]:
    """Return how many partitions each member has, the largest number first."""
    counts = Counter[str]()
    for member_id, pairs in answer.items():
        counts[member_id] = sum(topic is None or topic == name for name, _ in pairs)
    return sorted(counts.values(), reverse=True)


def _squares(loads: list[int]) -> int:
    return sum(load * load for load in loads)


def _shown(loads: list[int]) -> str:
    shown = " ".join(map(str, loads[:12]))
    return f"{shown} ..." if len(loads) > 12 else shown
