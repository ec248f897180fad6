"""What the search has to know about each kind of coordinator and member."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from assignors.simulation.timed.migration.member import MixedMember
from assignors.simulation.timed.protocols.classic.coordinator_state import ClassicCoordinator
from assignors.simulation.timed.protocols.classic.group import ClassicGroup
from assignors.simulation.timed.protocols.consumer.step import WaitingCoordinator
from assignors.simulation.timed.protocols.effects import Effect, Reply
from assignors.simulation.timed.protocols.mixed.coordinator import MixedCoordinator
from assignors.simulation.timed.threads.client import ClientThreads


def unthreaded(member: Any) -> Any:  # noqa: ANN401 - of any protocol
    """Return the member of a protocol, which may have threads around it."""
    return member.member if isinstance(member, ClientThreads) else member


def held_by(member: object) -> frozenset[int]:
    """Return the numbers of requests and answers that wait for a thread of their client."""
    return member.held if isinstance(member, ClientThreads) else frozenset()


def has_work(member: object) -> bool:
    """Return whether something waits for a thread of a client."""
    return isinstance(member, ClientThreads) and member.has_work


def clients_of(member: Any) -> tuple[Any, ...]:  # noqa: ANN401 - of any protocol
    """Return the clients of a member: of one that may change its protocol those of both."""
    member = unthreaded(member)
    return (member.classic, member.consumer) if isinstance(member, MixedMember) else (member,)


def classic_of(coordinator: object) -> ClassicCoordinator | None:
    """Return the part of a coordinator that a classic group has, if it may have one."""
    if isinstance(coordinator, MixedCoordinator):
        return coordinator.classic
    return coordinator if isinstance(coordinator, ClassicCoordinator) else None


def classic_group_of(coordinator: object) -> ClassicGroup | None:
    """Return the classic group of a coordinator, if it is of a kind that has one."""
    classic = classic_of(coordinator)
    return None if classic is None else classic.group


def _consumer_of(coordinator: object) -> WaitingCoordinator | None:
    if isinstance(coordinator, MixedCoordinator):
        return coordinator.waiting
    return coordinator if isinstance(coordinator, WaitingCoordinator) else None


def count_from(coordinator: object, token: int) -> None:
    """Let the next append have the token after this one; `coordinator` changes in place."""
    own = token // 2 if isinstance(coordinator, MixedCoordinator) else token
    for part in (classic_of(coordinator), _consumer_of(coordinator)):
        if part is not None:
            part.tokens = own


def smallest_tokens(coordinator: object, appends: tuple[int, ...]) -> tuple[int, ...]:
    """Return the tokens that these appends have at least: 1, 2, 3 and so on.

    Those of a group that may change its kind say of which kind it was: they are even or odd.
    """
    if isinstance(coordinator, MixedCoordinator):
        return tuple(2 * place + token % 2 for place, token in enumerate(appends, 1))
    return tuple(range(1, len(appends) + 1))


def give_tokens(coordinator: object, numbers: Mapping[int, int]) -> None:
    """Give appends on their way other tokens; `coordinator` changes in place."""
    classic, consumer = classic_of(coordinator), _consumer_of(coordinator)
    if isinstance(coordinator, MixedCoordinator):
        halves = [
            {one // 2: other // 2 for one, other in numbers.items() if one % 2 == kind}
            for kind in (0, 1)
        ]
    else:
        halves = [dict(numbers)] * 2
    if classic is not None:
        classic.appends = {halves[0][token]: each for token, each in classic.appends.items()}
    if consumer is not None:
        consumer.waiting = {halves[1][token]: each for token, each in consumer.waiting.items()}


def awaited_numbers(coordinator: object) -> Iterator[int]:
    """Yield the numbers of the requests that a coordinator has yet to answer."""
    group, consumer = classic_group_of(coordinator), _consumer_of(coordinator)
    for member in () if group is None else group.members.values():
        for number in (member.waiting_join, member.waiting_sync):
            if number is not None:
                yield number
    classic = classic_of(coordinator)
    for append in () if classic is None else classic.appends.values():
        if append.left is not None:
            yield append.left
    for effects in () if consumer is None else consumer.waiting.values():
        for each in effects:
            if isinstance(each, Reply):
                yield each.number


def give_numbers(coordinator: object, number_of: Callable[[int], int]) -> None:
    """Give requests that wait for an answer other numbers; `coordinator` changes in place."""
    group, consumer = classic_group_of(coordinator), _consumer_of(coordinator)
    for member in () if group is None else group.members.values():
        if member.waiting_join is not None:
            member.waiting_join = number_of(member.waiting_join)
        if member.waiting_sync is not None:
            member.waiting_sync = number_of(member.waiting_sync)
    classic = classic_of(coordinator)
    if classic is not None:
        classic.appends = {
            token: each if each.left is None else replace(each, left=number_of(each.left))
            for token, each in classic.appends.items()
        }
    if consumer is not None:
        consumer.waiting = {
            token: [_numbered(each, number_of) for each in effects]
            for token, effects in consumer.waiting.items()
        }


def _numbered(effect: Effect, number_of: Callable[[int], int]) -> Effect:
    return effect._replace(number=number_of(effect.number)) if isinstance(effect, Reply) else effect
