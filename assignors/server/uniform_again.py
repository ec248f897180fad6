"""Uniform asked again about a large group of which little has changed since: on the same arrays.

A coordinator asks whenever a member comes or goes, and most members subscribe to the same and have
what they had. To make members of them, and arrays of these, costs several times what the algorithm
does. So who had what stays in an array from one question to the next; of members, only those that
have changed are read, and only shares that change are made. The answer is that of `uniform`.

A member is known again by its hash code. Where two have the same one, where subscriptions differ,
or where the previous target has faults, there is no short way: then `uniform` has to be asked.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from assignors.arrays import Int32, Int64, PartitionArrays, partition_arrays
from assignors.jvm.hash_order import string_hashes
from assignors.jvm.hash_trees import hashed_name_order
from assignors.jvm.many_tables import narrow
from assignors.model import Cluster, Group, Member
from assignors.options import Jdk
from assignors.problem import NOBODY
from assignors.server import homogeneous
from assignors.server.spec import Spec, spec_of, target_of
from wire import TopicPartitions


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Question:
    """A group as `uniform` is asked about it. Lengths: M members, P partitions."""

    cluster: Cluster
    topics: tuple[str, ...]
    """What everybody subscribes to."""
    alone: Spec
    """One member with this subscription: what does not depend on members."""
    ids: Sequence[str]
    """M ids, as they are put into Java's map."""
    order: Int64
    """int64[M]: positions in `ids` in the order of that map; a place is a position in this."""
    hashes: Int32
    """int32[M]: the hash code of each id, by place."""
    sorted_hashes: Int32
    """int32[M]: all different."""
    by_hash: Int64
    """int64[M]: the places in that order."""
    owner: Int32
    """int32[P]: who has each partition in the previous target, by place, or `NOBODY`."""

    def places(self, hashes: Int32) -> Int64:
        """Return the place of the member with each of these hash codes, `NOBODY` if none has."""
        at = np.minimum(np.searchsorted(self.sorted_hashes, hashes), len(self.by_hash) - 1)
        return np.where(self.sorted_hashes[at] == hashes, self.by_hash[at], NOBODY)


def asked(
    cluster: Cluster,
    topics: tuple[str, ...],
    *,
    ids: Sequence[str],
    hashes: Int32,
    previous: Mapping[str, TopicPartitions],
    changed: Collection[str],
    last: Question | None = None,
) -> Question | None:
    """Return the next question, `None` where `uniform` has to be asked.

    Everybody subscribes to these topics. `ids` are put into Java's map in this order, and have the
    hash codes `hashes`, int32[M]. `previous` is the previous target; of `ids`, who is not in
    `changed` has what it had there in the question before, `last`. Cost: O(M log M + P), in
    arrays, and the partitions of those that have changed.
    """
    if last is None or last.cluster is not cluster or last.topics != topics:
        one = Member(member_id="", topics=topics)
        alone, last = spec_of(Group(cluster=cluster, members=(one,))), None
        owner = np.full(alone.problem.partition_count, NOBODY, dtype=np.int32)
    else:
        alone, owner = last.alone, last.owner
    order = hashed_name_order(ids, hashes)
    by_place = hashes[order]
    by_hash = np.argsort(by_place, kind="stable")
    question = Question(
        cluster=cluster,
        topics=topics,
        alone=alone,
        ids=ids,
        order=order,
        hashes=by_place,
        sorted_hashes=by_place[by_hash],
        by_hash=by_hash,
        owner=owner,
    )
    if not (np.diff(question.sorted_hashes) != 0).all():
        return None
    if last is None:
        return _with(question, ids, order.argsort(), previous)
    place = np.append(question.places(last.hashes), NOBODY).astype(np.int32)
    found = list(changed)
    places = question.places(string_hashes(found))
    is_changed = np.zeros(len(ids) + 1, dtype=np.bool_)  # the last one stands for NOBODY
    is_changed[places] = True
    owner = place[owner]
    owner[is_changed[owner]] = NOBODY
    return _with(replace(question, owner=owner), found, places, previous)


def _with(
    question: Question,
    ids: Sequence[str],
    places: Int64,
    previous: Mapping[str, TopicPartitions],
) -> Question | None:
    """Return the question in which these members have what they have in the previous target."""
    problem = question.alone.problem
    listed = partition_arrays([previous.get(each, {}) for each in ids], problem.topic_index())
    if not listed.is_complete:
        return None
    topic, member = listed.topic_of, listed.member_of
    size = np.diff(problem.first)[topic]
    if ((listed.number < 0) | (listed.number >= size)).any():
        return None
    partition = problem.first[topic] + listed.number
    is_same = np.diff(member) == 0
    if (np.diff(partition)[is_same] <= 0).any():
        return None  # it was found by another assignor
    owner = question.owner.copy()
    had = np.count_nonzero(owner != NOBODY)
    owner[partition] = places[member]
    if np.count_nonzero(owner != NOBODY) != had + len(partition):
        return None  # two have one partition
    return replace(question, owner=owner)


def shares_that_change(
    question: Question, others: Collection[str], jdk: Jdk
) -> tuple[dict[str, TopicPartitions], Question]:
    """Return what members get that get something else than they had, in the order of Java's map.

    With them those of `others`, whatever they get, and the question in which all have what they
    get: the `last` one where these shares are the next previous target. `jdk` is the broker's.
    Cost: O(P + M), in arrays, and these shares.
    """
    placed = homogeneous.place(_spec(question), jdk)
    owner, before = placed.owner, placed.before
    moved = owner != before
    is_asked = np.zeros(len(question.ids) + 1, dtype=np.bool_)  # as above
    is_asked[owner[moved]] = is_asked[before[moved]] = True
    is_asked[question.places(string_hashes(list(others)))] = True
    is_asked[-1] = False
    partition = np.flatnonzero(is_asked[owner])
    partition = partition[np.argsort(owner[partition], kind="stable")]
    listed = _runs(question, owner, partition)
    topics, numbers = question.alone.problem.topics, listed.number.tolist()
    shares: dict[int, dict[str, tuple[int, ...]]] = {
        place: {} for place in np.flatnonzero(is_asked).tolist()
    }
    end = np.cumsum(listed.length)
    columns = (listed.member, listed.topic, end - listed.length, end)
    for place, topic, start, stop in zip(*(each.tolist() for each in columns), strict=True):
        shares[place][topics[topic]] = tuple(numbers[start:stop])
    ids, order = question.ids, question.order
    names = map(ids.__getitem__, order[list(shares)].tolist())
    return dict(zip(names, shares.values(), strict=True)), replace(question, owner=owner)


def _runs(question: Question, owner: Int32, partition: Int64) -> PartitionArrays:
    """Return these partitions, int64[C], which stand member by member, as runs of one topic."""
    problem, member = question.alone.problem, owner[partition]
    topic = problem.topic_of[partition].astype(np.int64)
    begins = np.ones(len(partition), dtype=np.bool_)
    begins[1:] = (np.diff(member) != 0) | (np.diff(topic) != 0)
    first = np.flatnonzero(begins)
    return PartitionArrays(
        member=member[first].astype(np.int64),
        topic=topic[first],
        length=np.diff(np.append(first, len(partition))),
        number=partition - problem.first[topic],
    )


def _spec(question: Question) -> Spec:
    """Return the group as `homogeneous.place` reads it: all members as one of them."""
    alone, owner = question.alone, question.owner
    problem, count = alone.problem, len(question.ids)
    members = tuple(alone.members) * count
    partition = np.flatnonzero(owner != NOBODY)
    partition = partition[np.argsort(narrow(owner[partition]), kind="stable")]
    return replace(
        alone,
        problem=replace(
            problem,
            members=members,
            class_of=np.zeros(count, dtype=np.int32),
        ),
        order=np.zeros(count, dtype=np.int64),
        members=members,
        target=target_of(_runs(question, owner, partition), count),
    )
