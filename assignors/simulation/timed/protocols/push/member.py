"""What a member of the push protocol does with each answer, timer and command.

It joins once. After that heartbeat responses say what it may consume and what it has to give up; a
refused fetch says so too. What goes it gives up at its next poll: it commits the offsets and sends
a PartitionCommittedNotification. All other partitions go on.

A member that is cut off goes on with what it has: brokers refuse its fetches once the coordinator
has removed it. It joins again when it hears of that, in an answer to a heartbeat, and when the
application polls.

Timers: `("heartbeat",)`; `("poll",)`, when it gives up what it has to; `("revoked",)` and
`("assigned",)`, the ends of the two callbacks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from assignors.simulation.timed.protocols.application import (
    RETRY_BACKOFF_US,
    Application,
    call_back,
    rest_of_poll,
    watch_thread,
)
from assignors.simulation.timed.protocols.effects import (
    Answered,
    Cancel,
    Command,
    Consume,
    Disturbed,
    Effect,
    Failed,
    Fired,
    GiveUp,
    MemberEvent,
    Schedule,
    Send,
)
from assignors.simulation.timed.protocols.push.messages import (
    AwaitAssignment,
    Fetch,
    FetchResponse,
    Grants,
    Heartbeat,
    HeartbeatResponse,
    JoinGroup,
    JoinGroupResponse,
    LeaveGroup,
    Partition,
    PartitionCommittedNotification,
    PushError,
    Request,
    by_topic,
)
from assignors.simulation.timed.scenario import MemberConfig, PushConfig
from wire import TopicPartitions


@dataclass(slots=True, kw_only=True)
class PushClient:
    """A member's side of the protocol."""

    config: MemberConfig
    push: PushConfig
    draw: Callable[[str, int], int]
    """(`"poll"`, limit) -> a random time in microseconds."""
    topics: tuple[str, ...] = ()
    member_id: str = ""
    is_up: bool = False
    is_stopping: bool = False
    version: int = 1
    """Of the assignment that it has."""
    epoch: int = 0
    """Of the group, when its last answer was sent."""
    held: dict[Partition, int] = field(default_factory=dict)
    """What it owns, with the number of each grant; it consumes what no callback has yet to take."""
    target: dict[Partition, int] = field(default_factory=dict)
    """The last assignment, without what it has given up since."""
    given_up: dict[Partition, int] = field(default_factory=dict)
    """Partition -> the last grant that it has given up: an older answer does not bring it back."""
    revoking: dict[Partition, int] = field(default_factory=dict)
    """What the callback that runs gives up."""
    application: Application = field(default_factory=Application)
    is_deferred: bool = False
    """The coordinator has removed it, and the application's thread has no time for that yet."""
    starting: set[Partition] = field(default_factory=set)
    """What the callback that runs takes."""
    arriving: set[Partition] = field(default_factory=set)
    """What the next one will take."""
    awaits_poll: bool = False
    """It has to give something up at its next poll."""
    is_late: bool = False
    """The application's thread was busy at the time of that poll."""
    has_new_topics: bool = False
    """Its subscription has changed since it asked to join."""
    fetches_refused: int = 0
    joined: int | None = None
    """The number of the JoinGroup under which it has its id; answers to older requests are void."""
    awaiting: int | None = None
    """The number of its last request for news."""
    fetching: int | None = None
    number: int = 0
    out: list[Effect] = field(default_factory=list)

    @property
    def owned(self) -> TopicPartitions:
        """What it owns. Cost: O(partitions)."""
        return by_topic(self.held)

    @property
    def beat_us(self) -> int:
        """The time from one of its heartbeats to the next."""
        return self.config.by_its_clock(self.config.heartbeat_interval_ms)

    @property
    def generation(self) -> int:
        """The group epoch that it knows."""
        return self.epoch

    @property
    def join_request(self) -> JoinGroup:
        """What it joins with, or changes its subscription."""
        config = self.config
        return JoinGroup(
            config.name,
            self.member_id,
            self.topics,
            config.rack_id,
            config.session_timeout_ms,
            config.rebalance_timeout_ms,
        )

    @property
    def is_at_rest(self) -> bool:
        """Whether it runs and has nothing to do but consume."""
        busy = self.awaits_poll or self.application.is_in_callback
        return self.is_member and not busy

    @property
    def is_member(self) -> bool:
        """Whether it is in the group, as far as it knows."""
        return self.is_up and bool(self.member_id) and not self.is_out

    @property
    def is_out(self) -> bool:
        """Whether it is no longer in the group, and has not given up what it consumes."""
        return self.application.has_left or self.is_deferred


TIMERS = ("heartbeat", "poll", "revoked", "assigned", "max-poll")


def _start(state: PushClient) -> None:
    state.is_up, state.is_stopping = True, False
    state.topics = state.topics or state.config.topics
    state.application.restart()
    join(state)


def join(state: PushClient, after_us: int = 0) -> None:
    """Join as a new member, with nothing."""
    state.has_new_topics = False
    state.application.has_left = state.is_deferred = False
    state.member_id, state.version, state.epoch = "", 1, 0
    state.held, state.target, state.given_up = {}, {}, {}
    state.joined = send(state, state.join_request, after_us)


def _rejoin(state: PushClient) -> None:
    """Send a changed subscription, once it has joined; nothing is given up for it."""
    state.has_new_topics = not state.is_member
    if state.is_member and not state.is_stopping:
        send(state, state.join_request)


def _joined(state: PushClient, response: JoinGroupResponse) -> None:
    if response.error is not PushError.NONE:
        _end(state)
        state.out.append(GiveUp(response.error.name))
        return
    state.member_id = response.member_id
    if state.has_new_topics:
        _rejoin(state)
    _heartbeat(state)
    await_news(state)
    fetch(state)


def fetch(state: PushClient, after_us: int = 0) -> None:
    """Fetch until a fetch is refused, where brokers refuse any."""
    if state.push.fences_fetches:
        state.fetching = send(state, Fetch(state.member_id), after_us)


def _heartbeat(state: PushClient) -> None:
    send(state, Heartbeat(state.member_id, state.version))
    state.out.append(Schedule(("heartbeat",), state.beat_us))


def await_news(state: PushClient, after_us: int = 0) -> None:
    """Ask for the next news, where the coordinator keeps such requests."""
    if state.push.parks_heartbeats:
        state.awaiting = send(state, AwaitAssignment(state.member_id, state.version), after_us)


def _answered(state: PushClient, response: HeartbeatResponse) -> None:
    if response.error is not PushError.NONE:
        lose_place(state)
        return
    if response.assigned is None:
        return
    if response.version > state.version:
        state.version, state.epoch = response.version, response.epoch
        state.target = dict(response.assigned)
        for partition, grant in state.target.items():
            if partition in state.held:
                state.held[partition] = grant
        await_news(state)
    if not state.is_stopping:
        _removed(state, response.removed)
        _follow(state)


def lose_place(state: PushClient) -> None:
    """Lose everything and join anew, once the application's thread has time for it."""
    if state.application.is_busy:
        state.is_deferred = True
        state.out.append(Cancel(("heartbeat",)))
    else:
        _give_up(state)


def _give_up(state: PushClient) -> None:
    _lose(state, "fenced")
    if state.is_stopping:
        _end(state)
    else:
        join(state)


def _removed(state: PushClient, removed: Grants) -> None:
    """Send the notification at once for what the member does not have, or no longer has."""
    gone: dict[Partition, int] = {}
    for partition, grant in removed.items():
        if partition in state.held:
            state.held[partition] = grant
        elif partition not in state.revoking:
            gone[partition] = grant
    if gone:
        send(state, PartitionCommittedNotification(state.member_id, gone))


def _refused(state: PushClient, refused: Grants) -> None:
    """Take note of a refused fetch: it says the same as a removal in a heartbeat response."""
    lost = [each for each, grant in refused.items() if state.target.get(each) == grant]
    if lost:
        state.fetches_refused += 1
        for partition in lost:
            del state.target[partition]
    if refused and not state.is_stopping:  # an empty answer: the coordinator has removed it
        fetch(state)
        _follow(state)


def _follow(state: PushClient) -> None:
    """Go for the assignment: what is missing in it goes at the next poll, what is new is taken."""
    if not (state.awaits_poll or state.revoking) and not state.held.keys() <= state.target.keys():
        state.awaits_poll = True
        state.out.append(Schedule(("poll",), rest_of_poll(state.config, state.draw)))
    new = {
        partition: grant
        for partition, grant in state.target.items()
        if partition not in state.held
        and partition not in state.revoking
        and (not grant or grant > state.given_up.get(partition, 0))
    }
    state.held |= new
    state.arriving |= new.keys()
    if state.arriving and not state.application.is_busy:
        state.starting, state.arriving = state.arriving, set()
        _call_back(state, "assigned", state.config.assign_ms)


def _call_back(state: PushClient, timer: str, takes_ms: int) -> None:
    state.out += call_back(state.application, state.config, timer, takes_ms)


def _assigned(state: PushClient) -> None:
    state.application.is_in_callback = False
    state.starting = set()
    _consume(state, "assigned")
    free(state)


def _poll(state: PushClient) -> None:
    """Give up what the assignment lacks: consumption ends, the callback runs and commits."""
    state.is_late = state.application.is_busy
    if state.is_late:
        return
    state.awaits_poll = False
    lost = {p: grant for p, grant in state.held.items() if p not in state.target}
    if not lost:
        _follow(state)
        return
    for partition in lost:
        del state.held[partition]
    state.arriving -= lost.keys()
    state.revoking = lost
    _consume(state, "revoked")
    _call_back(state, "revoked", state.config.revoke_ms)


def _revoked(state: PushClient) -> None:
    state.application.is_in_callback = False
    if not (state.is_stopping or state.is_out):
        send(state, PartitionCommittedNotification(state.member_id, state.revoking))
        state.given_up |= state.revoking
    state.revoking = {}
    free(state)


def free(state: PushClient) -> None:
    """Do what has waited for the application's thread."""
    if state.application.is_busy or not state.is_up:
        return
    state.out.append(Cancel(("max-poll",)))
    if state.is_stopping:
        _give_up_and_leave(state)
    elif state.is_out:
        _give_up(state)
    elif state.is_late:
        _poll(state)
    else:
        _follow(state)
        begin_long_poll(state)


def begin_long_poll(state: PushClient) -> None:
    """Let the application be busy with its records, if it takes long for them."""
    application = state.application
    is_free = state.is_member and not (application.is_busy or state.awaits_poll)
    if application.long_poll_us and is_free:
        application.is_in_poll = True
        state.out += watch_thread(state.config, application.long_poll_us)


def _consume(state: PushClient, reason: str) -> None:
    waiting = state.starting | state.arriving
    state.out.append(Consume(by_topic(p for p in state.held if p not in waiting), reason))


def _stop(state: PushClient) -> None:
    """Close the consumer: give everything up, then leave."""
    if not state.is_up or state.is_stopping:
        return
    state.is_stopping = True
    if not state.application.is_busy:
        _give_up_and_leave(state)


def _give_up_and_leave(state: PushClient) -> None:
    """Leave, once the callback for what it still owns is over."""
    state.out += [Cancel((name,)) for name in TIMERS]
    if state.held:
        state.held = {}
        state.out.append(Consume({}, "revoked"))
        _call_back(state, "revoked", state.config.revoke_ms)
    else:
        _leave(state)


def _leave(state: PushClient) -> None:
    if state.is_member:
        send(state, LeaveGroup(state.member_id))
    _end(state)


def _crash(state: PushClient) -> None:
    if state.is_up:
        _lose(state, "crashed")
        _end(state)


def _lose(state: PushClient, reason: str) -> None:
    """Stop consuming everything, without a commit."""
    if state.held:
        state.out.append(Consume({}, reason))
    state.held, state.target, state.revoking = {}, {}, {}
    state.starting, state.arriving = set(), set()
    state.awaits_poll = state.is_late = False
    state.application.is_in_callback = False
    state.out += [Cancel((name,)) for name in TIMERS]


def _end(state: PushClient) -> None:
    """End the process."""
    state.held = {}
    _lose(state, "")
    state.is_up = False
    state.application.restart()


def send(state: PushClient, request: Request, after_us: int = 0) -> int:
    """Send a request; return its number."""
    state.number += 1
    state.out.append(Send(state.number, request, after_us))
    return state.number


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


_TIMERS: dict[str, Callable[[PushClient], None]] = {
    "heartbeat": _heartbeat,
    "poll": _poll,
    "revoked": _revoked,
    "assigned": _assigned,
    "max-poll": _poll_late,
}
_COMMANDS: dict[Command, Callable[[PushClient], None]] = {
    Command.START: _start,
    Command.STOP: _stop,
    Command.CRASH: _crash,
    Command.REJOIN: _rejoin,
}


def _heard(state: PushClient, event: Answered) -> None:
    match event:
        case Answered(number, JoinGroupResponse() as response):
            if state.is_up and number == state.joined:
                _joined(state, response)
        case Answered(number, HeartbeatResponse() as response):
            if state.is_member and number > (state.joined or 0):
                _answered(state, response)
        case Answered(number, FetchResponse(refused)):
            if state.is_member and number > (state.joined or 0):
                _refused(state, refused)


def step(state: PushClient, event: MemberEvent) -> list[Effect]:
    """Return what a member does about an event; `state` is changed in place.

    Cost: O(its partitions) for news, O(1) otherwise.
    """
    state.out = []
    match event:
        case Answered():
            _heard(state, event)
        case Fired(key):
            _TIMERS[key[0]](state)
        case Failed(number):
            _request_failed(state, number)
        case Disturbed():
            _slow_down(state, event)
        case Command.LOSE_GENERATION:
            if state.is_member and not state.is_stopping:
                lose_place(state)
        case Command():
            if event is not Command.SESSION_OVER:  # the session is the coordinator's affair
                _COMMANDS[event](state)
    return state.out
