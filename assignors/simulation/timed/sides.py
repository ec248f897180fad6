"""The two sides of a run: a coordinator and members, of one protocol.

The run knows no protocol: it hands events to the sides and does what they ask for. A protocol more
is one function here, and one row in `SIDES`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from assignors.assignor import Assignor
from assignors.leader import REPAIR
from assignors.model import Cluster
from assignors.registry import assignor_named
from assignors.simulation.dice import Dice
from assignors.simulation.timed.plain_heartbeats import (
    PlainHeartbeats,
    classic_plain,
    consumer_plain,
)
from assignors.simulation.timed.protocols.classic import coordinator as classic_coordinator
from assignors.simulation.timed.protocols.classic import member as classic_member
from assignors.simulation.timed.protocols.classic.coordinator_state import (
    ClassicConfig,
    ClassicCoordinator,
)
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember
from assignors.simulation.timed.protocols.classic.states import GroupState
from assignors.simulation.timed.protocols.consumer import coordinator as consumer_coordinator
from assignors.simulation.timed.protocols.consumer import member_faults as consumer_member
from assignors.simulation.timed.protocols.consumer.assignment.topics import with_ids
from assignors.simulation.timed.protocols.consumer.coordinator_state import (
    ConsumerConfig,
    ConsumerCoordinator,
)
from assignors.simulation.timed.protocols.consumer.member_state import ConsumerClient
from assignors.simulation.timed.protocols.consumer.messages import STATIC_LEAVE_EPOCH
from assignors.simulation.timed.protocols.consumer.step import WaitingCoordinator
from assignors.simulation.timed.protocols.consumer.step import step as consumer_step
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    CoordinatorEvent,
    Effect,
    Fired,
    MemberEvent,
)
from assignors.simulation.timed.protocols.member_topics import learn_topics
from assignors.simulation.timed.protocols.push import coordinator as push_coordinator
from assignors.simulation.timed.protocols.push.messages import (
    HeartbeatResponse as PushHeartbeatResponse,
)
from assignors.simulation.timed.protocols.push.reading_rights import (
    FencedGroup,
    has_refused,
    may_rest,
    standing,
    step_fenced_coordinator,
    step_fenced_member,
)
from assignors.simulation.timed.random_streams import exponential, stream, uuid_text
from assignors.simulation.timed.scenario import GroupProtocol, MemberConfig, OldTargets, Scenario
from assignors.simulation.topic_patterns import matching
from wire import TopicPartitions

POLL = ("poll",)
"""The timer at which a classic member begins to join again: it fetches new metadata first."""
AT_REST = (GroupState.STABLE, GroupState.EMPTY)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """A coordinator and members of one protocol; members are numbered as in the scenario."""

    members: Sequence[AnyMember]
    coordinator: object
    """Its state, of a kind that `monitors.coordinators` knows."""
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


NewId = Callable[[str], str]
"""Makes the id of a member of this name; no two are equal."""


def classic_sides(scenario: Scenario, new_id: NewId | None = None) -> Sides:
    """Return the classic protocol, eager or cooperative as the members' assignors are."""
    cluster = Cluster.of(scenario.topics)
    coordinator = ClassicCoordinator(
        new_id=new_id or new_ids(scenario.seed),
        config=ClassicConfig(
            initial_delay_ms=scenario.broker.initial_delay_ms,
            max_size=scenario.broker.max_size,
        ),
    )
    names = {name: None for config in scenario.members for name in config.assignors}
    assignors = {name: assignor_named(name).configured(REPAIR) for name in names}
    members = [
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

    newest = cluster

    def change_topics(cluster: Cluster) -> bool:
        nonlocal newest
        newest = cluster
        return True  # the coordinator knows no topics

    def step_member(number: int, event: MemberEvent) -> list[Effect]:
        member = members[number]
        if member.config.pattern is not None and isinstance(event, Fired) and event.key == POLL:
            learn_topics(member, newest, members)
        return classic_member.step(member, event)

    return Sides(
        members=members,
        coordinator=coordinator,
        step_coordinator=lambda _, event: classic_coordinator.step(coordinator, event),
        step_member=step_member,
        change_topics=change_topics,
        show_topics=lambda number, cluster: learn_topics(members[number], cluster, members),
        generation=lambda: coordinator.group.generation,
        is_rebalancing=lambda: coordinator.group.state not in AT_REST,
        removed=lambda: coordinator.group.removed and coordinator.group.taken_removed(),
        plain=classic_plain(coordinator, members),
    )


def consumer_sides(scenario: Scenario, new_id: NewId | None = None) -> Sides:
    """Return the consumer group protocol of KIP-848."""
    broker = scenario.broker
    coordinator = ConsumerCoordinator(
        assignor=_broker_assignor(broker.assignor),
        assignors={
            each.name: each
            for each in map(_broker_assignor, (*broker.further_assignors, broker.assignor))
        },
        cluster=with_ids(Cluster.of(scenario.topics)),
        config=ConsumerConfig(
            session_timeout_ms=broker.consumer_session_timeout_ms,
            heartbeat_interval_ms=broker.consumer_heartbeat_interval_ms,
            assignment_interval_ms=broker.assignment_interval_ms,
            max_size=broker.max_size,
            refresh_interval_ms=broker.pattern_refresh_ms,
            lookup_ms=broker.pattern_lookup_ms,
            offload_ms=broker.offload_ms,
            drops_old_targets=broker.old_targets is OldTargets.DROP,
        ),
    )
    waiting = WaitingCoordinator(coordinator=coordinator)
    new_id = new_id or new_ids(scenario.seed)
    members = [
        ConsumerClient(
            config=config,
            new_id=new_id,
            draw=_draws(scenario.seed, config),
            heartbeat_interval_ms=broker.consumer_heartbeat_interval_ms,
            late_us=_late_us(scenario.seed, config),
        )
        for config in scenario.members
    ]

    has_patterns = any(each.pattern is not None for each in scenario.members)

    def matches(number: int) -> tuple[str, ...]:
        pattern = members[number].config.pattern
        return () if pattern is None else matching(pattern, coordinator.cluster.topics)

    def change_topics(cluster: Cluster) -> bool:
        consumer_coordinator.topics_changed(coordinator, with_ids(cluster))
        return False

    return Sides(
        members=members,
        coordinator=waiting,
        step_coordinator=lambda at_us, event: consumer_step(waiting, at_us, event),
        step_member=lambda number, event: consumer_member.step(members[number], event),
        change_topics=change_topics,
        show_topics=lambda _number, _cluster: False,  # the coordinator looks after topics
        matches=matches if has_patterns else None,
        generation=lambda: coordinator.group.epoch,
        is_rebalancing=partial(_is_rebalancing, coordinator),
        removed=lambda: coordinator.group.removed and coordinator.group.taken_removed(),
        plain=consumer_plain(coordinator, members, broker),
    )


def _is_rebalancing(coordinator: ConsumerCoordinator) -> bool:
    """Return whether a member lacks its target; static members that are away lack none."""
    group = coordinator.group
    epoch, count = group.epoch, len(group.members)
    if epoch != group.target_epoch and count:
        return True  # nobody is in an epoch that has no target
    away = group.stable.get(STATIC_LEAVE_EPOCH, 0)  # static ones, for whom nobody waits
    return group.stable.get(epoch, 0) + away != count


def _broker_assignor(name: str) -> Assignor:
    return assignor_named(name).configured(REPAIR)


def push_sides(scenario: Scenario) -> Sides:
    """Return the push protocol of the discussion of 2014."""
    group = FencedGroup.of(scenario, new_ids(scenario.seed), partial(_draws, scenario.seed))
    coordinator, members = group.coordinator, group.members

    def change_topics(cluster: Cluster) -> bool:
        push_coordinator.topics_changed(coordinator, with_ids(cluster))
        return False

    plain = PlainHeartbeats(
        request="Heartbeat",
        may_rest=lambda number: may_rest(group, number),
        changes=lambda: (coordinator.changes, coordinator.must_refresh),
        timing=lambda number: (
            members[number].member_id,
            members[number].beat_us,
            members[number].config.session_timeout_ms * MILLISECOND,
        ),
        answer=lambda _: PushHeartbeatResponse(),
        standing=lambda number: standing(group, number),
    )
    return Sides(
        members=members,
        coordinator=coordinator,
        step_coordinator=lambda at_us, event: step_fenced_coordinator(group, at_us, event),
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


SIDES: dict[GroupProtocol, Callable[[Scenario], Sides]] = {
    GroupProtocol.CLASSIC: classic_sides,
    GroupProtocol.CONSUMER: consumer_sides,
    GroupProtocol.PUSH: push_sides,
}


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
