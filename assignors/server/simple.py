"""Simple, the assignor of share groups (KIP-932): a partition may go to several members.

Where everybody subscribes to the same topics, all their partitions are one pool; otherwise each
topic is a pool of its own. Partitions of topics that nobody subscribes to any more stay with
the members that had them, as in the reference, unless subscriptions are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from assignors.arrays import Bool, Int32, Int64, bounds_of
from assignors.assignor import Assignor
from assignors.claims import byte_notes
from assignors.jvm.ordered_assignment import OrderedAssignment, PairsByMember, PartitionsByMember
from assignors.model import Group
from assignors.options import Options
from assignors.problem import NOBODY
from assignors.rebalance import ComputedMapping, Rebalance
from assignors.server.open_places import deal
from assignors.server.repair import built_or_repaired
from assignors.server.results import load_figures, previous_entries
from assignors.server.sharing import Pools, kept
from assignors.server.spec import Spec, previous_in_java_order, spec_of
from wire.text import utf16_sorted

CELLS_MAX = 1 << 20
"""Topics are served together up to so many cells of the table of topics and members."""


def assign(group: Group, *, options: Options = Options()) -> Rebalance:  # noqa: B008 - a value
    """Return what `SimpleAssignor` returns; `Member.owned` is the previous target.

    A partition number that its topic does not have is kept like any other, as in the reference,
    and may leave too few places for the rest: `JavaFailure`.
    Cost: O(P log P + C log C + T M), that of `open_places.deal` beside it.
    Source: KIP-932, KAFKA-19362.

    >>> from assignors.model import Cluster, Member
    >>> members = tuple(Member(member_id=name, topics=("t",)) for name in ("a", "b", "c"))
    >>> dict(assign(Group(cluster=Cluster.of({"t": 2}), members=members)).lists)
    {'a': (('t', 0), ('t', 1)), 'b': (('t', 0),), 'c': (('t', 1),)}
    """
    return built_or_repaired(spec_of(group), _built, options, doubles=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slots:
    """Partitions and nonexistent ones. Lengths: S slots, those below P exist; C previous pairs."""

    topic: Int64
    """int64[S]: topic of `Spec.topics`."""
    number: Int64
    """int64[S]."""
    had_member: Int32
    """int32[C]: places in map order, ascending."""
    had_slot: Int64
    """int64[C]."""


def _built(spec: Spec) -> Rebalance:
    slots = _slots(spec)
    is_kept, member, slot = _together(spec, slots) if spec.is_homogeneous else _apart(spec, slots)
    dealt = member, slot
    member = np.concatenate([slots.had_member[is_kept], member])
    slot = np.concatenate([slots.had_slot[is_kept], slot])
    held = _held(spec, slots, member, slot)
    return Rebalance(
        assignment=PartitionsByMember(held),
        notes=(*byte_notes(spec.problem.members), *spec.notes),
        stats=ComputedMapping(partial(_share_stats, spec, slots, is_kept, dealt)),
        lists=PairsByMember(held),
        order=held.members,
    )


def _slots(spec: Spec) -> _Slots:
    """Return all partitions, and the previous target as pairs of member and slot."""
    problem, target = spec.problem, spec.target
    member, slot = previous_entries(spec)
    topic = problem.topic_of.astype(np.int64)
    number = np.arange(len(topic)) - problem.first[topic]
    others = np.flatnonzero(slot == NOBODY)
    if len(others):
        other_topic = target.by_number(target.run_topic)[others]
        key = (other_topic << 32) + target.number[others] + (1 << 31)
        keys, position = np.unique(key, return_inverse=True)
        slot[others] = problem.partition_count + position
        topic = np.concatenate([topic, keys >> 32])
        number = np.concatenate([number, (keys & 0xFFFFFFFF) - (1 << 31)])
    return _Slots(topic=topic, number=number, had_member=member, had_slot=slot)


def _together(spec: Spec, slots: _Slots) -> tuple[Bool, Int64, Int64]:
    """Assign all topics as one pool; partitions of other topics are dropped.

    Return which previous pairs are kept, and members and slots of what is given beside them.
    """
    if not spec.topic_count:
        nothing = np.zeros(0, dtype=np.int64)
        return np.zeros(len(slots.had_slot), dtype=np.bool_), nothing, nothing
    topics = np.array(spec.subscription(0), dtype=np.int64)
    size = np.diff(spec.problem.first)
    begin = np.zeros(len(spec.topics), dtype=np.int64)
    begin[topics] = np.cumsum(size[topics]) - size[topics]
    java_hash = 31 * spec.topic_hash.astype(np.int64)[slots.topic] + slots.number
    return _given(
        Pools(
            takes=np.ones((1, spec.member_count), dtype=np.bool_),
            size=size.sum(keepdims=True),
            partition_count=spec.problem.partition_count,
            pool=np.where(slots.topic < spec.topic_count, 0, NOBODY),
            turn=begin[slots.topic] + slots.number,
            java_hash=java_hash.astype(np.int32),
            had_member=slots.had_member,
            had_slot=slots.had_slot,
            in_java_order=partial(previous_in_java_order, spec),
        )
    )


def _apart(spec: Spec, slots: _Slots) -> tuple[Bool, Int64, Int64]:
    """Assign each topic by itself, as `_together`; partitions of others stay."""
    is_kept = slots.topic[slots.had_slot] >= spec.topic_count
    size, takes = np.diff(spec.problem.first), spec.takes.T
    members, given = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    step = max(1, CELLS_MAX // spec.member_count)
    for begin in range(0, spec.topic_count, step):
        end = min(begin + step, spec.topic_count)
        is_here = (slots.topic >= begin) & (slots.topic < end)
        pools = Pools(
            takes=takes[begin:end],
            size=size[begin:end],
            partition_count=spec.problem.partition_count,
            pool=np.where(is_here, slots.topic - begin, NOBODY),
            turn=slots.number,
            java_hash=slots.number.astype(np.int32),
            had_member=slots.had_member,
            had_slot=slots.had_slot,
            in_java_order=partial(previous_in_java_order, spec),
        )
        kept_here, member, slot = _given(pools)
        is_kept |= kept_here
        members.append(member)
        given.append(slot)
    return is_kept, np.concatenate(members), np.concatenate(given)


def _given(pools: Pools) -> tuple[Bool, Int64, Int64]:
    shares = kept(pools)
    return shares.keeps, *deal(pools, shares)


def _share_stats(
    spec: Spec, slots: _Slots, is_kept: Bool, dealt: tuple[Int64, Int64]
) -> dict[str, int | float | bool]:
    """Return figures that stay true where partitions are shared.

    `is_kept` is bool[C], `dealt` the members and slots given beside those. `moved` and `kept` count
    what members had and had to give up or kept; `unassigned` the partitions without a member;
    `sharing_max` and `sharing_min` the members of a partition.
    """
    had = slots.had_slot * spec.member_count + slots.had_member
    dealt_again = np.isin(dealt[1] * spec.member_count + dealt[0], had[~is_kept])
    kept = int(np.count_nonzero(is_kept)) + int(np.count_nonzero(dealt_again))
    member = np.concatenate([slots.had_member[is_kept], dealt[0]])
    slot = np.concatenate([slots.had_slot[is_kept], dealt[1]])
    partition_count = spec.problem.partition_count
    sharing = np.bincount(slot, minlength=partition_count)[:partition_count]
    return {
        "member_count": spec.member_count,
        "partition_count": partition_count,
        **load_figures(np.bincount(member, minlength=spec.member_count)),
        "moved": len(is_kept) - kept,
        "kept": kept,
        "unassigned": int(np.count_nonzero(sharing == 0)),
        "sharing_max": int(sharing.max(initial=0)),
        "sharing_min": int(sharing.min()) if len(sharing) else 0,
    }


def _held(spec: Spec, slots: _Slots, member: Int64, slot: Int64) -> OrderedAssignment:
    """Return lists by member, topics and numbers ascending."""
    names, topic = spec.problem.topics, slots.topic
    in_order = np.arange(len(topic))
    if len(topic) > spec.problem.partition_count:
        names = tuple(utf16_sorted(spec.topics))
        rank = {name: place for place, name in enumerate(names)}
        topic = np.array([rank[name] for name in spec.topics], dtype=np.int64)[topic]
        in_order = np.lexsort((slots.number, topic))
    place = np.empty(len(topic), dtype=np.int64)
    place[in_order] = np.arange(len(topic))
    key = np.sort(member.astype(np.int64) * len(topic) + place[slot])
    member = key // max(len(topic), 1)
    slot = in_order[key - member * len(topic)]
    start = bounds_of(np.bincount(member, minlength=spec.member_count))
    return OrderedAssignment(
        members=spec.member_ids,
        topics=names,
        start=start,
        topic=topic[slot].astype(np.int32),
        number=slots.number[slot].astype(np.int32),
    )


SIMPLE = Assignor(
    family="server",
    name="simple",
    assign=assign,
    keeps_lists=True,
    configure=lambda options: partial(assign, options=options),
)
