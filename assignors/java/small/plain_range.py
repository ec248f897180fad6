"""What Java's range assignor gives the members of a small group, on lists: see `plain_groups`.

Members may subscribe to different topics: each topic is dealt to its own subscribers.
"""

from __future__ import annotations

from itertools import chain

from assignors.java.small.plain_groups import LISTED_MAX, PARTITIONS_MAX, Pair
from assignors.jvm.few_keys import order_of_names
from assignors.model import Group, Member, State
from wire.text import utf16_key

Names = tuple[str, ...]


def plain_range(group: Group) -> tuple[dict[str, list[Pair]], State] | None:
    """Return what `plain_lists` does, of `java/range`: it keeps no state, so that is the group's.

    `None` where nobody gets anything, racks can matter, a member lists a topic twice, or the group
    is large. Cost: O(P + M log M + total length of the subscriptions).

    >>> from assignors.model import Cluster
    >>> members = (Member(member_id="a", topics=("t", "u")), Member(member_id="b", topics=("t",)))
    >>> group = Group(cluster=Cluster.of({"t": 3, "u": 1}), members=members)
    >>> plain_range(group)[0]
    {'a': [('t', 0), ('t', 1), ('u', 0)], 'b': [('t', 2)]}
    """
    different = _different_lists(group)
    asked = list(dict.fromkeys(chain.from_iterable(different)))
    known = group.cluster.topics
    if (
        sum([len(member.topics) for member in group.members]) > LISTED_MAX
        or any(len(taken) < len(names) for names, taken in different.items())
        or any(known[topic].racks for topic in asked if topic in known)
    ):
        return None
    # A hash set collects the topics, and fills the map of topics: `order.topic_order`.
    collected = [topic for topic in _in_java_order(asked) if topic in known]
    sizes = {topic: known[topic].partition_count for topic in collected}
    topics = _in_java_order([topic for topic in collected if sizes[topic]])
    if not 0 < sum(sizes.values()) <= PARTITIONS_MAX:
        return None
    members = sorted(group.members, key=_place)
    lists: dict[str, list[Pair]] = {member.member_id: [] for member in members}
    for topic in topics:
        takers = [lists[m.member_id] for m in members if topic in different[m.topics]]
        each, more = divmod(sizes[topic], len(takers))
        begin = 0
        for place, listed in enumerate(takers):
            end = begin + each + (place < more)
            listed += [(topic, number) for number in range(begin, end)]
            begin = end
    return lists, group.state


def _different_lists(group: Group) -> dict[Names, frozenset[str]]:
    """Return the lists of topics, each once, in the order of Java's map of members."""
    lists = [member.topics for member in group.members]
    if len(set(lists)) > 1:
        lists = [lists[at] for at in order_of_names([m.member_id for m in group.members])]
    return {names: frozenset(names) for names in lists}


def _place(member: Member) -> tuple[bool, bytes, bytes]:
    """Return what members are dealt by: see `order.dealing_order`."""
    key = utf16_key(member.member_id)
    if member.instance_id is None:
        return True, key, key
    return False, utf16_key(member.instance_id), key


def _in_java_order(names: list[str] | tuple[str, ...]) -> list[str]:
    return [names[place] for place in order_of_names(names)] if len(names) > 1 else [*names]
