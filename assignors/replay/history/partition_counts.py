"""How many partitions each topic has, as far as a group's own history tells.

The topic of offsets does not record it. A leader deals out every partition of what its members
ask for, so the numbers that were dealt are the topic's, if they leave no hole: a number beyond
a hole is more likely a leader's mistake than a topic nobody was given. Commits count where they
leave a hole too, as the broker refuses one for a partition that does not exist; but one flipped
bit in a key is not to make a topic of two billion partitions.
"""

from __future__ import annotations

from collections.abc import Mapping

from assignors.replay.history.model import GroupHistory, Participant

BELIEVED, BELIEVED_EACH = 10_000, 100
"""A commit tells of so many partitions that nobody was seen with, and more for each one seen."""


def inferred_counts(history: GroupHistory) -> dict[str, int]:
    """Return topic -> partition count, for topics that were dealt or committed to.

    Only partitions given to a member that asked for their topic tell anything. A number that
    nobody was ever given, at the end of its topic, stays unknown: counts are lower bounds.
    Cost: O(size of the history).
    """
    dealt: dict[str, set[int]] = {}
    for life in history.lives:
        for generation in life.generations:
            for member in generation.members:
                _collect(dealt, member)
    counts = {topic: _without_holes(numbers) for topic, numbers in dealt.items()}
    committed: dict[str, set[int]] = {}
    for commit in history.commits:
        committed.setdefault(commit.topic, set()).add(commit.partition)
    for topic, numbers in committed.items():
        believed = BELIEVED + BELIEVED_EACH * len(numbers | dealt.get(topic, set()))
        most = max((number for number in numbers if number < believed), default=-1)
        counts[topic] = max(counts.get(topic, 0), most + 1)
    return {topic: count for topic, count in counts.items() if count}


def counts_of(
    history: GroupHistory, known: Mapping[str, int] | None
) -> tuple[dict[str, int], frozenset[str]]:
    """Return topic -> partition count, and which of them are inferred."""
    counts = inferred_counts(history)
    inferred = frozenset(counts) - frozenset(known or ())
    return {**counts, **(known or {})}, inferred


def _collect(dealt: dict[str, set[int]], member: Participant) -> None:
    asked = frozenset(member.topics)
    for share in (member.assigned, member.target or {}):
        for topic, numbers in share.items():
            if topic in asked:
                dealt.setdefault(topic, set()).update(numbers)


def _without_holes(numbers: set[int]) -> int:
    """Return how many numbers there are from 0 on without a hole.

    >>> _without_holes({0, 1, 2, 99})
    3
    """
    count = 0
    while count in numbers:
        count += 1
    return count
