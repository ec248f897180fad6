"""Cases: a group small enough to try everything that can happen to it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from assignors.simulation.timed.exhaustion.world import Model, World
from assignors.simulation.timed.monitors.moment import Consumption
from assignors.simulation.timed.protocols.classic import coordinator as classic_coordinator
from assignors.simulation.timed.protocols.classic import member as classic_member
from assignors.simulation.timed.protocols.consumer import member_faults as consumer_member
from assignors.simulation.timed.protocols.consumer.step import step as consumer_step
from assignors.simulation.timed.protocols.effects import CoordinatorEvent, Effect
from assignors.simulation.timed.scenario import (
    BrokerConfig,
    GroupProtocol,
    MemberConfig,
    Scenario,
)
from assignors.simulation.timed.sides import SIDES

TOPIC = "t"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A group, and what may happen to it."""

    protocol: GroupProtocol
    assignor: str
    members: int
    partitions: int
    faults: int = 0
    """Crashes, and sessions or rebalance timeouts that end although the process runs."""
    cuts: int = 0
    """Connections that break: a request is lost, or an answer."""
    starts: int = 1
    """How often each member may start."""
    stops: int = 0
    """How many members may stop, in all."""
    failovers: int = 0
    """How often the coordinator is lost, and another one goes on with what is replicated."""


@dataclass(slots=True)
class Ids:
    """Member ids: a name and a count."""

    given: Counter[str] = field(default_factory=Counter)

    def __call__(self, name: str) -> str:
        """Return an id that nobody has had."""
        self.given[name] += 1
        return f"{name}-{self.given[name]}"


def no_wait(_purpose: str, _limit: int) -> int:
    """Return no delay: a timer may run out at any moment anyway."""
    return 0


def model_of(case: Case) -> tuple[Model, World]:
    """Return the steps of a case, and its first world: nobody has started yet."""
    names = tuple("abcdefgh"[: case.members])
    sides = SIDES[case.protocol](_scenario(case, names))
    is_classic = case.protocol is GroupProtocol.CLASSIC
    model = Model(
        names=names,
        partitions=[(TOPIC, number) for number in range(case.partitions)],
        step_coordinator=classic_coordinator.step if is_classic else _consumer_step,
        step_member=classic_member.step if is_classic else consumer_member.step,
        gone=(),
    )
    coordinator: Any = sides.coordinator
    if is_classic:
        coordinator.new_id = Ids()
    members: list[Any] = list(sides.members)
    for member in members:
        member.draw = no_wait
        if not is_classic:
            member.new_id = Ids()
    model.gone = tuple(model.members.number_of(member) for member in members)
    nothing: tuple[Any, ...] = ((),) * case.members
    none: tuple[Any, ...] = (frozenset(),) * case.members
    return model, World(
        coordinator=model.coordinators.number_of(coordinator),
        log=model.logs.number_of({}),
        members=model.gone,
        does=(model.does.number_of(Consumption()),) * case.members,
        requests=nothing,
        answers=nothing,
        open=none,
        dead=none,
        appends=(),
        timers=frozenset(),
        member_timers=none,
        faults=case.faults,
        cuts=case.cuts,
        starts=(case.starts,) * case.members,
        stops=case.stops,
        failovers=case.failovers,
        replicated=model.records.number_of(()),
    )


def _consumer_step(state: Any, event: CoordinatorEvent) -> list[Effect]:  # noqa: ANN401
    return consumer_step(state, 0, event)


def _scenario(case: Case, names: tuple[str, ...]) -> Scenario:
    return Scenario(
        until_ms=0,
        protocol=case.protocol,
        topics={TOPIC: case.partitions},
        members=tuple(
            MemberConfig(name=name, topics=(TOPIC,), assignors=(case.assignor,)) for name in names
        ),
        broker=BrokerConfig(
            initial_delay_ms=0,
            assignor=case.assignor
            if case.protocol is GroupProtocol.CONSUMER
            else BrokerConfig().assignor,
            assignment_interval_ms=0,
        ),
    )
