"""What an assignor is asked and what it answers, member by member; what stays is not made again.

From one target to the next most members subscribe to the same, own the same and keep their shares.
The last question and its answer are kept (`LastTarget`), and of the next ones only what differs is
made: nothing else depends on what is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from assignors.jvm.hash_trees import name_order
from assignors.jvm.ordered_assignment import OrderedAssignment, PairsByMember
from assignors.model import Member
from assignors.rebalance import Rebalance
from assignors.server.uniform_again import Question
from assignors.simulation.timed.protocols.consumer.group import ConsumerGroup, ConsumerMember
from wire import TopicPartitions


@dataclass(frozen=True, slots=True, kw_only=True)
class LastTarget:
    """The members as an assignor was last asked for their shares, and its answer."""

    members: Mapping[str, Member] = field(default_factory=dict)
    held: OrderedAssignment | None = None
    """The answer as arrays, if it was given so."""
    shares: Mapping[str, TopicPartitions] = field(default_factory=dict)
    """Those of `held`, or, of a large group, those that were made."""
    group: ConsumerGroup | None = None
    """Whose target it was."""
    question: Question | None = None
    """What was asked of a large group, with everybody's part of the answer."""


def asked_members(
    members: Iterable[ConsumerMember],
    topics: Mapping[str, tuple[str, ...]],
    before: Mapping[str, TopicPartitions],
    last: LastTarget,
) -> tuple[Member, ...]:
    """Return the members as the assignor is asked. Cost: O(members).

    `topics` is what each subscribes to, `before` what it has in the target before.
    """
    known, asked = last.members, []
    for each in members:
        member_id = each.member_id
        one, wanted, owned = known.get(member_id), topics[member_id], before.get(member_id)
        if (
            one is None
            or one.owned is not owned
            or one.topics is not wanted
            or one.rack_id != each.rack_id
            or one.instance_id != each.instance_id
        ):
            one = asked_member(each, wanted, owned)
        asked.append(one)
    return tuple(asked)


def asked_member(
    member: ConsumerMember, topics: tuple[str, ...], owned: TopicPartitions | None
) -> Member:
    """Return a member as the assignor is asked."""
    return Member(
        member_id=member.member_id,
        topics=topics,
        owned={} if owned is None else owned,
        rack_id=member.rack_id,
        instance_id=member.instance_id,
    )


def shares_of(
    answer: Rebalance, ids: Sequence[str], last: LastTarget, *, is_in_order: bool
) -> tuple[dict[str, TopicPartitions], OrderedAssignment | None]:
    """Return what each member gets, topics in the order in which the assignor listed them.

    `ids` are put into a Java map in that order, and the shares come in the order of that map, as
    those of the answer do if it `is_in_order`. With them the arrays of the answer, if it has some.
    The next target depends on the order of topics
    where two topic ids fall into one bucket of a Java map. Cost: O(partitions), in arrays for
    members whose shares stay.
    """
    lists = answer.lists
    if is_in_order and isinstance(lists, PairsByMember):
        return _shares_in_arrays(lists.held, lists.held.members, last), lists.held
    in_order = [ids[number] for number in name_order(ids).tolist()]
    if isinstance(lists, PairsByMember):
        return _shares_in_arrays(lists.held, in_order, last), lists.held
    if lists is None:
        given = answer.assignment
        return {
            member_id: {
                topic: tuple(sorted(numbers))
                for topic, numbers in given.get(member_id, {}).items()
                if numbers
            }
            for member_id in in_order
        }, None
    return {member_id: _by_topic(lists.get(member_id, ())) for member_id in in_order}, None


def _shares_in_arrays(
    held: OrderedAssignment, ids: Sequence[str], last: LastTarget
) -> dict[str, TopicPartitions]:
    """Return what each member gets, in this order; shares that stay are not made again."""
    found = dict(zip(ids, map(last.shares.get, ids), strict=True))
    changed = np.flatnonzero(~_stays(held, last.held, ids)).tolist()
    found.update((ids[place], _share(held, ids[place])) for place in changed)
    return found  # type: ignore[return-value]  # who had no share has another one


def _share(held: OrderedAssignment, member_id: str) -> TopicPartitions:
    """Return what one member gets."""
    if member_id not in held.place:
        return {}
    topics, numbers = held.entries(member_id)
    if topics and topics.count(topics[0]) == len(topics):
        return {held.topics[topics[0]]: tuple(sorted(numbers))}
    names = [held.topics[topic] for topic in topics]
    return _by_topic(zip(names, numbers, strict=True))


def _stays(
    held: OrderedAssignment, last: OrderedAssignment | None, ids: Sequence[str]
) -> NDArray[np.bool_]:
    """Return whose entries are those of the last answer, bool[ids]. Cost: O(entries), in arrays."""
    if last is None or last.topics != held.topics:
        return np.zeros(len(ids), dtype=np.bool_)
    now = np.arange(len(ids)) if ids is held.members else _places(held, ids)
    then = _places(last, ids)
    count, count_then = np.diff(held.start)[now], np.diff(last.start)[then]
    stays: NDArray[np.bool_] = (now >= 0) & (then >= 0) & (count == count_then)
    rows = np.flatnonzero(stays)
    lengths = count[rows]
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    here = np.repeat(held.start[now[rows]], lengths) + within
    there = np.repeat(last.start[then[rows]], lengths) + within
    differs = (held.number[here] != last.number[there]) | (held.topic[here] != last.topic[there])
    stays[np.repeat(rows, lengths)[differs]] = False
    return stays


def _places(held: OrderedAssignment, ids: Sequence[str]) -> NDArray[np.int64]:
    """Return the place of each member, -1 for who is not there, int64[ids]."""
    return np.fromiter(map(held.place.get, ids, repeat(-1)), np.int64, len(ids))


def _by_topic(pairs: Iterable[tuple[str, int]]) -> dict[str, tuple[int, ...]]:
    """Return (topic, number) pairs by topic, in the order of the first pair of each."""
    found: dict[str, list[int]] = {}
    for topic, number in pairs:
        found.setdefault(topic, []).append(number)
    return {topic: tuple(sorted(listed)) for topic, listed in found.items()}
