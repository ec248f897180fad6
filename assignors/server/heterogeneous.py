"""The uniform assignor where subscriptions differ: assign topic by topic, then balance.

Three phases. Members keep what they had of topics they still subscribe to. Then each topic's
free partitions go to its least loaded subscribers; topics with many partitions for few
subscribers come first. Then topics are balanced in turn: while the loads of the most and the
least loaded subscriber of a topic differ by more than one, a partition of this topic moves from
one to the other, for at most sixteen rounds.

A topic is balanced by itself, so chains of topics stay uneven; and the order among members of
equal load decides who gives and who takes, so the search for them is copied step by step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assignors.jvm.failure import JavaFailure
from assignors.problem import NOBODY, Bool, Int32, Int64
from assignors.server.balancer import Balancer
from assignors.server.results import previous_entries
from assignors.server.spec import Spec, previous_in_java_order

ROUND_MAX = 16


@dataclass(slots=True, kw_only=True)
class _Placing:
    """Who has what so far. Members are numbered by their place in map order."""

    owner: Int32
    """int32[P]: of several holders the last."""
    load: Int64
    """int64[M]: how many partitions each member has; one that two have counts for both."""
    also: set[tuple[int, int]]
    """Holders (member, partition) that `owner` forgets: the broker takes nothing away twice."""
    spans: list[slice]
    """T slices: the partitions of each topic."""
    subscribers: list[Int64]
    """T arrays of members, ascending."""


def place(spec: Spec) -> tuple[Int32, tuple[Int32, Int64]]:
    """Return who owns each partition, int32[P], and further holders (member, partition).

    `JavaFailure` when a member had a partition that does not exist.
    Cost: O(T M log M + P log P), and in each of at most 16 rounds O(M log M + P) for a topic
    that is not level. Source: `UniformHeterogeneousAssignmentBuilder` of Kafka 4.4.
    """
    placing = _kept(spec)
    topics = _in_turn(spec, placing)
    for topic in topics:
        _deal(placing, topic)
    _level(placing, [topic for topic in topics if _can_move(placing, topic)])
    also = sorted(pair for pair in placing.also if placing.owner[pair[1]] != pair[0])
    member, partition = np.array(also, dtype=np.int64).reshape(-1, 2).T
    return placing.owner, (member.astype(np.int32), partition)


def _kept(spec: Spec) -> _Placing:
    """Return what members keep: all they had of topics they still subscribe to."""
    member, partition = previous_entries(spec)
    topic = spec.target.by_number(spec.target.run_topic)
    takes = spec.takes
    keeps = topic < spec.topic_count
    keeps[keeps] = takes[member[keeps], topic[keeps]]
    _fail_beyond(spec, keeps & (partition == NOBODY))
    member, partition = member[keeps], partition[keeps]
    owner = np.full(spec.problem.partition_count, NOBODY, dtype=np.int32)
    owner[partition] = member
    forgotten = owner[partition] != member
    first = spec.problem.first.tolist()
    return _Placing(
        owner=owner,
        load=np.bincount(member, minlength=spec.member_count),
        also=set(zip(member[forgotten].tolist(), partition[forgotten].tolist(), strict=True)),
        spans=[slice(first[t], first[t + 1]) for t in range(spec.topic_count)],
        subscribers=[column.nonzero()[0] for column in np.ascontiguousarray(takes.T)],
    )


def _fail_beyond(spec: Spec, is_beyond: Bool) -> None:
    """Raise `JavaFailure`, as Java throws, for the first number that its topic does not have."""
    if not is_beyond.any():
        return
    target = spec.target
    run = np.repeat(np.arange(len(target.length)), target.length)
    chosen = np.zeros(spec.member_count, dtype=np.bool_)
    chosen[target.run_member[run[np.argmax(is_beyond)]]] = True
    in_order = previous_in_java_order(spec, chosen)
    position = in_order[np.argmax(is_beyond[in_order])]
    topic = target.run_topic[run[position]]
    size = spec.problem.first[topic + 1] - spec.problem.first[topic]
    raise JavaFailure(
        "ArrayIndexOutOfBoundsException",
        f"Index {target.number[position]} out of bounds for length {size}",
    )


def _in_turn(spec: Spec, placing: _Placing) -> list[int]:
    """Return the topics in the order in which they are served."""

    def key(topic: int) -> tuple[float, int, tuple[int, int]]:
        span, count = placing.spans[topic], len(placing.subscribers[topic])
        return -(span.stop - span.start) / count, count, spec.topic_ids[topic]

    return sorted(range(spec.topic_count), key=key)


def _can_move(placing: _Placing, topic: int) -> bool:
    """Return whether a topic has partitions and somebody to move them to."""
    span = placing.spans[topic]
    return len(placing.subscribers[topic]) > 1 and span.stop > span.start


def _deal(placing: _Placing, topic: int) -> None:
    """Give a topic's free partitions to its least loaded subscribers, one at a time."""
    owner = placing.owner[placing.spans[topic]]
    free = (owner == NOBODY).nonzero()[0]
    if not len(free):
        return
    subscribers = placing.subscribers[topic]
    takers = subscribers[least_in_turn(placing.load[subscribers], len(free))]
    owner[free] = takers
    placing.load += np.bincount(takers, minlength=len(placing.load))


def least_in_turn(load: Int64, count: int) -> Int64:
    """Return who takes each of `count` units if each goes to the least loaded.

    `load` is int64[N], in any order; the answer, int64[count], names positions in it. Equal loads
    are served in order of position. Cost: O(N log N + count log count).
    Source: `MemberAssignmentBalancer`.

    >>> least_in_turn(np.array([1, 0, 3, 0]), 6).tolist()
    [1, 3, 1, 3, 0, 1]
    """
    order = np.argsort(load, kind="stable")
    return order[dealt_to_least(load[order], count)]


def dealt_to_least(load: Int64, count: int) -> Int64:
    """Return who takes each of `count` units if each goes to the least loaded.

    `load` is int64[N], ascending; the answer, int64[count], names positions in it. Rounds go
    through all of the least load from the left, then through those one level up.
    Cost: O(N + count log count).

    >>> dealt_to_least(np.array([0, 0, 1, 3]), 6).tolist()
    [0, 1, 0, 1, 2, 0]
    """
    level = np.arange(len(load)) * load - np.cumsum(load) + load  # units that raise all to it
    reached = int(np.searchsorted(level, count, side="left"))
    height, rest = divmod(count - int(level[reached - 1]), reached)
    share = int(load[reached - 1]) + height - load[:reached]
    share[:rest] += 1
    taker = np.repeat(np.arange(reached), share)
    turn = np.arange(count) - np.repeat(np.cumsum(share) - share, share)
    return taker[np.argsort(load[taker] + turn, kind="stable")]


def _level(placing: _Placing, topics: list[int]) -> None:
    """Level out topic by topic until a whole round changes nothing, or the rounds are used up."""
    step, end = 0, len(topics)
    while step < min(end, ROUND_MAX * len(topics)):
        topic = topics[step % len(topics)]
        # A member that has no partition of the topic cannot give one.
        most = placing.load[placing.owner[placing.spans[topic]]].max()
        if most - placing.load[placing.subscribers[topic]].min() > 1:
            _level_topic(placing, topic)
            end = step + len(topics)
        step += 1


def _level_topic(placing: _Placing, topic: int) -> None:
    """Move partitions of one topic, which is not level, from its most to its least loaded."""
    span = placing.spans[topic]
    subscribers = placing.subscribers[topic]
    owner = placing.owner[span]
    load = placing.load[subscribers]
    order = np.argsort(load, kind="stable")
    members = subscribers[order]
    count = np.bincount(owner, minlength=len(placing.load))
    balancer = Balancer(load=load[order].tolist(), has=count[members].tolist())
    end = np.cumsum(count)[members].tolist()
    by_owner = (span.start + np.argsort(owner, kind="stable")).tolist()
    member = members.tolist()
    for giver, taker in balancer.moves():
        end[giver] -= 1
        partition = by_owner[end[giver]]
        placing.owner[partition] = member[taker]
        placing.load[member[giver]] -= 1
        placing.load[member[taker]] += 1
        placing.also.discard((member[giver], partition))
