"""Cases: a group small enough to try everything that can happen to it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from typing import Any

from assignors.simulation.timed.explore.world import Model, World, clients_of
from assignors.simulation.timed.monitors.rules import Consumption
from assignors.simulation.timed.protocols.effects import CoordinatorEvent, Effect, MemberEvent
from assignors.simulation.timed.protocols.kafka import classic_member, consumer_member
from assignors.simulation.timed.protocols.kafka.classic_member import ClassicMember
from assignors.simulation.timed.protocols.kafka.consumer_member import ConsumerClient
from assignors.simulation.timed.protocols.kafka.coordinator import step as step_coordinator
from assignors.simulation.timed.protocols.kafka.state import GroupCoordinator
from assignors.simulation.timed.scenario import (
    MIGRATING,
    BrokerConfig,
    ClientModel,
    GroupProtocol,
    MemberConfig,
    MigrationPolicy,
    Scenario,
)
from assignors.simulation.timed.sides import KafkaSides, MixedMember
from assignors.simulation.timed.threads.client import ClientThreads, step_threads
from assignors.simulation.timed.threads.duties import BY_NAME

TOPIC = "t"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A group, and what may happen to it."""

    protocol: GroupProtocol
    assignor: str
    """Of the classic members where there may be some, else the broker's."""
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
    stalls: int = 0
    """How often a client's own thread stands still for a while; with a `client_model` alone."""
    failovers: int = 0
    """How often the coordinator is lost, and another one goes on with what is replicated."""
    instances: tuple[str, ...] = ()
    """Instance ids of the first members, the others are dynamic; two may have the same one."""
    speaks: tuple[GroupProtocol, ...] = ()
    """What the first members speak when they start first, the others speak `protocol`."""
    is_switching: bool = False
    """Whether a member that starts again speaks the other protocol."""
    client_model: ClientModel | None = None
    """How all members divide their work among threads; `None`: as a member without a model."""
    policy: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL

    @property
    def is_mixed(self) -> bool:
        """Whether members of both protocols may be in the group."""
        return self.is_switching or len({self.protocol, *self.speaks}) > 1


@dataclass(slots=True)
class Ids:
    """Member ids: a name and a count."""

    kind: str = ""
    """Of those who give ids, each has its own kind of them."""
    given: Counter[str] = field(default_factory=Counter)

    def __call__(self, name: str = "") -> str:
        """Return an id that nobody has had."""
        self.given[name] += 1
        return f"{self.kind}{name}-{self.given[name]}"


def no_wait(_purpose: str, _limit: int) -> int:
    """Return no delay: a timer may run out at any moment anyway."""
    return 0


def model_of(case: Case) -> tuple[Model, World]:
    """Return the steps of a case, and its first world: nobody has started yet."""
    names = tuple("abcdefgh"[: case.members])
    scenario = _scenario(case, names)
    both = frozenset({GroupProtocol.CLASSIC, GroupProtocol.CONSUMER})
    sides = KafkaSides.of(scenario, both if case.is_mixed else frozenset({case.protocol}))
    model = Model(
        names=names,
        partitions=[(TOPIC, number) for number in range(case.partitions)],
        step_coordinator=_step_coordinator,
        step_member=_step_switching if case.is_switching else _step_member,
        gone=(),
    )
    coordinator: Any = sides.coordinator
    coordinator.new_id, coordinator.new_uuid = Ids(), Ids("joined")
    coordinator.offsets.check_ms = 0  # there are no offsets, and no group is away for so long
    members: list[Any] = list(sides.members)
    for member in members:
        for client in clients_of(member):
            client.draw = no_wait
            if isinstance(client, ConsumerClient):
                client.new_id = Ids("consumer-" if case.is_mixed else "")
    if case.client_model is not None:
        members = [_with_threads(member, case.client_model) for member in members]
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
        stalls=case.stalls,
        failovers=case.failovers,
        replicated=model.records.number_of(()),
    )


def _step_coordinator(state: GroupCoordinator, event: CoordinatorEvent) -> list[Effect]:
    return step_coordinator(state, 0, event)


def _step_member(state: object, event: MemberEvent) -> list[Effect]:
    if isinstance(state, ClientThreads):
        return step_threads(state, partial(_step_member, state.member), event, now_us=0)
    client = state.client if isinstance(state, MixedMember) else state
    if isinstance(client, ClassicMember):
        return classic_member.step(client, event)
    assert isinstance(client, ConsumerClient)
    return consumer_member.step(client, event)


def _with_threads(member: Any, model: ClientModel) -> ClientThreads:  # noqa: ANN401 - of any protocol
    """Return a client that polls from time to time while it consumes, at any moment here."""
    return ClientThreads(model=BY_NAME[model], member=member, offsets=lambda: None, poll_us=1)


def _step_switching(state: MixedMember, event: MemberEvent) -> list[Effect]:
    """Let a process that has ended speak the other protocol from its next start on."""
    was_up = state.is_up
    effects = _step_member(state, event)
    if was_up and not state.is_up:
        (state.protocol,) = MIGRATING - {state.protocol}
    return effects


def _scenario(case: Case, names: tuple[str, ...]) -> Scenario:
    has_classic = case.is_mixed or case.protocol is GroupProtocol.CLASSIC
    return Scenario(
        until_ms=0,
        protocol=case.protocol,
        topics={TOPIC: case.partitions},
        members=tuple(
            MemberConfig(
                name=name,
                topics=(TOPIC,),
                assignors=(case.assignor,),
                instance_id=instance_id,
                protocol=protocol,
            )
            for name, instance_id, protocol in zip_longest(names, case.instances, case.speaks)
        ),
        broker=BrokerConfig(
            initial_delay_ms=0,
            assignor=BrokerConfig().assignor if has_classic else case.assignor,
            assignment_interval_ms=0,
            migration_policy=case.policy,
        ),
    )
