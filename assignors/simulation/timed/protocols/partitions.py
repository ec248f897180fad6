"""Sets of partitions as members keep them: topic -> numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sized

from wire import TopicPartitions


def shared(one: TopicPartitions, other: TopicPartitions) -> TopicPartitions:
    """Return the partitions that both have. Cost: O(partitions)."""
    if one == other:
        return one
    both: dict[str, tuple[int, ...]] = {}
    for topic, numbers in one.items():
        theirs = other.get(topic, ())
        numbers_of_both = numbers
        if numbers != theirs:
            kept = set(theirs)
            numbers_of_both = tuple([n for n in numbers if n in kept])
        if numbers_of_both:
            both[topic] = numbers_of_both
    return both


def has_all(one: TopicPartitions, other: TopicPartitions) -> bool:
    """Return whether `one` has every partition of `other`. Cost: O(partitions).

    >>> has_all({"t": (2, 1)}, {"t": (1,)}), has_all({"t": (2,)}, {"t": (1,)})
    (True, False)
    """
    for topic, numbers in other.items():
        known = one.get(topic, ())
        if known != numbers and (len(known) < len(numbers) or not set(known).issuperset(numbers)):
            return False
    return True


def are_same(one: TopicPartitions, other: TopicPartitions) -> bool:
    """Return whether these are the same partitions, in whatever order. Cost: O(partitions).

    >>> are_same({"t": (2, 1)}, {"t": (1, 2)}), are_same({"t": (2, 1)}, {"t": (1,)})
    (True, False)
    """
    return one == other or (count(one) == count(other) and has_all(one, other))


def union(one: TopicPartitions, other: TopicPartitions) -> TopicPartitions:
    """Return the partitions that one or the other has. Cost: O(partitions)."""
    return {
        topic: tuple(dict.fromkeys((*one.get(topic, ()), *other.get(topic, ()))))
        for topic in {**one, **other}
    }


def count(partitions: Mapping[str, Sized]) -> int:
    """Return how many partitions these are."""
    return sum(map(len, partitions.values()))
