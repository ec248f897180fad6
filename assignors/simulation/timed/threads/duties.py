"""The models: which thread does which duty, and which duty each event of a member is.

An event without a duty is handled when it happens: what the application or the process does, and
the end of work that already runs.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from assignors.simulation.timed.protocols.effects import (
    Answered,
    Command,
    Failed,
    Fired,
    MemberEvent,
)
from assignors.simulation.timed.protocols.kafka.messages import (
    ConsumerHeartbeatResponse,
    HeartbeatResponse,
    JoinGroupResponse,
    OffsetCommitResponse,
    OffsetFetchResponse,
    SyncGroupResponse,
)
from assignors.simulation.timed.scenario import ClientModel


class Thread(StrEnum):
    """The threads of a client."""

    POLLING = "polling"
    """The application's: it calls `poll`, `commit` and `close`."""
    OTHER = "other"
    """The client's own: a heartbeat thread, or a background thread."""


class Duty(StrEnum):
    """What a thread does in one step."""

    READ = "read"
    """Take the oldest answer from the network."""
    HEARTBEAT = "heartbeat"
    """Send the heartbeat that is due."""
    RECONCILE = "reconcile"
    """Move a rebalance on: ask for a callback, acknowledge, take what is granted."""
    CALLBACK = "callback"
    """Run the callback that is asked for."""
    COMMIT = "commit"
    """Send the oldest commit that waits, else commit what previous polls returned."""
    FETCH = "fetch"
    """Ask for the next record of an owned partition."""
    COLLECT = "collect"
    """Take a fetched record out of the buffer, to return it."""


class Model(NamedTuple):
    """How a client divides the duties among its threads."""

    name: str
    polling: tuple[Duty, ...]
    """What the polling thread does in `poll`, in this order, each while there is something to do;
    it returns with one record, or none."""
    waiting: tuple[Duty, ...]
    """What it does while it waits for a commit."""
    other: tuple[Duty, ...]
    """What the other thread does, in any order, whenever there is something to do."""


_POLL = (
    Duty.READ,
    Duty.RECONCILE,
    Duty.CALLBACK,
    Duty.RECONCILE,
    Duty.HEARTBEAT,
    Duty.COMMIT,
    Duty.COLLECT,
    Duty.FETCH,
)

IN_POLL = Model("in_poll", polling=_POLL, waiting=(Duty.READ, Duty.COMMIT), other=())

HEARTBEAT_THREAD = Model(
    "heartbeat_thread",
    polling=tuple(each for each in _POLL if each is not Duty.HEARTBEAT),
    waiting=(Duty.READ, Duty.COMMIT),
    other=(Duty.READ, Duty.HEARTBEAT),
)

BACKGROUND_THREAD = Model(
    "background_thread",
    polling=(Duty.CALLBACK, Duty.COLLECT),
    waiting=(),
    other=(Duty.READ, Duty.HEARTBEAT, Duty.RECONCILE, Duty.COMMIT, Duty.FETCH),
)

MODELS = (IN_POLL, HEARTBEAT_THREAD, BACKGROUND_THREAD)

BY_NAME: dict[ClientModel, Model] = {ClientModel(each.name): each for each in MODELS}

ANSWERS: dict[type, Duty] = {
    HeartbeatResponse: Duty.READ,
    ConsumerHeartbeatResponse: Duty.READ,
    OffsetCommitResponse: Duty.READ,
    OffsetFetchResponse: Duty.READ,
    JoinGroupResponse: Duty.RECONCILE,
    SyncGroupResponse: Duty.CALLBACK,
}
"""Type of an answer -> the last duty that it leads to at once: a SyncGroup is sent, a callback
runs. The news of an answer to a heartbeat wait for a poll by themselves, where they have to."""
TIMERS: dict[str, Duty] = {
    "heartbeat": Duty.HEARTBEAT,
    "max-poll": Duty.HEARTBEAT,
    "commit": Duty.COMMIT,
    "fetch": Duty.READ,
}
"""Name of a timer -> what is due when it runs out; that no poll came in time is noticed by whoever
sends heartbeats. Others end what already runs, or are polls themselves."""
COMMANDS: dict[Command, Duty] = {Command.SESSION_OVER: Duty.READ}
POLLS = frozenset({"poll", "take", "revoked", "assigned"})
"""Timers that are a call of `poll`, or that end a callback in one."""


def duty_of(event: MemberEvent) -> Duty | None:
    """Return the duty that an event is, `None` for one that waits for no thread. Cost: O(1)."""
    match event:
        case Answered(_, response):
            return ANSWERS.get(type(response))
        case Failed():
            return Duty.READ
        case Fired((name, *_)):
            return TIMERS.get(name)
        case Command():
            return COMMANDS.get(event)
    return None


def who_does(model: Model, duty: Duty, *, is_other_free: bool) -> Thread:
    """Return which thread does a duty; both may read, and the client's own does if it is free.

    >>> who_does(HEARTBEAT_THREAD, Duty.READ, is_other_free=False).value
    'polling'
    """
    is_own = duty in model.other and (is_other_free or duty not in model.polling)
    return Thread.OTHER if is_own else Thread.POLLING


def order_in_poll(model: Model, event: MemberEvent) -> int:
    """Return the place of an event among those that a call of `poll` deals with."""
    duty = duty_of(event)
    return model.polling.index(duty) if duty in model.polling else len(model.polling)
