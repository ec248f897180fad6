"""Events of a history, each in a line."""

from __future__ import annotations

from assignors.simulation.timed.execution.port import Asked, Event, Loaded
from assignors.simulation.timed.protocols.effects import MILLISECOND, Arrived


def told(event: Event) -> str:
    """An event in a line: a request with its group, an append with what it writes."""
    if isinstance(event, Asked):
        number, group, (at_us, what), *_ = event.request
        name = what.request if isinstance(what, Arrived) else what
        return f"{at_us // MILLISECOND} ms: {number} for group {group}: {name}"
    if isinstance(event, Loaded):
        return f"Loaded(partition={event.partition}, end={event.end})"
    return str(event)
