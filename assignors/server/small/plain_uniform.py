"""The uniform assignor on a small plain group, on lists: the answer of `homogeneous`.

Plain is a group in which everybody lists the same topics and the previous target has each
partition once, all of them partitions that exist. A few hundred partitions take less time this way
than on arrays. The algorithm is that of `homogeneous`, which explains it; whatever else occurs,
failures too, is left to the arrays.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat, starmap
from struct import unpack

from assignors.arrays import OwnedPartitions
from assignors.jvm.few_keys import in_set_order, order_of_computed, order_of_names, order_of_put
from assignors.jvm.hash_order import copied_set_capacity, uuid_hash
from assignors.jvm.ordered_assignment import ROWS_MIN
from assignors.model import Cluster, Group, Member, MemberNote, Topic, require_group
from assignors.options import Jdk
from assignors.rebalance import Figure, LazyFigures, Rebalance
from assignors.server.spec import are_topic_ids, made_id, made_ids_note
from wire import TopicPartitions
from wire.constructors import unchecked
from wire.text import utf16_sorted

Pair = tuple[str, int]

PARTITIONS_MAX = 3_000
"""Larger groups take arrays. Measured on a busy machine with equal subscriptions, one member has
left, lists against arrays: 3 members x 12 partitions 7 against 170 us, 30 x 300 32 against 220,
100 x 1,000 117 against 315, 300 x 3,000 338 against 703; all fresh 415 against 448."""
ROWS_MAX = ROWS_MIN - 1
"""The same where members have rows of arrays, which lists would need the names of: what an answer
on arrays gave them, and what was read together."""

_rebalance = unchecked(Rebalance)


@dataclass(frozen=True, slots=True, kw_only=True)
class Topics:
    """Topics that exist, in the order in which they were asked for."""

    asked: tuple[str, ...]
    """As they were asked for, whether they exist or not."""
    described: tuple[Topic, ...]
    """Those that exist."""
    size: dict[str, int]
    """Topic -> partitions."""
    numbers: dict[str, frozenset[int]]
    """Topic -> its partitions."""
    halves: dict[str, tuple[int, int]]
    """Topic -> the halves of its id as signed 64-bit numbers."""
    java_hash: dict[str, int]
    """Topic -> `Uuid.hashCode`."""
    notes: tuple[MemberNote, ...]
    """Whether ids were made."""
    _copied: dict[Jdk, list[str]] = field(default_factory=dict, init=False)

    def copied(self, jdk: Jdk) -> list[str]:
        """Return the topics in the order of Java's copy of their set."""
        if jdk not in self._copied:
            capacity = copied_set_capacity(len(self.size), jdk)
            order = order_of_put(list(self.java_hash.values()), capacity=capacity)
            topics = list(self.size)
            self._copied[jdk] = [topics[place] for place in order]
        return self._copied[jdk]


def plain_answer(
    group: Group, jdk: Jdk, figures: Callable[[], Mapping[str, Figure]]
) -> Rebalance | None:
    """Return what the broker's `UniformAssignor` returns; `None` where the group is not plain.

    `figures` computes those of the answer, when somebody reads them. Cost: O(P + C + M log M), and
    that of the members' shares when they are read.
    """
    require_group(group)
    if group.also_assigned or is_large(group, PARTITIONS_MAX):
        return None
    topics = group.members[0].topics
    asked = frozenset(topics)
    for member in group.members:
        if member.notes or not (member.topics is topics or asked == frozenset(member.topics)):
            return None
    order = order_of_names([member.member_id for member in group.members])
    members = [group.members[place] for place in order]
    known = topics_of(group.cluster, members[0].topics)
    read = None if known is None else _previous(members, known)
    if known is None or read is None:
        return None
    had, free_of = read
    gives, fill = _quotas(had, sum(known.size.values()))
    free = _free(known, free_of, jdk)
    dropped = {}
    for place, quota in gives:
        surplus = _above_quota(members[place].owned, known, quota)
        dropped[members[place].member_id] = surplus
        free += surplus
    given = {}
    begin = 0
    for place, count in fill:
        given[members[place].member_id] = free[begin : begin + count]
        begin += count
    assert begin >= len(free), "what is free is what members lack"
    return rebalance_of(known, Shares(members, dropped, given), figures)


def rebalance_of(
    known: Topics,
    shares: Mapping[str, TopicPartitions],
    figures: Callable[[], Mapping[str, Figure]],
) -> Rebalance:
    """Return an answer as the broker's assignors give it."""
    return _rebalance(
        assignment=shares,
        notes=known.notes,
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
        had = self._had[member_id]
        if len(had) == 1 and not (member_id in self._dropped or member_id in self._given):
            ((topic, numbers),) = had.items()
            in_order = tuple(sorted(numbers))
            if not in_order:
                return {}
            return had if type(had) is dict and in_order == numbers else {topic: in_order}
        share = dict(had)
        for topic, number in self._dropped.get(member_id, ()):
            share[topic] = tuple([each for each in share[topic] if each != number])
        for topic, number in self._given.get(member_id, ()):
            share[topic] = (*share.get(topic, ()), number)
        return {topic: tuple(sorted(share[topic])) for topic in utf16_sorted(share) if share[topic]}

    def all(self) -> dict[str, TopicPartitions]:
        """Return what everybody gets; who keeps what is in order keeps it itself. Cost: O(P)."""
        dropped, given = self._dropped, self._given
        found: dict[str, TopicPartitions] = {}
        for member_id, had in self._had.items():
            if len(had) == 1 and type(had) is dict:
                ((_, numbers),) = had.items()
                is_same = member_id not in dropped and member_id not in given
                if is_same and numbers and sorted(numbers) == list(numbers):
                    found[member_id] = had
                    continue
            found[member_id] = self[member_id]
        return found

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


def is_large(group: Group, partitions_max: int) -> bool:
    """Return whether the first member's topics have too many partitions, or there is no member.

    Cost: O(limit).
    """
    members = group.members
    if not members:
        return True
    has_rows = type(members[0].owned) is OwnedPartitions
    count_max = min(partitions_max, ROWS_MAX) if has_rows else partitions_max
    count = 0
    for name in members[0].topics:
        topic = group.cluster.topics.get(name)
        count += 0 if topic is None else topic.partition_count
        if count > count_max:
            return True
    return False


def topics_of(cluster: Cluster, asked: tuple[str, ...]) -> Topics | None:
    """Return the topics; `None` where none exists, or an id is none.

    Kept from one round to the next with the cluster, as `cluster_tables` are.
    """
    known = cluster.topics
    last: Topics | None = cluster.tables.get("broker topics")
    # Fast where they are the same objects.
    if last and last.asked == asked and tuple(map(known.get, last.size)) == last.described:
        return last
    size = {name: known[name].partition_count for name in asked if name in known}
    if not size:
        return None
    topics = tuple(map(known.__getitem__, size))
    given = [topic.topic_id for topic in topics]
    ids = [made_id(name) if id_ is None else id_ for name, id_ in zip(size, given, strict=True)]
    if not are_topic_ids(ids):
        return None
    blob = urlsafe_b64decode("".join([topic_id + "AA" for topic_id in ids]))
    halves = unpack(">" + "qq2x" * len(ids), blob)
    both = list(zip(halves[::2], halves[1::2], strict=True))
    if len(set(both)) < len(both):
        return None
    found = Topics(
        asked=asked,
        described=topics,
        size=size,
        numbers={name: frozenset(range(count)) for name, count in size.items()},
        halves=dict(zip(size, both, strict=True)),
        java_hash=dict(zip(size, starmap(uuid_hash, both), strict=True)),
        notes=made_ids_note(cluster, utf16_sorted(size)),
    )
    if len(size) == len(asked):  # else those that do not exist may exist the next time
        cluster.tables["broker topics"] = found
    return found


def _previous(
    members: Sequence[Member], known: Topics
) -> tuple[list[int], dict[str, frozenset[int]]] | None:
    """Return how many partitions each member had, and which nobody had; `None` if not plain."""
    listed: dict[str, list[int]] = {topic: [] for topic in known.size}
    had = []
    try:
        for member in members:
            count = 0
            for topic, numbers in member.owned.items():
                listed[topic].extend(numbers)
                count += len(numbers)
            had.append(count)
    except KeyError:
        return None  # a topic that nobody takes any more
    free = {}
    for topic, found in listed.items():
        free[topic] = known.numbers[topic].difference(found) if found else known.numbers[topic]
        if len(free[topic]) + len(found) != known.size[topic]:
            return None  # one stands twice, or does not exist
    return had, free


def _quotas(
    had: Sequence[int], partition_count: int
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return how many partitions those may keep that had more, and who is given how many.

    >>> _quotas([1, 3, 0], partition_count=4)
    ([(1, 2)], [(2, 1)])
    """
    low, extra_left = divmod(partition_count, len(had))
    gives, fill = [], []
    all_take = len(had) - extra_left
    for place, count in enumerate(had):
        quota = low + (extra_left > 0)
        takes_extra = count > low or place >= all_take
        if count > quota:
            gives.append((place, quota))
        elif count < quota:
            lack = quota - count - (extra_left > 0 and not takes_extra)
            if lack:
                fill.append((place, lack))
        if takes_extra:
            extra_left -= 1
            all_take += 1
    return gives, fill


def _free(known: Topics, numbers: Mapping[str, frozenset[int]], jdk: Jdk) -> list[Pair]:
    """Return the partitions that nobody had, topics in the order of Java's copy of their set."""
    free: list[Pair] = []
    for topic in known.copied(jdk):
        free += zip(repeat(topic), sorted(numbers[topic]))
    return free


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
