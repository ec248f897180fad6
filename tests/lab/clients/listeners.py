"""The part of RESULTS.md on calls of the application: of listeners and handlers."""

from __future__ import annotations

from collections.abc import Iterator

from tests.docs.source import table
from tests.simulation.timed.listeners import (
    Event,
    Happening,
    Listener,
    handler_trace,
    trace,
)

_FIRST = Event(Happening.ASSIGNED, frozenset({0, 1}))
_AGAIN = Event(Happening.REBALANCE)
STORIES: dict[str, tuple[Event, ...]] = {
    "gives up 1": (_FIRST, _AGAIN, Event(Happening.ASSIGNED, frozenset({0}))),
    "gains 2": (_FIRST, _AGAIN, Event(Happening.ASSIGNED, frozenset({0, 1, 2}))),
    "keeps what it has": (_FIRST, _AGAIN, _FIRST),
    "has nothing, and gets nothing": (
        Event(Happening.ASSIGNED),
        _AGAIN,
        Event(Happening.ASSIGNED),
    ),
    "is removed, and comes back": (_FIRST, Event(Happening.FENCED), _AGAIN, _FIRST),
    "closes": (_FIRST, Event(Happening.CLOSED)),
    "closes after it gave up 1, before it is assigned the rest": (
        _FIRST,
        _AGAIN,
        Event(Happening.HALFWAY, frozenset({0})),
        Event(Happening.CLOSED_AMID),
    ),
    "closes amid a rebalance, having joined again": (_FIRST, Event(Happening.CLOSED_AMID)),
}
"""What happens to a member that has partitions 0 and 1."""


def listeners() -> Iterator[str]:
    """Yield the traces of rebalance listeners."""
    yield "## What a rebalance listener is called for\n"
    yield (
        "The callbacks of Java's clients of 4.4.0, all on the application's thread, inside `poll` "
        "or `close`. The `assigned(0, 1)` before all is left out. `assigned()` without partitions "
        "comes after every cooperative round and KIP-848 reconciliation that gains none. Eager "
        "members are called for an empty revocation too. A classic member that closes "
        "after it has joined again, amid a rebalance, gets `lost`. A KIP-848 member that closes "
        "between the callbacks for revoked and assigned partitions gets `revoked` for the same "
        "ones a second time.\n"
    )
    head = ("a member that owns 0 and 1", *(f"`{each.value}`" for each in Listener))
    rows = [
        (name, *(_calls(listener, events) for listener in Listener))
        for name, events in STORIES.items()
    ]
    yield from table(head, rows)


def _calls(listener: Listener, events: tuple[Event, ...]) -> str:
    found = trace(listener, events)
    if events[0] == _FIRST:
        found = found[1:]
    texts = [f"{each.callback.value}({', '.join(map(str, each.partitions))})" for each in found]
    return ", ".join(texts) or "nothing"


SESSIONS = (Listener.EAGER, Listener.COOPERATIVE)


def handlers() -> Iterator[str]:
    """Yield the traces of handlers."""
    yield "## What a handler is called for\n"
    yield (
        "Applications of Sarama (1.61.1) do not poll. `Consume` joins, calls `Setup`, starts one "
        "`ConsumeClaim` for each partition, in goroutines of their own, and returns when the "
        "session is over: its channel has closed, every handler has returned, and `Cleanup` has "
        "run. Then the application calls `Consume` again, and only that joins. Under an eager "
        "protocol every rebalance ends the session; under a cooperative one it lives on, and only "
        "handlers of what is lost return. A real group is asked for this table in "
        "`tests/interop/test_sessions.py`.\n"
    )
    head = ("a member that owns 0 and 1", *(f"`{each.value}`" for each in SESSIONS))
    rows = [
        (name, *(_handled(listener, events) for listener in SESSIONS))
        for name, events in STORIES.items()
        if not any(each.happening is Happening.CLOSED_AMID for each in events)
    ]
    yield from table(head, rows)
    yield (
        "The `Setup` and `ConsumeClaim` before all are left out where it begins with partitions. "
        "A handler that does not return holds up everything that follows. Under an eager protocol "
        "there is no limit to that: the member sends heartbeats, joins no round, and the "
        "coordinator drops it after `Consumer.Group.Rebalance.Timeout`, while the rest of the "
        "group waits. Under a cooperative one the client gives up after as long, and ends the "
        "session, for which it needs that handler again. `runs_handlers` of a member plays all "
        "this: each handler returns within `poll_ms`, `Setup` takes `assign_ms`, `Cleanup` "
        "`revoke_ms`, and the fault `long_poll` is one handler that takes longer.\n"
    )


def _handled(listener: Listener, events: tuple[Event, ...]) -> str:
    found = handler_trace(listener, events)
    if events[0] == _FIRST:
        found = found[2:]
    texts = [f"{each.called.value}({', '.join(map(str, each.partitions))})" for each in found]
    return ", ".join(texts) or "nothing"
