"""What no later step reads, taken out of states: worlds that differ in nothing else are one.

A state that a step has led to is brought into one form. What stands for a process that has ended
for good is that of one that never began. None of it is an abstraction: every step and every monitor
does the same in both worlds, so a search that visits one of them has visited the other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from assignors.leader import Memory
from assignors.membership import Membership
from assignors.simulation.timed.explore.kinds import clients_of, speaks_only
from assignors.simulation.timed.explore.numbers import renumbered
from assignors.simulation.timed.explore.world import Model, World
from assignors.simulation.timed.monitors.coordinators import GROUP
from assignors.simulation.timed.protocols.effects import Append, Effect, TimerKey
from assignors.simulation.timed.protocols.kafka.classic_group import (
    SESSION,
    ClassicGroup,
    GroupMember,
    GroupState,
)
from assignors.simulation.timed.protocols.kafka.classic_member_state import (
    ClassicMember,
    MemberState,
)
from assignors.simulation.timed.protocols.kafka.consumer_group import ConsumerMember
from assignors.simulation.timed.protocols.kafka.consumer_member import ConsumerClient
from assignors.simulation.timed.protocols.kafka.records import CurrentRecord, EpochsByPartition
from assignors.simulation.timed.protocols.kafka.state import GroupCoordinator
from assignors.simulation.timed.scenario import GroupProtocol
from assignors.simulation.timed.threads.client import ClientThreads
from wire import Subscription

OLD: tuple[Any, ...] = (-1, None, None, {})
"""Stands for the record of a generation that is over: the next one takes its place before anything
is compared with it."""
Held = TypeVar("Held", ConsumerMember, CurrentRecord)
AMID_A_ROUND = (GroupState.PREPARING_REBALANCE, GroupState.COMPLETING_REBALANCE)


def merge_member(state: Any) -> None:  # noqa: ANN401 - of any protocol
    """Take out what a member's own later steps do not read; `state` changes in place."""
    if isinstance(state, ClientThreads) and not state.client.is_up:
        state.is_in_poll = state.is_computing = state.is_waking = False
    for client in clients_of(state):
        if isinstance(client, ConsumerClient):
            _merge_consumer(client)
        elif client.config.instance_id is None:
            _merge_classic(client)


def _merge_consumer(state: ConsumerClient) -> None:
    """Count the assignments of a KIP-848 member with small numbers; 0 stays that of none.

    Only whether two of them are the same is ever asked for, and a new one is above them all. That
    of an assignment on the way counts while the member is on its way.
    """
    if state.going_for is None:
        state.going_number = state.confirmed_number
    numbers = sorted({0, state.confirmed_number, state.going_number, state.target_number})
    state.confirmed_number = numbers.index(state.confirmed_number)
    state.going_number = numbers.index(state.going_number)
    state.target_number = numbers.index(state.target_number)


def _merge_classic(state: ClassicMember) -> None:
    """Forget what a dynamic member keeps so as not to compute it again, and what is over.

    That it leads counts until it has its assignment; a plan of the leader only for the next round.
    """
    state.assignment_bytes, state.assignment_read = None, {}
    if state.state is not MemberState.SYNCING:
        state.is_leader = state.must_follow_up = False
    memory = state.memory
    if memory.generation is not None and memory.generation + 1 < state.generation:
        state.memory = Memory(state=memory.state, followed=memory.followed)
    state.memberships = tuple(_few_repeats(each) for each in state.memberships)


def _few_repeats(membership: Membership) -> Membership:
    """Return a membership that counts repeated joins as far as anything depends on it."""
    written = membership.written
    if membership.repeats < 2 or written is None:
        return membership
    return replace(membership, repeats=2, written=Subscription(version=written.version))


def merge_coordinator(state: Any) -> None:  # noqa: ANN401 - of any protocol
    """Drop what a coordinator keeps for a run alone, or keeps so as not to compute it again.

    A run asks who was removed, who has news and how often something has changed, which nobody does
    here. `state` changes in place.
    """
    if not isinstance(state, GroupCoordinator):
        return
    state.target_changes, state.unwritten, state.upgraded = 0, {}, {}
    group = state.group
    if isinstance(group, ClassicGroup):
        group.removed, group.changes = [], 0
        # What members of a classic group have said counts in a consumer group made of it.
        if speaks_only(state, GroupProtocol.CLASSIC) and not group.static_ids:
            _merge_members(group)
    elif group is not None:
        group.removed = []
        _ = group.is_homogeneous  # it is kept from now on
        if group.refreshed_in <= group.epoch:
            group.refreshed_in = 0
        if speaks_only(state, GroupProtocol.CONSUMER):
            group.members = {name: _without_epochs(each) for name, each in group.members.items()}


def merge_effect(state: Any, effect: Effect) -> Effect:  # noqa: ANN401 - of any protocol
    """Return an effect of a coordinator's step with its records as the state has it."""
    if not isinstance(state, GroupCoordinator) or not isinstance(effect, Append):
        return effect
    if not speaks_only(state, GroupProtocol.CONSUMER):
        return effect
    records = [
        _without_epochs(each) if isinstance(each, CurrentRecord) else each
        for each in effect.records
    ]
    return effect._replace(records=tuple(records))


def _without_epochs(held: Held) -> Held:
    """Forget in which epoch a member got each partition: commits ask for it, and nobody commits.

    Not where the group may change its kind: then records of the other one are made of that.
    """
    return held._replace(assigned=_of_no_epoch(held.assigned), revoking=_of_no_epoch(held.revoking))


def _of_no_epoch(partitions: EpochsByPartition) -> EpochsByPartition:
    return {topic: dict.fromkeys(numbers, 0) for topic, numbers in partitions.items()}


def _merge_members(group: ClassicGroup) -> None:
    """Forget Subscriptions that are replaced before they are read, and assignments likewise.

    A dynamic member that has yet to join again does so with another one, or is removed. The leader
    of a stable group begins a round whatever it joins with.
    """
    for member in group.members.values():
        if group.state in AMID_A_ROUND:
            member.assignment = b""
        is_late = group.state is GroupState.PREPARING_REBALANCE and member.waiting_join is None
        is_leader = group.state is GroupState.STABLE and group.leader == member.member_id
        if is_late or is_leader:
            member.protocols = tuple(each._replace(metadata=b"") for each in member.protocols)


def merge_world(model: Model, world: World) -> World:
    """Return the world with small numbers, and without timers that do nothing when they run out."""
    coordinator = model.coordinators.values[world.coordinator]
    group = coordinator.group if isinstance(coordinator, GroupCoordinator) else None
    if isinstance(group, ClassicGroup) and speaks_only(coordinator, GroupProtocol.CLASSIC):
        timers = frozenset(each for each in world.timers if not _does_nothing(group, *each))
        written = model.logs.values[world.log].get(GROUP)
        is_old = written is not None and written[0] < group.generation
        log = model.logs.number_of({GROUP: OLD}) if is_old else world.log
        world = world._replace(timers=timers, log=log)
    return renumbered(model, world)


def _does_nothing(group: ClassicGroup, key: TimerKey, data: int) -> bool:
    """Return whether nothing happens when a timer runs out, whatever happens before.

    The session of a dynamic member that waits for an answer starts anew with the answer.
    """
    if key[0] == "sync":
        return not group.pending_syncs or data != group.generation
    member = group.members.get(key[-1]) if key[0] == SESSION else None
    return member is not None and not member.is_new and _waits(member)


def _waits(member: GroupMember) -> bool:
    is_waiting = member.waiting_join is not None or member.waiting_sync is not None
    return is_waiting and member.instance_id is None
