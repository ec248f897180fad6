"""The sides of a run in which some members have a `client_model`.

All of a run's heartbeats are queued then: when one leaves depends on the threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from assignors.simulation.timed.migration.member import MixedMember
from assignors.simulation.timed.processing.offsets_sides import Processing
from assignors.simulation.timed.protocols.kafka.classic_member_state import ClassicMember
from assignors.simulation.timed.protocols.kafka.consumer_member import ConsumerClient
from assignors.simulation.timed.protocols.effects import (
    Cancel,
    Command,
    Disturbance,
    Disturbed,
    Effect,
    Fired,
    MemberEvent,
    Schedule,
)
from assignors.simulation.timed.protocols.kafka.offsets_client import OffsetsClient
from assignors.simulation.timed.random_streams import stream
from assignors.simulation.timed.scenario import MemberConfig, Scenario
from assignors.simulation.timed.sides import Sides
from assignors.simulation.timed.threads.client import (
    COMPUTED,
    LIMIT,
    TURN,
    ClientThreads,
    limit_effects,
)
from assignors.simulation.timed.threads.duties import BY_NAME, POLLS, order_in_poll

Step = Callable[[MemberEvent], list[Effect]]


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
            now=now,
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
        return _stepped(own, step, event, partial(_phase, scenario, scenario.members[number], now))

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


def _stepped(
    own: ClientThreads, step: Step, event: MemberEvent, phase: Callable[[], int]
) -> list[Effect]:
    """Do what the threads of a client do about an event. Cost: that of the events they handle."""
    if event is Command.START and not own.client.is_up:
        own.start(phase())
    was_busy, was_free = own.is_busy, own.is_other_free
    out: list[Effect] = []
    match event:
        case Disturbed(Disturbance.STALLED_THREAD, by_us):
            own.is_stalled = by_us > 0
        case Fired(key) if key == TURN:
            own.polled_us = own.now()
            out += _polled(own, step)
        case Fired(key) if key == LIMIT:
            out += _callback_ended(own, step)
        case _ if late := own.notices_late(event):
            out += late
        case _ if not own.waits(event):
            out += _one(own, step, event)
    out += _callback_ended(own, step) if own.is_answered else []
    if own.is_other_free and not was_free:
        out += _resumed(own, step)
        out += _callback_ended(own, step) if own.is_answered else []
    if was_busy and not own.is_busy:
        own.polled_us = own.now()
        out += _polled(own, step)
    if not own.client.is_up:
        own.forget()
    return out + _turns(own)


def _one(own: ClientThreads, step: Step, event: MemberEvent) -> list[Effect]:
    """Handle one event, unless it is the end of a callback that waits for its commit."""
    if own.must_wait_for_commit(event):
        assert isinstance(event, Fired)
        own.ending = event
        return limit_effects()
    if isinstance(event, Fired) and event.key == COMPUTED:
        own.is_computing = False
    was_in_poll = own.is_in_poll
    own.is_in_poll |= isinstance(event, Fired) and event.key[0] in POLLS
    out = own.arranged(event, step(event))
    own.is_in_poll = was_in_poll
    return out


def _polled(own: ClientThreads, step: Step) -> list[Effect]:
    """Handle in a call of `poll` what waits for one, in the order of the model's duties."""
    out: list[Effect] = []
    own.is_in_poll = True
    waiting = sorted(own.for_poll, key=partial(order_in_poll, own.model))
    own.for_poll = waiting
    while own.for_poll and not own.is_busy:
        out += _one(own, step, own.for_poll.pop(0))
    own.is_in_poll = False
    return out


def _resumed(own: ClientThreads, step: Step) -> list[Effect]:
    """Let the client's own thread go on: it sends what waits, then it handles what has come."""
    out: list[Effect] = [*own.unsent]
    own.unsent = []
    while own.for_other and own.is_other_free:
        out += _one(own, step, own.for_other.pop(0))
    return out


def _callback_ended(own: ClientThreads, step: Step) -> list[Effect]:
    """End a callback: its commit is answered, or has waited for as long as it may."""
    event, own.ending = own.ending, None
    if event is None:
        return []
    own.is_in_poll = True
    out = own.arranged(event, step(event))
    own.is_in_poll = False
    return [Cancel(LIMIT), *out]


def _turns(own: ClientThreads) -> list[Effect]:
    """Return the timer of the next poll, where something waits for it."""
    if not own.for_poll or own.is_busy:
        return [Cancel(TURN)]
    return [Schedule(TURN, own.until_poll_us())]
