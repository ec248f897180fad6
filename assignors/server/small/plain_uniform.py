"""The uniform assignor on a small plain group, on lists: the answer of `homogeneous`.

Plain is a group in which everybody lists the same topics and the previous target has each
partition once, all of them partitions that exist. A few hundred partitions take less time this way
than on arrays. The algorithm is that of `homogeneous`, which explains it; whatever else occurs,
failures too, is left to the arrays.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from struct import unpack

from assignors.jvm.few_keys import in_set_order, order_of_computed, order_of_names, order_of_put
from assignors.jvm.hash_order import copied_set_capacity, uuid_hash
from assignors.model import Cluster, Group, Member, require_group
from assignors.options import Jdk
from assignors.rebalance import Figure, LazyFigures, Rebalance
from assignors.server.spec import are_topic_ids, made_id, made_ids_note
from wire import TopicPartitions
from wire.text import utf16_sorted

Pair = tuple[str, int]

PARTITIONS_MAX = 999
"""Larger groups take arrays, in which they also have their last answer. Measured with equal
subscriptions, one member has left, lists against arrays: 3 members x 12 partitions 15 against 170
us, 30 x 300 82 against 210, 60 x 700 149 against 284, 100 x 900 261 against 319."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topics:
    """Topics that exist, in the order in which they were asked for."""

    size: dict[str, int]
    """Topic -> partitions."""
    halves: dict[str, tuple[int, int]]
    """Topic -> the halves of its id as signed 64-bit numbers."""
    java_hash: dict[str, int]
    """Topic -> `Uuid.hashCode`."""


def plain_answer(
    group: Group, jdk: Jdk, figures: Callable[[], Mapping[str, Figure]]
) -> Rebalance | None:
    """Return what the broker's `UniformAssignor` returns; `None` where the group is not plain.

    `figures` computes those of the answer, when somebody reads them. Cost: O(P + C + M log M), and
    that of the members' shares when they are read.
    """
    require_group(group)
    if group.also_assigned or is_large(group):
        return None
    topics = group.members[0].topics
    asked = frozenset(topics)
    for member in group.members:
        if member.notes or not (member.topics is topics or asked == frozenset(member.topics)):
            return None
    order = order_of_names([member.member_id for member in group.members])
    members = [group.members[place] for place in order]
    known = topics_of(group.cluster, members[0].topics)
    if known is None:
        return None
    read = _previous(members, known.size)
    if read is None:
        return None
    had, taken = read
    quota, fill = _quotas(had, sum(known.size.values()))
    free = _free(known, taken, jdk)
    dropped = {}
    for place, count in enumerate(had):
        if count > quota[place]:
            surplus = _above_quota(members[place].owned, known, quota[place])
            dropped[members[place].member_id] = surplus
            free += surplus
    given = {}
    begin = 0
    for place, count in fill:
        given[members[place].member_id] = free[begin : begin + count]
        begin += count
    assert begin >= len(free), "what is free is what members lack"
    shares = Shares(members, dropped, given)
    return rebalance_of(group, utf16_sorted(known.size), shares, figures)


def rebalance_of(
    group: Group,
    topics: Sequence[str],
    shares: Mapping[str, TopicPartitions],
    figures: Callable[[], Mapping[str, Figure]],
) -> Rebalance:
    """Return an answer as the broker's assignors give it; `topics` in UTF-16 order."""
    return Rebalance(
        assignment=shares,
        notes=made_ids_note(group, topics),
        stats=LazyFigures(figures),
        lists=PairsOfShares(shares),
        order=tuple(shares),
    )


class Shares(Mapping[str, TopicPartitions]):
    """Member id -> topic -> numbers, sorted, of members that keep most of what they had."""

    __slots__ = ("_dropped", "_given", "_had")

    def __init__(
        self,
        members: Sequence[Member],
        dropped: Mapping[str, Sequence[Pair]],
        given: Mapping[str, Sequence[Pair]],
    ) -> None:
        """Take what members had, without what they drop, and what they are given beside it."""
        self._had = {member.member_id: member.owned for member in members}
        self._dropped = dropped
        self._given = given

    def __getitem__(self, member_id: str) -> TopicPartitions:
        """Return what a member gets; `KeyError` where the group has none of that name."""
        share = dict(self._had[member_id])
        for topic, number in self._dropped.get(member_id, ()):
            share[topic] = tuple([each for each in share[topic] if each != number])
        for topic, number in self._given.get(member_id, ()):
            share[topic] = (*share.get(topic, ()), number)
        return {topic: tuple(sorted(share[topic])) for topic in utf16_sorted(share) if share[topic]}

    def __iter__(self) -> Iterator[str]:
        return iter(self._had)

    def __len__(self) -> int:
        return len(self._had)

    def __repr__(self) -> str:
        return repr(dict(self))


class PairsOfShares(Mapping[str, tuple[Pair, ...]]):
    """Member id -> its (topic, partition) pairs, sorted: a broker answers with sets."""

    __slots__ = ("_shares",)

    def __init__(self, shares: Mapping[str, TopicPartitions]) -> None:
        """Look at `shares`."""
        self._shares = shares

    def __getitem__(self, member_id: str) -> tuple[Pair, ...]:
        """Return one member's pairs."""
        share = self._shares[member_id]
        return tuple([(topic, number) for topic in share for number in share[topic]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._shares)

    def __len__(self) -> int:
        return len(self._shares)

    def __repr__(self) -> str:
        return repr(dict(self))


def is_large(group: Group) -> bool:
    """Return whether the first member's topics have too many partitions, or there is no member.

    Cost: O(limit).
    """
    if not group.members:
        return True
    count = 0
    for name in group.members[0].topics:
        topic = group.cluster.topics.get(name)
        count += 0 if topic is None else topic.partition_count
        if count > PARTITIONS_MAX:
            return True
    return False


def topics_of(cluster: Cluster, listed: Sequence[str]) -> Topics | None:
    """Return the topics; `None` where none exists, or an id is none."""
    known = cluster.topics
    size = {name: known[name].partition_count for name in listed if name in known}
    if not size:
        return None
    given = [known[name].topic_id for name in size]
    ids = [made_id(name) if id_ is None else id_ for name, id_ in zip(size, given, strict=True)]
    if not are_topic_ids(ids):
        return None
    blob = urlsafe_b64decode("".join([topic_id + "AA" for topic_id in ids]))
    halves = unpack(">" + "qq2x" * len(ids), blob)
    both = list(zip(halves[::2], halves[1::2], strict=True))
    if len(set(both)) < len(both):
        return None
    java_hash = dict(zip(size, starmap(uuid_hash, both), strict=True))
    return Topics(size=size, halves=dict(zip(size, both, strict=True)), java_hash=java_hash)


def _previous(
    members: Sequence[Member], size: Mapping[str, int]
) -> tuple[list[int], dict[str, set[int]]] | None:
    """Return how many partitions each member had, and which are taken; `None` if not plain."""
    listed: dict[str, list[int]] = {topic: [] for topic in size}
    had = []
    for member in members:
        owned = member.owned
        if not owned.keys() <= size.keys():
            return None
        for topic, numbers in owned.items():
            listed[topic].extend(numbers)
        had.append(sum(map(len, owned.values())))
    taken = {topic: set(numbers) for topic, numbers in listed.items()}
    for topic, found in taken.items():
        if len(found) < len(listed[topic]):
            return None
        if found and not (min(found) >= 0 and max(found) < size[topic]):
            return None
    return had, taken


def _quotas(had: Sequence[int], partition_count: int) -> tuple[list[int], list[tuple[int, int]]]:
    """Return how many partitions each member may keep, and who is given how many.

    >>> _quotas([1, 2, 0], partition_count=4)
    ([2, 2, 1], [(0, 0), (2, 1)])
    """
    low, extra_left = divmod(partition_count, len(had))
    quotas = []
    fill = []
    for place, count in enumerate(had):
        takes_extra = count > low or len(had) - place <= extra_left
        quota = low + (extra_left > 0)
        quotas.append(quota)
        if count < quota:
            fill.append((place, quota - count - (extra_left > 0 and not takes_extra)))
        extra_left -= takes_extra
    return quotas, fill


def _free(known: Topics, taken: Mapping[str, set[int]], jdk: Jdk) -> list[Pair]:
    """Return the partitions that nobody had, topics in the order of Java's copy of their set."""
    topics = list(known.size)
    open_topics = [topic for topic in topics if len(taken[topic]) < known.size[topic]]
    if len(open_topics) > 1:
        capacity = copied_set_capacity(len(topics), jdk)
        order = order_of_put(list(known.java_hash.values()), capacity=capacity)
        open_topics = [topics[place] for place in order]
    return [
        (topic, number)
        for topic in open_topics
        for number in range(known.size[topic])
        if number not in taken[topic]
    ]


def _above_quota(owned: TopicPartitions, known: Topics, quota: int) -> list[Pair]:
    """Return what a member had beyond its quota, in Java's order.

    Topics come in the order of the member's map, numbers in that of their sets.
    """
    runs = [(topic, numbers) for topic, numbers in owned.items() if numbers]
    order = order_of_computed(
        [known.java_hash[topic] for topic, _ in runs], calls_follow=len(runs[-1][1]) > 1
    )
    found: list[Pair] = []
    for topic, numbers in [runs[place] for place in order]:
        if quota < len(numbers):
            found += [(topic, number) for number in in_set_order(numbers)[max(quota, 0) :]]
        quota -= len(numbers)
    return found
