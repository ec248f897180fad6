"""A violation: which monitor was violated, by which event, when, and how."""

from __future__ import annotations

from dataclasses import dataclass

from assignors.simulation.timed.protocols.effects import MILLISECOND


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """Something that a monitor forbids has happened."""

    monitor: str
    """A name of `table.MONITORS`."""
    event: int
    """Number of the event that led to it; the first event of a run is 1."""
    at_us: int
    """Microseconds since the run began."""
    text: str
    """What happened, with the members and partitions concerned."""


def described(violation: Violation, seed: int) -> str:
    """Return a violation in one line, with what finds it again.

    >>> described(Violation(monitor="double-consumption", event=7, at_us=1500, text="t-0: a, b"), 3)
    'double-consumption at event 7 (1.5 ms), seed 3: t-0: a, b'
    """
    at_ms = violation.at_us / MILLISECOND
    return (
        f"{violation.monitor} at event {violation.event} ({at_ms:.10g} ms), seed {seed}: "
        f"{violation.text}"
    )
