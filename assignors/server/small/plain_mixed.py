"""The uniform assignor on a small group whose subscriptions differ, on lists.

The answer is that of `heterogeneous`, which explains the algorithm. Plain is here a group whose
previous target has each partition once, and no number that its topic does not have; whatever else
occurs, failures too, is left to the arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assignors.jvm.few_keys import order_of_names
from assignors.mappings.lazy_mapping import LazyMapping
from assignors.model import Group, Member
from assignors.problem import NOBODY
from assignors.rebalance import Figure, Rebalance
from assignors.server.balancer import Balancer
from assignors.server.heterogeneous import ROUND_MAX
from assignors.server.small.plain_uniform import (
    Topics,
    is_large,
    rebalance_of,
    topics_of,
)
from wire import TopicPartitions
from wire.text import utf16_sorted

PARTITIONS_MAX = 3_000
LISTED_MAX = 1_500
"""Partitions, and total length of the subscriptions, of the largest group that takes lists.

Measured on a busy machine, a random half of the topics each, one member has left, lists against
arrays: 8 members x 20 partitions 29 against 233 us, 20 x 200 104 against 325, 60 x 600 310 against
555, 100 x 1,000 (495 topics listed) 512 against 667, 150 x 900 (1,490) 807 against 829, 200 x 2,000
(1,990) 1,364 against 1,160; 3 of 60 topics each, 300 x 3,000: 1,664 against 2,448."""
INT32_MAX = 2**31 - 1


@dataclass(slots=True, kw_only=True)
class _Placing:
    """Who has what so far. M members by their place in map order."""

    owner: dict[str, list[int]]
    """Topic -> number -> member; topics in UTF-16 order."""
    load: list[int]
    """M: how many partitions each has."""
    subscribers: dict[str, list[int]]
    """Topic -> members, ascending."""


def plain_mixed(group: Group, figures: Callable[[], Mapping[str, Figure]]) -> Rebalance | None:
    """Return what the broker's `UniformAssignor` returns; `None` where the group is not plain.

    `figures` computes those of the answer, when somebody reads them. Cost: that of
    `heterogeneous.place`.
    """
    known = None if group.also_assigned or is_large(group, PARTITIONS_MAX) else _topics(group)
    if known is None:
        return None
    ids = [member.member_id for member in group.members]
    order = order_of_names(ids)
    members = [group.members[place] for place in order]
    placing = _kept(members, known.size)
    if placing is None:
        return None

    def turn(topic: str) -> tuple[float, int, tuple[int, int]]:
        count = len(placing.subscribers[topic])
        return -known.size[topic] / count, count, known.halves[topic]

    in_turn = sorted(known.size, key=turn)
    for topic in in_turn:
        _deal(placing, topic)
    _level(placing, [t for t in in_turn if known.size[t] and len(placing.subscribers[t]) > 1])
    return rebalance_of(
        known, SharesOfOwners([ids[place] for place in order], placing.owner), figures
    )


def _topics(group: Group) -> Topics | None:
    """Return the topics that somebody asks for, in UTF-16 order; `None` where it is not plain."""
    lists = [member.topics for member in group.members]
    if sum(map(len, lists)) > LISTED_MAX or any(member.notes for member in group.members):
        return None
    asked = [frozenset(names) for names in set(lists)]
    if len(set(asked)) <= 1:
        return None
    known = topics_of(group.cluster, tuple(utf16_sorted(frozenset().union(*asked))))
    return known if known is not None and sum(known.size.values()) <= PARTITIONS_MAX else None


def _kept(members: Sequence[Member], size: Mapping[str, int]) -> _Placing | None:
    """Return what members keep: all they had of topics they still list; `None`: not plain."""
    placing = _Placing(
        owner={topic: [NOBODY] * count for topic, count in size.items()},
        load=[0] * len(members),
        subscribers={topic: [] for topic in size},
    )
    for place, member in enumerate(members):
        asked = size.keys() & member.topics
        for topic in asked:
            placing.subscribers[topic].append(place)
        for topic, numbers in member.owned.items():
            if topic in asked:
                if not _entered(placing.owner[topic], numbers, place):
                    return None
                placing.load[place] += len(numbers)
            elif topic not in size or not all(0 <= number <= INT32_MAX for number in numbers):
                return None
    return placing


def _entered(owner: list[int], numbers: Sequence[int], place: int) -> bool:
    """Give a member these numbers of a topic; False where one does not exist, or has an owner."""
    size = len(owner)
    for number in numbers:
        if not 0 <= number < size or owner[number] != NOBODY:
            return False
        owner[number] = place
    return True


def _deal(placing: _Placing, topic: str) -> None:
    """Give a topic's free partitions to its least loaded subscribers, one at a time."""
    owner, load = placing.owner[topic], placing.load
    free = [number for number, member in enumerate(owner) if member == NOBODY]
    if not free:
        return
    takers = _least_in_turn(placing.subscribers[topic], load, len(free))
    for number, member in zip(free, takers, strict=True):
        owner[number] = member
        load[member] += 1


def _least_in_turn(members: Sequence[int], load: Sequence[int], count: int) -> list[int]:
    """Return who takes each of `count` units if each goes to the least loaded of the members.

    >>> _least_in_turn([0, 1, 2, 3], [1, 0, 3, 0], 6)
    [1, 3, 1, 3, 0, 1]
    """
    order = sorted(members, key=load.__getitem__)
    level, reached = load[order[0]], 0
    takers: list[int] = []
    while len(takers) < count:
        while reached < len(order) and load[order[reached]] <= level:
            reached += 1
        takers += order[: min(reached, count - len(takers))]
        level += 1
    return takers


def _level(placing: _Placing, topics: Sequence[str]) -> None:
    """Level out topic by topic until a whole round changes nothing, or the rounds are used up."""
    step, end, load = 0, len(topics), placing.load
    while step < min(end, ROUND_MAX * len(topics)):
        topic = topics[step % len(topics)]
        most = max([load[member] for member in {*placing.owner[topic]}])
        if most - min([load[member] for member in placing.subscribers[topic]]) > 1:
            _level_topic(placing, topic)
            end = step + len(topics)
        step += 1


def _level_topic(placing: _Placing, topic: str) -> None:
    """Move partitions of one topic, which is not level, from its most to its least loaded."""
    owner, load = placing.owner[topic], placing.load
    members = sorted(placing.subscribers[topic], key=load.__getitem__)
    numbers: dict[int, list[int]] = {member: [] for member in members}
    for number, member in enumerate(owner):
        numbers[member].append(number)
    balancer = Balancer(
        load=[load[member] for member in members], has=[len(numbers[member]) for member in members]
    )
    for giver, taker in balancer.moves():
        owner[numbers[members[giver]].pop()] = members[taker]
        load[members[giver]] -= 1
        load[members[taker]] += 1


class SharesOfOwners(LazyMapping[TopicPartitions]):
    """What each member gets, members in map order, topics and numbers ascending."""

    __slots__ = ("_member_ids", "_owner")

    def __init__(self, member_ids: Sequence[str], owner: Mapping[str, Sequence[int]]) -> None:
        """Look at the owner of each number of each topic, by its position in `member_ids`."""
        self._member_ids = member_ids
        self._owner = owner
        self._named = None

    def __iter__(self) -> Iterator[str]:
        return iter(self._member_ids)

    def __len__(self) -> int:
        return len(self._member_ids)

    def _make(self) -> dict[str, TopicPartitions]:
        shares: list[dict[str, tuple[int, ...]]] = [{} for _ in self._member_ids]
        for topic, owners in self._owner.items():
            numbers: dict[int, list[int]] = {}
            for number, member in enumerate(owners):
                numbers.setdefault(member, []).append(number)
            for member, mine in numbers.items():
                shares[member][topic] = tuple(mine)
        return dict(zip(self._member_ids, shares, strict=True))
