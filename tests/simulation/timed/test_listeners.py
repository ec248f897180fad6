"""Traces of rebalance listeners, as Kafka's Java clients of 4.4.0 call them.

What real members recorded is compared in `tests/lab/execution`.
"""

from __future__ import annotations

import pytest

from assignors.simulation.timed.threads.duties import Thread
from tests.simulation.timed.listeners import Event, Happening, Listener, trace

ASSIGNED, REBALANCE, HALFWAY, FENCED, CLOSED, CLOSED_AMID = Happening


def story(*events: tuple[Happening, set[int]] | Happening) -> list[Event]:
    return [
        Event(each) if isinstance(each, Happening) else Event(each[0], frozenset(each[1]))
        for each in events
    ]


GIVES_UP = story((ASSIGNED, {0, 1}), REBALANCE, (ASSIGNED, {0}))
GAINS = story((ASSIGNED, {0}), REBALANCE, (ASSIGNED, {0, 1}))
KEEPS = story((ASSIGNED, {0}), REBALANCE, (ASSIGNED, {0}))
OWNS_NOTHING = story((ASSIGNED, set()), REBALANCE, (ASSIGNED, set()))
COMES_BACK = story((ASSIGNED, {0}), FENCED, REBALANCE, (ASSIGNED, {1}))


@pytest.mark.parametrize(
    ("events", "listener", "calls"),
    [
        (GIVES_UP, "eager", "+0,1 -0,1 +0"),
        (GIVES_UP, "cooperative", "+0,1 -1 +"),
        (GIVES_UP, "consumer", "+0,1 -1 +"),
        (GAINS, "eager", "+0 -0 +0,1"),
        (GAINS, "cooperative", "+0 +1"),
        (GAINS, "consumer", "+0 +1"),
        (KEEPS, "eager", "+0 -0 +0"),
        (KEEPS, "cooperative", "+0 +"),
        (KEEPS, "consumer", "+0"),
        (OWNS_NOTHING, "eager", "+ - +"),
        (OWNS_NOTHING, "cooperative", "+ +"),
        (OWNS_NOTHING, "consumer", "+"),
        (COMES_BACK, "eager", "+0 !0 +1"),
        (COMES_BACK, "cooperative", "+0 !0 +1"),
        (COMES_BACK, "consumer", "+0 !0 +1"),
        (story((ASSIGNED, {0}), CLOSED), "eager", "+0 -0"),
        (story((ASSIGNED, {0}), CLOSED), "cooperative", "+0 -0"),
        (story((ASSIGNED, {0}), CLOSED), "consumer", "+0 -0"),
        (story((ASSIGNED, {0}), CLOSED_AMID), "cooperative", "+0 !0"),
        (story((ASSIGNED, {0}), CLOSED_AMID), "consumer", "+0 -0"),
        (story((ASSIGNED, {0}), FENCED, CLOSED), "consumer", "+0 !0"),
        (story((ASSIGNED, set()), CLOSED), "eager", "+"),
        (story((ASSIGNED, {0, 1}), (HALFWAY, {0}), CLOSED), "consumer", "+0,1 -1 -0,1"),
        (story((ASSIGNED, {0, 1}), (HALFWAY, {0}), FENCED), "consumer", "+0,1 -1 !0,1"),
        (story((ASSIGNED, {0, 1}), (HALFWAY, {0}), CLOSED_AMID), "cooperative", "+0,1 -1 + !0"),
    ],
)
def test_the_trace_of_a_listener(events: list[Event], listener: str, calls: str) -> None:
    signs = {"assigned": "+", "revoked": "-", "lost": "!"}
    found = trace(Listener(listener), events)
    words = [signs[each.callback] + ",".join(map(str, each.partitions)) for each in found]
    assert " ".join(words) == calls
    assert {each.thread for each in found} == {Thread.POLLING}
