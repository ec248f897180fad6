"""Python's search for cyclic garbage, which goes through everything that a run keeps.

A run of a large group keeps millions of objects and makes as many short-lived ones, hardly any of
them in cycles. With the usual thresholds a fifth of its time went into the search.

Some of what a run refers to refers to the run. These cycles are cut at its end: so all of it is
freed at once, where a search that found nothing to free went through it before.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from assignors.simulation.timed.running.run import Run

OBJECTS = 200_000
"""So many more objects are made than freed between two searches; Python's own number is 700."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Search for cyclic garbage less often; afterwards as before."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], OBJECTS) if before[0] else 0, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def cut_cycles(run: Run) -> None:
    """Cut what refers to a run that is over, or to its heartbeats, from within. Cost: O(1)."""
    run.faults.step, run.execution = _is_over, None
    run.faults.reach_coordinator = _is_over
    run.faults.failovers = run.network.detour = run.network.may_rest = None
    run.heartbeats = run.faults.heartbeats = None


def _is_over(*event: object) -> None:
    """Let nothing happen any more."""
    raise AssertionError(f"{event} comes after the end of its run")
