"""What a consumer with the protocol of KIP-848 does when something goes wrong, and all the rest.

It has no session timeout of its own: one that is cut off goes on until an answer says that it is
fenced. Only then, and only when the application polls, does it give up what it consumed, and joins
again with epoch 0. Nor does it repeat a heartbeat by itself: it sends the next one, with everything
in it, as it cannot know what has arrived.

Source: `AbstractHeartbeatRequestManager` and `AbstractMembershipManager` of Kafka's Java client.
"""

from __future__ import annotations

from assignors.simulation.timed.protocols.application import RETRY_BACKOFF_US
from assignors.simulation.timed.protocols.consumer import member
from assignors.simulation.timed.protocols.consumer.member import (
    begin_long_poll,
    free,
    lose_place,
    send_now,
)
from assignors.simulation.timed.protocols.consumer.member_state import ConsumerClient, send
from assignors.simulation.timed.protocols.consumer.messages import (
    LEAVE_EPOCH,
    STATIC_LEAVE_EPOCH,
    ConsumerError,
    ConsumerHeartbeat,
)
from assignors.simulation.timed.protocols.effects import (
    Answered,
    Cancel,
    Command,
    Disturbed,
    Effect,
    Failed,
    Fired,
    MemberEvent,
)


def step(state: ConsumerClient, event: MemberEvent) -> list[Effect]:
    """Return what a member does about an event; `state` is changed in place.

    Cost: O(1) for what goes wrong, else that of `member.step`.
    """
    if type(event) is Answered or (type(event) is Fired and event.key[0] != "max-poll"):
        return member.step(state, event)
    state.out = []
    match event:
        case Failed(number):
            _request_failed(state, number)
        case Disturbed():
            _slow_down(state, event)
        case Fired(("max-poll",)):
            _poll_late(state)
        case Command.LOSE_GENERATION:
            _lose_generation(state)
        case Command.SESSION_OVER:
            pass  # the session is the coordinator's affair
        case _:
            return member.step(state, event)
    return state.out


def _request_failed(state: ConsumerClient, number: int) -> None:
    """Send a heartbeat without an answer again: all of it, as the coordinator may not have it."""
    if state.is_up and number == state.in_flight:
        state.in_flight, state.says_all = None, True
        send_now(state, RETRY_BACKOFF_US)


def _lose_generation(state: ConsumerClient) -> None:
    """Forget the member epoch: lose everything, and join again with epoch 0."""
    if state.is_up and state.epoch > 0 and not state.is_stopping and not state.is_out:
        state.in_flight = None
        lose_place(state, ConsumerError.FENCED_MEMBER_EPOCH)


def _slow_down(state: ConsumerClient, event: Disturbed) -> None:
    """Take over how slow the application is; a long poll begins or ends."""
    if state.application.slow_down(event):
        begin_long_poll(state)
        free(state)


def _poll_late(state: ConsumerClient) -> None:
    """Leave the group: the application has not polled in time. It does not know yet."""
    if state.is_out or state.is_stopping:
        return
    instance_id = state.config.instance_id
    epoch = LEAVE_EPOCH if instance_id is None else STATIC_LEAVE_EPOCH
    send(state, ConsumerHeartbeat(state.member_id, epoch, instance_id))
    state.application.has_left = True
    state.in_flight, state.must_send, state.acknowledges = None, False, False
    state.out.append(Cancel(("heartbeat",)))
