"""Range: every subscriber of a topic gets consecutive partitions, the first ones one more.

Since KIP-881 racks come first where they can make a difference: members take partitions with
a replica in their rack as far as their share allows, the rest is dealt as before. Topics with
the same subscribers and as many partitions are dealt together, so that partition 3 of each
of them goes to one member (co-partitioning), with or without racks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from assignors.assignor import Assignor, UserData
from assignors.claims import claims_of, counted_owners
from assignors.java.order import dealing_order, topic_order
from assignors.java.racks import is_local, partition_racks, racks_count
from assignors.jvm.consecutive import consecutive_owners
from assignors.jvm.hash_trees import map_order
from assignors.jvm.ordered_assignment import (
    OrderedAssignment,
    PairsByMember,
    assigned,
    ordered_by_member,
)
from assignors.metrics import lazy_stats
from assignors.model import Cluster, Group, Member
from assignors.problem import NOBODY, Int32, Int64, Problem, problem_of
from assignors.rebalance import Rebalance

Wanted = Callable[[Member, int], bool]


@dataclass(slots=True)
class _TopicDeal:
    """A topic being dealt: what is left, and how much room each subscriber has.

    Everybody may have `base`, and `extra` members one more; who comes first gets it.
    """

    topic: int
    members: list[Member]
    racks: list[frozenset[str]]
    needs_racks: bool
    base: int
    extra: int
    left: list[int]
    given: dict[str, list[int]] = field(default_factory=dict)

    def room(self, member: Member) -> int:
        """Return how many more partitions the member may take."""
        have = len(self.given[member.member_id])
        return max(0, self.base + (1 if self.extra > 0 else 0) - have)

    def give(self, member: Member, partitions: list[int]) -> None:
        """Give partitions that are left to a member."""
        have = self.given[member.member_id]
        have += partitions
        if len(have) > self.base:
            self.extra -= 1
        taken = set(partitions)
        self.left = [partition for partition in self.left if partition not in taken]

    def fill(self, wanted: Wanted) -> None:
        """Let each member take what it wants, lowest numbers first, up to its room."""
        for member in self.members:
            if not self.left:
                return
            liked = [partition for partition in self.left if wanted(member, partition)]
            grant = liked[: self.room(member)]
            if grant:
                self.give(member, grant)

    def fill_rest(self) -> None:
        """Deal what is left, consecutive partitions to each member: `fill` where all is wanted."""
        position = 0
        for member in self.members:
            have = self.given[member.member_id]
            grant = self.left[position : position + self.room(member)]
            position += len(grant)
            have += grant
            if grant and len(have) > self.base:
                self.extra -= 1
        self.left = self.left[position:]

    def is_local(self, member: Member, partition: int) -> bool:
        """Return whether the partition has a replica in the member's rack."""
        return is_local(member, self.racks[partition])


def assign(group: Group) -> Rebalance:
    """Return what `RangeAssignor` returns, lists in its order.

    Cost: O(M log M + P log P + D M) for D different sets of subscribers; with racks O(P M) for
    the topics they count for.
    Source: `RangeAssignor` of Kafka 4.4, KIP-881.

    >>> from assignors.model import Cluster
    >>> members = tuple(Member(member_id=name, topics=("t", "u")) for name in ("a", "b"))
    >>> answer = assign(Group(cluster=Cluster.of({"t": 3, "u": 3}), members=members))
    >>> answer.assignment["a"], answer.lists["b"]
    ({'t': (0, 1), 'u': (0, 1)}, (('t', 2), ('u', 2)))
    """
    problem = problem_of(group)
    order, in_map = dealing_order(problem), map_order(group, problem)
    deals = _deals(problem, group.cluster, order) if problem.rack is not None else []
    if any(deal.needs_racks for deal in deals):
        for partition_count, together in _copartitioned(deals):
            _match_racks(together, partition_count)
        owner = _owner(problem, deals)
        topics = np.arange(len(problem.topics))
    else:
        owner = consecutive_owners(problem, order)
        topics = np.array(topic_order(problem, in_map), dtype=np.int64)
    held = _listed(problem, owner, in_map, topics)
    return Rebalance(
        assignment=assigned(problem, owner, held),
        notes=claims_of(problem, group, UserData.NONE).notes,
        stats=lazy_stats(
            problem,
            favoured=partial(counted_owners, problem, group, UserData.NONE),
            given=owner,
        ),
        lists=PairsByMember(held),
        order=held.members,
    )


def _deals(problem: Problem, cluster: Cluster, order: Int64) -> list[_TopicDeal]:
    """Return the topics to deal, nothing given yet; topics without partitions are left out."""
    deals = []
    takes = problem.takes[problem.class_of[order]]
    for topic, name in enumerate(problem.topics):
        described = cluster.topics[name]
        if not described.partition_count:
            continue
        members = [problem.members[number] for number in order[takes[:, topic]].tolist()]
        base, extra = divmod(described.partition_count, len(members))
        racks = partition_racks(described)
        deals.append(
            _TopicDeal(
                topic=topic,
                members=members,
                racks=racks,
                needs_racks=racks_count(members, racks),
                base=base,
                extra=extra,
                left=list(range(described.partition_count)),
                given={member.member_id: [] for member in members},
            )
        )
    return deals


def _copartitioned(deals: list[_TopicDeal]) -> list[tuple[int, list[_TopicDeal]]]:
    """Return the topics by subscribers and number of partitions with racks to look at.

    That number is 0 where no subscriber has a rack, however many partitions the topics have.
    """
    groups: dict[tuple[tuple[str, ...], int], list[_TopicDeal]] = {}
    for deal in deals:
        has_racks = any(member.rack_id for member in deal.members)
        partition_count = len(deal.racks) if has_racks else 0
        key = tuple(member.member_id for member in deal.members), partition_count
        groups.setdefault(key, []).append(deal)
    return [(partition_count, together) for (_, partition_count), together in groups.items()]


def _match_racks(together: list[_TopicDeal], partition_count: int) -> None:
    """Give out what has a replica in its member's rack."""
    if len(together) == 1:
        if together[0].needs_racks:
            together[0].fill(together[0].is_local)
        return
    waiting = [
        member for member in together[0].members if any(deal.room(member) > 0 for deal in together)
    ]
    for partition in range(partition_count):
        chosen = next(
            (
                member
                for member in waiting
                if all(
                    deal.room(member) > 0 and deal.is_local(member, partition) for deal in together
                )
            ),
            None,
        )
        if chosen is not None:
            for deal in together:
                deal.give(chosen, [partition])
            if all(deal.room(chosen) == 0 for deal in together):
                waiting.remove(chosen)


def _owner(problem: Problem, deals: list[_TopicDeal]) -> Int32:
    """Return who owns each partition, int32[P], once what is left is dealt as well."""
    number_of = {member.member_id: number for number, member in enumerate(problem.members)}
    owner = np.full(problem.partition_count, NOBODY, dtype=np.int32)
    for deal in deals:
        deal.fill_rest()
        of_topic = owner[problem.first[deal.topic] : problem.first[deal.topic + 1]]
        for member_id, partitions in deal.given.items():
            of_topic[partitions] = number_of[member_id]
    return owner


def _listed(problem: Problem, owner: Int32, order: Int64, topics: Int64) -> OrderedAssignment:
    """Return the lists of all members, members (int64[M]) and topics in the order given."""
    place = np.empty(problem.member_count, dtype=np.int64)
    place[order] = np.arange(problem.member_count)
    size = np.diff(problem.first)[topics]
    topic = np.repeat(topics, size)
    number = np.arange(len(topic)) - np.repeat(np.cumsum(size) - size, size)
    return ordered_by_member(
        tuple(problem.members[number].member_id for number in order.tolist()),
        problem.topics,
        member=place[owner[problem.first[topic] + number]],
        topic=topic.astype(np.int32),
        number=number.astype(np.int32),
    )


RANGE = Assignor(family="java", name="range", assign=assign, keeps_lists=True)
