"""The sides of a run in which some members have a `client_model`.

All of a run's heartbeats are queued then: when one leaves depends on the threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from assignors.simulation.timed.processing import Processing
from assignors.simulation.timed.protocols.effects import (
    Effect,
    MemberEvent,
)
from assignors.simulation.timed.protocols.kafka.classic_member import ClassicMember
from assignors.simulation.timed.protocols.kafka.consumer_member import ConsumerClient
from assignors.simulation.timed.protocols.kafka.offsets_client import OffsetsClient
from assignors.simulation.timed.random_streams import stream
from assignors.simulation.timed.scenario import MemberConfig, Scenario
from assignors.simulation.timed.sides import MixedMember, Sides
from assignors.simulation.timed.threads.client import ClientThreads, step_threads
from assignors.simulation.timed.threads.duties import BY_NAME


def sides_with_threads(
    scenario: Scenario, sides: Sides, processing: Processing | None, now: Callable[[], int]
) -> Sides:
    """Return the sides with the threads of each member that has a `client_model`.

    `now` returns the time in microseconds. Cost: O(members); a run then has an event for every
    heartbeat.
    """
    threads: dict[int, ClientThreads] = {}
    for number, config in enumerate(scenario.members):
        member = sides.members[number]
        if config.client_model is None:
            continue
        if not isinstance(member, ClassicMember | ConsumerClient | MixedMember):
            continue  # it is in no group, or in one of the push protocol
        threads[number] = found = ClientThreads(
            model=BY_NAME[config.client_model],
            member=member,
            offsets=partial(_offsets, processing, number),
            poll_us=config.by_its_clock(config.poll_ms),
        )
        for client in _clients(member):
            client.draw = _draws_polls(found, client.draw)
    if not threads:
        return sides

    def step_member(number: int, event: MemberEvent) -> list[Effect]:
        step = partial(sides.step_member, number)
        own = threads.get(number)
        if own is None:
            return step(event)
        phase = partial(_phase, scenario, scenario.members[number], now)
        return step_threads(own, step, event, now_us=now(), phase=phase)

    return replace(sides, step_member=step_member, plain=None)


def _offsets(processing: Processing | None, number: int) -> OffsetsClient | None:
    return None if processing is None else processing.clients[number]


def _clients(
    member: ClassicMember | ConsumerClient | MixedMember,
) -> tuple[ClassicMember | ConsumerClient, ...]:
    return (member.classic, member.consumer) if isinstance(member, MixedMember) else (member,)


def _draws_polls(own: ClientThreads, draw: Callable[[str, int], int]) -> Callable[[str, int], int]:
    """Return a member's times: polls come when its application polls, others are drawn."""
    return lambda purpose, limit: own.until_poll_us() if purpose == "poll" else draw(purpose, limit)


def _phase(scenario: Scenario, config: MemberConfig, now: Callable[[], int]) -> int:
    """Return how long before its start an application would have polled."""
    period = config.by_its_clock(config.poll_ms)
    return stream(scenario.seed, config.name, f"polls {now()}").below(period) if period else 0
