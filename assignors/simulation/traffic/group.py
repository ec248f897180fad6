"""Rounds of the group: what its leader would answer, and what members consume once they have it.

The leader is the simulated one of `rounds`, with a real assignor, what members claim, and the
hand-over rule. A round takes a step: under a cooperative protocol members consume what they have
until it ends, under an eager one nobody consumes anything in it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Int32, Int64
from assignors.assignor import Assignor
from assignors.checks import Violation, judged
from assignors.leader import REPAIR, Memory, lead_members
from assignors.model import Assignment, Group
from assignors.problem import NOBODY, Problem, problem_of
from assignors.rebalance import Rebalance
from assignors.simulation.rounds.consumption import change, consumed
from assignors.simulation.rounds.scenario import MemberSpec
from assignors.simulation.rounds.simulated_group import SimulatedGroup
from assignors.simulation.traffic.scenario import TrafficScenario
from assignors.weighted.bounds import bounds
from assignors.weighted.inputs import loads_of
from assignors.weighting import Weighting
from assignors.workload import NumberedPartitions

NONE = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """A round that runs: what the leader has answered."""

    seen: Group
    rebalance: Rebalance
    memory: Memory
    must_follow_up: bool
    violations: tuple[Violation, ...]
    """Rules that the answer of somebody's own assignor breaks."""
    shares: Assignment
    owner: Int32
    """int32[P]: who consumes each partition once members have the answer, -1: nobody."""


class TrafficGroup:
    """Members by number, their place in the scenario; partitions by number, in `partitions`."""

    def __init__(self, scenario: TrafficScenario, assignor: Assignor) -> None:
        """Set up the members that are there at the start; nobody consumes anything yet."""
        self.partitions = NumberedPartitions.of(scenario.topics)
        self.first = np.array(self.partitions.first, dtype=np.int64)
        topics = np.arange(len(self.partitions.topics), dtype=np.int32)
        self.topic_of: Int32 = np.repeat(topics, np.diff(self.first))
        self.place = {topic: number for number, topic in enumerate(self.partitions.topics)}
        self.owner: Int32 = np.full(len(self.topic_of), NOBODY, dtype=np.int32)
        self.must_rejoin = False
        """Whether a round has to follow the last one."""
        self._scenario = scenario
        self._number = {one.name: number for number, one in enumerate(scenario.members)}
        self._group = SimulatedGroup(
            assignor=assignor.configured(REPAIR), partition_counts=dict(scenario.topics)
        )
        self._bounded: tuple[Problem, Int64, NDArray[np.int64]] | None = None
        for one in scenario.at_start:
            self.join(one.name)

    @property
    def is_cooperative(self) -> bool:
        """Whether members go on consuming in a round."""
        return self._group.assignor.is_cooperative

    @property
    def is_empty(self) -> bool:
        """Whether there is no member."""
        return not self._group.members

    @property
    def members(self) -> list[int]:
        """Numbers of the members that are there."""
        return [self._number[name] for name in self._group.members]

    @property
    def leader(self) -> str | None:
        """The name of the member that leads; `None` in a group without members."""
        return next(iter(self._group.members), None)

    def join(self, name: str) -> None:
        """Add a member, under a new member id."""
        one = self._scenario.members[self._number[name]]
        self._group.add(MemberSpec(name=name, topics=one.topics or self.partitions.topics))
        self._bounded = None

    def leave(self, name: str) -> int:
        """Remove a member: nobody consumes its partitions. Return its number."""
        self._group.remove(name)
        number = self._number[name]
        self.owner = np.where(self.owner == number, np.int32(NOBODY), self.owner)
        self._bounded = None
        return number

    def capacities(self) -> dict[str, int]:
        """Return the capacity of each member by its id. Cost: O(M)."""
        return {
            member.member_id: self._scenario.members[self._number[name]].capacity
            for name, member in self._group.members.items()
        }

    def answered(self, weighting: Weighting) -> Round:
        """Return what the leader would answer now; nothing changes. Cost: that of the assignor."""
        seen = replace(self._group.for_leader(), weighting=weighting)
        rebalance, memory, must_follow_up = lead_members(
            self._group.assignor, seen, memory=self._group.memory
        )
        shares = {
            member_id: rebalance.assignment.get(member_id, {})
            for member_id in self._group.consumed()
        }
        return Round(
            seen=seen,
            rebalance=rebalance,
            memory=memory,
            must_follow_up=must_follow_up,
            violations=judged(seen, self._group.assignor, rebalance),
            shares=shares,
            owner=self._owners(shares),
        )

    def apply(self, found: Round) -> int:
        """Give members the answer; return how many partitions two of them consumed then."""
        group = self._group
        before = consumed(found.seen, group.consumed())
        group.memory = found.memory
        group.generation += 1
        has_lost, started_twice = (
            change(before, consumed(found.seen, found.shares))
            if self.is_cooperative
            else (False, ())
        )
        for member in group.members.values():
            member.receive(found.shares[member.member_id], group.generation)
        self.must_rejoin = has_lost or found.must_follow_up
        self.owner = found.owner
        return len(started_twice)

    def use_bound(self, weight: Int64) -> Fraction:
        """Return a use that no assignment is better than; `weight` is int64[P].

        Cost: that of `weighted.bounds`, plus that of numbering the group when it has changed.
        """
        if self._bounded is None:
            problem = problem_of(self._group.for_leader())
            loads = loads_of(problem, Weighting(capacities=self.capacities()))
            # Partitions of topics that nobody subscribes to are not in the problem.
            parts = [np.arange(*self._range_of(topic)) for topic in problem.topics]
            self._bounded = problem, loads.capacity, np.concatenate([*parts, NONE])
        problem, capacity, wanted = self._bounded
        return bounds(
            weight=weight[wanted],
            topic_of=problem.topic_of,
            takes=problem.takes,
            class_of=problem.class_of,
            capacity=capacity,
        ).use

    def _range_of(self, topic: str) -> tuple[int, int]:
        number = self.place[topic]
        return int(self.first[number]), int(self.first[number + 1])

    def _owners(self, shares: Assignment) -> Int32:
        owner: Int32 = np.full(len(self.topic_of), NOBODY, dtype=np.int32)
        for name, member in self._group.members.items():
            number = self._number[name]
            for topic, numbers in shares[member.member_id].items():
                owner[self.first[self.place[topic]] + np.array(numbers, dtype=np.int64)] = number
        return owner
