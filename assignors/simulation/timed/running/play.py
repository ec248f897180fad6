"""Play a run up to a time, within its bounds: so many events, and so much kept in memory."""

from __future__ import annotations

from collections.abc import Callable

from assignors.simulation.timed.running.run import Event, Run

EVERY = 1024
"""Events from one look at what is kept to the next."""


def play(run: Run, handle: Callable[[Run, Event], None], until: int) -> str | None:
    """Play what happens up to a time in microseconds; return the bound that ended it, if one has.

    Cost: O(events log events), plus their steps.
    """
    queue, limit = run.queue, run.scenario.event_limit
    while (bound := _exceeded(run)) is None:
        last = min(queue.count + EVERY, limit)
        while queue.count < last:
            event = queue.take(until)
            if event is None:
                return None
            handle(run, event)
    return bound


def _exceeded(run: Run) -> str | None:
    limits = run.scenario
    if run.queue.count >= limits.event_limit:
        return f"event_limit: {limits.event_limit}"
    if len(run.queue) + len(run.ledger.changes) + len(run.records) > limits.kept_limit:
        return f"kept_limit: {limits.kept_limit}"
    return None
