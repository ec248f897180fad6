"""What the search has to know about coordinators and members."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from assignors.simulation.timed.protocols.effects import Effect, Reply
from assignors.simulation.timed.protocols.kafka.classic_group import ClassicGroup
from assignors.simulation.timed.protocols.kafka.state import GroupCoordinator
from assignors.simulation.timed.scenario import GroupProtocol
from assignors.simulation.timed.sides import MixedMember
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


def speaks_only(coordinator: GroupCoordinator, protocol: GroupProtocol) -> bool:
    """Return whether all members speak this protocol: the group never changes its kind."""
    return coordinator.config.protocols == {protocol}


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
