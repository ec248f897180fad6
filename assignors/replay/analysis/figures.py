"""The figures of one generation: who joined and left, moves, loads, distance to the optimum.

Moves are counted as `checks` and the solver count them: a partition moves when it leaves a member
that is still in the group and still subscribes to its topic. The partitions of a member that left
have to go somewhere and are no moves. A withheld partition moves when it is taken, not when it is
assigned again.

Loads and moves are those of the intended assignment: a classic leader's assignment, or the target
assignment of a broker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from assignors.metrics import loads, moved_count
from assignors.model import Assignment, Cluster, Group, Member
from assignors.optimal.assign import target_assignment
from assignors.ownership.changes import TopicPartition, pairs
from assignors.ownership.monitors import double_owned
from assignors.problem import NOBODY, Int32, Problem, owners, partitions_by_topic, problem_of
from assignors.replay.history.model import Generation, Kind, Participant, partition_count
from wire import TopicPartitions

COOPERATIVE = frozenset({"cooperative-sticky", "cooperative-weighted", "stream"})
"""Protocols under which members keep their partitions during a rebalance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The figures of a generation, compared with the one before."""

    joined: tuple[str, ...] = ()
    """Ids of members that the generation before did not have."""
    left: tuple[str, ...] = ()
    """Ids of members that only the generation before had."""
    given_count: int = 0
    """Partitions that are assigned, each once."""
    moved: int = 0
    lost: int = 0
    """Partitions assigned in the generation before and not in this one."""
    stopped: int = 0
    """Partitions whose consumption the round interrupts, after the model of `ESTIMATED`."""
    waiting: TopicPartitions = field(default_factory=dict)
    """Taken from a member that is still in the group, and unassigned."""
    unassigned: TopicPartitions = field(default_factory=dict)
    """Of subscribed topics, and unassigned."""
    double: tuple[TopicPartition, ...] = ()
    """Assigned to two members or more."""
    load_min: int = 0
    load_max: int = 0
    moved_minimum: int | None = None
    load_max_optimum: int | None = None
    balance_gap: int | None = None
    fair: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """Member -> (least, most) that a best assignment gives to members with its subscription."""


def figures(
    kind: Kind,
    generation: Generation,
    before: Generation | None,
    counts: Mapping[str, int],
) -> Figures:
    """Return the figures of `generation`; `before` is the one before it, if there is any.

    `counts` is topic -> partition count. Cost: that of the optimal solver.
    """
    now = {member.member_id: intended(member) for member in generation.members}
    was_here = {m.member_id: intended(m) for m in before.members} if before else {}
    given, had = _places(now), _places(was_here)
    load = [partition_count(share) for share in now.values()]
    counted = Figures(
        joined=tuple([key for key in now if key not in was_here]),
        left=tuple([key for key in was_here if key not in now]),
        given_count=len(given),
        lost=len(had - given),
        load_min=min(load, default=0),
        load_max=max(load, default=0),
    )
    if kind is Kind.SHARE or not generation.members or generation.other_protocol is not None:
        return counted
    then = previous_assignment(generation, before)
    return _compared(kind, generation, counted, (now, then), counts)


def _places(shares: Assignment) -> set[TopicPartition]:
    """Return the partitions of several members, each once."""
    return {place for share in shares.values() for place in pairs(share)}


def intended(member: Participant) -> TopicPartitions:
    """Return what the assignor means the member to own: its target if there is one."""
    return member.assigned if member.target is None else member.target


def previous_assignment(
    generation: Generation, before: Generation | None
) -> dict[str, TopicPartitions]:
    """Return what each member of `generation` had in the one before, by its new member id.

    A static member that came back under a new id keeps what its group instance id had.
    """
    if before is None:
        return {}
    had = {member.member_id: intended(member) for member in before.members}
    by_instance = {m.instance_id: intended(m) for m in before.members if m.instance_id is not None}
    found = {}
    for member in generation.members:
        share = had.get(member.member_id)
        if share is None and member.instance_id is not None:
            share = by_instance.get(member.instance_id)
        if share is not None:
            found[member.member_id] = share
    return found


def group_without_claims(generation: Generation, counts: Mapping[str, int]) -> Group:
    """Return the members as a group without claims, for the solver and the checks."""
    members = tuple(
        Member(member_id=m.member_id, topics=tuple(dict.fromkeys(m.topics)), rack_id=None)
        for m in generation.members
    )
    return Group(cluster=Cluster.of(dict(counts)), members=members)


def stopped_count(now: Assignment, then: Assignment, waiting: int, *, is_cooperative: bool) -> int:
    """Return how many partitions a round interrupts.

    `now` and `then` are the assignments after and before the round; `waiting` partitions are
    withheld. Eager: all that are assigned or were. Cooperative: those that go to another member
    than before, and those that are withheld.

    >>> stopped_count({"a": {"t": (0, 1)}}, {"a": {"t": (0,)}}, 0, is_cooperative=True)
    1
    """
    if not then:
        return 0  # nothing was consumed yet
    given = {place: member for member, share in now.items() for place in pairs(share)}
    had = {place: member for member, share in then.items() for place in pairs(share)}
    if not is_cooperative:
        return len({**given, **had})
    return waiting + sum(1 for place, member in given.items() if had.get(place) != member)


def _compared(
    kind: Kind,
    generation: Generation,
    counted: Figures,
    assignments: tuple[Assignment, Assignment],
    counts: Mapping[str, int],
) -> Figures:
    """Return the figures that need whole assignments: this one, and the one before."""
    now, then = assignments
    # Topics without subscribers have no part in it, and a group may have had thousands.
    topics = dict.fromkeys(topic for member in generation.members for topic in member.topics)
    counts = {topic: counts[topic] for topic in topics if topic in counts}
    problem = problem_of(group_without_claims(generation, counts))
    favoured, given = (
        _subscribed_owners(problem, then, counts),
        _subscribed_owners(problem, now, counts),
    )
    waiting = np.flatnonzero((given == NOBODY) & (favoured != NOBODY))
    known = replace(
        counted,
        moved=moved_count(favoured, given),
        stopped=stopped_count(
            now, then, len(waiting), is_cooperative=is_cooperative(kind, generation)
        ),
        waiting=partitions_by_topic(problem, waiting),
        double=double_owned(now),
    )
    # Tasks of a streams group are assigned by other rules, for which no optimum is known here.
    return known if kind is Kind.STREAMS else _with_optimum(problem, favoured, given, known)


def is_cooperative(kind: Kind, generation: Generation) -> bool:
    """Return whether members keep their partitions until they have to revoke them."""
    return kind is not Kind.CLASSIC or generation.protocol in COOPERATIVE


def _subscribed_owners(problem: Problem, shares: Assignment, counts: Mapping[str, int]) -> Int32:
    """Return the owner of each partition, int32[P]; `NOBODY` if it does not subscribe to it."""
    existing = {
        member_id: {
            topic: tuple(n for n in numbers if 0 <= n < counts[topic])
            for topic, numbers in share.items()
            if topic in counts
        }
        for member_id, share in shares.items()
    }
    owner = owners(problem, existing)
    held = np.flatnonzero(owner != NOBODY)
    owner[held[~problem.may_take(owner[held], held)]] = NOBODY
    return owner


def _with_optimum(problem: Problem, favoured: Int32, given: Int32, known: Figures) -> Figures:
    """Return the figures with those of the optimal assignment added."""
    best = target_assignment(problem, favoured)
    free = np.flatnonzero((given == NOBODY) & (best != NOBODY))
    load, ideal = loads(problem, given), loads(problem, best)
    class_count = len(problem.takes)
    least = np.full(class_count, len(best), dtype=np.int64)
    most = np.zeros(class_count, dtype=np.int64)
    np.minimum.at(least, problem.class_of, ideal)
    np.maximum.at(most, problem.class_of, ideal)
    bounds = zip(least[problem.class_of].tolist(), most[problem.class_of].tolist(), strict=True)
    fair = {
        member.member_id: (low, high)
        for member, (low, high) in zip(problem.members, bounds, strict=True)
    }
    return replace(
        known,
        unassigned=partitions_by_topic(problem, free),
        moved_minimum=moved_count(favoured, best),
        load_max_optimum=int(ideal.max(initial=0)),
        balance_gap=None if len(free) else int(load @ load - ideal @ ideal),
        fair=fair,
    )
