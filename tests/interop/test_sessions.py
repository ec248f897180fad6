"""Sarama's sessions in a real group: what a handler is called for, and in which order."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from tests.interop import events
from tests.interop.conftest import MakeGroup
from tests.interop.group import SETTLES_S
from tests.simulation.timed.handler_calls import merged
from tests.simulation.timed.listeners import (
    Called,
    Event,
    HandlerCall,
    Happening,
    Listener,
    handler_trace,
)

pytestmark = pytest.mark.interop

CALLS = {
    "setup": Called.SETUP,
    "assigned": Called.CLAIM,
    "revoked": Called.RETURN,
    "cleanup": Called.CLEANUP,
}
"""What the member reports -> what is called then."""


def calls(reported: Iterable[events.Event]) -> list[HandlerCall]:
    """The calls that a member reported."""
    return merged(
        HandlerCall(CALLS[each.kind], tuple(number for _, number in each.partitions))
        for each in reported
        if each.kind in CALLS
    )


@pytest.mark.parametrize(
    ("assignor", "listener"),
    [("range", Listener.EAGER), ("cooperative-sticky", Listener.COOPERATIVE)],
)
def test_a_session_calls_what_its_model_says(
    assignor: str, listener: Listener, make_group: MakeGroup
) -> None:
    group = make_group({"t": 4}, assignors=(assignor,))
    first = group.start_one("sarama")
    group.settled(SETTLES_S)
    group.start("sarama")
    group.settled(SETTLES_S)
    left = frozenset(number for _, number in first.owned)
    first.close()
    story = [
        Event(Happening.ASSIGNED, frozenset(range(4))),
        Event(Happening.REBALANCE),
        Event(Happening.ASSIGNED, left),
        Event(Happening.CLOSED),
    ]
    assert len(left) == 2
    assert calls(first.events) == merged(handler_trace(listener, story))
