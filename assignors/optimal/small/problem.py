"""A small group as Python lists.

The numbering is that of `assignors.problem`: members and topics in UTF-16 order, the partitions of
topic after topic. A call of numpy takes about a microsecond however little it does, and a group
takes a hundred of them; lists win up to about a thousand partitions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, chain, pairwise, repeat
from typing import NamedTuple, TypeGuard

from assignors.mappings.lazy_mapping import LazyMapping
from assignors.model import Group, LazyMembers, Member, in_id_order
from assignors.problem import NOBODY
from wire import TopicPartitions
from wire.text import utf16_sorted

PARTITIONS_MAX = 1_000
"""Larger groups take arrays. Measured after a member left, from bytes to bytes, lists against
arrays: 45 members x 900 partitions 0.55 against 0.59 ms, 45 x 1,350 0.61 against 0.62, 20 x 1,400
0.37 against 0.38, 10 x 1,000 0.24 against 0.28, 10 x 2,000 0.40 against 0.34; with half of ten
topics each 40 x 1,000 0.87 against 1.06, 45 x 1,500 1.07 against 1.15."""


@dataclass(slots=True)
class Numbering:
    """What a partition's number means."""

    topics: tuple[str, ...]
    """T: in UTF-16 order."""
    first: tuple[int, ...]
    """T + 1: partitions of topic t are first[t]:first[t + 1]."""
    _names: tuple[list[str], list[int]] | None = field(
        default=None, init=False, compare=False, repr=False
    )

    @property
    def topic_of(self) -> list[str]:
        """P: the topic of each partition."""
        return self._listed()[0]

    @property
    def number_of(self) -> list[int]:
        """P: the number of each partition in its topic."""
        return self._listed()[1]

    @property
    def place(self) -> dict[str, tuple[int, int]]:
        """Topic -> its first partition, and how many it has. Cost: O(T)."""
        return dict(zip(self.topics, zip(self.first, self._sizes(), strict=False), strict=True))

    def is_within(self, partition_counts: Mapping[str, int]) -> bool:
        """Return whether topics have as many partitions at least; no count is 0. Cost: O(T)."""
        sizes = zip(self.topics, self._sizes(), strict=True)
        return all(size <= partition_counts.get(topic, 0) for topic, size in sizes)

    def _listed(self) -> tuple[list[str], list[int]]:
        """Return what is looked up for each partition, made once: a leader never asks for it."""
        if self._names is None:
            sizes = self._sizes()
            topics = list(chain.from_iterable(map(repeat, self.topics, sizes)))
            self._names = topics, list(chain.from_iterable(map(range, sizes)))
        return self._names

    def _sizes(self) -> list[int]:
        return [end - begin for begin, end in pairwise(self.first)]


class NumberedShare(LazyMapping[tuple[int, ...]]):
    """What a member is given as numbers of the group's partitions, by name when somebody asks.

    Members claim in the next round what they were given: then nothing has to be looked up.
    """

    __slots__ = ("numbering", "partitions")

    def __init__(self, numbering: Numbering, partitions: list[int]) -> None:
        """Look at these partitions, which ascend; topics and numbers ascend as well."""
        self.numbering = numbering
        self.partitions = partitions
        self._named = None

    def __bool__(self) -> bool:
        return bool(self.partitions)

    def _make(self) -> dict[str, tuple[int, ...]]:
        return by_topic(self.numbering, self.partitions)


def by_topic(numbering: Numbering, partitions: list[int]) -> dict[str, tuple[int, ...]]:
    """Return these partitions, which ascend, by topic."""
    topic_of, number_of = numbering.topic_of, numbering.number_of
    found: dict[str, tuple[int, ...]] = {}
    several: dict[str, list[int]] = {}
    for partition in partitions:
        topic = topic_of[partition]
        if topic not in found:
            found[topic] = (number_of[partition],)
        elif topic in several:
            several[topic].append(number_of[partition])
        else:
            several[topic] = [*found[topic], number_of[partition]]
    for topic, numbers in several.items():
        found[topic] = tuple(numbers)
    return found


class Held(NamedTuple):
    """What M members have, of partitions that exist; no two have one."""

    counts: list[int]
    """M: how many partitions."""
    owned: Sequence[TopicPartitions]
    """M: which ones."""
    numbering: Numbering


def is_numbered(share: TopicPartitions, numbering: Numbering) -> TypeGuard[NumberedShare]:
    """Return whether a share has its partitions by this numbering."""
    return type(share) is NumberedShare and (
        share.numbering is numbering or share.numbering == numbering
    )


@dataclass(slots=True, kw_only=True)
class SmallProblem:
    """Members, topics and subscriptions as lists. Lengths: M members, T topics, P partitions."""

    members: Sequence[Member]
    """M, in UTF-16 order of their ids."""
    member_ids: list[str]
    """M: their ids."""
    numbering: Numbering
    """Of the partitions of all topics that exist and that somebody subscribes to."""
    takes: list[frozenset[str]] | None
    """M: what each member subscribes to; `None` where that is all topics for everybody."""
    has_racks: bool
    """Whether racks can matter."""

    @property
    def topics(self) -> tuple[str, ...]:
        """Those of the numbering."""
        return self.numbering.topics

    @property
    def first(self) -> tuple[int, ...]:
        """The first partition of each topic; first[T] is P."""
        return self.numbering.first

    def rows(self) -> list[list[int]]:
        """Return nobody as the owner of each partition, topic by topic. Cost: O(P)."""
        return [[NOBODY] * (end - begin) for begin, end in pairwise(self.first)]


def small_problem(group: Group, *, partitions_max: int = PARTITIONS_MAX) -> SmallProblem | None:
    """Return the group as lists; `None` where it is too large or empty.

    It is `None` as well for members that were read together, which are arrays already.

    Cost: O(M log M + total length of different subscriptions).

    >>> from assignors.model import Cluster
    >>> members = (Member(member_id="b", topics=("t",)), Member(member_id="a", topics=("t", "u")))
    >>> problem = small_problem(Group(cluster=Cluster.of({"t": 2, "u": 1}), members=members))
    >>> problem.topics, problem.first, [sorted(taken) for taken in problem.takes]
    (('t', 'u'), (0, 2, 3), [['t', 'u'], ['t']])
    """
    members = group.members
    is_read_together = type(members) is not tuple and isinstance(members, LazyMembers)
    if is_read_together or not 0 < len(members) <= partitions_max:
        return None
    listed = [member.topics for member in members]
    is_alike = listed.count(listed[0]) == len(listed)  # fast where they are one object
    lists = listed[:1] if is_alike else set(listed)
    known = group.cluster.topics
    found = {name: known[name] for name in chain.from_iterable(lists) if name in known}
    ordered = utf16_sorted(found)
    first = tuple(accumulate([found[name].partition_count for name in ordered], initial=0))
    if first[-1] > partitions_max:
        return None
    ids = [member.member_id for member in members]
    if sorted(ids) != ids or not "".join(ids).isascii():
        members = in_id_order(members)
        ids = [member.member_id for member in members]
    takes = None
    if not is_alike:
        asked = set(ordered)
        taken_of = {names: asked.intersection(names) for names in lists}
        if any(len(taken) < len(asked) for taken in taken_of.values()):
            takes = [frozenset(taken_of[member.topics]) for member in members]
    has_racks = any(topic.racks for topic in found.values())
    return SmallProblem(
        members=members,
        member_ids=ids,
        numbering=_numbering(members, tuple(ordered), first),
        takes=takes,
        has_racks=has_racks and any(member.rack_id for member in members),
    )


def _numbering(
    members: Sequence[Member], topics: tuple[str, ...], first: tuple[int, ...]
) -> Numbering:
    """Return the numbering: the one by which members got what they own, where that is equal."""
    for member in members:
        if type(member.owned) is NumberedShare:
            known = member.owned.numbering
            if (known.topics, known.first) == (topics, first):
                return known
            break
    return Numbering(topics, first)
