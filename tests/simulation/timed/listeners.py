"""Which callbacks a rebalance listener of Kafka 4.4.0 gets, in which order, on which thread.

A client of each protocol is a function of what happens to it (`LISTENERS`). What people do not
expect: `onPartitionsAssigned` is called with no partitions at all, after every round of the classic
protocols and after every reconciliation of KIP-848; an eager member is called for what it revokes
even if it owns nothing; who closes amid a classic rebalance is told that its partitions are lost;
and a member of KIP-848 that closes, or is removed, between the callbacks for revoked and assigned
partitions is called for the revoked ones again. All callbacks run on the application's thread,
inside `poll` or `close`.

Sarama has no listener: its applications have handlers, in sessions (`handler_trace`). `Setup` comes
before all handlers of a session, `Cleanup` after the last has returned, both also without any
partition; handlers of different partitions begin and return in any order, each in its goroutine.

Source: `ConsumerCoordinator.onJoinPrepare`, `onJoinComplete`, `onLeavePrepare`;
`AbstractMembershipManager.maybeReconcile`, `transitionToFenced`;
`AsyncKafkaConsumer.runRebalanceCallbacksOnClose`. Of Sarama 1.61.1: `newConsumerGroupSession` and
`release` in `consumer_group_session.go`, `reconcileAssignment` in `consumer_group_cooperative.go`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import NamedTuple

from assignors.simulation.timed.threads.duties import Thread


class Kind(StrEnum):
    """The callbacks."""

    REVOKED = "revoked"
    ASSIGNED = "assigned"
    LOST = "lost"


Partitions = frozenset[int]
NOTHING: Partitions = frozenset()


class Listener(StrEnum):
    """What the calls depend on: the protocol, and the kind of assignor under the classic one."""

    EAGER = "eager"
    COOPERATIVE = "cooperative"
    CONSUMER = "consumer"


class Happening(StrEnum):
    """What happens to a member."""

    ASSIGNED = "assigned"
    """It gets an assignment: in the answer to its SyncGroup, or to a heartbeat of KIP-848."""
    REBALANCE = "rebalance"
    """It prepares to join again; members of KIP-848 have no such moment."""
    HALFWAY = "halfway"
    """It gets an assignment, and only the callback for what it revokes has run."""
    FENCED = "fenced"
    """It is in the group no more, and knows it."""
    CLOSED = "closed"
    CLOSED_AMID = "closed_amid"
    """It closes while a rebalance goes on."""


class Event(NamedTuple):
    """Something that happens; `partitions` are the whole of an assignment."""

    happening: Happening
    partitions: Partitions = NOTHING


class Call(NamedTuple):
    """A call of the listener: an entry of a trace."""

    callback: Kind
    partitions: tuple[int, ...]
    """Sorted."""
    thread: Thread = Thread.POLLING


class Listened(NamedTuple):
    """A member, as far as its listener goes."""

    owned: Partitions = NOTHING
    is_member: bool = False
    has_joined: bool = False
    """It has had an assignment since it last was no member."""


Step = Callable[[Listened, Event], tuple[Listened, list[Call]]]


def trace(protocol: Listener, events: Iterable[Event]) -> list[Call]:
    """Return the calls of a listener, in order. Cost: O(partitions of all events).

    >>> first = Event(Happening.ASSIGNED, frozenset({0}))
    >>> [tuple(each) for each in trace(Listener.CONSUMER, [first, first])]
    [(<Kind.ASSIGNED: 'assigned'>, (0,), <Thread.POLLING: 'polling'>)]
    """
    member, calls = Listened(), list[Call]()
    for event in events:
        member, called = LISTENERS[protocol](member, event)
        calls += called
    return calls


def _call(callback: Kind, partitions: Partitions) -> Call:
    return Call(callback, tuple(sorted(partitions)))


def _some(callback: Kind, partitions: Partitions) -> list[Call]:
    """Return a call where there are partitions to call it for."""
    return [_call(callback, partitions)] if partitions else []


def _eager(member: Listened, event: Event) -> tuple[Listened, list[Call]]:
    match event.happening:
        case Happening.ASSIGNED | Happening.HALFWAY:
            owned = Listened(event.partitions, is_member=True, has_joined=True)
            return owned, [_call(Kind.ASSIGNED, event.partitions)]
        case Happening.REBALANCE if member.is_member:
            return member._replace(owned=NOTHING), [_call(Kind.REVOKED, member.owned)]
    return _classic(member, event)


def _cooperative(member: Listened, event: Event) -> tuple[Listened, list[Call]]:
    match event.happening:
        case Happening.ASSIGNED:
            revoked = _some(Kind.REVOKED, member.owned - event.partitions)
            added = _call(Kind.ASSIGNED, event.partitions - member.owned)
            owned = Listened(event.partitions, is_member=True, has_joined=True)
            return owned, [*revoked, added]
        case Happening.HALFWAY:
            return _cooperative(member, Event(Happening.ASSIGNED, event.partitions))  # one poll
        case Happening.REBALANCE if member.is_member:
            return member, []
    return _classic(member, event)


def _classic(member: Listened, event: Event) -> tuple[Listened, list[Call]]:
    """Return what both kinds of the classic protocol have in common."""
    match event.happening:
        case Happening.FENCED:
            return member._replace(is_member=False), []  # called when it prepares to join again
        case Happening.CLOSED if member.is_member:
            return Listened(), _some(Kind.REVOKED, member.owned)
    return Listened(), _some(Kind.LOST, member.owned)


def _consumer(member: Listened, event: Event) -> tuple[Listened, list[Call]]:
    match event.happening:
        case Happening.ASSIGNED:
            owned = Listened(event.partitions, is_member=True, has_joined=True)
            if member.has_joined and event.partitions == member.owned:
                return owned, []
            revoked = _some(Kind.REVOKED, member.owned - event.partitions)
            return owned, [*revoked, _call(Kind.ASSIGNED, event.partitions - member.owned)]
        case Happening.HALFWAY:  # what is revoked it forgets only when it assigns (4.4.0)
            return member, _some(Kind.REVOKED, member.owned - event.partitions)
        case Happening.REBALANCE:
            return member, []
        case Happening.CLOSED | Happening.CLOSED_AMID if member.is_member:
            return Listened(), _some(Kind.REVOKED, member.owned)
    return Listened(), _some(Kind.LOST, member.owned)


LISTENERS: dict[Listener, Step] = {
    Listener.EAGER: _eager,
    Listener.COOPERATIVE: _cooperative,
    Listener.CONSUMER: _consumer,
}


class Called(StrEnum):
    """What happens in the code of an application with handlers."""

    SETUP = "Setup"
    CLAIM = "ConsumeClaim"
    """A handler begins, for each of the partitions."""
    RETURN = "returns"
    """The handler of each of them has returned."""
    CLEANUP = "Cleanup"


class HandlerCall(NamedTuple):
    """An entry of a trace of handlers."""

    called: Called
    partitions: tuple[int, ...]
    """Sorted; of `Setup` and `Cleanup` the claims of the session then."""


def handler_trace(protocol: Listener, events: Iterable[Event]) -> list[HandlerCall]:
    """Return the calls of a handler, in order: eager or cooperative.

    Cost: O(partitions of all events).

    >>> first = Event(Happening.ASSIGNED, frozenset({0}))
    >>> for call in handler_trace(Listener.EAGER, [first, Event(Happening.REBALANCE)]):
    ...     print(call.called.value, call.partitions)
    Setup (0,)
    ConsumeClaim (0,)
    returns (0,)
    Cleanup (0,)
    """
    claims: Partitions | None = None
    calls: list[HandlerCall] = []
    for event in events:
        before = claims or NOTHING
        if event.happening in {Happening.ASSIGNED, Happening.HALFWAY}:
            if claims is None:
                calls.append(_called(Called.SETUP, event.partitions))
            calls += _each(Called.RETURN, before - event.partitions)
            calls += _each(Called.CLAIM, event.partitions - before)
            claims = event.partitions
        elif claims is not None and not _survives(protocol, event):
            calls += _each(Called.RETURN, claims)
            calls.append(_called(Called.CLEANUP, claims))
            claims = None
    return calls


def _survives(protocol: Listener, event: Event) -> bool:
    return protocol is Listener.COOPERATIVE and event.happening is Happening.REBALANCE


def _called(called: Called, partitions: Partitions) -> HandlerCall:
    return HandlerCall(called, tuple(sorted(partitions)))


def _each(called: Called, partitions: Partitions) -> list[HandlerCall]:
    return [_called(called, partitions)] if partitions else []
