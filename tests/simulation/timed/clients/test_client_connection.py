"""The background thread's states: each is reached and left, one look-up at a time, events kept."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from assignors.simulation.timed.clients import connection
from assignors.simulation.timed.clients.connection import (
    NEXT,
    Done,
    Keeping,
    Life,
    LookUp,
    Signal,
    Stepped,
    Thread,
    Wanted,
    may_take,
    put,
    signalled,
    take,
)
from assignors.simulation.timed.clients.search import Explored, Move, explore

EVENTS = (
    Wanted(1, needs_coordinator=True),
    Wanted(2, needs_coordinator=False),
    Wanted(3, needs_coordinator=True),
)


class World(NamedTuple):
    """The thread, what the application will ask for, look-ups in flight, and what is done."""

    thread: Thread = Thread()
    coming: tuple[Wanted, ...] = EVENTS
    looking: int = 0
    done: tuple[Done, ...] = ()
    faults: int = 0
    is_closed: bool = False


def moves(keeping: Keeping, world: World, *, closes: bool) -> Iterator[Move[World]]:
    """Everything that may happen next; failures and disconnections twice at most."""
    thread = world.thread
    if world.coming:
        first, *rest = world.coming
        waiting = world._replace(thread=put(thread, first), coming=tuple(rest))
        yield Move(f"application: event {first.number}", waiting)
    if may_take(keeping, thread):
        yield after(world, "loop: takes an event", take(keeping, thread))
    for signal in Signal:
        is_answer = signal in {Signal.FOUND, Signal.NOT_FOUND}
        is_fault = signal in {Signal.NOT_FOUND, Signal.DISCONNECTED}
        if (
            (thread.life, signal) not in NEXT
            or signal is Signal.NEED
            or (is_answer and not world.looking)
            or (is_fault and world.faults == 2)
            or (signal is Signal.START and world.is_closed)
            or (signal is Signal.CLOSE and not (closes and not world.coming))
        ):
            continue
        made = world._replace(
            looking=world.looking - is_answer if signal is not Signal.CLOSE else 0,
            faults=world.faults + is_fault,
            is_closed=world.is_closed or signal is Signal.CLOSE,
        )
        is_fault = is_fault or signal is Signal.CLOSE
        yield after(
            made, f"{signal}", connection.signalled(keeping, thread, signal), is_fault=is_fault
        )


def after(world: World, line: str, stepped: Stepped, *, is_fault: bool = False) -> Move[World]:
    """The world after a step of the thread, and the rules that it violates."""
    thread, effects = stepped
    found = list[str]()
    made = world._replace(thread=thread)
    for effect in effects:
        if isinstance(effect, LookUp):
            made = made._replace(looking=made.looking + 1)
            if made.looking > 1:
                found.append("one-look-up")
            continue
        if effect.number in {each.number for each in made.done}:
            found.append("done-once")
        made = made._replace(done=(*made.done, effect))
    return Move(f"{line} -> {thread.life}", made, tuple(found), is_fault)


def exhausted(keeping: Keeping, *, closes: bool = False) -> Explored[World]:
    """Every order of events, answers, failures and disconnections."""
    return explore(
        World(),
        lambda world: moves(keeping, world, closes=closes),
        lambda world: len(world.done) == len(EVENTS),
    )


def reached_from(start: Life) -> set[Life]:
    """The states that the table leads to."""
    reached = {start}
    while more := {to for (of, _), to in NEXT.items() if of in reached} - reached:
        reached |= more
    return reached


@pytest.mark.parametrize("life", Life)
def test_every_state_leads_to_every_other(life: Life) -> None:
    assert reached_from(life) == set(Life)


@pytest.mark.parametrize("closes", [False, True])
@pytest.mark.parametrize("keeping", Keeping)
def test_one_look_up_at_a_time_and_every_event_is_done_once(
    keeping: Keeping, *, closes: bool
) -> None:
    found = exhausted(keeping, closes=closes)
    assert (found.broken, found.stuck_first) == ({}, ())


def test_every_row_of_the_table_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    used = set[tuple[Life, Signal]]()

    def seen(keeping: Keeping, thread: Thread, signal: Signal) -> Stepped:
        used.add((thread.life, signal))
        return signalled(keeping, thread, signal)

    monkeypatch.setattr(connection, "signalled", seen)
    for keeping in Keeping:
        exhausted(keeping, closes=True)
    assert used == set(NEXT)


@pytest.mark.parametrize(
    ("keeping", "fails", "blocks"),
    [
        (Keeping.AT_HEAD, False, True),
        (Keeping.PARKED, False, False),
        (Keeping.DROPPED, True, True),
    ],
)
def test_what_keeping_an_event_costs(keeping: Keeping, *, fails: bool, blocks: bool) -> None:
    """Kept at the head it delays the others, dropped it fails: parked it does neither."""
    reached = exhausted(keeping).reached
    failed = {each.number for world in reached for each in world.done if not each.is_executed}
    blocked = [
        world
        for world in reached
        if world.thread.life is not Life.DOWN
        and not may_take(keeping, world.thread)
        and any(not each.needs_coordinator for each in world.thread.channel)
    ]
    assert (bool(failed), bool(blocked)) == (fails, blocks)
    assert failed <= {1, 3}


def test_a_loop_that_does_not_ask_whether_a_look_up_is_in_flight_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def eager(keeping: Keeping, thread: Thread, signal: Signal) -> Stepped:
        made, effects = signalled(keeping, thread, signal)
        is_again = signal is Signal.NEED and thread.life is Life.COORDINATOR_DISCOVERY
        return made, (*effects, *[LookUp()] * is_again)

    monkeypatch.setattr(connection, "signalled", eager)
    assert exhausted(Keeping.PARKED).broken["one-look-up"] == (
        "application: event 1",
        "application: event 2",
        "application: event 3",
        "start -> initialized",
        "loop: takes an event -> coordinator_discovery",
        "loop: takes an event -> coordinator_discovery",
        "loop: takes an event -> coordinator_discovery",
    )


def test_both_meanings_of_down() -> None:
    """KIP-945 says "the coordinator is uninitialized" of `down`, and later "the thread has not
    been constructed". Only the second tells the states apart: the coordinator is as unknown in
    `initialized` and in `coordinator_discovery`.
    """
    without_coordinator, waiting = {Life.DOWN}, [Life.DOWN]
    while waiting:
        life = waiting.pop()
        later = {to for (of, signal), to in NEXT.items() if of is life and signal != Signal.FOUND}
        waiting.extend(later - without_coordinator)
        without_coordinator |= later
    assert without_coordinator == set(Life) - {Life.STABLE}
    assert {of for of, signal in NEXT if signal is Signal.START} == {Life.DOWN}
    assert {signal for (_, signal), to in NEXT.items() if to is Life.DOWN} == {Signal.CLOSE}
