"""A group as Java's sticky assignors read it: members in map order, and which claims are kept.

Both sticky assignors share this, faults included. A claim is kept unless another member claims
the same partition; then generations decide, and Java takes them from two sources: that of the
later claimant from its member data (UserData, for the eager assignor), that of the earlier one
from the Subscription's field. Members are read in the order of Java's map, so that order is part
of the answer.

As in Java, a claimed number that the topic does not have counts as a partition. Such nonexistent
partitions are numbered behind the real ones, so that one array holds both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assignors.arrays import Bool, Int32, Int64, partition_arrays, require_int32
from assignors.assignor import UserData
from assignors.group_bytes.in_turn import plain_sticky_user_data, topic_headers
from assignors.java.racks import RackTable, rack_table
from assignors.jvm.hash_order import partition_hashes, string_hashes
from assignors.jvm.hash_trees import map_order
from assignors.jvm.ordered_assignment import OrderedAssignment, ordered_by_member
from assignors.model import NO_GENERATION, Group, Member, State
from assignors.problem import Problem, problem_of
from wire import (
    Mode,
    TopicPartitions,
    decode_cooperative_user_data,
    decode_sticky_user_data,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JavaInput:
    """The group as Java's sticky assignors read it.

    Lengths: M members, P partitions, S partitions and nonexistent ones (claimed numbers that the
    topic does not have), C claims. Members are numbered by id, so that sorting by number is
    sorting by id; `order` is the map's.
    """

    problem: Problem
    order: Int64
    """int64[M]: member numbers in the order of Java's map."""
    is_equal: bool
    """Whether Java takes all subscriptions for the same."""
    generation: Int64
    """int64[M]: from the member data, -1 for none; UserData may hold a lower number than -1."""
    topic_of: Int32
    """int32[S]."""
    number_of: Int32
    """int32[S]: partition number in its topic."""
    claim_member: Int32
    """int32[C]: all claims of known topics, members in map order, partitions as claimed."""
    claim: Int64
    """int64[C]: the partition claimed."""
    stands: Bool
    """bool[C]: the claim is kept: stickiness counts the partition as the member's."""
    is_multiple: Bool
    """bool[S]: claimed in the same generation by several members."""
    racks: RackTable
    state: State

    @property
    def partition_count(self) -> int:
        """P."""
        return self.problem.partition_count

    @property
    def member_count(self) -> int:
        """M."""
        return self.problem.member_count

    def hashes(self) -> Int32:
        """Return the Java hash of each partition, nonexistent ones too, int32[S]."""
        return partition_hashes(string_hashes(self.problem.topics)[self.topic_of], self.number_of)

    def held(self, member: Int32, partition: Int64) -> OrderedAssignment:
        """Return who has what, given in list order, with the members in map order."""
        place = np.empty(self.member_count, dtype=np.int64)
        place[self.order] = np.arange(self.member_count)
        return ordered_by_member(
            tuple(self.problem.members[number].member_id for number in self.order.tolist()),
            self.problem.topics,
            member=place[member],
            topic=self.topic_of[partition],
            number=self.number_of[partition],
        )


def read_group(group: Group, kind: UserData, *, drop_nonexistent: bool = False) -> JavaInput:
    """Return the group as arrays; `ValueError` for a claimed number beyond 32 bits.

    `drop_nonexistent` leaves out claims of numbers that the topic does not have; Java does not.
    Cost: O(M log M + P + C). Source: `AbstractStickyAssignor` of Kafka 4.4.
    """
    problem = problem_of(group)
    order = map_order(group, problem)
    ordered = [problem.members[number] for number in order.tolist()]
    owned, claimed = everybodys_data(ordered, kind, problem.topics)
    generation = np.empty(len(order), dtype=np.int64)
    generation[order] = claimed
    topic_of, number_of, member, claim = _claims(problem, order, owned)
    if drop_nonexistent:
        is_real = claim < problem.partition_count
        member, claim = member[is_real], claim[is_real]
    on_record = np.array([entry.generation for entry in problem.members], dtype=np.int64)
    np.maximum(on_record, NO_GENERATION, out=on_record)
    stands, is_multiple = _settled(member, claim, generation, on_record, len(topic_of))
    highest = int(generation.max(initial=group.state.max_generation))
    return JavaInput(
        problem=problem,
        order=order,
        is_equal=_are_equal(ordered),
        generation=generation,
        topic_of=topic_of,
        number_of=number_of,
        claim_member=member,
        claim=claim,
        stands=stands,
        is_multiple=is_multiple,
        racks=rack_table(group.cluster, problem, number_count=len(topic_of)),
        state=replace(group.state, max_generation=highest),
    )


def everybodys_data(
    members: Sequence[Member], kind: UserData, topics: Iterable[str]
) -> tuple[list[TopicPartitions], list[int]]:
    """Return everybody's claims and generations, as `member_data` does for one.

    Claims of `topics` are read faster than others.
    """
    data = [member.user_data for member in members]
    if kind is not UserData.STICKY or not any(data):
        read = [member_data(member, kind) for member in members]
    else:
        names = topic_headers(topics)
        plain = [plain_sticky_user_data(each or b"", names) for each in data]
        read = [
            member_data(member, kind) if one is None else one
            for member, one in zip(members, plain, strict=True)
        ]
    return [owned for owned, _ in read], [generation for _, generation in read]


def member_data(member: Member, kind: UserData) -> tuple[TopicPartitions, int]:
    """Return claims and generation, from the field where Java reads them. Never raises."""
    if kind is UserData.STICKY:
        if member.version is None and member.user_data is None:
            return member.owned, max(member.generation, NO_GENERATION)
        claims = decode_sticky_user_data(member.user_data, mode=Mode.STRICT).value
        assert claims is not None
        generation = NO_GENERATION if claims.generation is None else claims.generation
        return claims.owned, generation
    generation = max(member.generation, NO_GENERATION)
    if generation < 0:
        data = decode_cooperative_user_data(member.user_data, mode=Mode.STRICT).value
        if data is not None and data.generation is not None:
            generation = data.generation
    return member.owned, generation


def _claims(
    problem: Problem, order: Int64, owned: Sequence[TopicPartitions]
) -> tuple[Int32, Int32, Int32, Int64]:
    """Return topic and number of all partitions, nonexistent ones too, and the claims of them.

    `owned` is by member, in this order.
    """
    first = problem.first
    sizes = np.diff(first)
    index = {name: topic for topic, name in enumerate(problem.topics) if sizes[topic]}
    claimed = partition_arrays(owned, index)
    claimed_topic, claimed_number = claimed.topic_of, claimed.number
    require_int32(claimed_number, "a claimed partition number")
    claim = first[claimed_topic] + claimed_number
    is_nonexistent = (claimed_number < 0) | (claimed_number >= sizes[claimed_topic])
    topic_of, number_of = problem.topic_of, problem.number_of
    if is_nonexistent.any():
        key = (claimed_topic[is_nonexistent] << 32) + claimed_number[is_nonexistent] + (1 << 31)
        known_keys, position = np.unique(key, return_inverse=True)
        claim[is_nonexistent] = problem.partition_count + position
        topic_of = np.concatenate([topic_of, (known_keys >> 32).astype(np.int32)])
        number = (known_keys & 0xFFFFFFFF) - (1 << 31)
        number_of = np.concatenate([number_of, number.astype(np.int32)])
    claimant = order[claimed.member_of].astype(np.int32)
    return topic_of, number_of, claimant, claim


def _settled(
    member: Int32, claim: Int64, generation: Int64, on_record: Int64, size: int
) -> tuple[Bool, Bool]:
    """Return which claims are kept and which partitions were claimed twice in one generation.

    Only partitions with several claims are looked at one by one, in map order.
    """
    stands = np.ones(len(claim), dtype=np.bool_)
    is_multiple = np.zeros(size, dtype=np.bool_)
    contested = np.flatnonzero(np.bincount(claim, minlength=size)[claim] > 1)
    recorded: dict[int, int] = {}  # partition -> the last member whose claim counted
    standing: dict[int, int] = {}  # partition -> the claim that is kept
    for position, newcomer, partition in zip(
        contested.tolist(), member[contested].tolist(), claim[contested].tolist(), strict=True
    ):
        holder = recorded.get(partition)
        theirs = NO_GENERATION if holder is None else int(on_record[holder])
        mine = int(generation[newcomer])
        if holder is not None and mine < theirs:
            continue
        recorded[partition] = newcomer
        if holder is not None and mine == theirs:
            is_multiple[partition] = True
            standing.pop(partition, None)
        elif holder != newcomer or partition in standing:  # else it is taken from itself at once
            standing[partition] = position
    stands[contested] = False
    stands[list(standing.values())] = True
    return stands, is_multiple


def _are_equal(members: Sequence[Member]) -> bool:
    """Return whether Java takes these subscriptions for the same.

    All are compared with the first list that is not empty; lists before it are never looked at,
    and a list that names a topic twice differs from it.
    """
    measure: frozenset[str] = frozenset()
    same: set[int] = set()  # by identity: most members share one tuple
    for member in members:
        topics = member.topics
        if id(topics) in same:
            continue
        if not measure:
            measure = frozenset(topics)
        elif len(topics) == len(measure) and measure.issuperset(topics):
            same.add(id(topics))
        else:
            return False
    return True
