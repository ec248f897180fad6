"""Sets of partitions as members keep them: topic -> numbers."""

from __future__ import annotations

from wire import TopicPartitions


def shared(one: TopicPartitions, other: TopicPartitions) -> TopicPartitions:
    """Return the partitions that both have. Cost: O(partitions)."""
    if one == other:
        return one
    both: dict[str, tuple[int, ...]] = {}
    for topic, numbers in one.items():
        theirs = other.get(topic, ())
        kept = set(theirs)
        numbers_of_both = numbers if numbers == theirs else tuple(n for n in numbers if n in kept)
        if numbers_of_both:
            both[topic] = numbers_of_both
    return both


def union(one: TopicPartitions, other: TopicPartitions) -> TopicPartitions:
    """Return the partitions that one or the other has. Cost: O(partitions)."""
    return {
        topic: tuple(dict.fromkeys((*one.get(topic, ()), *other.get(topic, ()))))
        for topic in {**one, **other}
    }


def count(partitions: TopicPartitions) -> int:
    """Return how many partitions these are."""
    return sum(map(len, partitions.values()))
