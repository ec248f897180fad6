"""The two sides of a run: a coordinator and members, of one protocol.

The run knows no protocol: it hands events to the sides and does what they ask for. Another protocol
is another class here, and a case in `sides_of`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from assignors.assignor import Assignor
from assignors.leader import REPAIR
from assignors.model import Cluster
from assignors.registry import assignor_named
from assignors.simulation.dice import Dice
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    AppendFailed,
    Command,
    Consume,
    CoordinatorEvent,
    Effect,
    Fired,
    MemberEvent,
    Response,
    Restrict,
    TimerKey,
)
from assignors.simulation.timed.protocols.kafka import (
    classic_member,
    classic_sessions,
    consumer_member,
    offsets,
)
from assignors.simulation.timed.protocols.kafka.classic_group import (
    SESSION,
    ClassicGroup,
    GroupState,
)
from assignors.simulation.timed.protocols.kafka.classic_member import ClassicMember, learn_topics
from assignors.simulation.timed.protocols.kafka.consumer import topics_changed
from assignors.simulation.timed.protocols.kafka.consumer_group import STABLE, ConsumerGroup
from assignors.simulation.timed.protocols.kafka.consumer_member import ConsumerClient
from assignors.simulation.timed.protocols.kafka.coordinator import note_written
from assignors.simulation.timed.protocols.kafka.coordinator import step as coordinator_step
from assignors.simulation.timed.protocols.kafka.messages import (
    STATIC_LEAVE_EPOCH,
    ConsumerHeartbeatResponse,
    ErrorCode,
    HeartbeatResponse,
)
from assignors.simulation.timed.protocols.kafka.restore import restored
from assignors.simulation.timed.protocols.kafka.state import (
    CoordinatorConfig,
    GroupCoordinator,
    Offsets,
)
from assignors.simulation.timed.protocols.kafka.subscriptions import with_ids
from assignors.simulation.timed.protocols.push import coordinator as push_coordinator
from assignors.simulation.timed.protocols.push import member as push_member
from assignors.simulation.timed.protocols.push import rights as commits
from assignors.simulation.timed.protocols.push.coordinator import PushCoordinator, RightsChanged
from assignors.simulation.timed.protocols.push.member import PushClient
from assignors.simulation.timed.protocols.push.messages import (
    HeartbeatResponse as PushHeartbeatResponse,
)
from assignors.simulation.timed.protocols.push.rights import readable
from assignors.simulation.timed.random_streams import exponential, stream, uuid_text
from assignors.simulation.timed.scenario import (
    MIGRATING,
    BrokerConfig,
    GroupProtocol,
    MemberConfig,
    Scenario,
)
from assignors.simulation.topic_patterns import matching
from wire import TopicPartitions

POLL = ("poll",)
"""The timer at which a classic member begins to join again: it fetches new metadata first."""
AT_REST = (GroupState.STABLE, GroupState.EMPTY)
FIRST_EPOCH = 1
"""Of a consumer group that has not been made yet."""


def _of_client(name: str) -> Any:  # noqa: ANN401 - what the client has
    return property(lambda member: getattr(member.client, name))


@dataclass(slots=True, kw_only=True)
class MixedMember:
    """A consumer that may come back with the other protocol: it has both clients, and runs one."""

    classic: ClassicMember
    consumer: ConsumerClient
    protocol: GroupProtocol
    """Which one it speaks; it changes only while the process does not run."""

    @property
    def client(self) -> ClassicMember | ConsumerClient:
        """The client that it runs."""
        return self.classic if self.protocol is GroupProtocol.CLASSIC else self.consumer

    @property
    def topics(self) -> tuple[str, ...]:
        """What it subscribes to."""
        return self.client.topics

    @topics.setter
    def topics(self, topics: tuple[str, ...]) -> None:
        self.classic.topics = self.consumer.topics = topics

    member_id, owned, generation, is_up, is_at_rest = map(
        _of_client, ("member_id", "owned", "generation", "is_up", "is_at_rest")
    )


@dataclass(slots=True, kw_only=True)
class ManualMember:
    """A consumer that takes partitions by itself (`assign()`): it is in no group and tells nobody.

    It may still commit under the group's id: the coordinator takes that as long as the group has no
    members.
    """

    config: MemberConfig
    topics: tuple[str, ...] = ()
    member_id: str = ""
    generation: int = -1
    is_up: bool = False
    owned: TopicPartitions = field(default_factory=dict)

    @property
    def is_at_rest(self) -> bool:
        """Whether it runs: it has nothing else to do."""
        return self.is_up


AnyMember = ClassicMember | ConsumerClient | PushClient | MixedMember | ManualMember


@dataclass(slots=True, kw_only=True)
class Sides(ABC):
    """A coordinator and members of one protocol; members are numbered as in the scenario."""

    members: Sequence[AnyMember]
    coordinator: GroupCoordinator | PushCoordinator

    def step_member(self, number: int, event: MemberEvent) -> list[Effect]:
        """Return what a member does about an event."""
        member = self.members[number]
        if isinstance(member, ManualMember):
            return step_manual(member, event)
        return self.step_client(number, event)

    @abstractmethod
    def step_client(self, number: int, event: MemberEvent) -> list[Effect]:
        """Return what a member of the group does about an event."""

    @abstractmethod
    def step_coordinator(self, at_us: int, event: CoordinatorEvent) -> list[Effect]:
        """Return what the coordinator does about an event."""

    @abstractmethod
    def change_topics(self, cluster: Cluster) -> bool:
        """Show the coordinator new topics; return whether members need to be shown them too."""

    def show_topics(self, _number: int, _cluster: Cluster) -> bool:
        """Give a member new metadata; return whether it has to join again for it."""
        return False  # the coordinator looks after topics

    @abstractmethod
    def generation(self) -> int:
        """Return the generation or group epoch."""

    @abstractmethod
    def is_rebalancing(self) -> bool:
        """Return whether members are on their way to a new assignment."""

    def has_refused(self) -> bool:
        """Return whether brokers refuse a member what it believes to consume."""
        return False

    def fetches_refused(self) -> int:
        """Return how many fetches brokers have refused."""
        return 0

    def removed(self) -> list[str]:
        """Return the ids of members that the coordinator has removed since it was asked last."""
        return self.coordinator.taken_removed()

    def choose_protocol(  # noqa: B027 - of most protocols there is nothing to choose
        self, _number: int, _protocol: GroupProtocol
    ) -> None:
        """Let a member that does not run start with this protocol the next time."""

    def matches(self, _number: int) -> tuple[str, ...]:
        """Return the topics that the coordinator looks up for a member's pattern."""
        return ()

    def note_written(self) -> None:  # noqa: B027 - only Kafka's coordinator goes back
        """Let the coordinator take note that all that it appended is in the local log."""

    @property
    def kafka(self) -> GroupCoordinator:
        """The state of Kafka's coordinator; only where the protocol is Kafka's."""
        assert isinstance(self.coordinator, GroupCoordinator)
        return self.coordinator

    # Heartbeats that say nothing and are answered with nothing new

    @property
    def has_idle_heartbeats(self) -> bool:
        """Whether there are any: else each one counts."""
        return True

    @property
    def heartbeat(self) -> str:
        """The name of their type."""
        return "Heartbeat"

    @abstractmethod
    def may_rest(self, number: int) -> bool:
        """Return whether a member sends no other heartbeats until `changes` differ."""

    @abstractmethod
    def changes(self) -> object:
        """Return a value that differs once idle members may learn something."""

    @abstractmethod
    def heartbeat_times(self, number: int) -> tuple[TimerKey, int, int]:
        """Return a member's session timer, its heartbeat interval and its session timeout.

        The timer by its key at the coordinator, times in microseconds.
        """

    @abstractmethod
    def heartbeat_answer(self, number: int) -> Response:
        """Return what a member is answered while it rests."""

    def standing(self, _number: int) -> int:
        """Return how many requests of a member the coordinator keeps until it has news."""
        return 0


NewId = Callable[[str], str]
"""Makes the id of a member of this name; no two are equal."""


def sides_of(scenario: Scenario) -> Sides:
    """Return the sides of a scenario.

    Raises `ValueError` for an unknown assignor, and for protocols that no group can have together.
    """
    spoken = scenario.protocols
    if spoken == {GroupProtocol.PUSH}:
        return PushSides.of(scenario)
    if spoken <= MIGRATING:
        return KafkaSides.of(scenario, spoken)
    raise ValueError(f"no group has members of {', '.join(sorted(spoken))}")


def _with_manual(scenario: Scenario, members: Sequence[AnyMember]) -> list[AnyMember]:
    """Return the members, a consumer of its own partitions wherever the scenario has one."""
    return [
        ManualMember(config=config) if config.assign else member
        for config, member in zip(scenario.members, members, strict=True)
    ]


@dataclass(slots=True, kw_only=True)
class KafkaSides(Sides):
    """Kafka's coordinator, and members that speak one of its protocols, or either."""

    coordinator: GroupCoordinator
    newest: Cluster
    """The topics as they are now."""
    classics: Sequence[ClassicMember] = ()
    """The members' clients of the classic protocol; empty: nobody speaks it."""
    consumers: Sequence[ConsumerClient] = ()
    """The members' clients of the consumer protocol, likewise."""
    ended: int = 0
    """Generations of groups of the other kind, before the present one."""
    last: int = 0

    @classmethod
    def of(cls, scenario: Scenario, protocols: frozenset[GroupProtocol]) -> KafkaSides:
        """Return a coordinator without a group, and members that speak these protocols."""
        # One source: a process that comes back with the other protocol has another id.
        new_id = new_ids(scenario.seed)
        coordinator = group_coordinator(scenario, protocols, new_id)
        newest = Cluster.of(scenario.topics)
        classics: list[ClassicMember] = []
        consumers: list[ConsumerClient] = []
        if GroupProtocol.CLASSIC in protocols:
            classics = _classic_members(scenario, newest)
        if GroupProtocol.CONSUMER in protocols:
            consumers = [
                ConsumerClient(
                    config=config,
                    new_id=new_id,
                    draw=_draws(scenario.seed, config),
                    heartbeat_interval_ms=scenario.broker.consumer_heartbeat_interval_ms,
                    late_us=_late_us(scenario.seed, config),
                )
                for config in scenario.members
            ]
        members: Sequence[AnyMember] = classics or consumers
        if classics and consumers:
            members = [
                MixedMember(
                    classic=one, consumer=other, protocol=config.protocol or scenario.protocol
                )
                for config, one, other in zip(scenario.members, classics, consumers, strict=True)
            ]
        return cls(
            members=_with_manual(scenario, members),
            coordinator=coordinator,
            newest=newest,
            classics=classics,
            consumers=consumers,
        )

    def client(self, number: int) -> AnyMember:
        """Return the client that a member runs."""
        member = self.members[number]
        return member.client if isinstance(member, MixedMember) else member

    def step_client(self, number: int, event: MemberEvent) -> list[Effect]:
        """Return what a member does about an event."""
        client = self.client(number)
        if isinstance(client, ConsumerClient):
            return consumer_member.step(client, event)
        assert isinstance(client, ClassicMember)
        if client.config.pattern is not None and isinstance(event, Fired) and event.key == POLL:
            learn_topics(client, self.newest, self.classics)
        if client.config.runs_handlers:
            return classic_sessions.step(client, event)
        return classic_member.step(client, event)

    def step_coordinator(self, at_us: int, event: CoordinatorEvent) -> list[Effect]:
        """Return what the coordinator does about an event."""
        return coordinator_step(self.coordinator, at_us, event)

    def change_topics(self, cluster: Cluster) -> bool:
        """Show the coordinator new topics; return whether members need to be shown them too."""
        self.newest = cluster
        topics_changed(self.coordinator, with_ids(cluster))
        return bool(self.classics)

    def show_topics(self, number: int, cluster: Cluster) -> bool:
        """Give a member new metadata; return whether it has to join again for it."""
        if not self.classics:
            return False  # the coordinator looks after topics
        classic = self.classics[number]
        return learn_topics(classic, cluster, self.classics) and self.client(number) is classic

    def choose_protocol(self, number: int, protocol: GroupProtocol) -> None:
        """Let a member that does not run start with this protocol the next time."""
        member = self.members[number]
        if isinstance(member, MixedMember) and not member.is_up:
            member.protocol = protocol

    def matches(self, number: int) -> tuple[str, ...]:
        """Return the topics that the coordinator looks up for a member's pattern."""
        client = self.client(number)
        if not isinstance(client, ConsumerClient) or client.config.pattern is None:
            return ()
        return matching(client.config.pattern, self.coordinator.cluster.topics)

    def note_written(self) -> None:
        """Let the coordinator take note that all that it appended is in the local log."""
        note_written(self.coordinator)

    def generation(self) -> int:
        """Return the generation or epoch; it counts on where the group changes its kind."""
        group = self.coordinator.group
        if isinstance(group, ClassicGroup):
            now = group.generation
        elif group is not None:
            now = group.epoch
        else:
            now = 0 if self.classics else FIRST_EPOCH
        if not (self.classics and self.consumers):
            return now
        if now < self.last:
            self.ended += self.last
        self.last = now
        return self.ended + now

    def is_rebalancing(self) -> bool:
        """Return whether a member lacks its target; static members that are away lack none."""
        group = self.coordinator.group
        if group is None:
            return False
        if isinstance(group, ClassicGroup):
            return group.state not in AT_REST
        epoch, count = group.epoch, len(group.members)
        if epoch != group.target_epoch and count:
            return True  # nobody is in an epoch that has no target
        away = group.stable.get(STATIC_LEAVE_EPOCH, 0)  # static ones, for whom nobody waits
        return group.stable.get(epoch, 0) + away != count

    @property
    def has_idle_heartbeats(self) -> bool:
        """Whether there are any; where members of both protocols may be, each one counts."""
        return not (self.classics and self.consumers)

    @property
    def heartbeat(self) -> str:
        """The name of their type."""
        return "Heartbeat" if self.classics else "ConsumerHeartbeat"

    def may_rest(self, number: int) -> bool:
        """Return whether a member has nothing to say, and its heartbeats are answered so."""
        if self.classics:
            return _classic_may_rest(self.classics[number], self.coordinator)
        return _consumer_may_rest(self.consumers[number], self.coordinator.consumer)

    def changes(self) -> object:
        """Return what tells whether idle members may learn something.

        In a classic group a rebalance concerns everybody, in others another epoch.
        """
        group = self.coordinator.group
        if isinstance(group, ClassicGroup):
            return group.changes
        if group is None:
            return None
        changes = self.coordinator.target_changes
        return group.epoch, group.target_epoch, group.is_refresh_due, changes

    def heartbeat_times(self, number: int) -> tuple[TimerKey, int, int]:
        """Return a member's session timer, its heartbeat interval and its session timeout."""
        if self.classics:
            one = self.classics[number]
            timeout_ms = one.config.session_timeout_ms
            return (SESSION, one.member_id), one.beat_us, timeout_ms * MILLISECOND
        client = self.consumers[number]
        timeout_ms = self.coordinator.config.session_timeout_ms
        return ("session", client.member_id), client.beat_us, timeout_ms * MILLISECOND

    def heartbeat_answer(self, number: int) -> Response:
        """Return what a member is answered while it rests."""
        if self.classics:
            return HeartbeatResponse(ErrorCode.NONE)
        client = self.consumers[number]
        return ConsumerHeartbeatResponse(ErrorCode.NONE, client.member_id, client.epoch)


def _classic_may_rest(member: ClassicMember, coordinator: GroupCoordinator) -> bool:
    group = coordinator.group
    return (
        member.is_at_rest
        and not member.times.wake_ms
        and isinstance(group, ClassicGroup)
        and group.state is not GroupState.PREPARING_REBALANCE
        and member.generation == group.generation
        and group.refusal(member.member_id, member.config.instance_id) is ErrorCode.NONE
    )


def _consumer_may_rest(client: ConsumerClient, group: ConsumerGroup | None) -> bool:
    if group is None or not client.epoch == group.target_epoch == group.epoch:
        return False
    member = group.members.get(client.member_id)
    return (
        client.is_at_rest
        and not client.is_busy
        and member is not None
        and member.state is STABLE
        and not member.pattern
        and client.epoch == member.epoch
        and not group.is_refresh_due
    )


@dataclass(slots=True, kw_only=True)
class PushSides(Sides):
    """The push protocol of the discussion of 2014: members consume what brokers let them read."""

    coordinator: PushCoordinator
    clients: Sequence[PushClient]
    believed: dict[int, TopicPartitions] = field(default_factory=dict)
    """Member's number -> what it would consume if all its fetches succeeded."""
    numbers: dict[str, int] = field(default_factory=dict)
    """Member id -> the number of the member whose process has it."""

    @classmethod
    def of(cls, scenario: Scenario) -> PushSides:
        """Return a group to which nothing has happened."""
        broker, network = scenario.broker, scenario.network
        streams: dict[tuple[str, str], Dice] = {}

        def draw(entity: str, purpose: str, limit: int) -> int:
            dice = streams.setdefault((entity, purpose), stream(scenario.seed, entity, purpose))
            if purpose == "fetch":
                return dice.below(limit + 1)
            return network.least_us + exponential(dice, network.mean_us)

        clients = [
            PushClient(config=config, push=broker.push, draw=_draws(scenario.seed, config))
            for config in scenario.members
        ]
        return cls(
            members=_with_manual(scenario, clients),
            coordinator=PushCoordinator(
                assignor=assignor_named(broker.assignor).configured(REPAIR),
                cluster=with_ids(Cluster.of(scenario.topics)),
                config=broker.push,
                new_id=new_ids(scenario.seed),
                draw=draw,
                max_size=broker.max_size,
                offsets=_offsets(broker),
            ),
            clients=clients,
        )

    def step_client(self, number: int, event: MemberEvent) -> list[Effect]:
        """Return what a member does about an event: it consumes no more than brokers let it."""
        client = self.clients[number]
        before = client.member_id
        effects = push_member.step(client, event)
        if client.member_id != before:
            self.numbers.pop(before, None)
            self.numbers[client.member_id] = number
        return [self._allowed(number, each) for each in effects]

    def _allowed(self, number: int, effect: Effect) -> Effect:
        if not isinstance(effect, Consume):
            return effect
        self.believed[number] = effect.owned
        return effect._replace(owned=self._readable(self.clients[number].member_id, number))

    def _readable(self, member_id: str, number: int) -> TopicPartitions:
        return readable(self.coordinator, member_id, self.believed.get(number, {}))

    def step_coordinator(self, at_us: int, event: CoordinatorEvent) -> list[Effect]:
        """Return what the coordinator does, and for members with other rights what they consume."""
        committed = self.coordinator.offsets
        out = offsets.watched(committed, at_us)
        if isinstance(event, AppendFailed):  # no other records are written
            offsets.take_back(committed, restored(event.records), event.tokens)
            return out
        if offsets.is_about_offsets(event):
            return out + commits.step(self.coordinator, at_us, event)
        for effect in push_coordinator.step(self.coordinator, at_us, event):
            if not isinstance(effect, RightsChanged):
                out.append(effect)
            elif (number := self.numbers.get(effect.member_id)) is not None:
                owned = self._readable(effect.member_id, number)
                out.append(Restrict(self.clients[number].config.name, owned, effect.reason))
        return out

    def change_topics(self, cluster: Cluster) -> bool:
        """Show the coordinator new topics, which members need not know."""
        push_coordinator.topics_changed(self.coordinator, with_ids(cluster))
        return False

    def generation(self) -> int:
        """Return the group epoch."""
        return self.coordinator.epoch

    def is_rebalancing(self) -> bool:
        """Return whether members are on their way to a new assignment."""
        return not self.coordinator.is_at_rest

    def has_refused(self) -> bool:
        """Return whether a member believes to consume what brokers do not let it read.

        Cost: O(members fenced or expired), plus what they believe to consume.
        """
        fenced = self.coordinator.expired | self.coordinator.closed.keys()
        numbers = {each: self.numbers[each] for each in fenced & self.numbers.keys()}
        return any(
            self._readable(*each) != self.believed.get(each[1], {}) for each in numbers.items()
        )

    def fetches_refused(self) -> int:
        """Return how many fetches brokers have refused."""
        return sum(each.fetches_refused for each in self.clients)

    @property
    def has_idle_heartbeats(self) -> bool:
        """Whether there are any: with leases each one renews one."""
        return not self.coordinator.config.lease_ms

    def may_rest(self, number: int) -> bool:
        """Return whether a member's heartbeats are answered with nothing new until `changes`."""
        client = self.clients[number]
        member = self.coordinator.members.get(client.member_id)
        return (
            client.is_at_rest
            and member is not None
            and not member.removing
            and client.version == member.version
            and not self.coordinator.must_refresh  # the next heartbeat computes a target
        )

    def changes(self) -> object:
        """Return what tells whether idle members may learn something."""
        return self.coordinator.changes, self.coordinator.must_refresh

    def heartbeat_times(self, number: int) -> tuple[TimerKey, int, int]:
        """Return a member's session timer, its heartbeat interval and its session timeout."""
        one = self.clients[number]
        timeout_ms = one.config.session_timeout_ms
        return ("session", one.member_id), one.beat_us, timeout_ms * MILLISECOND

    def heartbeat_answer(self, _number: int) -> Response:
        """Return what a member is answered while it rests."""
        return PushHeartbeatResponse()

    def standing(self, number: int) -> int:
        """Return how many requests of a member the coordinator keeps until it has news."""
        member = self.coordinator.members.get(self.clients[number].member_id)
        return 0 if member is None else (member.parked is not None) + (member.fetch is not None)


def group_coordinator(
    scenario: Scenario, protocols: frozenset[GroupProtocol], new_id: NewId
) -> GroupCoordinator:
    """Return the coordinator of a group of which there are no records yet.

    Raises `ValueError` for an unknown assignor.
    """
    broker = scenario.broker
    assignors: dict[str, Assignor] = {}
    if GroupProtocol.CONSUMER in protocols:
        for name in (broker.assignor, *broker.further_assignors):
            assignor = assignor_named(name).configured(REPAIR)
            assignors.setdefault(assignor.name, assignor)
    return GroupCoordinator(
        config=CoordinatorConfig(
            protocols=protocols,
            policy=broker.migration_policy,
            initial_delay_ms=broker.initial_delay_ms,
            classic_max_size=broker.max_size,
            consumer_max_size=broker.max_size,
            session_timeout_ms=broker.consumer_session_timeout_ms,
            assignment_interval_ms=broker.assignment_interval_ms,
            refresh_interval_ms=broker.pattern_refresh_ms,
            lookup_ms=broker.pattern_lookup_ms,
        ),
        cluster=with_ids(Cluster.of(scenario.topics)),
        assignors=assignors,
        new_id=new_id,
        new_uuid=short_ids(new_id),
        offsets=_offsets(broker),
    )


def _offsets(broker: BrokerConfig) -> Offsets:
    return Offsets(retention_ms=broker.offsets_retention_ms, check_ms=broker.offsets_check_ms)


def _classic_members(scenario: Scenario, cluster: Cluster) -> list[ClassicMember]:
    names = {name: None for config in scenario.members for name in config.assignors}
    assignors = {name: assignor_named(name).configured(REPAIR) for name in names}
    return [
        ClassicMember(
            config=config,
            assignors=tuple(assignors[name] for name in config.assignors),
            draw=_draws(scenario.seed, config),
            cluster=cluster,
            compute_us_per_partition=scenario.compute_us_per_partition,
            late_us=0 if config.times.wake_ms else _late_us(scenario.seed, config),
        )
        for config in scenario.members
    ]


def step_manual(state: ManualMember, event: MemberEvent) -> list[Effect]:
    """Return what it does about an event; `state` is changed in place. Cost: O(1)."""
    if event is Command.START and not state.is_up:
        state.is_up, state.owned = True, state.config.assign
        return [Consume(state.owned, "assigned")]
    if event in {Command.STOP, Command.CRASH} and state.is_up:
        state.is_up, state.owned = False, {}
        return [Consume({}, "revoked" if event is Command.STOP else "crashed")]
    return []


@dataclass(frozen=True, slots=True)
class Draws:
    """A member's random times: up to a limit for polls, exponential around a mean else."""

    polls: Dice
    syncs: Dice
    looks: Dice

    def __call__(self, purpose: str, limit: int) -> int:
        """Return a random time."""
        if purpose == "poll":
            return self.polls.below(limit + 1)
        return exponential(self.looks if purpose == "look" else self.syncs, limit)


def _draws(seed: int, config: MemberConfig) -> Draws:
    syncs = stream(seed, config.name, "sync")
    looks = stream(seed, config.name, "look") if config.times.wake_late_us else syncs
    return Draws(stream(seed, config.name, "poll"), syncs, looks)


def short_ids(new_id: Callable[[str], str]) -> Callable[[], str]:
    """Return a source of ids in the form that Kafka's `Uuid` has: 22 characters, none a hyphen.

    A coordinator gives such ids to classic members that join a consumer group.
    """

    def new_short_id() -> str:
        while True:
            made = UUID(new_id("").removeprefix("-"))
            found = urlsafe_b64encode(made.bytes).decode().rstrip("=")
            if "-" not in found:
                return found

    return new_short_id


def _late_us(seed: int, config: MemberConfig) -> int:
    """Return how late each heartbeat of a member is: none to twice its client's mean."""
    mean_us = config.times.heartbeat_late_us
    return stream(seed, config.name, "late").below(2 * mean_us + 1) if mean_us else 0


def new_ids(seed: int) -> NewId:
    """Return a source of member ids: the client's name and a UUID, as Kafka makes them."""
    given: Counter[str] = Counter()

    def new_id(name: str) -> str:
        given[name] += 1
        dice = stream(seed, name, f"id {given[name]}")
        return f"{name}-{uuid_text(dice.below(1 << 64) << 64 | dice.below(1 << 64))}"

    return new_id
