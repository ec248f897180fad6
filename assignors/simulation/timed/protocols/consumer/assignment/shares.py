"""What an assignor answers, member by member, in the order of Kafka's map."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assignors.jvm.hash_trees import name_order
from assignors.jvm.ordered_assignment import OrderedAssignment, PairsByMember
from assignors.rebalance import Rebalance
from wire import TopicPartitions


def shares_of(
    answer: Rebalance, ids: Sequence[str], *, is_in_order: bool
) -> dict[str, TopicPartitions]:
    """Return what each member gets, topics in the order in which the assignor listed them.

    `ids` are put into a Java map in that order, and the shares come in the order of that map, as
    those of the answer do if it `is_in_order`. The next target depends on the order of topics
    where two topic ids fall into one bucket of a Java map. Cost: O(partitions).
    """
    lists = answer.lists
    if is_in_order and isinstance(lists, PairsByMember):
        in_order: Sequence[str] = lists.held.members
    else:
        in_order = [ids[number] for number in name_order(ids).tolist()]
    if isinstance(lists, PairsByMember):
        return {member_id: _share(lists.held, member_id) for member_id in in_order}
    if lists is None:
        given = answer.assignment
        return {
            member_id: {
                topic: tuple(sorted(numbers))
                for topic, numbers in given.get(member_id, {}).items()
                if numbers
            }
            for member_id in in_order
        }
    return {member_id: _by_topic(lists.get(member_id, ())) for member_id in in_order}


def _share(held: OrderedAssignment, member_id: str) -> TopicPartitions:
    """Return what one member gets."""
    if member_id not in held.place:
        return {}
    topics, numbers = held.entries(member_id)
    if topics and topics.count(topics[0]) == len(topics):
        return {held.topics[topics[0]]: tuple(sorted(numbers))}
    names = [held.topics[topic] for topic in topics]
    return _by_topic(zip(names, numbers, strict=True))


def _by_topic(pairs: Iterable[tuple[str, int]]) -> dict[str, tuple[int, ...]]:
    """Return (topic, number) pairs by topic, in the order of the first pair of each."""
    found: dict[str, list[int]] = {}
    for topic, number in pairs:
        found.setdefault(topic, []).append(number)
    return {topic: tuple(sorted(listed)) for topic, listed in found.items()}
