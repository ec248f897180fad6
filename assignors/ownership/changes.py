"""A change: from some moment on, a member owns exactly these partitions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assignors.model import NO_GENERATION
from wire import TopicPartitions

TopicPartition = tuple[str, int]
"""Topic and partition number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """From `at` on the member owns exactly `owned`, until its next change."""

    at: int
    member_id: str
    owned: TopicPartitions
    generation: int = NO_GENERATION
    """The generation or epoch in which it happened, where there is one."""
    reason: str | None = None
    """Why the member no longer owns what is missing from `owned`: see `Ownership.ended_by`."""
    after_gap: bool = False
    """Changes may be missing before this one, so nobody knows what was owned in between."""
    was_frozen: bool = False
    """What is new in `owned` the member already had before its process was frozen."""


def pairs(partitions: TopicPartitions) -> dict[TopicPartition, None]:
    """Return (topic, number) pairs in order, each once: a set whose order is the same every time.

    >>> list(pairs({"t": (1, 0, 1)}))
    [('t', 1), ('t', 0)]
    """
    return {(topic, number): None for topic, numbers in partitions.items() for number in numbers}


def changed_topics(
    had: TopicPartitions, share: TopicPartitions
) -> Iterator[tuple[str, set[int], set[int]]]:
    """Yield topic, old and new numbers of each topic whose numbers differ.

    Cost: O(topics), plus the partitions of those topics.

    >>> list(changed_topics({"t": (0, 1), "u": (2,)}, {"t": (1, 3), "u": (2,)}))
    [('t', {0, 1}, {1, 3})]
    """
    for topic, numbers in had.items():
        if topic not in share:
            yield topic, set(numbers), set()
    for topic, numbers in share.items():
        old = had.get(topic, ())
        if old != numbers:
            yield topic, set(old), set(numbers)
