"""What a member of the push protocol does when something goes wrong, and all the rest.

A member that is cut off goes on with what it has: brokers refuse its fetches once the coordinator
has removed it. It joins again when it hears of that, in an answer to a heartbeat, and when the
application polls.
"""

from __future__ import annotations

from assignors.simulation.timed.protocols.application import RETRY_BACKOFF_US
from assignors.simulation.timed.protocols.effects import (
    Cancel,
    Command,
    Disturbed,
    Effect,
    Failed,
    Fired,
    MemberEvent,
)
from assignors.simulation.timed.protocols.push import member
from assignors.simulation.timed.protocols.push.member import (
    await_news,
    begin_long_poll,
    fetch,
    free,
    join,
    lose_place,
    send,
)
from assignors.simulation.timed.protocols.push.member_state import PushClient
from assignors.simulation.timed.protocols.push.messages import LeaveGroup


def step(state: PushClient, event: MemberEvent) -> list[Effect]:
    """Return what a member does about an event; `state` is changed in place.

    Cost: O(1) for what goes wrong, else that of `member.step`.
    """
    state.out = []
    match event:
        case Failed(number):
            _request_failed(state, number)
        case Disturbed():
            _slow_down(state, event)
        case Fired(("max-poll",)):
            _poll_late(state)
        case Command.LOSE_GENERATION:
            if state.is_member and not state.is_stopping:
                lose_place(state)
        case Command.SESSION_OVER:
            pass
        case _:
            return member.step(state, event)
    return state.out


def _request_failed(state: PushClient, number: int) -> None:
    """Send a request without an answer again, where the next heartbeat does not do the same."""
    if state.is_up and number == state.joined and not state.member_id:
        join(state, RETRY_BACKOFF_US)
    elif state.is_member and not state.is_stopping:
        if number == state.awaiting:
            await_news(state, RETRY_BACKOFF_US)
        elif number == state.fetching:
            fetch(state, RETRY_BACKOFF_US)


def _slow_down(state: PushClient, event: Disturbed) -> None:
    """Take over how slow the application is; a long poll begins or ends."""
    if state.application.slow_down(event):
        begin_long_poll(state)
        free(state)


def _poll_late(state: PushClient) -> None:
    """Leave the group: the application has not polled in time. It does not know yet."""
    if state.is_member and not state.is_stopping:
        send(state, LeaveGroup(state.member_id))
        state.application.has_left = True
        state.out.append(Cancel(("heartbeat",)))
