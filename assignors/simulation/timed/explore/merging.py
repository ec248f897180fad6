"""One form for states that no later step and no monitor tells apart, and small numbers.

Counters that only a run reads are taken out of a state: worlds that differ in nothing else are one.
What stands for a process that has ended for good is that of one that never began. Every step and
every monitor does the same in both worlds, so a search that visits one of them has visited the
other.

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
from typing import Any

from assignors.simulation.timed.explore.world import (
    MEMBERS_MAX,
    Model,
    World,
    clients_of,
    held_by,
    put,
)
from assignors.simulation.timed.protocols.effects import Effect, Reply
from assignors.simulation.timed.protocols.kafka.classic_group import (
    ClassicGroup,
)
from assignors.simulation.timed.protocols.kafka.classic_member import (
    ClassicMember,
)
from assignors.simulation.timed.protocols.kafka.consumer_member import ConsumerClient
from assignors.simulation.timed.protocols.kafka.state import GroupCoordinator
from assignors.simulation.timed.protocols.state_values import cloned
from assignors.simulation.timed.threads.client import ClientThreads


def merge_member(state: Any) -> None:  # noqa: ANN401 - of any protocol
    """Take out what a member's own later steps do not read; `state` changes in place."""
    if isinstance(state, ClientThreads) and not state.client.is_up:
        state.is_in_poll = state.is_computing = state.is_waking = False
    for client in clients_of(state):
        if isinstance(client, ConsumerClient):
            _merge_consumer(client)


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
    elif group is not None:
        group.removed = []
        _ = group.is_homogeneous  # it is kept from now on
        if group.refreshed_in <= group.epoch:
            group.refreshed_in = 0


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
