"""Partition counts of topics, inferred from a group's own history.

The offsets topic does not record them. A leader assigns every partition of the topics that its
members subscribe to, so the numbers that were assigned are those of the topic, if they leave no
hole: a number beyond a hole is more likely a leader's mistake than a partition nobody was assigned.
Commits count beyond a hole too, as the broker refuses one for a partition that does not exist; but
one flipped bit in a key must not make a topic of two billion partitions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from assignors.replay.history.model import GroupHistory, Participant

BELIEVED, BELIEVED_EACH = 10_000, 100
"""A partition number of a commit is believed below so many, and more for each partition seen."""


def inferred_counts(history: GroupHistory) -> dict[str, int]:
    """Return topic -> partition count, for topics that were assigned or committed to.

    Only partitions assigned to a member that subscribes to their topic count. Partitions at the
    end of a topic that nobody was ever assigned stay unknown: counts are lower bounds.
    Cost: O(size of the history).
    """
    assigned: dict[str, set[int]] = {}
    for life in history.lives:
        for generation in life.generations:
            for member in generation.members:
                _collect(assigned, member)
    counts = {topic: _without_holes(numbers) for topic, numbers in assigned.items()}
    committed: dict[str, set[int]] = {}
    for commit in history.commits:
        committed.setdefault(commit.topic, set()).add(commit.partition)
    for topic, numbers in committed.items():
        seen = len(numbers | assigned.get(topic, set()))
        counts[topic] = max(counts.get(topic, 0), committed_count(numbers, seen))
    return {topic: count for topic, count in counts.items() if count}


def committed_count(numbers: Iterable[int], seen: int) -> int:
    """Return the partition count by the partitions with commits; `seen` partitions are known.

    >>> committed_count([0, 5, 2**31 - 1], seen=3)
    6
    """
    believed = BELIEVED + BELIEVED_EACH * seen
    return max((number for number in numbers if number < believed), default=-1) + 1


def counts_of(
    history: GroupHistory, known: Mapping[str, int] | None
) -> tuple[dict[str, int], frozenset[str]]:
    """Return topic -> partition count, and which of them are inferred."""
    counts = inferred_counts(history)
    inferred = frozenset(counts) - frozenset(known or ())
    return {**counts, **(known or {})}, inferred


def _collect(assigned: dict[str, set[int]], member: Participant) -> None:
    subscribed = frozenset(member.topics)
    for share in (member.assigned, member.target or {}):
        for topic, numbers in share.items():
            if topic in subscribed:
                assigned.setdefault(topic, set()).update(numbers)


def _without_holes(numbers: set[int]) -> int:
    """Return how many numbers there are from 0 on without a hole.

    >>> _without_holes({0, 1, 2, 99})
    3
    """
    count = 0
    while count in numbers:
        count += 1
    return count
