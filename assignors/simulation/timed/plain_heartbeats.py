"""What the classic and the consumer protocol know of heartbeats that say and change nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from assignors.simulation.timed.protocols.classic.coordinator_state import ClassicCoordinator
from assignors.simulation.timed.protocols.classic.group import ClassicGroup
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember
from assignors.simulation.timed.protocols.classic.messages import ErrorCode, HeartbeatResponse
from assignors.simulation.timed.protocols.classic.states import GroupState
from assignors.simulation.timed.protocols.consumer.coordinator_state import ConsumerCoordinator
from assignors.simulation.timed.protocols.consumer.group import STABLE, ConsumerGroup
from assignors.simulation.timed.protocols.consumer.member_state import ConsumerClient
from assignors.simulation.timed.protocols.consumer.messages import (
    ConsumerError,
    ConsumerHeartbeatResponse,
)
from assignors.simulation.timed.protocols.effects import MILLISECOND, Response
from assignors.simulation.timed.scenario import BrokerConfig


@dataclass(frozen=True, slots=True, kw_only=True)
class PlainHeartbeats:
    """What a protocol knows of heartbeats that say nothing and are answered with nothing new."""

    request: str
    """The name of their type."""
    may_rest: Callable[[int], bool]
    """Whether the next heartbeats of a member, by its number, are plain until `changes` differ."""
    changes: Callable[[], object]
    """What the coordinator has done that idle members may learn of: another value, another one."""
    timing: Callable[[int], tuple[str, int, int]]
    """A member's id, its heartbeat interval and its session timeout in microseconds."""
    answer: Callable[[int], Response]
    """A member's number -> what it is answered while it rests."""
    standing: Callable[[int], int] | None = None
    """How many requests of a member the coordinator keeps until it has news; `None`: never any."""


def classic_plain(
    coordinator: ClassicCoordinator, members: Sequence[ClassicMember]
) -> PlainHeartbeats:
    """Return what the classic protocol knows: a rebalance concerns everybody."""
    return PlainHeartbeats(
        request="Heartbeat",
        may_rest=lambda number: _classic_may_rest(members[number], coordinator.group),
        changes=lambda: coordinator.group.changes,
        timing=lambda number: (
            members[number].member_id,
            members[number].beat_us,
            members[number].config.session_timeout_ms * MILLISECOND,
        ),
        answer=lambda _: HeartbeatResponse(ErrorCode.NONE),
    )


def _classic_may_rest(member: ClassicMember, group: ClassicGroup) -> bool:
    """Return whether the heartbeats of a member are answered with nothing new."""
    return (
        member.is_at_rest
        and not member.times.wake_ms
        and group.state is not GroupState.PREPARING_REBALANCE
        and member.generation == group.generation
        and group.refusal(member.member_id, member.config.instance_id) is ErrorCode.NONE
    )


def consumer_plain(
    coordinator: ConsumerCoordinator, members: Sequence[ConsumerClient], broker: BrokerConfig
) -> PlainHeartbeats:
    """Return what the protocol of KIP-848 knows: another epoch concerns everybody."""
    return PlainHeartbeats(
        request="ConsumerHeartbeat",
        may_rest=lambda number: _consumer_may_rest(members[number], coordinator.group),
        changes=lambda: (
            coordinator.group.epoch,
            coordinator.group.target_epoch,
            coordinator.group.is_refresh_due,
            coordinator.target_changes,
        ),
        timing=lambda number: (
            members[number].member_id,
            members[number].beat_us,
            broker.consumer_session_timeout_ms * MILLISECOND,
        ),
        answer=lambda number: ConsumerHeartbeatResponse(
            ConsumerError.NONE, members[number].member_id, members[number].epoch
        ),
    )


def _consumer_may_rest(client: ConsumerClient, group: ConsumerGroup) -> bool:
    """Return whether a member has nothing to say, and its heartbeats are answered so."""
    if not client.epoch == group.target_epoch == group.epoch:
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
