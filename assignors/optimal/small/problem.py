"""A small group as Python lists.

The numbering is that of `assignors.problem`: members and topics in UTF-16 order, the partitions of
topic after topic. A call of numpy takes about a microsecond however little it does, and a group
takes a hundred of them; lists win up to about a thousand partitions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain, pairwise, repeat
from typing import TypeGuard

from assignors.model import Group, LazyMembers, Member, in_id_order
from wire import TopicPartitions
from wire.text import utf16_sorted

PARTITIONS_MAX = 1_000
"""Larger groups take arrays. Measured with equal subscriptions, from members to bytes, lists
against arrays: 20 members x 200 partitions 0.17 against 0.38 ms, 40 x 600 0.29 against 0.46,
45 x 1,000 0.48 against 0.56, 10 x 2,000 0.37 against 0.38. The assignment alone, after a member
left, each with a random half of ten topics: 20 x 200 0.17 against 0.42, 100 x 1,000 0.59 against
1.09, with 3 of 60 topics each 300 x 900 1.04 against 2.20."""


Numbering = tuple[tuple[str, ...], tuple[int, ...]]
"""Topics, and the first partition of each: what a partition's number means."""


class NumberedShare(dict[str, tuple[int, ...]]):
    """What a member is given, topic -> numbers, and the same as numbers of the group's partitions.

    Members claim in the next round what they were given: then nothing has to be looked up.
    """

    __slots__ = ("numbering", "partitions")

    numbering: Numbering
    partitions: list[int]
    """Ascending."""


def is_numbered(share: TopicPartitions, numbering: Numbering) -> TypeGuard[NumberedShare]:
    """Return whether a share has its partitions by this numbering."""
    return type(share) is NumberedShare and (
        share.numbering is numbering or share.numbering == numbering
    )


@dataclass(slots=True, kw_only=True)
class SmallProblem:
    """Members, topics and subscriptions as lists. Lengths: M members, T topics, P partitions."""

    members: list[Member]
    """M, in UTF-16 order of their ids."""
    topics: list[str]
    """T: those that exist and that somebody subscribes to, in UTF-16 order."""
    first: list[int]
    """T + 1: partitions of topic t are first[t]:first[t + 1]; first[T] is P."""
    takes: list[frozenset[str]] | None
    """M: what each member subscribes to; `None` where that is all topics for everybody."""
    numbering: Numbering = field(init=False)
    """`topics` and `first`."""

    def __post_init__(self) -> None:
        """Keep the numbering as a value that shares can keep."""
        self.numbering = (tuple(self.topics), tuple(self.first))

    def topic_of_partitions(self) -> list[str]:
        """Return the topic of each partition, P. Cost: O(P)."""
        return list(chain.from_iterable(map(repeat, self.topics, self._sizes())))

    def number_of_partitions(self) -> list[int]:
        """Return the number of each partition in its topic, P. Cost: O(P)."""
        return list(chain.from_iterable(map(range, self._sizes())))

    def _sizes(self) -> list[int]:
        return [end - begin for begin, end in pairwise(self.first)]

    def subscriber_count(self, topic: str) -> int:
        """Return how many members subscribe to a topic. Cost: O(M)."""
        if self.takes is None:
            return len(self.members)
        return sum([topic in taken for taken in self.takes])


def small_problem(group: Group, *, partitions_max: int = PARTITIONS_MAX) -> SmallProblem | None:
    """Return the group as lists; `None` where it is too large, empty, or racks can matter.

    It is `None` as well for members that were read together, which are arrays already.

    Cost: O(M log M + total length of different subscriptions).

    >>> from assignors.model import Cluster
    >>> members = (Member(member_id="b", topics=("t",)), Member(member_id="a", topics=("t", "u")))
    >>> problem = small_problem(Group(cluster=Cluster.of({"t": 2, "u": 1}), members=members))
    >>> problem.topics, problem.first, [sorted(taken) for taken in problem.takes]
    (['t', 'u'], [0, 2, 3], [['t', 'u'], ['t']])
    """
    is_read_together = isinstance(group.members, LazyMembers)
    if is_read_together or not 0 < len(group.members) <= partitions_max:
        return None
    known = group.cluster.topics
    lists = {member.topics for member in group.members}
    asked = {topic for names in lists for topic in names if topic in known}
    first = [0]
    topics = utf16_sorted(asked)
    for topic in topics:
        first.append(first[-1] + known[topic].partition_count)
    if first[-1] > partitions_max or _racks_matter(group, topics):
        return None
    members = in_id_order(group.members)
    takes = None
    if len(lists) > 1:
        taken_of = {names: asked.intersection(names) for names in lists}
        if any(len(taken) < len(asked) for taken in taken_of.values()):
            takes = [frozenset(taken_of[member.topics]) for member in members]
    return SmallProblem(members=members, topics=topics, first=first, takes=takes)


def _racks_matter(group: Group, topics: list[str]) -> bool:
    """Return whether some member has a rack and some topic's replicas have known ones."""
    known = group.cluster.topics
    return any(member.rack_id for member in group.members) and any(
        known[topic].racks for topic in topics
    )
