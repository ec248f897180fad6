"""One form for states that no later step and no monitor tells apart, and small numbers.

What no later step reads is taken out of a state: worlds that differ in nothing else are one. What
stands for a process that has ended for good is that of one that never began. None of it is an
abstraction: every step and every monitor does the same in both worlds, so a search that visits one
of them has visited the other.

Requests and appends get small numbers, so that worlds are equal in which the same is open. Only
whether two numbers are the same is ever asked for, and whether a request is older than its member's
newest connection. So each member's open requests are numbered from 1 in their order, and so are the
appends. A request of a lost connection is no longer open once it has arrived and the coordinator
does not keep it: nobody will answer it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from assignors.leader import Memory
from assignors.membership import Membership
from assignors.simulation.timed.explore.world import (
    MEMBERS_MAX,
    Model,
    World,
    clients_of,
    held_by,
    put,
    speaks_only,
)
from assignors.simulation.timed.monitors.coordinators import GROUP
from assignors.simulation.timed.protocols.effects import Append, Effect, Reply, TimerKey
from assignors.simulation.timed.protocols.kafka.classic_group import (
    SESSION,
    ClassicGroup,
    GroupMember,
    GroupState,
)
from assignors.simulation.timed.protocols.kafka.classic_member import (
    ClassicMember,
    MemberState,
)
from assignors.simulation.timed.protocols.kafka.consumer_group import ConsumerMember
from assignors.simulation.timed.protocols.kafka.consumer_member import ConsumerClient
from assignors.simulation.timed.protocols.kafka.records import CurrentRecord, EpochsByPartition
from assignors.simulation.timed.protocols.kafka.state import GroupCoordinator
from assignors.simulation.timed.protocols.state_values import cloned
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


def renumbered(model: Model, world: World) -> World:
    """Return the world with the smallest numbers. Cost: O(members), if it has them already."""
    coordinator = model.coordinators.values[world.coordinator]
    for member, numbers in enumerate(world.open):
        gone = _given_up(model, coordinator, world, member)
        if gone or max(numbers, default=0) > len(numbers):
            kept = sorted(numbers - gone)
            world = _with_requests(
                model, world, member, {own: number for number, own in enumerate(kept, 1)}
            )
    smallest = tuple(range(1, len(world.appends) + 1))
    return world if world.appends == smallest else _with_appends(model, world, smallest)


def _given_up(
    model: Model, coordinator: GroupCoordinator, world: World, member: int
) -> frozenset[int]:
    """Return the requests of lost connections that nobody will answer any more."""
    dead = world.dead[member] - held_by(model.members.values[world.members[member]])
    if not dead:
        return dead
    on_way = {own for own, _ in world.requests[member]}
    waiting = {
        number // MEMBERS_MAX for number in coordinator.awaited() if number % MEMBERS_MAX == member
    }
    return dead - on_way - waiting


def _with_requests(model: Model, world: World, member: int, numbers: dict[int, int]) -> World:
    """Return the world with other numbers for a member's requests; what has none is given up."""
    key = (world.coordinator, member, tuple(numbers.items()))
    coordinator = model.renumbered.get(key)
    if coordinator is None:
        state = cloned(model.coordinators.values[world.coordinator])
        give_numbers(state, partial(_new_number, member, numbers))
        coordinator = model.renumbered[key] = model.coordinators.number_of(state)
    state = cloned(model.members.values[world.members[member]])
    for client in clients_of(state):
        if isinstance(client, ClassicMember):
            client.awaited = numbers.get(client.awaited, 0)
            client.reconnected_at = sum(each <= client.reconnected_at for each in numbers)
        else:
            client.in_flight = numbers.get(client.in_flight)
    if isinstance(state, ClientThreads):
        state.renumber(numbers)
    return world._replace(
        coordinator=coordinator,
        members=put(world.members, member, model.members.number_of(state)),
        requests=put(
            world.requests,
            member,
            tuple((numbers[own], message) for own, message in world.requests[member]),
        ),
        answers=put(
            world.answers,
            member,
            tuple((numbers[own], message) for own, message in world.answers[member]),
        ),
        open=put(world.open, member, frozenset(numbers.values())),
        dead=put(
            world.dead,
            member,
            frozenset(numbers[each] for each in world.dead[member] if each in numbers),
        ),
    )


def _new_number(member: int, numbers: dict[int, int], number: int) -> int:
    if number % MEMBERS_MAX != member:
        return number
    return numbers[number // MEMBERS_MAX] * MEMBERS_MAX + member


def _with_appends(model: Model, world: World, smallest: tuple[int, ...]) -> World:
    """Return the world with other tokens for its appends."""
    numbers = dict(zip(world.appends, smallest, strict=True))
    key = (world.coordinator, -1, world.appends)
    coordinator = model.renumbered.get(key)
    if coordinator is None:
        state = cloned(model.coordinators.values[world.coordinator])
        give_tokens(state, numbers)
        coordinator = model.renumbered[key] = model.coordinators.number_of(state)
    return world._replace(
        coordinator=coordinator,
        appends=smallest,
        tail=tuple((numbers[token], records) for token, records in world.tail),
    )


def give_tokens(coordinator: GroupCoordinator, numbers: Mapping[int, int]) -> None:
    """Give appends on their way other tokens; `coordinator` changes in place."""
    coordinator.appends = {numbers[token]: each for token, each in coordinator.appends.items()}
    coordinator.waiting = {numbers[token]: each for token, each in coordinator.waiting.items()}


def give_numbers(coordinator: GroupCoordinator, number_of: Callable[[int], int]) -> None:
    """Give requests that wait for an answer other numbers; `coordinator` changes in place."""
    if isinstance(coordinator.group, ClassicGroup):
        for member in coordinator.group.members.values():
            if member.waiting_join is not None:
                member.waiting_join = number_of(member.waiting_join)
            if member.waiting_sync is not None:
                member.waiting_sync = number_of(member.waiting_sync)
    coordinator.appends = {
        token: each if each.left is None else replace(each, left=number_of(each.left))
        for token, each in coordinator.appends.items()
    }
    coordinator.waiting = {
        token: [_numbered(each, number_of) for each in effects]
        for token, effects in coordinator.waiting.items()
    }


def _numbered(effect: Effect, number_of: Callable[[int], int]) -> Effect:
    return effect._replace(number=number_of(effect.number)) if isinstance(effect, Reply) else effect
