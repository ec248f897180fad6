"""What Java's range assignor gives the members of a plain group, on lists: see `plain_groups`."""

from __future__ import annotations

from assignors.java.small.plain_groups import Pair, plain_sizes
from assignors.jvm.few_keys import order_of_names
from assignors.model import Group, Member, State
from wire.text import utf16_key


def plain_range(group: Group) -> tuple[dict[str, list[Pair]], State] | None:
    """Return what `plain_lists` does, of `java/range`: it keeps no state, so that is the group's.

    `None` where the group is not plain, or members list the topics in different orders.
    Cost: O(P + M log M).

    >>> from assignors.model import Cluster
    >>> members = tuple(Member(member_id=name, topics=("t", "u")) for name in ("a", "b"))
    >>> group = Group(cluster=Cluster.of({"t": 3, "u": 1}), members=members)
    >>> plain_range(group)[0]
    {'a': [('t', 0), ('t', 1), ('u', 0)], 'b': [('t', 2)]}
    """
    sizes = plain_sizes(group)
    if not sizes or any(member.topics != group.members[0].topics for member in group.members):
        return None
    # A hash set collects the topics, and fills the map of topics: `order.topic_order`.
    topics = [topic for topic in _in_java_order(group.members[0].topics) if topic in sizes]
    members = sorted(group.members, key=_place)
    lists: dict[str, list[Pair]] = {member.member_id: [] for member in members}
    for topic in _in_java_order(topics):
        each, more = divmod(sizes[topic], len(members))
        begin = 0
        for place, listed in enumerate(lists.values()):
            end = begin + each + (place < more)
            listed += [(topic, number) for number in range(begin, end)]
            begin = end
    return lists, group.state


def _place(member: Member) -> tuple[bool, bytes, bytes]:
    """Return what members are dealt by: see `order.dealing_order`."""
    key = utf16_key(member.member_id)
    if member.instance_id is None:
        return True, key, key
    return False, utf16_key(member.instance_id), key


def _in_java_order(names: list[str] | tuple[str, ...]) -> list[str]:
    return [names[place] for place in order_of_names(names)] if len(names) > 1 else [*names]
