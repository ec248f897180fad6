"""Simple, the assignor of share groups (KIP-932): a partition may go to several members.

Where everybody subscribes to the same topics, all their partitions are one pool; otherwise each
topic is a pool of its own. Partitions of topics that nobody subscribes to any more stay with
the members that had them, as in the reference, unless subscriptions are equal.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from assignors.arrays import Int32
from assignors.assignor import Assignor
from assignors.claims import byte_notes
from assignors.jvm.ordered_assignment import OrderedAssignment, PairsByMember, PartitionsByMember
from assignors.model import Group
from assignors.options import Options
from assignors.rebalance import Rebalance
from assignors.server.repair import built_or_repaired
from assignors.server.results import load_figures
from assignors.server.sharing import Pool, shared
from assignors.server.spec import Spec, previous_in_java_order, spec_of
from wire.text import utf16_sorted

Pair = tuple[int, int, int]
"""Member, topic, number."""


def assign(group: Group, *, options: Options = Options()) -> Rebalance:  # noqa: B008 - a value
    """Return what `SimpleAssignor` returns; `Member.owned` is the previous target.

    A partition number that its topic does not have is kept like any other, as in the reference,
    and may leave too few places for the rest: `JavaFailure`.
    Cost: that of `sharing.shared`, for each topic where subscriptions differ.
    Source: KIP-932, KAFKA-19362.

    >>> from assignors.model import Cluster, Member
    >>> members = tuple(Member(member_id=name, topics=("t",)) for name in ("a", "b", "c"))
    >>> dict(assign(Group(cluster=Cluster.of({"t": 2}), members=members)).lists)
    {'a': (('t', 0), ('t', 1)), 'b': (('t', 0),), 'c': (('t', 1),)}
    """
    return built_or_repaired(spec_of(group), _built, options, doubles=True)


def share_stats(spec: Spec, had: list[Pair], given: list[Pair]) -> dict[str, int | float | bool]:
    """Return figures that stay true where partitions are shared.

    `moved` and `kept` count what members had and had to give up or kept; `unassigned` the
    partitions without a member; `sharing_max` and `sharing_min` the members of a partition.
    """
    sizes = np.diff(spec.problem.first).tolist()
    sharing = np.zeros(spec.problem.partition_count, dtype=np.int64)
    for _, topic, number in given:
        if topic < spec.topic_count and 0 <= number < sizes[topic]:
            sharing[spec.problem.first[topic] + number] += 1
    holder = np.array([member for member, _, _ in given], dtype=np.int64)
    load = np.bincount(holder, minlength=spec.member_count)
    kept = len(set(had).intersection(given))
    return {
        "member_count": spec.member_count,
        "partition_count": spec.problem.partition_count,
        **load_figures(load),
        "moved": len(had) - kept,
        "kept": kept,
        "unassigned": int(np.count_nonzero(sharing == 0)),
        "sharing_max": int(sharing.max(initial=0)),
        "sharing_min": int(sharing.min()) if len(sharing) else 0,
    }


def _built(spec: Spec) -> Rebalance:
    had = _had(spec)
    given = _together(spec, had) if spec.is_homogeneous else _apart(spec, had)
    held = _held(spec, given)
    return Rebalance(
        assignment=PartitionsByMember(held),
        notes=(*byte_notes(spec.problem.members), *spec.notes),
        stats=share_stats(spec, had, given),
        lists=PairsByMember(held),
        order=held.members,
    )


def _had(spec: Spec) -> list[Pair]:
    """Return the previous target in Java's iteration order."""
    target = spec.target
    in_order = previous_in_java_order(spec, np.ones(spec.member_count, dtype=np.bool_))
    run = np.repeat(np.arange(len(target.length)), target.length)[in_order]
    columns = target.run_member[run], target.run_topic[run], target.number[in_order]
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _together(spec: Spec, had: list[Pair]) -> list[Pair]:
    """Assign all topics as one pool; partitions of other topics are dropped."""
    topics = spec.subscription(0) if spec.member_count else []
    return _pooled(spec, topics, had, list(range(spec.member_count))) if topics else []


def _apart(spec: Spec, had: list[Pair]) -> list[Pair]:
    """Assign topic by topic; partitions of topics without subscribers stay."""
    of_topic: list[list[Pair]] = [[] for _ in spec.topics]
    for pair in had:
        of_topic[pair[1]].append(pair)
    given: list[Pair] = []
    for topic, column in enumerate(spec.takes.T):
        given += _pooled(spec, [topic], of_topic[topic], np.flatnonzero(column).tolist())
    return given + [pair for listed in of_topic[spec.topic_count :] for pair in listed]


def _pooled(spec: Spec, topics: list[int], had: list[Pair], subscribers: list[int]) -> list[Pair]:
    """Return who gets which partitions of these topics, assigned as one pool."""
    first = spec.problem.first.tolist()
    slot_of: dict[tuple[int, int], int] = {}
    for topic in topics:
        for number in range(first[topic + 1] - first[topic]):
            slot_of[topic, number] = len(slot_of)
    slots = list(range(len(slot_of)))
    asked = set(topics)
    ours = [
        (member, slot_of.setdefault((topic, number), len(slot_of)))
        for member, topic, number in had
        if topic in asked
    ]
    partition = list(slot_of)
    pool = Pool(subscribers=subscribers, had=ours, slots=slots, hashes=_hashes(spec, partition))
    return [(member, *partition[slot]) for member, slot in shared(pool)]


def _hashes(spec: Spec, partitions: list[tuple[int, int]]) -> Int32:
    """Return the hash of each partition: of topic and number in one pool, else of the number."""
    topic, number = np.array(partitions, dtype=np.int64).reshape(-1, 2).T
    if not spec.is_homogeneous:
        return number.astype(np.int32)
    return (31 * spec.topic_hash[topic].astype(np.int64) + number).astype(np.int32)


def _held(spec: Spec, given: list[Pair]) -> OrderedAssignment:
    """Return lists by member, topics and numbers ascending."""
    names = utf16_sorted(spec.topics)
    rank = {name: place for place, name in enumerate(names)}
    rank_of = np.array([rank[name] for name in spec.topics], dtype=np.int32)
    member, topic_of, number = np.array(given, dtype=np.int64).reshape(-1, 3).T
    topic = rank_of[topic_of]
    order = np.lexsort((number, topic, member))
    start = np.zeros(spec.member_count + 1, dtype=np.int64)
    np.cumsum(np.bincount(member, minlength=spec.member_count), out=start[1:])
    return OrderedAssignment(
        members=tuple(member.member_id for member in spec.members),
        topics=tuple(names),
        start=start,
        topic=topic[order],
        number=number[order].astype(np.int32),
    )


SIMPLE = Assignor(
    family="server",
    name="simple",
    assign=assign,
    keeps_lists=True,
    configure=lambda options: partial(assign, options=options),
)
