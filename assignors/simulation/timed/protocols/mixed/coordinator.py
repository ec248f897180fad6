"""The coordinator of a group that may be of either kind, and change from one to the other.

It has a coordinator of each kind, of which one at most has the group. A request goes to that one; a
member of the other kind that joins changes the group, as far as the policy allows.

Timers: those of the consumer group under their own keys, those of the classic one behind
`"classic"`. They are not stopped when the group changes: they find nothing to do, unless it has
changed back by then.

Source: `GroupMetadataManager` of Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

from assignors.simulation.timed.protocols.classic import coordinator as classic_coordinator
from assignors.simulation.timed.protocols.classic.coordinator_state import (
    ClassicCoordinator,
    WaitingAppend,
)
from assignors.simulation.timed.protocols.classic.group import ClassicGroup
from assignors.simulation.timed.protocols.classic.messages import (
    ErrorCode,
    Heartbeat,
    HeartbeatResponse,
    JoinGroup,
    JoinGroupResponse,
    LeaveGroup,
    LeaveGroupResponse,
    SyncGroup,
    SyncGroupResponse,
)
from assignors.simulation.timed.protocols.consumer import coordinator as consumer_coordinator
from assignors.simulation.timed.protocols.consumer.assignment.rounds import apply
from assignors.simulation.timed.protocols.consumer.coordinator_state import (
    Changes,
    ConsumerCoordinator,
    Refused,
    Work,
)
from assignors.simulation.timed.protocols.consumer.group import ConsumerGroup, ConsumerMember
from assignors.simulation.timed.protocols.consumer.messages import ConsumerHeartbeat
from assignors.simulation.timed.protocols.consumer.step import (
    CLOCK_STARTS_MS,
    WaitingCoordinator,
    committed,
    drop,
    effects,
    revert,
)
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Append,
    AppendFailed,
    Arrived,
    Cancel,
    Committed,
    CoordinatorEvent,
    Effect,
    Fired,
    Record,
    Request,
    Response,
    Schedule,
)
from assignors.simulation.timed.protocols.mixed import classic_members
from assignors.simulation.timed.protocols.mixed.downgrade import (
    OF_CLASSIC,
    Replaced,
    convert,
    tombstones,
)
from assignors.simulation.timed.protocols.mixed.upgrade import upgraded
from assignors.simulation.timed.protocols.mixed.written import (
    WrittenGroup,
    group_now,
    put_epochs,
)
from assignors.simulation.timed.protocols.restore import restored
from assignors.simulation.timed.scenario.protocols import MigrationPolicy


@dataclass(slots=True, kw_only=True)
class MixedCoordinator:
    """The state of the coordinator's side."""

    classic: ClassicCoordinator
    waiting: WaitingCoordinator
    """That of the consumer group, with the answers that wait for records."""
    policy: MigrationPolicy = MigrationPolicy.BIDIRECTIONAL
    new_uuid: Callable[[], str]
    """Makes the id of a member of the classic protocol that joins a consumer group."""
    upgraded: dict[int, tuple[ClassicGroup, dict[int, WaitingAppend]]] = field(
        default_factory=dict, compare=False
    )
    """Token of the append by which a classic group became a consumer group -> the group as it was,
    and what waited for its own appends."""
    written: WrittenGroup | None = field(default=None, compare=False)
    """The group as of the last batch in the local log, where appends may fail: `note_written`."""

    def __post_init__(self) -> None:
        """Let the consumer group become a classic one when its last member of the kind leaves."""
        self.consumer.downgrade = self.downgrade_without

    def note_written(self) -> None:
        """Take note that all that was appended is in the local log, or was read from it.

        Whoever lets appends fail has to say so at first and after each batch. Cost: O(1).
        """
        self.written = group_now(self.classic, self.consumer)

    @property
    def consumer(self) -> ConsumerCoordinator:
        """The coordinator of the consumer group."""
        return self.waiting.coordinator

    def downgrade_without(self, leaving: list[ConsumerMember], out: Changes) -> bool:
        """Make a classic group of those that stay, if all of them are members of that protocol."""
        group = self.consumer.group
        stay = len(group.members) - len(leaving)
        classic = group.counts.classic - sum(each.classic is not None for each in leaving)
        if not 0 < stay == classic or not self.may_be_classic(stay):
            return False
        ids = {each.member_id for each in leaving}
        convert(self.classic, self.consumer, out, leaving=ids)
        return True

    def may_be_classic(self, size: int) -> bool:
        """Return whether the policy and the limit allow a classic group of so many members."""
        return self.policy.allows_downgrade and size <= self.classic.config.max_size


def step(state: MixedCoordinator, at_us: int, event: CoordinatorEvent) -> list[Effect]:
    """Return what the coordinator does about an event at `at_us`; `state` changes in place."""
    now_ms = CLOCK_STARTS_MS + at_us // MILLISECOND
    match event:
        case Arrived(number, request):
            return _arrived(state, now_ms, number, request)
        case Fired((first, *rest), data) if first == OF_CLASSIC:
            if not state.classic.exists:
                return []
            return _of_classic(state, Fired(tuple(rest), data))
        case Fired((kind, member_id), data):
            changes = consumer_coordinator.fired(state.consumer, now_ms, (kind, member_id), data)
            return _of_consumer(state, changes, None)
        case Committed(token):
            return _committed(state, token)
        case AppendFailed():
            return _append_failed(state, event)
    raise AssertionError(event)


def _arrived(state: MixedCoordinator, now_ms: int, number: int, request: Request) -> list[Effect]:
    if isinstance(request, ConsumerHeartbeat):
        return _of_consumer(state, _consumer_heartbeat(state, now_ms, request), number)
    if not state.consumer.exists:
        return _of_classic(state, Arrived(number, request))
    work = Work(state.consumer, state.consumer.group, now_ms, Changes())
    if isinstance(request, JoinGroup) and not work.group.members:
        return _restart_as_classic(state, number, request)
    try:
        _classic_request(state, work, request)
    except Refused as refused:
        response = _refusal(request, ErrorCode(refused.code))
        work = work._replace(out=Changes(response=response))
    return _of_consumer(state, work.out, number)


def _classic_request(state: MixedCoordinator, work: Work, request: Request) -> None:
    """Let the consumer group serve a member of the classic protocol. Raises `Refused`."""
    consumer, out = state.consumer, work.out
    match request:
        case JoinGroup():
            may_downgrade = state.may_be_classic(len(work.group.members))
            if state.policy is MigrationPolicy.DISABLED:
                raise Refused(ErrorCode.INCONSISTENT_GROUP_PROTOCOL)
            downgrade = partial(_downgrade, state) if may_downgrade else None
            classic_members.join(work, request, state.new_uuid, downgrade)
            apply(consumer, work.group, out)
        case SyncGroup():
            classic_members.sync(consumer, request, out)
        case Heartbeat():
            classic_members.heartbeat(consumer, request, out)
        case LeaveGroup():
            classic_members.leave(consumer, request, out)
        case _:
            raise AssertionError(request)


def _downgrade(state: MixedCoordinator, work: Work, replaced: Replaced) -> None:
    convert(state.classic, state.consumer, work.out, replaced=replaced)


def _consumer_heartbeat(
    state: MixedCoordinator, now_ms: int, request: ConsumerHeartbeat
) -> Changes:
    classic, consumer = state.classic, state.consumer
    is_known = request.assignor is None or request.assignor in consumer.assignors
    if not classic.exists or request.epoch != 0 or not is_known:
        return consumer_coordinator.heartbeat(consumer, now_ms, request)
    out = Changes()
    try:
        group = upgraded(
            classic,
            consumer.cluster,
            out,
            is_allowed=state.policy.allows_upgrade,
            max_size=consumer.config.max_size,
        )
    except Refused as refused:
        return consumer_coordinator.refusal(refused, out)
    out = consumer_coordinator.heartbeat_in(Work(consumer, group, now_ms, out), request)
    if consumer.exists:
        token = 2 * (state.waiting.tokens + 1) + 1  # of the append that follows
        state.upgraded[token] = classic.group, classic.appends
        leaving = {n: each for n, each in classic.appends.items() if each.left is not None}
        classic.group, classic.exists, classic.appends = ClassicGroup(), False, leaving
    return out


def _restart_as_classic(state: MixedCoordinator, number: int, request: JoinGroup) -> list[Effect]:
    """Let a classic group begin where a consumer group has no members any more.

    As in Kafka, where the one who joins is refused, nothing is written: the log keeps the old one.
    """
    old = tombstones(state.consumer.group)
    state.consumer.group, state.consumer.exists = ConsumerGroup(), False
    return _of_classic(state, Arrived(number, request), old)


def _of_classic(
    state: MixedCoordinator, event: CoordinatorEvent, before: Sequence[Record] = ()
) -> list[Effect]:
    """Let the classic group play an event; `before` is written with its first records."""
    out: list[Effect] = []
    for effect in classic_coordinator.step(state.classic, event):
        match effect:
            case Schedule(key, after_us, data):
                out.append(Schedule((OF_CLASSIC, *key), after_us, data))
            case Cancel(key):
                out.append(Cancel((OF_CLASSIC, *key)))
            case Append(records, token):
                out.append(Append((*before, *records), 2 * token))
                before = ()
            case _:
                out.append(effect)
    return out


def _of_consumer(state: MixedCoordinator, changes: Changes, number: int | None) -> list[Effect]:
    """Return what the consumer group asks for; its tokens are odd, the classic ones even."""
    return [
        each._replace(token=2 * each.token + 1) if isinstance(each, Append) else each
        for each in effects(state.waiting, changes, number)
    ]


def _committed(state: MixedCoordinator, token: int) -> list[Effect]:
    state.upgraded.pop(token, None)
    if token % 2:
        return committed(state.waiting, token // 2)
    classic, event = state.classic, Committed(token // 2)
    out: list[Effect] = []
    for group, appends in state.upgraded.values():
        if event.token in appends and appends[event.token].left is None:
            # The group has been converted meanwhile; it may have to come back.
            now = classic.group, classic.exists, classic.appends
            classic.group, classic.exists, classic.appends = group, True, appends
            out += _of_classic(state, event)
            classic.group, classic.exists, classic.appends = now
    if event.token in classic.appends:
        out += _of_classic(state, event)
    return out


def _append_failed(state: MixedCoordinator, event: AppendFailed) -> list[Effect]:
    """Go back to the group that there was as of the last batch, of whatever kind.

    A classic group is left as it is, as `classic.coordinator` does, or comes back as it was when it
    went: more than what its records say.
    """
    of_classic = frozenset(token // 2 for token in event.tokens if not token % 2)
    of_consumer = {token // 2 for token in event.tokens if token % 2}
    for token in event.tokens:
        state.upgraded.pop(token, None)
    classic, consumer, written = state.classic, state.consumer, state.written
    assert written is not None, "who lets appends fail says what is written"
    is_same = written.classic is (classic.group if classic.exists else None)
    out: list[Effect] = []
    if written.consumer is not None and (of_consumer or written.consumer is not consumer.group):
        log = restored(event.records)
        revert(state.waiting, log, of_consumer, before=written.consumer)
        put_epochs(consumer.group, written.epochs)
    elif written.consumer is None:
        drop(state.waiting, of_consumer)
        consumer.group, consumer.exists = ConsumerGroup(), False
    if written.classic is not None and not is_same:
        classic.group, classic.exists, classic.appends = written.classic, True, written.appends
        for token in of_classic & classic.appends.keys():
            if classic.appends[token].made_by is not None:
                del classic.appends[token]  # of one that came later, and is gone
    if written.classic is not None or written.consumer is None:
        out = _of_classic(state, event._replace(tokens=of_classic))
    if written.classic is None:
        classic.group, classic.exists = ClassicGroup(), False
        for token in of_classic:
            classic.appends.pop(token, None)
    consumer.still_watched = set(written.still_watched)
    state.note_written()
    return out


def _refusal(request: Request, code: ErrorCode) -> Response:
    match request:
        case JoinGroup():
            return JoinGroupResponse(code, request.member_id)
        case SyncGroup():
            return SyncGroupResponse(code)
        case Heartbeat():
            return HeartbeatResponse(code)
        case _:
            return LeaveGroupResponse(code)
