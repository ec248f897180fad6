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

from assignors.simulation.timed.protocols.client import RETRY_BACKOFF_US, HeartbeatClient
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
)
from assignors.simulation.timed.protocols.kafka.messages import ErrorCode
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
    by_topic,
)
from assignors.simulation.timed.scenario import PushConfig
from wire import TopicPartitions

STOPS = tuple(Cancel((name,)) for name in ("heartbeat", "poll", "revoked", "assigned", "max-poll"))
"""What stops the timers of a process."""


@dataclass(slots=True, kw_only=True)
class PushClient(HeartbeatClient):
    """A member's side of the protocol."""

    push: PushConfig
    version: int = 1
    """Of the assignment that it has."""
    held: dict[Partition, int] = field(default_factory=dict)
    """What it owns, with the number of each grant; it consumes what no callback has yet to take."""
    target: dict[Partition, int] = field(default_factory=dict)
    """The last assignment, without what it has given up since."""
    given_up: dict[Partition, int] = field(default_factory=dict)
    """Partition -> the last grant that it has given up: an older answer does not bring it back."""
    revoking: dict[Partition, int] = field(default_factory=dict)
    """What the callback that runs gives up."""
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

    @property
    def owned(self) -> TopicPartitions:
        """What it owns. Cost: O(partitions)."""
        return by_topic(self.held)

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

    def join(self, after_us: int = 0) -> None:
        """Join as a new member, with nothing."""
        self.has_new_topics = self.application.has_left = False
        self.deferred = ErrorCode.NONE
        self.member_id, self.version, self.epoch = "", 1, 0
        self.held, self.target, self.given_up = {}, {}, {}
        self.joined = self.send(self.join_request, after_us)

    def _lose(self, reason: str) -> None:
        if self.held:
            self.out.append(Consume({}, reason))
        self.held, self.target, self.revoking = {}, {}, {}
        self.starting, self.arriving = set(), set()
        self.awaits_poll = self.is_late = False
        self.application.is_in_callback = False
        self.out += STOPS

    def _give_up_all(self) -> bool:
        self.out += STOPS
        has_any, self.held = bool(self.held), {}
        if has_any:
            self.out.append(Consume({}, "revoked"))
        return has_any

    def _give_up_place(self, _error: ErrorCode) -> None:
        self._lose("fenced")
        if self.is_stopping:
            self._end()
        else:
            self.join()

    def _say_leave(self) -> None:
        if self.is_member:
            self.send(LeaveGroup(self.member_id))

    def _end(self) -> None:
        self.held = {}
        self._lose("")
        self.is_up = False
        self.application.restart()

    def _may_poll_long(self) -> bool:
        return self.is_member and not self.awaits_poll

    def _go_on(self) -> None:
        if self.is_late:
            _poll(self)
        else:
            _follow(self)
            self.begin_long_poll()

    def give_up(self, error: PushError) -> None:
        """End the process, as the coordinator refuses it."""
        self._end()
        self.out.append(GiveUp(error.name))


def _rejoin(state: PushClient) -> None:
    """Send a changed subscription, once it has joined; nothing is given up for it."""
    state.has_new_topics = not state.is_member
    if state.is_member and not state.is_stopping:
        state.send(state.join_request)


def _joined(state: PushClient, response: JoinGroupResponse) -> None:
    if response.error is not PushError.NONE:
        state.give_up(response.error)
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
        state.fetching = state.send(Fetch(state.member_id), after_us)


def _heartbeat(state: PushClient) -> None:
    state.send(Heartbeat(state.member_id, state.version))
    state.beat_later()


def await_news(state: PushClient, after_us: int = 0) -> None:
    """Ask for the next news, where the coordinator keeps such requests."""
    if state.push.parks_heartbeats:
        state.awaiting = state.send(AwaitAssignment(state.member_id, state.version), after_us)


def _answered(state: PushClient, response: HeartbeatResponse) -> None:
    if response.error is not PushError.NONE:
        state.lose_place(ErrorCode.UNKNOWN_MEMBER_ID)
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


def _removed(state: PushClient, removed: Grants) -> None:
    """Send the notification at once for what the member does not have, or no longer has."""
    gone: dict[Partition, int] = {}
    for partition, grant in removed.items():
        if partition in state.held:
            state.held[partition] = grant
        elif partition not in state.revoking:
            gone[partition] = grant
    if gone:
        state.send(PartitionCommittedNotification(state.member_id, gone))


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
        state.poll_later()
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
        state.call_back("assigned", state.config.assign_ms)


def _assigned(state: PushClient) -> None:
    state.application.is_in_callback = False
    state.starting = set()
    _consume(state, "assigned")
    state.free()


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
    state.call_back("revoked", state.config.revoke_ms)


def _revoked(state: PushClient) -> None:
    state.application.is_in_callback = False
    if not (state.is_stopping or state.is_out):
        state.send(PartitionCommittedNotification(state.member_id, state.revoking))
        state.given_up |= state.revoking
    state.revoking = {}
    state.free()


def _consume(state: PushClient, reason: str) -> None:
    waiting = state.starting | state.arriving
    state.out.append(Consume(by_topic(p for p in state.held if p not in waiting), reason))


def _request_failed(state: PushClient, number: int) -> None:
    """Send a request without an answer again, where the next heartbeat does not do the same."""
    if state.is_up and number == state.joined and not state.member_id:
        state.join(RETRY_BACKOFF_US)
    elif state.is_member and not state.is_stopping:
        if number == state.awaiting:
            await_news(state, RETRY_BACKOFF_US)
        elif number == state.fetching:
            fetch(state, RETRY_BACKOFF_US)


def _poll_late(state: PushClient) -> None:
    if state.is_member and not state.is_stopping:
        state.leave_late()


_TIMERS: dict[str, Callable[[PushClient], None]] = {
    "heartbeat": _heartbeat,
    "poll": _poll,
    "revoked": _revoked,
    "assigned": _assigned,
    "max-poll": _poll_late,
}
_COMMANDS: dict[Command, Callable[[PushClient], None]] = {
    Command.START: PushClient.start,
    Command.STOP: PushClient.stop,
    Command.CRASH: PushClient.crash,
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
            state.slow_down(event)
        case Command.LOSE_GENERATION:
            if state.is_member and not state.is_stopping:
                state.lose_place(ErrorCode.UNKNOWN_MEMBER_ID)
        case Command():
            if event is not Command.SESSION_OVER:  # the session is the coordinator's affair
                _COMMANDS[event](state)
    return state.out
