"""A run that goes on until its group has settled, and what has not come about by then."""

from __future__ import annotations

from collections.abc import Callable

from assignors.simulation.timed.faults.live import FaultEvent
from assignors.simulation.timed.monitors.liveness import (
    end_found,
    is_settled,
    quiet_us,
    without_what_follows,
)
from assignors.simulation.timed.monitors.watch import Watch, report, saw_end
from assignors.simulation.timed.protocols.effects import MILLISECOND, Command
from assignors.simulation.timed.running.play import play
from assignors.simulation.timed.running.run import Event, Run
from assignors.simulation.timed.scenario import Action

SECOND = 1000 * MILLISECOND
"""How often it is looked whether the group has settled."""


def judge_end(run: Run, watch: Watch, handle: Callable[[Run, Event], None]) -> None:
    """Judge a run at its end, and what becomes of its group where nothing else happens to it.

    The results of the run have to be taken before.
    """
    over_ms = run.scenario.until_ms
    watch.at = (run.queue.count, over_ms * MILLISECOND)
    saw_end(watch)
    run.scenario = without_what_follows(run.scenario)
    run.queue.drop(lambda event: _is_planned(event, over_ms))
    run.watch = run.observe = None
    run.ledger.keeps_changes = False
    watch.at, found = settled(run, handle)
    report(watch, found)


def _is_planned(event: Event, over_ms: int) -> bool:
    """Return whether an event does not follow from what has happened by then."""
    what = event[1]
    if isinstance(what, FaultEvent):
        return what.fault.from_ms > over_ms
    return isinstance(what, Action) or what is Command.START


def settled(
    run: Run, handle: Callable[[Run, Event], None]
) -> tuple[tuple[int, int], list[tuple[str, str]]]:
    """Play a run to its end and on until the group has settled, or has had the time for it.

    Returns when that was, as the number of an event and a time, and what liveness monitors find.
    """
    quiet_from = run.scenario.until_ms * MILLISECOND
    bound = play(run, handle, quiet_from)
    rounds, waiting = run.sides.generation(), set(run.network.in_flight)
    until, longest = quiet_from, quiet_from + quiet_us(run.scenario)
    while until < longest and bound is None:
        waiting &= run.network.in_flight.keys()
        if not waiting and is_settled(run.sides, run.ledger) and not run.sides.is_rebalancing():
            break  # whoever has joined may still wait for a target, the others being at rest
        until += SECOND
        bound = play(run, handle, until)
    if bound is not None:
        return (run.queue.count, until), []  # nobody knows what would become of it
    found = end_found(
        run.scenario,
        run.sides,
        run.ledger,
        rounds=run.sides.generation() - rounds,
        unanswered=still_awaited(run, waiting & run.network.in_flight.keys()),
    )
    return (run.queue.count, until), list(found)


def still_awaited(run: Run, requests: set[int]) -> set[int]:
    """Return those of the requests whose process and connection still are what they were."""
    network = run.network
    awaited = set()
    for number in requests:
        member, _, life, *_ = network.in_flight[number]
        if run.sides.members[member].is_up and network.links[member].life == life:
            awaited.add(number)
    return awaited
