"""The background thread and its coordinator: the four states of KIP-945, as a table.

An event that needs a coordinator starts a look-up; one that fails leads back to `initialized`. The
document does not say what becomes of the event that asked for it. `KEEPING` has the three ways.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Life(StrEnum):
    """The states."""

    DOWN = "down"
    """The thread does not run."""
    INITIALIZED = "initialized"
    """Its loop runs, and nothing has asked for a coordinator since it was last unknown."""
    COORDINATOR_DISCOVERY = "coordinator_discovery"
    """A look-up is in flight."""
    STABLE = "stable"
    """The coordinator is connected."""


class Signal(StrEnum):
    """What moves the thread from one state to another."""

    START = "start"
    """The consumer is made."""
    NEED = "need"
    """The event whose turn it is needs a coordinator."""
    FOUND = "found"
    NOT_FOUND = "not_found"
    """The look-up has failed, or its time is over."""
    DISCONNECTED = "disconnected"
    """The coordinator is gone, or is another one."""
    CLOSE = "close"


NEXT = {
    (Life.DOWN, Signal.START): Life.INITIALIZED,
    (Life.INITIALIZED, Signal.NEED): Life.COORDINATOR_DISCOVERY,
    (Life.COORDINATOR_DISCOVERY, Signal.NEED): Life.COORDINATOR_DISCOVERY,
    (Life.COORDINATOR_DISCOVERY, Signal.FOUND): Life.STABLE,
    (Life.COORDINATOR_DISCOVERY, Signal.NOT_FOUND): Life.INITIALIZED,
    (Life.STABLE, Signal.DISCONNECTED): Life.COORDINATOR_DISCOVERY,
    (Life.INITIALIZED, Signal.CLOSE): Life.DOWN,
    (Life.COORDINATOR_DISCOVERY, Signal.CLOSE): Life.DOWN,
    (Life.STABLE, Signal.CLOSE): Life.DOWN,
}
"""A pair that is not here does not happen: in `stable` an event is executed at once."""


class Keeping(StrEnum):
    """What becomes of an event that needs a coordinator while there is none."""

    AT_HEAD = "at_head"
    """It stays the next one of the channel, and is tried again."""
    PARKED = "parked"
    """It waits apart, and later events that need no coordinator pass it."""
    DROPPED = "dropped"
    """It fails together with the look-up."""


class Wanted(NamedTuple):
    """An event in the channel to the background thread."""

    number: int
    needs_coordinator: bool


class Done(NamedTuple):
    """An effect: an event is executed, or has failed."""

    number: int
    is_executed: bool


class LookUp(NamedTuple):
    """An effect: send a request that asks for the coordinator."""


Effect = Done | LookUp


class Thread(NamedTuple):
    """The background thread, as far as the coordinator goes."""

    life: Life = Life.DOWN
    channel: tuple[Wanted, ...] = ()
    parked: tuple[Wanted, ...] = ()


Stepped = tuple[Thread, tuple[Effect, ...]]


def put(thread: Thread, wanted: Wanted) -> Thread:
    """Return the thread with one more event in its channel."""
    return thread._replace(channel=(*thread.channel, wanted))


def may_take(keeping: Keeping, thread: Thread) -> bool:
    """Return whether the loop can do something about the oldest event of the channel."""
    if thread.life is Life.DOWN or not thread.channel:
        return False
    is_blocked = thread.channel[0].needs_coordinator and keeping is not Keeping.PARKED
    return not (is_blocked and thread.life is Life.COORDINATOR_DISCOVERY)


def take(keeping: Keeping, thread: Thread) -> Stepped:
    """Do what can be done about the oldest event of the channel. Cost: O(events waiting)."""
    wanted, *rest = thread.channel
    taken = thread._replace(channel=tuple(rest))
    if not wanted.needs_coordinator or thread.life is Life.STABLE:
        return taken, (Done(wanted.number, is_executed=True),)
    if keeping is Keeping.PARKED:
        taken = taken._replace(parked=(*thread.parked, wanted))
        return signalled(keeping, taken, Signal.NEED)
    return signalled(keeping, thread, Signal.NEED)


def signalled(keeping: Keeping, thread: Thread, signal: Signal) -> Stepped:
    """Move to the next state. Raises `KeyError` for what does not happen."""
    after = thread._replace(life=NEXT[thread.life, signal])
    effects: list[Effect] = []
    if after.life is Life.STABLE:
        effects = [Done(each.number, is_executed=True) for each in after.parked]
        after = after._replace(parked=())
    if signal is Signal.NOT_FOUND:
        after, failed = _not_found(keeping, after)
        effects.extend(failed)
    if after.life is Life.COORDINATOR_DISCOVERY and thread.life is not after.life:
        effects.append(LookUp())
    if after.life is Life.DOWN:
        left = (*after.parked, *after.channel)
        effects = [Done(each.number, is_executed=False) for each in left]
        after = after._replace(parked=(), channel=())
    return after, tuple(effects)


def _not_found(keeping: Keeping, thread: Thread) -> Stepped:
    """Drop the event whose look-up has failed, or see to it that the look-up is repeated."""
    if keeping is Keeping.PARKED and thread.parked:
        return signalled(keeping, thread, Signal.NEED)
    if keeping is Keeping.DROPPED and thread.channel and thread.channel[0].needs_coordinator:
        wanted, *rest = thread.channel
        return thread._replace(channel=tuple(rest)), (Done(wanted.number, is_executed=False),)
    return thread, ()
