"""What is wrong with one moment, or with one step from a moment to the next.

A simulator calls these after each step; there is no history to keep. `Assignment` is here what
each member owns, by member id.
"""

from __future__ import annotations

from collections import defaultdict

from assignors.model import Assignment
from assignors.ownership.changes import TopicPartition, pairs


def double_owned(owned: Assignment) -> tuple[TopicPartition, ...]:
    """Return the partitions that two members or more own, in the order in which they are met.

    Cost: O(partitions).

    >>> double_owned({"a": {"t": (0, 1)}, "b": {"t": (1, 2)}})
    (('t', 1),)
    """
    count, numbers_of = 0, defaultdict[str, set[int]](set)
    for share in owned.values():
        for topic, numbers in share.items():
            count += len(numbers)
            numbers_of[topic].update(numbers)
    if count == sum(map(len, numbers_of.values())):
        return ()
    seen: set[TopicPartition] = set()
    double: dict[TopicPartition, None] = {}
    for share in owned.values():
        for one in pairs(share):
            if one in seen:
                double[one] = None
            seen.add(one)
    return tuple(double)


def started_while_owned(owned: Assignment, given: Assignment) -> tuple[TopicPartition, ...]:
    """Return the partitions that a member starts while another one still owns them, sorted.

    `owned` has what each present member owns, `given` what each is to own next. A member starts
    what it is given and does not own yet. Members of `given` that are not in `owned` are left out.
    Cost: O(partitions that change hands), plus a look at each topic of each member.

    >>> started_while_owned({"a": {"t": (0,)}, "b": {}}, {"a": {"t": (0,)}, "b": {"t": (0, 1)}})
    (('t', 0),)
    """
    started: dict[str, dict[int, str]] = {}
    for member_id, mine in owned.items():
        for topic, numbers in given.get(member_id, {}).items():
            had = mine.get(topic, ())
            if numbers != had:
                new = dict.fromkeys(set(numbers).difference(had), member_id)
                started.setdefault(topic, {}).update(new)
    return tuple(
        sorted(
            (topic, number)
            for member_id, mine in owned.items()
            for topic, numbers in mine.items()
            if topic in started
            for number in numbers
            if started[topic].get(number, member_id) != member_id
        )
    )
