"""What the models of rebalance listeners say the callbacks of each scenario are.

A model is asked for its calls given what happens to a member: which assignments it gets, when it
joins again, when it is fenced or closes. Those events stand here for each scenario and protocol.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from assignors.simulation.timed.clients.listeners import Event, Happening, Listener, trace
from assignors.simulation.timed.clients.models import Thread
from tests.foreign.execution.rebalances import Kind
from tests.foreign.execution.traces import CALLBACKS, Called

NUMBERS = {f"first-{number}": number for number in range(4)} | {"second-0": 10, "second-1": 11}
"""Partition -> its number in a model."""

Calls = list[tuple[str, tuple[int, ...], str]]
"""Callback, partitions, and whose thread."""

AGAIN, FENCED, CLOSED, AMID = (
    Event(each)
    for each in (
        Happening.REBALANCE,
        Happening.FENCED,
        Happening.CLOSED,
        Happening.CLOSED_AMID,
    )
)


def _gets(*partitions: int) -> Event:
    return Event(Happening.ASSIGNED, frozenset(partitions))


NONE, ALL, LOW, HIGH = _gets(), _gets(0, 1, 2, 3), _gets(0, 1), _gets(2, 3)
OTHER, MORE = _gets(10, 11), _gets(0, 1, 2, 3, 10, 11)
HALF = Event(Happening.HALFWAY, frozenset({0, 1}))

Events = tuple[Event, ...]
JOINS: dict[Kind, tuple[Events, Events]] = {
    Kind.EAGER: ((ALL, AGAIN, LOW), (HIGH,)),
    Kind.COOPERATIVE: ((ALL, AGAIN, LOW, AGAIN, LOW), (NONE, AGAIN, HIGH)),
    Kind.CONSUMER: ((ALL, LOW), (NONE, HIGH)),
}
"""What happens to a member when a second one joins, and to that."""
FIRST_ALONE: Events = (ALL, FENCED, AGAIN, ALL)


def events(kind: Kind) -> dict[str, dict[str, Events]]:
    """Return what happens to each member, by scenario."""
    a, b = JOINS[kind]
    again = () if kind is Kind.CONSUMER else (AGAIN,)
    is_consumer, is_eager = kind is Kind.CONSUMER, kind is Kind.EAGER
    waits = (HIGH, AGAIN) if is_eager else (NONE, *again)
    same = {"a": (ALL,), "b": ()} if is_consumer else {"a": (ALL, FENCED, CLOSED), "b": (ALL,)}
    between = {
        Kind.EAGER: (*a, CLOSED),
        Kind.COOPERATIVE: (ALL, AGAIN, LOW, AGAIN, AMID),
        Kind.CONSUMER: (ALL, HALF, AMID),
    }
    return {
        "join": {"a": (ALL,)},
        "second member": {"a": a, "b": b},
        "leave": {"a": (*a, *again, ALL), "b": (*b, CLOSED)},
        "long poll": {"a": FIRST_ALONE},
        "removed": {"a": FIRST_ALONE},
        "same instance id": same,
        "unsubscribe": {"a": (*a, CLOSED), "b": (*b, *again, ALL)},
        "other topic": {"a": (ALL, NONE, OTHER) if is_consumer else (ALL, AGAIN, OTHER)},
        "more topics": {"a": (ALL, *again, MORE)},
        "close": {"a": (ALL, CLOSED)},
        "close in a rebalance": {
            "a": (ALL, CLOSED),
            "b": (ALL,) if not is_consumer else (NONE, ALL),
        },
        "close between revoke and assign": {"a": between[kind], "b": (*waits, ALL)},
    }


def predicted(kind: Kind, happened: Iterable[Event]) -> Calls:
    """Return the calls of a listener. Cost: O(events)."""
    names = {Thread.POLLING: "application"}
    return [
        (call.callback.value, call.partitions, names.get(call.thread, call.thread.value))
        for call in trace(Listener(kind.value), happened)
    ]


def real(called: Sequence[Called]) -> Calls:
    """Return a recorded trace in the form of a predicted one."""
    return [
        (one.callback, tuple(sorted(NUMBERS[each] for each in one.partitions)), one.thread)
        for one in called
        if one.callback in CALLBACKS
    ]
