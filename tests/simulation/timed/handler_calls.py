"""Calls of handlers as they are compared: of runs, of real groups, and of the model."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from tests.simulation.timed.listeners import HandlerCall


def merged(calls: Iterable[HandlerCall]) -> list[HandlerCall]:
    """Take calls of one kind that follow each other for one: handlers run at once."""
    return [
        HandlerCall(called, tuple(sorted({n for each in found for n in each.partitions})))
        for called, found in groupby(calls, key=lambda each: each.called)
    ]
