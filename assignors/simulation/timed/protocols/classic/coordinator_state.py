"""The coordinator's side of a classic group: its state, and the effects it asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from assignors.simulation.timed.protocols.classic.group import ClassicGroup, GroupMember
from assignors.simulation.timed.protocols.classic.messages import (
    GroupRecord,
    JoinGroupResponse,
    LeaveGroupResponse,
    RecordedMember,
    SyncGroupResponse,
)
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Append,
    Effect,
    Reply,
    Schedule,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassicConfig:
    """The broker's settings for classic groups."""

    initial_delay_ms: int = 3000
    """`group.initial.rebalance.delay.ms`: how long the first members wait for more."""
    max_size: int = 2**31 - 1
    """`group.max.size`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingAppend:
    """An append that is not replicated yet: of a plan, or of a static member that came back."""

    generation: int
    plan: dict[str, bytes] | None = None
    returned: str | None = None
    replaced: GroupMember | None = None
    """The static member in whose place it came: that is back if this is not written."""
    supports: tuple[str, ...] = ()
    """The protocols that it came with."""
    skips_assignment: bool = True
    """Whether it hears that it leads, if it does (`SKIPS_ASSIGNMENT`)."""
    left: int | None = None
    """The LeaveGroup that led to it, and is answered then: the last member has left."""
    made_by: int | None = None
    """The JoinGroup that made the group, which is gone if this is not written."""


@dataclass(slots=True, kw_only=True)
class ClassicCoordinator:
    """The state of the coordinator's side: the group, and what waits for the log."""

    new_id: Callable[[str], str]
    """Client or instance id -> a member id that nobody has had."""
    config: ClassicConfig = field(default_factory=ClassicConfig)
    group: ClassicGroup = field(default_factory=ClassicGroup)
    exists: bool = False
    """Whether anybody has ever joined."""
    appends: dict[int, WaitingAppend] = field(default_factory=dict)
    """What happens once a record is replicated, by the token of its append."""
    is_behind: bool = False
    """Whether the last record was not written: what the log says is not what the group is."""
    tokens: int = 0
    out: list[Effect] = field(default_factory=list)
    """The effects of the step that runs."""


def reply(
    state: ClassicCoordinator,
    number: int,
    response: JoinGroupResponse | SyncGroupResponse | LeaveGroupResponse,
) -> None:
    """Answer a request."""
    state.out.append(Reply(number, response))


def answer_join(
    state: ClassicCoordinator, member: GroupMember, response: JoinGroupResponse
) -> None:
    """Answer the JoinGroup of a member, if one waits."""
    if member.waiting_join is not None:
        reply(state, member.waiting_join, response)
        member.waiting_join = None
        if member.member_id in state.group.members:
            state.group.joins_waiting -= 1


def answer_sync(
    state: ClassicCoordinator, member: GroupMember, response: SyncGroupResponse
) -> bool:
    """Answer the SyncGroup of a member; return whether one waited."""
    if member.waiting_sync is None:
        return False
    reply(state, member.waiting_sync, response)
    member.waiting_sync = None
    return True


def start(state: ClassicCoordinator, key: tuple[str, ...], after_ms: int, data: int = 0) -> None:
    """Start a timer, in place of the one of this key."""
    state.out.append(Schedule(key, after_ms * MILLISECOND, data))


def append(state: ClassicCoordinator, waiting: WaitingAppend, plan: dict[str, bytes]) -> None:
    """Write the group with these assignments; `waiting` is what follows."""
    state.tokens += 1
    state.appends[state.tokens] = waiting
    state.out.append(Append((record_of(state.group, plan),), state.tokens))


def record_of(group: ClassicGroup, plan: Mapping[str, bytes]) -> GroupRecord:
    """Return the record of a group with these assignments, member id -> bytes."""
    protocol = group.protocol
    members: tuple[RecordedMember, ...] = ()
    if protocol is not None:
        members = tuple(
            RecordedMember(
                each.member_id,
                each.instance_id,
                each.client_id,
                each.session_timeout_ms,
                each.rebalance_timeout_ms,
                each.metadata(protocol),
                plan.get(each.member_id, b""),
            )
            for each in group.in_order()
        )
    leader = None if protocol is None else group.leader
    is_just_made = not group.generation and not members
    kind = None if is_just_made else group.protocol_type
    return GroupRecord(group.generation, kind, protocol, leader, members)
