"""Check the rules that hold under every protocol: entries, subscriptions, one owner each.

Nothing is assumed of the assignment: it may name members and topics that do not exist, negative
numbers, one partition a hundred times. Each violation is reported once, with the members that
show it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from assignors.checks.violation import Rule, Violation
from assignors.model import Assignment, Group
from wire import TopicPartitions
from wire.text import utf16_key


def validity(group: Group, assignment: Assignment, withheld: TopicPartitions) -> list[Violation]:
    """Return where the assignment breaks a rule.

    Cost: O(size of assignment and withheld + partitions of subscribed topics).

    >>> from assignors.model import Cluster, Member
    >>> members = (Member(member_id="a", topics=("t",)), Member(member_id="b", topics=("t",)))
    >>> group = Group(cluster=Cluster.of({"t": 1}), members=members)
    >>> for violation in validity(group, {"a": {"t": (0,)}, "b": {"t": (0,)}}, {}):
    ...     print(violation.rule, violation.topic, violation.partition, violation.members)
    assigned-twice t 0 ('a', 'b')
    """
    holders = _holders(assignment)
    return [
        *_entries(group, assignment),
        *_grants(group, holders),
        *_withheld(group, holders, withheld),
        *_complete(group, holders, withheld),
    ]


def _holders(assignment: Assignment) -> dict[str, dict[int, list[str]]]:
    """Return topic -> partition -> the members that got it, as often as they got it."""
    holders: dict[str, dict[int, list[str]]] = {}
    for member_id, partitions in assignment.items():
        for topic, numbers in partitions.items():
            held = holders.setdefault(topic, {})
            for partition in numbers:
                held.setdefault(partition, []).append(member_id)
    return holders


def _entries(group: Group, assignment: Assignment) -> Iterator[Violation]:
    expected = {member.member_id for member in group.members}
    for member in group.members:
        if member.member_id not in assignment:
            yield Violation(rule=Rule.MISSING_ENTRY, members=(member.member_id,))
    for member_id in assignment:
        if member_id not in expected:
            yield Violation(rule=Rule.UNKNOWN_MEMBER, members=(member_id,))


def _grants(group: Group, holders: dict[str, dict[int, list[str]]]) -> Iterator[Violation]:
    asked = {member.member_id: frozenset(member.topics) for member in group.members}
    for topic, held in holders.items():
        known = group.cluster.topics.get(topic)
        count = 0 if known is None else known.partition_count
        for partition, members in held.items():
            if 0 <= partition < count and len(members) == 1 and topic in asked.get(members[0], ()):
                continue
            found = partial(Violation, topic=topic, partition=partition)
            several = tuple(dict.fromkeys(members))
            if known is None:
                yield found(rule=Rule.UNKNOWN_TOPIC, members=several)
            elif not 0 <= partition < known.partition_count:
                yield found(rule=Rule.UNKNOWN_PARTITION, members=several)
            if len(members) > 1:
                yield found(rule=Rule.ASSIGNED_TWICE, members=several)
            for member_id in several:
                if topic not in asked.get(member_id, frozenset({topic})):
                    yield found(rule=Rule.NOT_SUBSCRIBED, members=(member_id,))


def _withheld(
    group: Group, holders: dict[str, dict[int, list[str]]], withheld: TopicPartitions
) -> Iterator[Violation]:
    for topic, numbers in withheld.items():
        known = group.cluster.topics.get(topic)
        for partition in dict.fromkeys(numbers):
            found = partial(Violation, topic=topic, partition=partition)
            if known is None:
                yield found(rule=Rule.UNKNOWN_TOPIC)
            elif not 0 <= partition < known.partition_count:
                yield found(rule=Rule.UNKNOWN_PARTITION)
            members = holders.get(topic, {}).get(partition)
            if members:
                several = tuple(dict.fromkeys(members))
                yield found(rule=Rule.WITHHELD_AND_ASSIGNED, members=several)


def _complete(
    group: Group, holders: dict[str, dict[int, list[str]]], withheld: TopicPartitions
) -> Iterator[Violation]:
    asked = {topic for member in group.members for topic in member.topics}
    for topic in sorted(asked & group.cluster.topics.keys(), key=utf16_key):
        held, waiting = holders.get(topic, {}), frozenset(withheld.get(topic, ()))
        for partition in range(group.cluster.topics[topic].partition_count):
            if partition not in held and partition not in waiting:
                yield Violation(rule=Rule.UNASSIGNED, topic=topic, partition=partition)
