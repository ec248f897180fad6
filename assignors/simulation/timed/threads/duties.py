"""Which duty each event of a member is, and which thread of its client does that.

An event without a duty is dealt with when it happens: what the application or the process does, and
the end of what already runs.
"""

from __future__ import annotations

from assignors.simulation.timed.clients.models import MODELS, Duty, Model, Thread
from assignors.simulation.timed.protocols.kafka.messages import HeartbeatResponse, JoinGroupResponse, SyncGroupResponse
from assignors.simulation.timed.protocols.kafka.messages import ConsumerHeartbeatResponse
from assignors.simulation.timed.protocols.effects import (
    Answered,
    Command,
    Failed,
    Fired,
    MemberEvent,
)
from assignors.simulation.timed.protocols.kafka.messages import OffsetCommitResponse, OffsetFetchResponse
from assignors.simulation.timed.scenario import ClientModel

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

    >>> from assignors.simulation.timed.clients.models import HEARTBEAT_THREAD
    >>> who_does(HEARTBEAT_THREAD, Duty.READ, is_other_free=False).value
    'polling'
    """
    is_own = duty in model.other and (is_other_free or duty not in model.polling)
    return Thread.OTHER if is_own else Thread.POLLING


def order_in_poll(model: Model, event: MemberEvent) -> int:
    """Return the place of an event among those that a call of `poll` deals with."""
    duty = duty_of(event)
    return model.polling.index(duty) if duty in model.polling else len(model.polling)
