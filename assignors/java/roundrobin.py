"""Round-robin: all partitions of all topics, dealt to the members in turn.

Topics by name, partitions by number, members in a circle; a member that does not subscribe to
the topic is skipped. It is not sticky, and racks do not count.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from assignors.assignor import Assignor, UserData
from assignors.claims import claims_of, counted_owners
from assignors.java.order import dealing_order
from assignors.jvm.failure import JavaFailure
from assignors.jvm.hash_trees import map_order
from assignors.jvm.ordered_assignment import PairsByMember, assigned, ordered_by_member
from assignors.metrics import lazy_stats
from assignors.model import Group, MemberNote, MemberNoteCode
from assignors.options import OnFailure, Options
from assignors.problem import NOBODY, Int32, Problem, problem_of
from assignors.rebalance import Rebalance

EMPTY = "CircularIterator can only be used on non-empty lists"


def assign(group: Group, *, options: Options = Options()) -> Rebalance:  # noqa: B008 - a value
    """Return what `RoundRobinAssignor` returns; `JavaFailure` for a group without members.

    Cost: O(P + M T). Source: `RoundRobinAssignor` of Kafka 4.4.

    >>> from assignors.model import Cluster, Member
    >>> members = tuple(Member(member_id=name, topics=("t", "u")) for name in ("a", "b"))
    >>> answer = assign(Group(cluster=Cluster.of({"t": 3, "u": 1}), members=members))
    >>> answer.lists["a"], answer.lists["b"]
    ((('t', 0), ('t', 2)), (('t', 1), ('u', 0)))
    """
    problem = problem_of(group)
    notes = claims_of(problem, group, UserData.NONE).notes
    if not problem.members:
        failure = JavaFailure("IllegalArgumentException", EMPTY)
        if options.on_failure is OnFailure.RAISE:
            raise failure
        notes = (
            *notes,
            MemberNote(code=MemberNoteCode.REPAIRED.value, text=f"Java fails: {failure}"),
        )
    owner = _deal(problem)
    dealt = np.flatnonzero(owner != NOBODY)
    order = map_order(group, problem)
    place_of = np.argsort(order)
    held = ordered_by_member(
        tuple(problem.members[number].member_id for number in order.tolist()),
        problem.topics,
        member=place_of[owner[dealt]],
        topic=problem.topic_of[dealt],
        number=(dealt - problem.first[problem.topic_of[dealt]]).astype(np.int32),
    )
    return Rebalance(
        assignment=assigned(problem, owner, held),
        notes=notes,
        stats=lazy_stats(
            problem,
            favoured=partial(counted_owners, problem, group, UserData.NONE),
            given=owner,
        ),
        lists=PairsByMember(held),
        order=held.members,
    )


def _deal(problem: Problem) -> Int32:
    """Return who gets each partition, int32[P]."""
    ring = dealing_order(problem).astype(np.int32)
    owner = np.full(problem.partition_count, NOBODY, dtype=np.int32)
    position = 0  # in the ring: whose turn it is
    for topic in range(len(problem.topics)):
        start, end = int(problem.first[topic]), int(problem.first[topic + 1])
        subscribers = np.flatnonzero(problem.takes[problem.class_of[ring], topic])
        if start == end:
            continue
        turn = int(np.searchsorted(subscribers, position)) + np.arange(end - start)
        dealt = subscribers[turn % len(subscribers)]
        owner[start:end] = ring[dealt]
        position = (int(dealt[-1]) + 1) % len(ring)
    return owner


ROUNDROBIN = Assignor(
    family="java",
    name="roundrobin",
    assign=assign,
    keeps_lists=True,
    configure=lambda options: partial(assign, options=options),
)
