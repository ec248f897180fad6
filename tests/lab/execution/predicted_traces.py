"""What the models of rebalance listeners say the callbacks of each scenario are.

A model is asked for its calls given what happens to a member: which assignments it gets, when it
joins again, when it is fenced or closes. That stands here for each scenario and protocol.
"""

from __future__ import annotations

from collections.abc import Sequence

from assignors.simulation.timed.threads.duties import Thread
from tests.lab.execution.rebalances import Kind
from tests.lab.execution.traces import CALLBACKS, Called
from tests.simulation.timed.listeners import Event, Happening, Listener, trace

LETTERS = {
    "A": Happening.ASSIGNED,
    "R": Happening.REBALANCE,
    "H": Happening.HALFWAY,
    "F": Happening.FENCED,
    "C": Happening.CLOSED,
    "X": Happening.CLOSED_AMID,
}
HAPPENED = {
    # A0123 is an assignment of four partitions, 4 and 5 are those of the second topic; under the
    # eager, the cooperative, and the consumer protocol
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
    ("close between revoke and assign", "a"): ("A0123 R X", "A0123 R A01 X", "A0123 H01 X"),
    ("close between revoke and assign", "b"): (
        "A23 R A0123 | A0123",
        "A R A0123 | A0123",
        "A A0123",
    ),
}
"""What happened to a real member, by scenario and member: one text for each protocol. After "|" is
what happens as well: `a` may be gone before the first rebalance with `b` is over."""

Calls = list[tuple[str, tuple[int, ...], str]]
"""Callback, partitions, and whose thread."""


def predicted(kind: Kind, scenario: str, member: str) -> list[Calls]:
    """Return the calls of a listener, of each way things happen. Cost: O(events)."""
    texts = HAPPENED[scenario, member][list(Kind).index(kind)].split("|")
    names = {Thread.POLLING: "application"}
    return [
        [
            (call.callback.value, call.partitions, names.get(call.thread, call.thread.value))
            for call in trace(Listener(kind.value), _events(text))
        ]
        for text in texts
    ]


def _events(text: str) -> list[Event]:
    return [Event(LETTERS[each[0]], frozenset(map(int, each[1:]))) for each in text.split()]


def real(called: Sequence[Called]) -> Calls:
    """Return a recorded trace in the form of a predicted one."""
    return [
        (one.callback, tuple(sorted(map(_number, one.partitions))), one.thread)
        for one in called
        if one.callback in CALLBACKS
    ]


def _number(partition: str) -> int:
    topic, _, index = partition.rpartition("-")
    return int(index) + (4 if topic == "second" else 0)
