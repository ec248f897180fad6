"""Messages of the push protocol in words, for `words`; `None` where nothing is worth a line."""

from __future__ import annotations

from collections.abc import Callable

from assignors.simulation.timed.protocols.push import messages as push
from wire import TopicPartitions

Short = Callable[[str], str]
"""Member id -> a short form of it."""
Show = Callable[[TopicPartitions], str]
"""Partitions -> text."""

TIMERS = {
    "broker": "broker {} has the new owners",
    "acknowledged": "all brokers have acknowledged",
    "removal": "the time of {} to give up is over",
    "lease": "the lease of {} is over",
    "fetch": "{} fetches",
    "turn": "the next move has its turn",
}
"""First part of a timer's key -> what it says, with the other parts in it."""


def request_words(request: push.Request, verb: str, short: Short, show: Show) -> str | None:
    """Return a request in words. Cost: O(its partitions)."""
    match request:
        case push.JoinGroup():
            return f"{verb} JoinGroup of {short(request.member_id) or request.client_id}"
        case push.PartitionCommittedNotification(member_id, partitions):
            committed = show(push.by_topic(partitions))
            return f"{verb} PartitionCommittedNotification of {short(member_id)} for {committed}"
        case push.LeaveGroup(member_id):
            return f"{verb} LeaveGroup of {short(member_id)}"
    return None


def response_words(response: push.Response, verb: str, show: Show) -> str | None:
    """Return a response in words. Cost: O(its partitions)."""
    match response:
        case push.HeartbeatResponse(push.PushError.NONE, _, epoch, assigned, removed):
            if assigned is None:
                return None
            asked = f", to give up: {show(push.by_topic(removed))}" if removed else ""
            return f"{verb} an assignment in epoch {epoch}: {show(push.by_topic(assigned))}{asked}"
        case push.FetchResponse(refused) if refused:
            return f"{verb} a fetch: refused for {show(push.by_topic(refused))}"
    if response.error is push.PushError.NONE:
        return None
    name = type(response).__name__.removesuffix("Response")
    return f"{verb} {name}: {response.error.name}"


def timer_words(key: tuple[str, ...], short: Short) -> str | None:
    """Return what a timer of coordinator or brokers stands for."""
    words = TIMERS.get(key[0])
    return None if words is None else words.format(*(short(each) for each in key[1:]))
