"""Small numbers for requests and appends, so that worlds are equal in which the same is open.

Only whether two numbers are the same is ever asked for, and whether a request is older than its
member's newest connection. So each member's open requests are numbered from 1 in their order, and
so are the appends. A request of a lost connection is no longer open once it has arrived and the
coordinator does not keep it: nobody will answer it.
"""

from __future__ import annotations

from functools import partial

from assignors.simulation.timed.explore.kinds import (
    clients_of,
    give_numbers,
    give_tokens,
    held_by,
)
from assignors.simulation.timed.explore.world import MEMBERS_MAX, Model, World, put
from assignors.simulation.timed.protocols.kafka.classic_member_state import ClassicMember
from assignors.simulation.timed.protocols.kafka.state import GroupCoordinator
from assignors.simulation.timed.protocols.state_values import cloned
from assignors.simulation.timed.threads.client import ClientThreads


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
