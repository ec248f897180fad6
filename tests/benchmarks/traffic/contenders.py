"""Who decides in the benchmark of traffic: our assignors under some settings, and the peers.

A peer decides on arrays (`benchmarks.weighted.peers`). Here it is an assignor, whose moves pass
through the hand-over rule as ours do; in the round that completes a hand-over each partition in
flight goes where the peer has sent it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from assignors import Assignor, Group, RebalanceProtocol, UserData, assignor_named
from assignors.arrays import Int32
from assignors.claims import claims_of, favoured_owners
from assignors.group_bytes.assignments import assigned
from assignors.handover import withhold
from assignors.problem import NOBODY, Problem, partitions_by_topic, problem_of
from assignors.rebalance import Rebalance
from assignors.simulation.traffic.scenario import LeaderConfig, WeightSource
from assignors.weighted.inputs import loads_of
from assignors.weighting import Weighting
from tests.benchmarks.weighted.peers.all_peers import PEERS
from tests.benchmarks.weighted.peers.task import Peer, Task


@dataclass(slots=True)
class Deciding:
    """A peer in a run: what it has decided last."""

    peer: Peer
    is_eager: bool
    sent: dict[tuple[str, int], str] = field(default_factory=dict)
    """Topic and partition -> the member that it is for."""
    decisions: int = 0

    def __call__(self, group: Group) -> Rebalance:
        """Return the answer of one round."""
        problem = problem_of(group)
        claims = claims_of(problem, group, UserData.COOPERATIVE)
        favoured = favoured_owners(claims)
        target = self._target(problem, favoured, group.weighting or Weighting())
        ids = [member.member_id for member in problem.members]
        self.sent = {
            self._place(problem, partition): ids[member]
            for partition, member in enumerate(target.tolist())
        }
        if self.is_eager:
            return Rebalance(assignment=assigned(problem, target))
        handover = withhold(claims, target, np.flatnonzero(target != favoured).tolist())
        return Rebalance(
            assignment=assigned(problem, handover.given),
            withheld=partitions_by_topic(problem, handover.withheld),
            follow_up=handover.follow_up,
        )

    def _target(self, problem: Problem, favoured: Int32, weighting: Weighting) -> Int32:
        number = {member.member_id: place for place, member in enumerate(problem.members)}
        owner = favoured.copy()
        if weighting.budget == 0:
            for partition in np.flatnonzero(owner == NOBODY).tolist():
                sent = self.sent.get(self._place(problem, partition))
                owner[partition] = number.get(sent or "", NOBODY)
            if (owner != NOBODY).all():
                return owner
        self.decisions += 1
        found = self.peer(
            Task(
                weight=loads_of(problem, weighting).weight,
                owner=owner,
                member_count=problem.member_count,
                topic_of=problem.topic_of,
                seed=self.decisions,
            )
        )
        return np.asarray(found, dtype=np.int32)

    @staticmethod
    def _place(problem: Problem, partition: int) -> tuple[str, int]:
        topic = int(problem.topic_of[partition])
        return problem.topics[topic], partition - int(problem.first[topic])


def port(name: str, *, is_eager: bool = False) -> Callable[[], Assignor]:
    """Return what makes a peer an assignor, anew for each run."""

    def made() -> Assignor:
        kinds = {RebalanceProtocol.EAGER}
        if not is_eager:
            kinds.add(RebalanceProtocol.COOPERATIVE)
        return Assignor(
            family="peer",
            name=name,
            assign=Deciding(PEERS[name], is_eager),
            protocols=frozenset(kinds),
            user_data=UserData.COOPERATIVE,
        )

    return made


def own(name: str) -> Callable[[], Assignor]:
    """Return what gives an assignor of the registry."""
    return lambda: assignor_named(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """An assignor and the settings of its leader."""

    made: Callable[[], Assignor]
    changes: Mapping[str, object] = field(default_factory=dict)

    def leader(self, usual: LeaderConfig) -> LeaderConfig:
        """Return the settings of the leader."""
        return replace(usual, **self.changes)  # type: ignore[arg-type]


RATE = {"weights": WeightSource.RATE}
LAG = {"weights": WeightSource.LAG}
OURS = own("cooperative-weighted")
TIGHT = {"tolerance": 0.01, "trigger": 0.01}
ONCE = {"tolerance": 0.05, "trigger": 0.2}
NARROW = {"tolerance": 0.05, "trigger": 0.05}

CONTENDERS: dict[str, Contender] = {
    "`range`": Contender(made=own("range")),
    "`cooperative-sticky`, by count": Contender(made=own("cooperative-sticky")),
    "lag-based, at joins and leaves": Contender(
        made=port("lag-based", is_eager=True), changes={**LAG, "decides_every_s": 0}
    ),
    "lag-based, every minute": Contender(made=port("lag-based", is_eager=True), changes=LAG),
    "LPT by rate": Contender(made=port("LPT"), changes=RATE),
    "guyozeri by rate": Contender(made=port("guyozeri", is_eager=True), changes=RATE),
    "KCL 3 by rate": Contender(made=port("KCL 3"), changes=RATE),
    "Dicer by rate": Contender(made=port("Dicer"), changes=RATE),
    "ours, lag as weight": Contender(made=OURS, changes=LAG),
    "ours, tolerance and trigger 1 %": Contender(made=OURS, changes=TIGHT),
    "ours, trigger 5 %": Contender(made=OURS, changes=NARROW),
    "ours, by rate": Contender(made=OURS, changes=RATE),
    "ours, limits of one decision: 5 %, 20 %": Contender(made=OURS, changes=ONCE),
    "ours, 2 moves a minute": Contender(made=OURS, changes={"budget": 2}),
    "**ours, as it is**": Contender(made=OURS),
}
"""By what tables call them."""
