"""Who may commit, and who really consumes, where brokers decide who may fetch.

A member may commit what it has been granted, until its notification, or until the brokers took it
away. One partition that it may not commit fails the whole request.

A member consumes a partition as long as it believes to own it and may fetch it or commit it. The
request to give it up takes the right to fetch and leaves that to commit: until its next poll the
member works on what it has fetched. A member that was fenced for its silence, or whose lease is
over, has neither, whatever it believes; what it has in hand is read again by the next owner.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from assignors.leader import REPAIR
from assignors.model import Cluster
from assignors.registry import assignor_named
from assignors.simulation.dice import Dice
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Consume,
    CoordinatorEvent,
    Effect,
    MemberEvent,
    Record,
    Restrict,
)
from assignors.simulation.timed.protocols.kafka import offsets
from assignors.simulation.timed.protocols.kafka.messages import ErrorCode, OffsetCommit, OffsetFetch
from assignors.simulation.timed.protocols.kafka.state import CLOCK_STARTS_MS
from assignors.simulation.timed.protocols.kafka.subscriptions import with_ids
from assignors.simulation.timed.protocols.push import coordinator as push_coordinator
from assignors.simulation.timed.protocols.push import member as push_member
from assignors.simulation.timed.protocols.push.coordinator import PushCoordinator, RightsChanged
from assignors.simulation.timed.protocols.push.member import PushClient
from assignors.simulation.timed.random_streams import exponential, stream
from assignors.simulation.timed.scenario import MemberConfig, Scenario
from wire import TopicPartitions


@dataclass(slots=True)
class _PushGroup:
    """A group of the push protocol, as its committed offsets see it."""

    coordinator: PushCoordinator

    def exists(self) -> bool:
        return True

    def make(self) -> None:
        raise AssertionError("it always exists")

    def commit_refusal(self, request: OffsetCommit) -> ErrorCode:
        coordinator = self.coordinator
        is_outside = not request.member_id and request.generation < 0
        if is_outside and (request.is_transactional or not coordinator.members):
            return ErrorCode.NONE
        member = coordinator.members.get(request.member_id)
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        has_all = request.member_id not in coordinator.expired and all(
            (topic, number) in member.assigned or (topic, number) in member.removing
            for topic, number, _ in request.offsets
        )
        return ErrorCode.NONE if has_all else ErrorCode.ILLEGAL_GENERATION

    def fetch_refusal(self, _: OffsetFetch) -> ErrorCode:
        return ErrorCode.NONE

    def delete_refusal(self) -> ErrorCode:
        return ErrorCode.NONE

    def after_commit(self, _: OffsetCommit) -> list[Effect]:
        return []

    def subscribes(self, topic: str) -> bool:
        return any(topic in each.topics for each in self.coordinator.members.values())

    def retained_since(self, committed_ms: int) -> int | None:
        return committed_ms

    def is_empty(self) -> bool:
        return not self.coordinator.members

    def remove(self) -> list[Record]:
        return []  # the design has no records of groups


def step(coordinator: PushCoordinator, at_us: int, event: CoordinatorEvent) -> list[Effect]:
    """Return what a coordinator does about an event that concerns offsets alone."""
    now_ms = CLOCK_STARTS_MS + at_us // MILLISECOND
    return offsets.step(coordinator.offsets, _PushGroup(coordinator), now_ms, event)


@dataclass(slots=True, kw_only=True)
class FencedGroup:
    """Coordinator, brokers and members of a group, and what members believe to consume."""

    coordinator: PushCoordinator
    members: Sequence[PushClient]
    believed: dict[int, TopicPartitions] = field(default_factory=dict)
    """Member's number -> what it would consume if all its fetches succeeded."""
    numbers: dict[str, int] = field(default_factory=dict)
    """Member id -> the number of the member whose process has it."""

    @classmethod
    def of(
        cls,
        scenario: Scenario,
        new_id: Callable[[str], str],
        draws: Callable[[MemberConfig], Callable[[str, int], int]],
    ) -> FencedGroup:
        """Return a group to which nothing has happened. Raises `ValueError` for its assignor."""
        broker, network = scenario.broker, scenario.network
        streams: dict[tuple[str, str], Dice] = {}

        def draw(entity: str, purpose: str, limit: int) -> int:
            dice = streams.setdefault((entity, purpose), stream(scenario.seed, entity, purpose))
            if purpose == "fetch":
                return dice.below(limit + 1)
            return network.least_us + exponential(dice, network.mean_us)

        coordinator = PushCoordinator(
            assignor=assignor_named(broker.assignor).configured(REPAIR),
            cluster=with_ids(Cluster.of(scenario.topics)),
            config=broker.push,
            new_id=new_id,
            draw=draw,
            max_size=broker.max_size,
        )
        members = [
            PushClient(config=config, push=broker.push, draw=draws(config))
            for config in scenario.members
        ]
        return cls(coordinator=coordinator, members=members)


def step_fenced_member(group: FencedGroup, number: int, event: MemberEvent) -> list[Effect]:
    """Return what a member does about an event: it consumes no more than brokers let it."""
    member = group.members[number]
    before = member.member_id
    effects = push_member.step(member, event)
    if member.member_id != before:
        group.numbers.pop(before, None)
        group.numbers[member.member_id] = number
    return [_allowed(group, number, each) for each in effects]


def step_fenced_coordinator(
    group: FencedGroup, at_us: int, event: CoordinatorEvent
) -> list[Effect]:
    """Return what the coordinator does, and for members with other rights what they consume."""
    out: list[Effect] = []
    for effect in push_coordinator.step(group.coordinator, at_us, event):
        if not isinstance(effect, RightsChanged):
            out.append(effect)
            continue
        number = group.numbers.get(effect.member_id)
        if number is not None:
            owned = _readable(group, effect.member_id, group.believed.get(number, {}))
            out.append(Restrict(group.members[number].config.name, owned, effect.reason))
    return out


def may_rest(group: FencedGroup, number: int) -> bool:
    """Return whether a member's heartbeats are answered with nothing new until `changes`."""
    client = group.members[number]
    member = group.coordinator.members.get(client.member_id)
    return (
        client.is_at_rest
        and member is not None
        and not member.removing
        and client.version == member.version
        and not group.coordinator.must_refresh  # the next heartbeat computes a target
    )


def has_refused(group: FencedGroup) -> bool:
    """Return whether a member believes to consume what brokers do not let it read.

    Cost: O(members fenced or expired), plus what they believe to consume.
    """
    fenced = group.coordinator.expired | group.coordinator.closed.keys()
    believed = {
        each: group.believed.get(group.numbers[each], {}) for each in fenced & group.numbers.keys()
    }
    return any(_readable(group, each, owned) != owned for each, owned in believed.items())


def standing(group: FencedGroup, number: int) -> int:
    """Return how many requests of a member wait at the coordinator until there is news."""
    member = group.coordinator.members.get(group.members[number].member_id)
    if member is None:
        return 0
    return (member.parked is not None) + (member.fetch is not None)


def _allowed(group: FencedGroup, number: int, effect: Effect) -> Effect:
    if not isinstance(effect, Consume):
        return effect
    group.believed[number] = effect.owned
    owned = _readable(group, group.members[number].member_id, effect.owned)
    return Consume(owned, effect.reason)


def _readable(group: FencedGroup, member_id: str, owned: TopicPartitions) -> TopicPartitions:
    """Return the part of `owned` that brokers let a member read. Cost: O(1) where it is all."""
    if member_id in group.coordinator.expired:
        return {}
    closed = group.coordinator.closed.get(member_id)
    if not closed:
        return owned
    kept = {
        topic: tuple(n for n in numbers if (topic, n) not in closed)
        for topic, numbers in owned.items()
    }
    return {topic: numbers for topic, numbers in kept.items() if numbers}
