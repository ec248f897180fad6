"""The group as a broker's assignor gets it: members in map order, topic ids, previous target.

The coordinator passes its assignors a map of members, each with the ids of the topics that it
subscribes to and with its part of the previous target, a map from topic id to a set of
partition numbers. Members are numbered here in the order of that map. A topic that is given
without an id gets one derived from its name, so that the answer is always the same, and a note
says that a real cluster may answer otherwise.

The previous target stays in runs (member, topic, numbers) in the order in which it is given. The
order in which Java iterates over it matters only for members that must give partitions up, and
is computed for those alone.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from itertools import chain, compress
from typing import NamedTuple

import numpy as np

from assignors.arrays import (
    Bool,
    Int32,
    Int64,
    PartitionArrays,
    bounds_of,
    partition_arrays,
    require_int32,
)
from assignors.jvm.hash_order import uuid_hashes
from assignors.jvm.hash_trees import map_order
from assignors.jvm.many_tables import compute_orders, put_orders
from assignors.model import Cluster, Group, Member, MemberNote, MemberNoteCode, Topic
from assignors.problem import Problem, problem_of

TOPIC_ID = re.compile(r"[A-Za-z0-9_-]{22}", flags=re.ASCII)
TOPIC_IDS = re.compile(r"[A-Za-z0-9_-]*", flags=re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The previous target. Lengths: M members, R runs, C partition numbers.

    A number stands once in a run: the broker keeps sets.
    """

    run_member: Int64
    """int64[R]: place of the member in map order, ascending."""
    run_topic: Int64
    """int64[R]: topic; those from `topic_count` on nobody may take any more."""
    length: Int64
    """int64[R]: how many numbers a run has."""
    number: Int64
    """int64[C]."""
    calls_follow: Bool
    """bool[M]: the member's map was called again after its last topic was added."""
    is_single: bool
    """Whether every run has one number, as in a group of many members; False does no harm."""

    @property
    def start(self) -> Int64:
        """int64[R + 1]: run r has the numbers start[r]:start[r + 1]."""
        return bounds_of(self.length)

    def by_number(self, by_run: Int64) -> Int64:
        """Return the entry of each number's run, int64[C]; `by_run` is int64[R]."""
        return by_run if self.is_single else np.repeat(by_run, self.length)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """Lengths: M members, T topics that somebody may take, P partitions, E topics in all."""

    group: Group
    problem: Problem
    """Without racks, which no broker's assignor looks at. Members there are numbered by id, topics
    by name, as everywhere else."""
    order: Int64
    """int64[M]: number in `problem` of each member, in the order of the broker's map."""
    members: Sequence[Member]
    """M members in that order."""
    topics: tuple[str, ...]
    """E names: those of `problem`, then topics of the target that nobody may take."""
    topic_ids: tuple[tuple[int, int], ...]
    """E pairs: the halves of each id as signed 64-bit numbers, which is how Java compares them."""
    topic_hash: Int32
    """int32[E]."""
    target: Target
    also_assigned: Int64
    """int64[A]: partitions that count as assigned though no member had them."""
    is_homogeneous: bool
    """Whether everybody subscribes to the same topics."""
    notes: tuple[MemberNote, ...]

    @property
    def member_ids(self) -> tuple[str, ...]:
        """M ids in map order."""
        return tuple([member.member_id for member in self.members])

    @property
    def member_count(self) -> int:
        """M."""
        return self.problem.member_count

    @property
    def topic_count(self) -> int:
        """T."""
        return len(self.problem.topics)

    @property
    def takes(self) -> Bool:
        """bool[M, T]: the member subscribes to the topic."""
        return self.problem.takes[self.problem.class_of[self.order]]

    def subscription(self, member: int) -> list[int]:
        """Return the known topics a member subscribes to, each once, in the order it names them."""
        index = self.problem.topic_index()
        asked = dict.fromkeys(self.members[member].topics)
        return [index[name] for name in asked if name in index]


def spec_of(group: Group, *, needs_ids: bool = True) -> Spec:
    """Return the group as arrays; without `needs_ids` no note says that ids were derived.

    `ValueError` for a topic id that is none, for one of two topics, and for partition numbers
    beyond 32 bits. Cost: O(M log M + P + C).
    """
    problem = problem_of(group, with_racks=False)
    order = map_order(group, problem)
    members = [problem.members[place] for place in order.tolist()]
    topics, previous = _previous(problem, members)
    identified = _identified(group.cluster, topics)
    return Spec(
        group=group,
        problem=problem,
        order=order,
        members=members,
        topics=topics,
        topic_ids=identified.pairs,
        topic_hash=identified.hashes,
        target=target_of(previous, len(members)),
        also_assigned=_also_assigned(group, problem),
        is_homogeneous=len(problem.takes) <= 1 and _are_equal(members),
        notes=made_ids_note(group.cluster, problem.topics) if needs_ids else (),
    )


def previous_in_java_order(spec: Spec, chosen: Bool) -> Int64:
    """Return what these members had, as positions in `target.number`, in Java's iteration order.

    `chosen` is bool[M]. Member by member, topics in the order of the member's map, numbers in
    that of their set. Cost: O(K log K) for K numbers.
    """
    target = spec.target
    if not chosen.any():
        return np.zeros(0, dtype=np.int64)
    runs = np.flatnonzero(chosen[target.run_member])
    if not len(runs):
        return runs
    some, table = np.unique(target.run_member[runs], return_inverse=True)
    hashes = spec.topic_hash[target.run_topic[runs]]
    runs = runs[compute_orders(table, hashes, calls_follow=target.calls_follow[some])]
    length = target.length[runs]
    table = np.repeat(np.arange(len(runs)), length)
    positions = np.arange(len(table)) + (target.start[runs] - np.cumsum(length) + length)[table]
    return positions[put_orders(table, target.number[positions].astype(np.int32))]


def made_id(name: str) -> str:
    """Return the id that a topic without one gets: the first 16 bytes of SHA-256 of its name.

    >>> made_id("orders")
    'HBaK2wDSCOQvkzFFKfH6nA'
    """
    digest = sha256(name.encode("utf-8", "surrogatepass")).digest()
    return urlsafe_b64encode(digest[:16]).decode().rstrip("=")


def are_topic_ids(ids: Sequence[str]) -> bool:
    """Return whether each is 22 characters of base64url.

    >>> are_topic_ids([made_id("orders"), made_id("t")]), are_topic_ids(["orders"])
    (True, False)
    """
    return {*map(len, ids)} <= {22} and TOPIC_IDS.fullmatch("".join(ids)) is not None


def made_ids_note(cluster: Cluster, topics: Sequence[str]) -> tuple[MemberNote, ...]:
    """Return a note if ids had to be made for some of these topics."""
    made = [name for name in topics if cluster.topics[name].topic_id is None]
    if not made:
        return ()
    named = ", ".join(repr(name) for name in made[:3]) + (", ..." if len(made) > 3 else "")
    text = f"no id given for {len(made)} topics, made from their names, which may decide ties: "
    return (MemberNote(code=MemberNoteCode.TOPIC_ID_MADE.value, text=text + named),)


def _previous(
    problem: Problem, members: Sequence[Member]
) -> tuple[tuple[str, ...], PartitionArrays]:
    """Return the topics of `problem`, then all others of the previous target, and that target."""
    owned = [member.owned for member in members]
    previous = partition_arrays(owned, problem.topic_index())
    if previous.is_complete:
        return problem.topics, previous
    names = tuple(dict.fromkeys(chain(problem.topics, *owned)))
    previous = partition_arrays(owned, {name: topic for topic, name in enumerate(names)})
    is_met = np.zeros(len(names), dtype=np.bool_)
    is_met[: len(problem.topics)] = True
    is_met[previous.topic] = True
    topics = tuple(compress(names, is_met))
    return topics, replace(previous, topic=(np.cumsum(is_met) - 1)[previous.topic])


def _also_assigned(group: Group, problem: Problem) -> Int64:
    """Return these partitions as numbers in `problem`, those alone that somebody may take."""
    if not group.also_assigned:
        return np.zeros(0, dtype=np.int64)
    listed = partition_arrays([group.also_assigned], problem.topic_index())
    first = problem.first.astype(np.int64)
    exist = (listed.number >= 0) & (listed.number < np.diff(first)[listed.topic_of])
    found: Int64 = (first[listed.topic_of] + listed.number)[exist]
    return found


class _TopicIds(NamedTuple):
    """The ids of topics."""

    pairs: tuple[tuple[int, int], ...]
    """As `Spec.topic_ids`."""
    hashes: Int32


def _identified(cluster: Cluster, topics: tuple[str, ...]) -> _TopicIds:
    """Return the ids of these topics; `ValueError` for one of two, or one that is none."""
    described = tuple(map(cluster.topics.get, topics))
    high, low = _halves(topics, described)
    pairs = tuple(zip(high.tolist(), low.tolist(), strict=True))
    _require_different_ids(cluster, topics, pairs)
    return _TopicIds(pairs, uuid_hashes(high, low))


def _halves(topics: Sequence[str], described: Sequence[Topic | None]) -> tuple[Int64, Int64]:
    """Return the halves of each topic's id, int64[E] each."""
    found = [None if topic is None else topic.topic_id for topic in described]
    ids = [made_id(name) if id_ is None else id_ for name, id_ in zip(topics, found, strict=True)]
    for name, topic_id in zip(topics, ids, strict=True) if not are_topic_ids(ids) else ():
        if TOPIC_ID.fullmatch(topic_id) is None:
            raise ValueError(f"topic {name!r}: id {topic_id!r} is not 22 characters of base64url")
    # With two more characters an id is 18 whole bytes, and all ids are decoded as one text.
    blob = urlsafe_b64decode("".join([topic_id + "AA" for topic_id in ids]))
    halves = np.frombuffer(blob, dtype=[("high", ">i8"), ("low", ">i8"), ("rest", "V2")])
    return halves["high"].astype(np.int64), halves["low"].astype(np.int64)


def _require_different_ids(
    cluster: Cluster, topics: Sequence[str], topic_ids: Sequence[tuple[int, int]]
) -> None:
    if len(set(topic_ids)) == len(topic_ids):
        return
    found: dict[tuple[int, int], str] = {}
    for name, halves in zip(topics, topic_ids, strict=True):
        other = found.setdefault(halves, name)
        if other != name:
            known = cluster.topics.get(name)
            topic_id = made_id(name) if known is None or known.topic_id is None else known.topic_id
            raise ValueError(f"topics {other!r} and {name!r} have the same id {topic_id!r}")


def target_of(listed: PartitionArrays, member_count: int) -> Target:
    """Return the previous target in runs; empty runs are none."""
    require_int32(listed.number, "a partition number of the previous target")
    run_member, run_topic, length = listed.member, listed.topic, listed.length
    if int(length.min(initial=1)) == 0:
        filled = np.flatnonzero(length)
        run_member, run_topic, length = run_member[filled], run_topic[filled], length[filled]
    calls_follow = np.zeros(member_count, dtype=np.bool_)
    number, is_single = listed.number, len(length) == len(listed.number)
    if not is_single:
        run_count = np.bincount(run_member, minlength=member_count)
        has_runs = np.flatnonzero(run_count)
        calls_follow[has_runs] = length[np.cumsum(run_count)[has_runs] - 1] > 1
        number, length = _once(number, length)
    return Target(
        run_member=run_member,
        run_topic=run_topic,
        length=length,
        number=number,
        calls_follow=calls_follow,
        is_single=is_single,
    )


def _once(number: Int64, length: Int64) -> tuple[Int64, Int64]:
    """Return the numbers, each once in its run, where it stands first."""
    ends = np.cumsum(length)
    rises = np.ones(len(number), dtype=np.bool_)
    np.greater(number[1:], number[:-1], out=rises[1:])
    rises[ends[:-1]] = True  # a run begins there; none is empty
    if rises.all():
        return number, length
    run = np.repeat(np.arange(len(length)), length)
    order = np.lexsort((number, run))
    again = (np.diff(number[order]) == 0) & (np.diff(run[order]) == 0)
    keep = np.ones(len(number), dtype=np.bool_)
    keep[order[1:][again]] = False
    return number[keep], np.bincount(run[keep], minlength=len(length))


def _are_equal(members: Sequence[Member]) -> bool:
    """Return whether all subscribe to the same topics, known or not."""
    lists = [member.topics for member in members]
    if lists == lists[:1] * len(lists):  # fast where they are one object
        return True
    different = dict(zip(map(id, lists), lists, strict=True))
    return len({frozenset(topics) for topics in different.values()}) <= 1
