"""Traces of rebalance listeners, as Kafka's Java clients of 4.4.0 call them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assignors.simulation.timed.clients.listeners import Event, Happening, Listener, trace
from assignors.simulation.timed.clients.models import Thread
from assignors.simulation.timed.clients.state import Kind

ROOT = Path(__file__).resolve().parents[4]
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


RECORDED = ROOT / "tests" / "foreign" / "execution" / "recordings" / "traces.json"
LETTERS = {
    "A": ASSIGNED,
    "R": REBALANCE,
    "H": HALFWAY,
    "F": FENCED,
    "C": CLOSED,
    "X": CLOSED_AMID,
}
HAPPENED = {
    # what happened to a real member: A0123 is an assignment of four partitions, 4 and 5 are those
    # of the second topic; under the eager, the cooperative, and the consumer protocol
    ("join", "a"): ("A0123", "A0123", "A0123"),
    ("second member", "a"): ("A0123 R A01", "A0123 R A01 R A01", "A0123 A01"),
    ("second member", "b"): ("A23", "A R A23", "A A23"),
    ("leave", "a"): ("A0123 R A01 R A0123", "A0123 R A01 R A01 R A0123", "A0123 A01 A0123"),
    ("leave", "b"): ("A23 C", "A R A23 C", "A A23 C"),
    ("long poll", "a"): ("A0123 F R A0123", "A0123 F R A0123", "A0123 F A0123"),
    ("removed", "a"): ("A0123 F R A0123", "A0123 F R A0123", "A0123 F A0123"),
    ("same instance id", "a"): ("A0123 F C", "A0123 F C", "A0123"),
    ("same instance id", "b"): ("A0123", "A0123", ""),
    ("unsubscribe", "a"): ("A0123 R A01 C", "A0123 R A01 R A01 C", "A0123 A01 C"),
    ("unsubscribe", "b"): ("A23 R A0123", "A R A23 R A0123", "A A23 A0123"),
    ("other topic", "a"): ("A0123 R A45", "A0123 R A45", "A0123 A A45"),
    ("more topics", "a"): ("A0123 R A012345", "A0123 R A012345", "A0123 A012345"),
    ("close", "a"): ("A0123 C", "A0123 C", "A0123 C"),
    ("close in a rebalance", "a"): ("A0123 C", "A0123 C", "A0123 C"),
    ("close in a rebalance", "b"): ("A0123", "A0123", "A A0123"),
    ("close between revoke and assign", "a"): ("A0123 R A01 C", "A0123 R A01 X", "A0123 H01 X"),
    ("close between revoke and assign", "b"): ("A23 R A0123", "A R A0123", "A A0123"),
}


def recorded() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(RECORDED.read_text(encoding="utf-8"))
    return found


def number(partition: str) -> int:
    topic, _, index = partition.rpartition("-")
    return int(index) + (4 if topic == "second" else 0)


@pytest.mark.parametrize(
    "seen", recorded(), ids=lambda seen: f"{seen['kind']}-{seen['scenario']}-{seen['member']}"
)
def test_the_trace_is_that_of_a_real_member(seen: dict[str, Any]) -> None:
    """Kafka 4.4.0 and its Java clients (`tests/foreign/execution`)."""
    words = HAPPENED[seen["scenario"], seen["member"]][list(Listener).index(seen["kind"])]
    events = [Event(LETTERS[each[0]], frozenset(map(int, each[1:]))) for each in words.split()]
    found = trace(Listener(seen["kind"]), events)
    called = [
        (callback, tuple(sorted(map(number, partitions))), thread)
        for callback, partitions, thread, *_ in seen["called"]
        if callback in set(Kind)
    ]
    assert [(call.callback.value, call.partitions, "application") for call in found] == called
    assert {call.thread for call in found} <= {Thread.POLLING}
