"""The two sides of a run in which members speak different protocols, or change theirs.

The members of each protocol are those of the groups that speak only that one, and so is what the
coordinator does for them; what is new is who converts the group, and when.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Callable, Sequence
from uuid import UUID

from assignors.model import Cluster
from assignors.simulation.timed.migration.member import MixedMember
from assignors.simulation.timed.protocols.kafka.state import ClassicCoordinator
from assignors.simulation.timed.protocols.kafka.classic_member_state import ClassicMember
from assignors.simulation.timed.protocols.kafka.consumer_member import ConsumerClient
from assignors.simulation.timed.protocols.kafka.coordinator import WaitingCoordinator
from assignors.simulation.timed.protocols.kafka.coordinator import MixedCoordinator
from assignors.simulation.timed.protocols.kafka.coordinator import step as coordinator_step
from assignors.simulation.timed.scenario import MIGRATING, GroupProtocol, Scenario
from assignors.simulation.timed.sides import (
    SIDES,
    AnyMember,
    Sides,
    classic_sides,
    consumer_sides,
    new_ids,
)


def sides_of(scenario: Scenario) -> Sides:
    """Return the sides of a scenario, mixed ones where it has members of both protocols.

    Raises `ValueError` for an unknown assignor, and for protocols that no group can have together.
    """
    spoken = scenario.protocols
    if len(spoken) == 1:
        return SIDES[min(spoken)](scenario)
    if not spoken <= MIGRATING:
        raise ValueError(f"no group has members of {', '.join(sorted(spoken))}")
    return mixed_sides(scenario)


def mixed_sides(scenario: Scenario) -> Sides:
    """Return a coordinator that migrates its group, and members that can speak both protocols."""
    # One source: a process that comes back with the other protocol has another id.
    new_id = new_ids(scenario.seed)
    by_kind = {GroupProtocol.CLASSIC: classic_sides(scenario, new_id)}
    by_kind[GroupProtocol.CONSUMER] = consumer_sides(scenario, new_id)
    classic, consumer = by_kind.values()
    assert isinstance(classic.coordinator, ClassicCoordinator)
    assert isinstance(consumer.coordinator, WaitingCoordinator)
    coordinator = MixedCoordinator(
        classic=classic.coordinator,
        waiting=consumer.coordinator,
        policy=scenario.broker.migration_policy,
        new_uuid=short_ids(new_id),
    )
    members = _members(scenario, classic.members, consumer.members)

    def speaker(number: int) -> Sides:
        return by_kind[members[number].protocol]

    def matches(number: int) -> tuple[str, ...]:
        found = speaker(number).matches
        return () if found is None else found(number)

    def group() -> Sides:
        return consumer if coordinator.consumer.exists else classic

    ended, last = 0, 0

    def generation() -> int:
        """Count on where a group begins anew, because one of the other kind had no members left."""
        nonlocal ended, last
        now = group().generation()
        ended, last = ended + (last if now < last else 0), now
        return ended + now

    def change_topics(cluster: Cluster) -> bool:
        consumer.change_topics(cluster)
        return classic.change_topics(cluster)

    def show_topics(number: int, cluster: Cluster) -> bool:
        must_rejoin = classic.show_topics(number, cluster)
        return must_rejoin and members[number].protocol is GroupProtocol.CLASSIC

    def choose_protocol(number: int, protocol: GroupProtocol) -> None:
        if not members[number].is_up:
            members[number].protocol = protocol

    return Sides(
        members=members,
        coordinator=coordinator,
        step_coordinator=lambda at_us, event: coordinator_step(coordinator, at_us, event),
        step_member=lambda number, event: speaker(number).step_member(number, event),
        change_topics=change_topics,
        show_topics=show_topics,
        generation=generation,
        is_rebalancing=lambda: group().is_rebalancing(),
        removed=lambda: classic.removed() + consumer.removed(),
        choose_protocol=choose_protocol,
        matches=matches,
    )


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


def _members(
    scenario: Scenario, classic: Sequence[AnyMember], consumer: Sequence[AnyMember]
) -> list[MixedMember]:
    members: list[MixedMember] = []
    for config, one, other in zip(scenario.members, classic, consumer, strict=True):
        assert isinstance(one, ClassicMember)
        assert isinstance(other, ConsumerClient)
        protocol = config.protocol or scenario.protocol
        members.append(MixedMember(classic=one, consumer=other, protocol=protocol))
    return members
