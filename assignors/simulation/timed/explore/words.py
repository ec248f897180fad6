"""Events and effects in words, for people who look for what went wrong.

What repeats all the time says nothing: a heartbeat without news and timers that start anew get no
words.
"""

from __future__ import annotations

from collections.abc import Callable

from assignors.ownership.changes import TopicPartition
from assignors.simulation.timed.monitors.rules import Seen, listed
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Answered,
    Append,
    AppendFailed,
    Arrived,
    AssignorFailed,
    Command,
    Committed,
    Consume,
    CoordinatorEvent,
    Disturbed,
    Effect,
    Failed,
    Fired,
    GiveUp,
    MemberEvent,
    Record,
    Reply,
    Request,
    Response,
    Restrict,
    Schedule,
    Send,
)
from assignors.simulation.timed.protocols.kafka import messages
from assignors.simulation.timed.protocols.kafka.messages import ErrorCode
from assignors.simulation.timed.protocols.kafka.records import (
    CurrentRecord,
    GroupRecord,
    TargetRecord,
)
from assignors.simulation.timed.protocols.push import messages as push
from wire import TopicPartitions, decode_assignment, decode_subscription

Short = Callable[[str], str]
"""Member id -> a short form of it."""
Show = Callable[[TopicPartitions], str]
"""Partitions -> text."""

PUSH_TIMERS = {
    "broker": "broker {} has the new owners",
    "acknowledged": "all brokers have acknowledged",
    "removal": "the time of {} to give up is over",
    "lease": "the lease of {} is over",
    "fetch": "{} fetches",
    "turn": "the next move has its turn",
}
"""First part of a timer's key -> what it says, with the other parts in it."""

CALLBACKS = {
    ("revoked",): "the callback for revoked partitions",
    ("assigned",): "the callback for assigned partitions",
}
TIMERS: dict[tuple[str, ...], str] = {
    **{key: f"{text} is over" for key, text in CALLBACKS.items()},
    ("poll",): "polls",
    ("poll-ends",): "is between two polls",
    ("poll-begins",): "polls again",
    ("handlers-late",): "has waited for its handlers for as long as it may",
    ("computed",): "has computed the assignment",
    ("follow-up",): "time for a follow-up round",
    ("join",): "the time to join is over",
    ("sync",): "the time for SyncGroup is over",
    ("lost",): "is lost, and the next one goes on with what is replicated",
    ("loaded",): "the next one has read the log",
    ("fetch",): "asks for committed offsets once more",
}


COMMANDS = {
    Command.LOSE_GENERATION: "forgets its generation",
    Command.FORGET_GENERATION: "forgets its generation, as a commit was refused",
    Command.SESSION_OVER: "has heard nothing for a session timeout",
}


def line_of(seen: Seen, first: TopicPartition | None = None) -> str | None:
    """Return an event and what it led to in one line; `None` where nothing is worth a line.

    Of many partitions the first few are named, and `first` before them where it is one of these.
    """

    def show(owned: TopicPartitions) -> str:
        return listed(owned, first) or "nothing"

    who = seen.member or "coordinator"
    what = _event(seen.event, show)
    led_to = [text for effect in seen.effects if (text := _effect(effect, show)) is not None]
    if what is None and not led_to:
        return None
    return f"{who}: " + " -> ".join(filter(None, (what, "; ".join(led_to))))


def _event(event: CoordinatorEvent | MemberEvent, show: Show) -> str | None:
    match event:
        case Arrived(_, request):
            return _request(request, "gets", show)
        case Answered(_, response):
            return _response(response, "gets", show)
        case Fired(key):
            return _timer(key)
        case Committed():
            return "its record is replicated"
        case AppendFailed():
            return "its records are not written"
        case Failed() | Disturbed() | Command():
            return _from_outside(event)


def _from_outside(event: Failed | Disturbed | Command) -> str:
    match event:
        case Failed():
            return "has no answer in time"
        case Disturbed(kind, by_us):
            return f"{kind.value}: {by_us / MILLISECOND:g} ms" if by_us else f"{kind.value} is over"
    return COMMANDS.get(event, f"is to {event.value}")


def _timer(key: tuple[str, ...]) -> str | None:
    match key:
        case ("heartbeat",):
            return None
        case ("session" | "heartbeat", member_id):
            return f"the session of {short(member_id)} is over"
        case ("rebalance", member_id):
            return f"the time of {short(member_id)} to revoke is over"
        case ("handler", topic, number):
            return f"its handler of {topic}-{number} returns"
    words = TIMERS.get(key) or _push_timer(key, short)
    return words or f"timer {' '.join(key)}"


def _effect(effect: Effect, show: Show) -> str | None:
    words: str | None = None
    match effect:
        case Send(_, request):
            words = _request(request, "sends", show)
        case Reply(_, response):
            words = _response(response, "answers", show)
        case Consume(owned, reason):
            words = f"consumes {show(owned)} ({reason})"
        case Restrict(name, owned, reason):
            words = f"brokers let {name} consume {show(owned)} ({reason})"
        case AssignorFailed(text):
            words = f"its assignor fails: {text}"
        case GiveUp(error):
            words = f"stops for good: {error}"
        case Append(records):
            words = "writes " + ", ".join(_record(record, show) for record in records)
        case Schedule(key) if key in CALLBACKS:
            words = f"{CALLBACKS[key]} begins"
    return words


def _request(request: Request, verb: str, show: Show) -> str | None:
    if isinstance(request, push.Request):
        return _push_request(request, verb, short, show)
    match request:
        case messages.JoinGroup():
            claims = decode_subscription(request.protocols[0].metadata).value
            owned = {} if claims is None else claims.owned
            return (
                f"{verb} JoinGroup of {short(request.member_id) or request.client_id},"
                f" owns {show(owned)}"
            )
        case messages.SyncGroup():
            plan = "; ".join(
                f"{short(member_id)}: {_assignment(assigned, show)}"
                for member_id, assigned in request.assignments
            )
            head = f"{verb} SyncGroup of {short(request.member_id)}"
            return f"{head}, generation {request.generation}" + (f", {plan}" if plan else "")
        case messages.LeaveGroup():
            return f"{verb} LeaveGroup of {short(request.member_id)}"
        case messages.ConsumerHeartbeat() if request.owned is not None or request.epoch <= 0:
            claim = "" if request.owned is None else f", owns {show(request.owned)}"
            return f"{verb} heartbeat of {short(request.member_id)}, epoch {request.epoch}{claim}"
    return None


def _response(response: Response, verb: str, show: Show) -> str | None:
    if isinstance(response, push.Response):
        return _push_response(response, verb, show)
    match response:
        case messages.JoinGroupResponse(ErrorCode.NONE):
            return (
                f"{verb} JoinGroup: {short(response.member_id)} in generation"
                f" {response.generation}, led by {short(response.leader)}"
            )
        case messages.SyncGroupResponse(ErrorCode.NONE):
            return f"{verb} SyncGroup: {_assignment(response.assignment, show)}"
        case messages.ConsumerHeartbeatResponse(ErrorCode.NONE):
            if response.assignment is None:
                return None
            given = show(response.assignment)
            return f"{verb} epoch {response.epoch} to {short(response.member_id)}: {given}"
    name = type(response).__name__.removesuffix("Response")
    return f"{verb} {name}: {response.error.name}" if response.error else None


def _record(record: Record, show: Show) -> str:
    match record:
        case GroupRecord():
            plan = "; ".join(
                f"{short(each.member_id)}: {_assignment(each.assignment, show)}"
                for each in record.members
            )
            return f"generation {record.generation} ({plan})"
        case TargetRecord(member_id, given):
            share = "gone" if given is None else show(given)
            return f"target of {short(member_id)}: {share}"
        case CurrentRecord(member_id, epoch) if epoch is not None:
            return f"{short(member_id)} in epoch {epoch}, {record.state}"
    return type(record).__name__.removesuffix("Record")


def _assignment(blob: bytes, show: Show) -> str:
    read = decode_assignment(blob).value
    return show({} if read is None else read.partitions)


def short(member_id: str) -> str:
    """Return a member id with no more than the first four digits of its UUID.

    >>> short("c1-2f1c7a52-7f0e-4c59-9a57-3d5c7f0c1d2e")
    'c1-2f1c'
    """
    name, *uuid = member_id.rsplit("-", 5)
    return f"{name}-{uuid[0][:4]}" if uuid and len(uuid) == 5 else member_id


def _push_request(request: push.Request, verb: str, short: Short, show: Show) -> str | None:
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


def _push_response(response: push.Response, verb: str, show: Show) -> str | None:
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


def _push_timer(key: tuple[str, ...], short: Short) -> str | None:
    """Return what a timer of coordinator or brokers stands for."""
    words = PUSH_TIMERS.get(key[0])
    return None if words is None else words.format(*(short(each) for each in key[1:]))
