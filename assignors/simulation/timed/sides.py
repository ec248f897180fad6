"""The two sides of a run: a coordinator and members, of one protocol.

The run knows no protocol: it hands events to the sides and does what they ask for. A protocol more
is one function here, and one row in `SIDES`.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol
from uuid import UUID

from assignors.assignor import Assignor
from assignors.leader import REPAIR
from assignors.model import Cluster
from assignors.registry import assignor_named
from assignors.simulation.dice import Dice
from assignors.simulation.timed.heartbeats import (
    PlainHeartbeats,
    classic_plain,
    consumer_plain,
)
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    AppendFailed,
    Command,
    Consume,
    CoordinatorEvent,
    Effect,
    Fired,
    MemberEvent,
)
from assignors.simulation.timed.protocols.kafka import (
    classic_member,
    classic_sessions,
    consumer_member,
    offsets,
)
from assignors.simulation.timed.protocols.kafka.classic_group import ClassicGroup, GroupState
from assignors.simulation.timed.protocols.kafka.classic_member import ClassicMember, learn_topics
from assignors.simulation.timed.protocols.kafka.consumer import topics_changed
from assignors.simulation.timed.protocols.kafka.consumer_member import ConsumerClient
from assignors.simulation.timed.protocols.kafka.coordinator import note_written
from assignors.simulation.timed.protocols.kafka.coordinator import step as coordinator_step
from assignors.simulation.timed.protocols.kafka.messages import STATIC_LEAVE_EPOCH
from assignors.simulation.timed.protocols.kafka.restore import restored
from assignors.simulation.timed.protocols.kafka.state import (
    CoordinatorConfig,
    GroupCoordinator,
    Offsets,
)
from assignors.simulation.timed.protocols.kafka.subscriptions import with_ids
from assignors.simulation.timed.protocols.push import coordinator as push_coordinator
from assignors.simulation.timed.protocols.push import rights as commits
from assignors.simulation.timed.protocols.push.coordinator import PushCoordinator
from assignors.simulation.timed.protocols.push.messages import (
    HeartbeatResponse as PushHeartbeatResponse,
)
from assignors.simulation.timed.protocols.push.rights import (
    FencedGroup,
    has_refused,
    may_rest,
    standing,
    step_fenced_coordinator,
    step_fenced_member,
)
from assignors.simulation.timed.random_streams import exponential, stream, uuid_text
from assignors.simulation.timed.scenario import (
    MIGRATING,
    BrokerConfig,
    GroupProtocol,
    MemberConfig,
    OldTargets,
    Scenario,
)
from assignors.simulation.topic_patterns import matching
from wire import TopicPartitions

POLL = ("poll",)
"""The timer at which a classic member begins to join again: it fetches new metadata first."""
AT_REST = (GroupState.STABLE, GroupState.EMPTY)
FIRST_EPOCH = 1
"""Of a consumer group that has not been made yet."""


class AnyMember(Protocol):
    """What a run looks at in a member of any protocol."""

    topics: tuple[str, ...]

    @property
    def member_id(self) -> str:
        """Its id in the group."""
        ...

    @property
    def owned(self) -> TopicPartitions:
        """What it believes to own."""
        ...

    @property
    def generation(self) -> int:
        """The generation or epoch it is in; 0 or less: none."""
        ...

    @property
    def is_up(self) -> bool:
        """Whether its process runs."""
        ...

    @property
    def is_at_rest(self) -> bool:
        """Whether it runs and has nothing to do but consume."""
        ...


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

    @property
    def member_id(self) -> str:
        """Its id in the group."""
        return self.client.member_id

    @property
    def owned(self) -> TopicPartitions:
        """What it believes to own."""
        return self.client.owned

    @property
    def generation(self) -> int:
        """The generation or epoch it is in."""
        return self.client.generation

    @property
    def is_up(self) -> bool:
        """Whether its process runs."""
        return self.client.is_up

    @property
    def is_at_rest(self) -> bool:
        """Whether it runs and has nothing to do but consume."""
        return self.client.is_at_rest


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """A coordinator and members of one protocol; members are numbered as in the scenario."""

    members: Sequence[AnyMember]
    coordinator: GroupCoordinator | PushCoordinator
    """Its state."""
    step_coordinator: Callable[[int, CoordinatorEvent], list[Effect]]
    """The time in microseconds and an event -> what the coordinator does about it."""
    step_member: Callable[[int, MemberEvent], list[Effect]]
    """A member's number and an event -> what it does about it."""
    change_topics: Callable[[Cluster], bool]
    """Shows the coordinator new topics; whether members have to be shown them too."""
    show_topics: Callable[[int, Cluster], bool]
    """Gives a member new metadata; whether it has to rejoin for it."""
    generation: Callable[[], int]
    """The generation or group epoch."""
    is_rebalancing: Callable[[], bool]
    """Whether members are on their way to a new assignment."""
    has_refused: Callable[[], bool] = lambda: False
    """Whether brokers refuse a member what it believes to consume."""
    removed: Callable[[], list[str]]
    """The ids of members that the coordinator has removed since it was asked last."""
    choose_protocol: Callable[[int, GroupProtocol], None] = lambda _number, _protocol: None
    """Lets a member that does not run start with this protocol the next time."""
    matches: Callable[[int], tuple[str, ...]] | None = None
    """The topics that a member subscribes to by a pattern without knowing them itself; `None`: no
    member does."""
    plain: PlainHeartbeats | None = None
    """`None` where every heartbeat has to be looked at."""
    fetches_refused: Callable[[], int] = lambda: 0
    """How many fetches brokers have refused."""
    freeze: Callable[[int, bool], None] = lambda _number, _begins: None
    """Lets the process of a member stand still, or go on: what it is busy with beside messages."""

    @property
    def kafka(self) -> GroupCoordinator:
        """The state of Kafka's coordinator; only where the protocol is Kafka's."""
        assert isinstance(self.coordinator, GroupCoordinator)
        return self.coordinator

    def note_written(self) -> None:
        """Let Kafka's coordinator take note that all that it appended is in the local log."""
        if isinstance(self.coordinator, GroupCoordinator):
            note_written(self.coordinator)


NewId = Callable[[str], str]
"""Makes the id of a member of this name; no two are equal."""


def kafka_sides(scenario: Scenario, protocols: frozenset[GroupProtocol]) -> Sides:
    """Return Kafka's coordinator, and members that speak one of these protocols, or either."""
    broker = scenario.broker
    # One source: a process that comes back with the other protocol has another id.
    new_id = new_ids(scenario.seed)
    group = KafkaGroup(
        coordinator=group_coordinator(scenario, protocols, new_id),
        newest=Cluster.of(scenario.topics),
    )
    if GroupProtocol.CLASSIC in protocols:
        group.classics = _classic_members(scenario, group.newest)
    if GroupProtocol.CONSUMER in protocols:
        group.consumers = [
            ConsumerClient(
                config=config,
                new_id=new_id,
                draw=_draws(scenario.seed, config),
                heartbeat_interval_ms=broker.consumer_heartbeat_interval_ms,
                late_us=_late_us(scenario.seed, config),
            )
            for config in scenario.members
        ]
    group.members = group.classics or group.consumers
    plain = None
    if group.classics and group.consumers:
        group.members = [
            MixedMember(classic=one, consumer=other, protocol=config.protocol or scenario.protocol)
            for config, one, other in zip(
                scenario.members, group.classics, group.consumers, strict=True
            )
        ]
    elif group.classics:
        plain = classic_plain(group.coordinator, group.classics)
    else:
        plain = consumer_plain(group.coordinator, group.consumers, broker)
    has_patterns = any(each.pattern is not None for each in scenario.members)
    return Sides(
        members=group.members,
        coordinator=group.coordinator,
        step_coordinator=partial(coordinator_step, group.coordinator),
        step_member=group.step_member,
        change_topics=group.change_topics,
        show_topics=group.show_topics,
        generation=group.generation,
        is_rebalancing=group.is_rebalancing,
        removed=group.coordinator.taken_removed,
        choose_protocol=group.choose_protocol,
        matches=group.matches if has_patterns and group.consumers else None,
        plain=plain,
    )


@dataclass(slots=True, kw_only=True)
class KafkaGroup:
    """Kafka's coordinator, and the members of the group."""

    coordinator: GroupCoordinator
    newest: Cluster
    """The topics as they are now."""
    members: Sequence[ClassicMember | ConsumerClient | MixedMember] = ()
    classics: Sequence[ClassicMember] = ()
    """The members' clients of the classic protocol; empty: nobody speaks it."""
    consumers: Sequence[ConsumerClient] = ()
    """The members' clients of the consumer protocol, likewise."""
    ended: int = 0
    """Generations of groups of the other kind, before the present one."""
    last: int = 0

    def client(self, number: int) -> ClassicMember | ConsumerClient:
        """Return the client that a member runs."""
        member = self.members[number]
        return member.client if isinstance(member, MixedMember) else member

    def step_member(self, number: int, event: MemberEvent) -> list[Effect]:
        """Return what a member does about an event."""
        client = self.client(number)
        if isinstance(client, ConsumerClient):
            return consumer_member.step(client, event)
        if client.config.pattern is not None and isinstance(event, Fired) and event.key == POLL:
            learn_topics(client, self.newest, self.classics)
        if client.config.runs_handlers:
            return classic_sessions.step(client, event)
        return classic_member.step(client, event)

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
        if isinstance(client, ClassicMember) or client.config.pattern is None:
            return ()
        return matching(client.config.pattern, self.coordinator.cluster.topics)

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
            offload_ms=broker.offload_ms,
            drops_old_targets=broker.old_targets is OldTargets.DROP,
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


def push_sides(scenario: Scenario) -> Sides:
    """Return the push protocol of the discussion of 2014."""
    group = FencedGroup.of(scenario, new_ids(scenario.seed), partial(_draws, scenario.seed))
    coordinator, members = group.coordinator, group.members
    coordinator.offsets = _offsets(scenario.broker)

    def step_coordinator(at_us: int, event: CoordinatorEvent) -> list[Effect]:
        first = offsets.watched(coordinator.offsets, at_us)
        if isinstance(event, AppendFailed):  # no other records are written
            offsets.take_back(coordinator.offsets, restored(event.records), event.tokens)
            return first
        if not offsets.is_about_offsets(event):
            return first + step_fenced_coordinator(group, at_us, event)
        return first + commits.step(coordinator, at_us, event)

    def change_topics(cluster: Cluster) -> bool:
        push_coordinator.topics_changed(coordinator, with_ids(cluster))
        return False

    plain = PlainHeartbeats(
        request="Heartbeat",
        may_rest=lambda number: may_rest(group, number),
        changes=lambda: (coordinator.changes, coordinator.must_refresh),
        timing=lambda number: (
            ("session", members[number].member_id),
            members[number].beat_us,
            members[number].config.session_timeout_ms * MILLISECOND,
        ),
        answer=lambda _: PushHeartbeatResponse(),
        standing=lambda number: standing(group, number),
    )
    return Sides(
        members=members,
        coordinator=coordinator,
        step_coordinator=step_coordinator,
        step_member=lambda number, event: step_fenced_member(group, number, event),
        change_topics=change_topics,
        show_topics=lambda _number, _cluster: False,  # the coordinator looks after topics
        generation=lambda: coordinator.epoch,
        is_rebalancing=lambda: not coordinator.is_at_rest,
        has_refused=lambda: has_refused(group),
        removed=coordinator.taken_removed,
        fetches_refused=lambda: sum(each.fetches_refused for each in members),
        plain=None if coordinator.config.lease_ms else plain,  # each one renews a lease
    )


def sides_of(scenario: Scenario) -> Sides:
    """Return the sides of a scenario.

    Raises `ValueError` for an unknown assignor, and for protocols that no group can have together.
    """
    spoken = scenario.protocols
    if spoken == {GroupProtocol.PUSH}:
        sides = push_sides(scenario)
    elif spoken <= MIGRATING:
        sides = kafka_sides(scenario, spoken)
    else:
        raise ValueError(f"no group has members of {', '.join(sorted(spoken))}")
    return _with_manual(scenario, sides)


def _with_manual(scenario: Scenario, sides: Sides) -> Sides:
    """Return the sides with a consumer of its own partitions wherever the scenario has one."""
    manual = {
        number: ManualMember(config=config)
        for number, config in enumerate(scenario.members)
        if config.assign
    }
    if not manual:
        return sides
    members: list[AnyMember] = [manual.get(n, each) for n, each in enumerate(sides.members)]

    def step_member(number: int, event: MemberEvent) -> list[Effect]:
        member = manual.get(number)
        return sides.step_member(number, event) if member is None else step_manual(member, event)

    return replace(sides, members=members, step_member=step_member)


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
