"""What a consumer with the classic protocol does with each answer, timer and command.

A member that learns of a rebalance, in the answer to a heartbeat, handles it between two polls.
Under an eager protocol it then revokes everything and joins again. Under a cooperative one it goes
on consuming, joins again, and learns from its new assignment what it has to revoke: then it revokes
that and joins once more. An assignment that arrives too late, because others joined again before,
comes as REBALANCE_IN_PROGRESS: the member joins again with what it has.

The Subscription it joins with is real bytes, and so is the assignment it gets; a leader hands the
bytes of all members to `assignors.leader.lead`. A member without a `client` joins by
`assignors.membership`, with everything that it and `assignors.leader` keep between rebalances. One
with a client writes, leads and follows as that client does (`dialects`), and keeps nothing as a
leader.

A member that subscribes by a pattern matches it over its own metadata, and joins again where that
gives another subscription. It fetches new metadata before it joins: so one member that has seen a
new topic makes the others see it, too.

Java's client does not stop when its session must be over at the coordinator: it opens another
connection, and learns from the next answer that it is no longer in the group. Only then, and only
when the application polls, does it give up what it consumed. librdkafka gives up by itself
(`MemberConfig.stops_without_answer`).

Timers: `("heartbeat",)`; `("poll",)`, the next look at the protocol; `("revoked",)` and
`("assigned",)`, the ends of the two callbacks; `("computed",)`, the end of the leader's work;
`("follow-up",)`, after which a leader starts another rebalance by itself; `("retry",)`, after bytes
that its client failed on; `("max-poll",)`, by which the application has to poll; and of a client
that only looks from time to time (`Timing.wake_ms`), `("look",)`, `("look-at-once",)`,
`("look-each-second",)` and `("join-pause",)`, the end of the second after a join.

Source: `ConsumerCoordinator` and `AbstractCoordinator` of Kafka's Java client, there the heartbeat
thread, `joinGroupIfNeeded` and `maybeLeaveGroup`; librdkafka 2.x's `rd_kafka_thread_main` and
`rd_kafka_cgrp_join_state_serve`, whose main thread wakes for messages, for `one_s_tmr` and for
`rkcg_max_poll_interval_tmr`, and joins by `rkcg_join_intvl`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from assignors.assignor import Assignor, UserData
from assignors.checks import summary, validity
from assignors.jvm.failure import JavaFailure
from assignors.leader import Led, Memory, lead
from assignors.membership import Membership, applied, subscribe, subscription
from assignors.model import NO_GENERATION, Cluster
from assignors.own_assignors.answers import AssignorError, is_from_outside
from assignors.registry import replacement_of
from assignors.simulation.timed.dialects.clients import DIALECTS
from assignors.simulation.timed.dialects.dialect import (
    Dialect,
    Reaction,
    subscription_bytes,
    written_assignment,
)
from assignors.simulation.timed.dialects.following import received
from assignors.simulation.timed.dialects.hand_over import HandOver, eager_sibling, given_now
from assignors.simulation.timed.dialects.leading import (
    as_sticky,
    claims_of,
    known_from,
    meet,
    refuses_plan,
)
from assignors.simulation.timed.dialects.timing import Timing
from assignors.simulation.timed.dialects.unanswered import Beats, Unanswered
from assignors.simulation.timed.dialects.user_data import Knowledge
from assignors.simulation.timed.protocols.client import NOT_LATE, RETRY_BACKOFF_US, Client
from assignors.simulation.timed.protocols.effects import (
    ASSIGNOR_FAILED,
    MILLISECOND,
    UNUSABLE,
    Answered,
    AssignorFailed,
    Cancel,
    Command,
    Consume,
    Disconnect,
    Disturbed,
    Effect,
    Failed,
    Failure,
    Fired,
    GiveUp,
    MemberEvent,
    Schedule,
)
from assignors.simulation.timed.protocols.kafka.messages import (
    NO_GENERATION_ID,
    SKIPS_ASSIGNMENT,
    UNKNOWN_MEMBER_ID,
    ErrorCode,
    Heartbeat,
    HeartbeatResponse,
    JoinGroup,
    JoinGroupResponse,
    LeaveGroup,
    Protocol,
    SyncGroup,
    SyncGroupResponse,
)
from assignors.simulation.timed.protocols.partitions import count, shared
from assignors.simulation.timed.scenario import Claims, ClientModel
from assignors.simulation.topic_patterns import matching
from wire import Decoded, Subscription, TopicPartitions, decode_assignment, encode_subscription


class MemberState(StrEnum):
    """Where a member is in the protocol."""

    DOWN = "down"
    REVOKING = "revoking"
    """Its callback runs; it joins or leaves once that is over."""
    JOINING = "joining"
    """Its JoinGroup waits for an answer."""
    SYNCING = "syncing"
    """It leads and computes, or its SyncGroup waits for an answer."""
    STABLE = "stable"


TIMERS = (
    *("heartbeat", "poll", "revoked", "assigned", "computed", "follow-up", "retry", "max-poll"),
    *("look", "look-at-once", "look-each-second", "join-pause", "poll-ends", "poll-begins"),
    "handlers-late",
)
"""The timers of a process; none of them runs on once it has ended."""
LOOKS = frozenset({("look",), ("look-each-second",)})
"""Timers by which a client looks that only does so from time to time (`Timing.wake_ms`)."""

STOPS = tuple(Cancel((name,)) for name in TIMERS)
NO_ASSIGNED = Cancel(("assigned",))
SECOND_US = 1_000_000
"""How long a client that only looks from time to time waits between two joins, and between the
looks that it counts from its start."""
ROUNDING_US = 500
"""It sleeps for whole milliseconds, rounded up: so much more in the mean, each time."""
RETRY_MS, RETRY_MAX_MS = 250, 5000
"""A client that fails on what it received waits so long before it joins again, doubled each time
up to the second figure (franz-go's `RetryBackoffFn`)."""


@dataclass(slots=True, kw_only=True)
class ClassicMember(Client):
    """A member's side of the protocol."""

    assignors: tuple[Assignor, ...]
    cluster: Cluster
    """What its metadata has."""
    compute_us_per_partition: int = 0
    state: MemberState = MemberState.DOWN
    generation: int = NO_GENERATION_ID
    owned: TopicPartitions = field(default_factory=dict)
    """What it consumes, or will once its callback is over."""
    claimed: TopicPartitions = field(default_factory=dict)
    """What it claims until its first assignment (`MemberConfig.owned`)."""
    assignment_bytes: bytes | None = None
    """The last assignment that it has read, and below it what it read."""
    assignment_read: TopicPartitions = field(default_factory=dict)
    memberships: tuple[Membership, ...] = ()
    """For each assignor."""
    chosen: int = 0
    """Position of the assignor that the group uses."""
    memory: Memory = field(default_factory=Memory)
    joined_topics: tuple[str, ...] = ()
    """What its last JoinGroup subscribes to."""
    awaited: int = 0
    """Number of the JoinGroup or SyncGroup that waits for an answer."""
    must_rejoin: bool = False
    """A rebalance is to be handled at the next poll."""
    must_follow_up: bool = False
    plan: tuple[tuple[str, bytes], ...] = ()
    """As leader: what it sends once it has computed."""
    is_leader: bool = False
    is_beat_due: bool = True
    """Without heartbeats amid a round: one is due as soon as the member has its assignment, or
    looks."""
    is_join_due: bool = False
    """It joins as soon as it looks and has not joined for a second."""
    may_join: bool = True
    """It has not joined for a second."""
    is_between_polls: bool = False
    """Its application has left a poll in which it joins, and not begun the next one."""
    is_round_lost: bool = False
    """Its assignment has come meanwhile, and it asks for it again at the next poll."""
    user_data: bytes | None = None
    """UserData of its last assignment."""
    must_start_anew: bool = False
    """It has given up its membership, and joins as a new member once its session is over."""
    failures: int = 0
    """How often in a row it could not use what it received."""
    late: int = 0
    """How often in a row it has waited long enough for an answer to the same request."""
    is_connected: bool = True
    """Its last connection has been good for an answer."""
    reconnected_at: int = 0
    """The last request that was sent before its newest connection."""
    has_session: bool = False
    """With `MemberConfig.runs_handlers`: `Setup` is called, and `Cleanup` is not over."""
    is_ending: bool = False
    """All handlers of its session are told to return."""
    returning: dict[tuple[str, int], bool] = field(default_factory=dict)
    """Partitions whose handlers are told to return and have not; whether a long record of theirs
    keeps them."""
    assigned: TopicPartitions = field(default_factory=dict)
    """What it will consume once they have, in a session that goes on."""
    is_cooperative: bool = field(init=False)
    """Whether it keeps its partitions while it joins: all its assignors have to be so."""

    times: Timing = field(init=False)
    """When its client does what is due."""
    beats_go_on: bool = field(init=False)
    """Whether its heartbeats keep their times over a rebalance."""
    waits_for_sync: bool = field(init=False)
    """Until its SyncGroup is answered it sends no heartbeat, and looks for nothing else."""
    beats_anew: bool = field(init=False)
    """Its heartbeats start with its assignment, not with the answer to its JoinGroup."""
    beats_at_once: bool = field(init=False)
    """One follows its assignment."""
    sends_again: bool = field(init=False)
    """Without an answer it sends the same request again: a leader keeps what it has sent."""

    def __post_init__(self) -> None:
        """Look at the assignors and the client."""
        self.is_cooperative = all(each.is_cooperative for each in self.assignors)
        self.times = self.config.times
        survives = self.config.runs_handlers and self.is_cooperative
        self.beats_go_on = self.times.heartbeats_go_on or survives
        dialect = self.dialect
        self.sends_again = dialect is not None and dialect.unanswered is Unanswered.LOSES
        beats = Beats.MEANWHILE if dialect is None else dialect.beats
        self.waits_for_sync = beats is not Beats.MEANWHILE
        self.beats_anew = self.times.between_polls_us > 0 or (
            beats is Beats.ANEW and not self.beats_go_on
        )
        self.beats_at_once = beats is Beats.AT_ONCE and not self.beats_go_on

    @property
    def dialect(self) -> Dialect | None:
        """How its client writes and reads; `None`: as this package does."""
        return None if self.config.client is None else DIALECTS[self.config.client]

    @property
    def is_up(self) -> bool:
        """Whether its process runs."""
        return self.state is not MemberState.DOWN

    @property
    def is_at_rest(self) -> bool:
        """Whether it runs and has nothing to do but consume."""
        return self.state is MemberState.STABLE and not self.must_rejoin and not self.is_out


def beat_again(state: ClassicMember) -> None:
    """Go on with heartbeats, as the member has its assignment: one at once if it is due."""
    if state.beats_anew:
        state.beat_later()
    if state.times.wake_ms:
        look_later(state, at_once=state.is_beat_due)
    elif (state.beats_go_on or state.waits_for_sync) and state.is_beat_due:
        state.is_beat_due = False
        state.out.append(Schedule(("heartbeat",), 0))


def stop_beats(state: ClassicMember) -> None:
    """Send no heartbeat until the next assignment."""
    state.out.append(Cancel(("heartbeat",)))
    state.is_beat_due = True


def look_later(state: ClassicMember, *, at_once: bool = False) -> None:
    """Start the timer of the next look at what is due: the looks count from an assignment."""
    if at_once:
        state.out.append(Schedule(("look-at-once",), 0))
    else:
        wake_us = state.times.wake_ms * MILLISECOND
        state.out.append(Schedule(("look",), wake_us + _late_us(state)))


def look_next_second(state: ClassicMember) -> None:
    """Start the timer of the next of those looks that count from the start of the process."""
    if state.times.wake_ms:
        state.out.append(Schedule(("look-each-second",), SECOND_US + _late_us(state)))


def _late_us(state: ClassicMember) -> int:
    """Return how much later than it asked for its client wakes."""
    mean_us = state.times.wake_late_us
    return ROUNDING_US + (state.draw("look", mean_us) if mean_us else 0)


def pause_joins(state: ClassicMember) -> None:
    """Let no join follow within a second."""
    if state.times.wake_ms:
        state.is_join_due = state.may_join = False
        state.out.append(Schedule(("join-pause",), SECOND_US))


def poll_to_its_end(state: ClassicMember) -> None:
    """Begin a poll that ends a round only while it lasts, if its client has such polls."""
    state.is_between_polls = False
    if state.times.between_polls_us:
        state.poll_to_its_end("poll-ends")


def say_leave(state: ClassicMember) -> None:
    """Leave, as the coordinator learns it, unless the member is static."""
    if state.member_id and state.config.instance_id is None:
        state.send(LeaveGroup(state.member_id))


def lose(state: ClassicMember, reason: str) -> None:
    """Stop consuming everything, without a commit."""
    state.out.append(NO_ASSIGNED)
    state.application.is_in_callback = False
    if state.owned:
        state.out.append(Consume({}, reason))
    state.owned = state.claimed = {}
    end_handlers(state)


def end_handlers(state: ClassicMember) -> None:
    """Drop the session, if there is one, without waiting for its handlers."""
    state.out += [Cancel(("handler", topic, str(number))) for topic, number in state.returning]
    state.returning, state.assigned = {}, {}
    state.has_session = state.is_ending = False


def end(state: ClassicMember) -> None:
    """End the process: no timer runs on."""
    state.state = MemberState.DOWN
    state.owned = {}
    state.application.is_in_callback = False
    end_handlers(state)
    state.out += STOPS


def end_by_itself(state: ClassicMember, error: str) -> None:
    """End the process, which its user did not ask for."""
    end(state)
    state.out.append(GiveUp(error))


def react(state: ClassicMember, reaction: Reaction, error: str = UNUSABLE) -> None:
    """Do what a client does that cannot use what it received, or not lead with it."""
    stop_beats(state)
    if reaction is Reaction.DIES:
        lose(state, "crashed")
        end_by_itself(state, error)
    elif reaction is Reaction.ENDS:
        lose(state, "ended by an error")
        say_leave(state)
        end_by_itself(state, error)
    elif reaction is Reaction.SILENT:
        state.must_start_anew = True
        delay = state.config.session_timeout_ms * MILLISECOND
        state.out.append(Schedule(("retry",), delay))
    else:
        delay = min(RETRY_MS << min(state.failures, 8), RETRY_MAX_MS) * MILLISECOND
        state.failures += 1
        state.out.append(Schedule(("retry",), delay))


FATAL = (
    ErrorCode.FENCED_INSTANCE_ID,
    ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
    ErrorCode.GROUP_MAX_SIZE_REACHED,
)
"""Errors after which a consumer gives up."""
ENDED_BY_A_JOIN = tuple(Cancel((name,)) for name in ("poll", "follow-up", "max-poll", "heartbeat"))
"""Timers that run no longer while a member joins."""
LOSING = (ClientModel.IN_POLL, ClientModel.HEARTBEAT_THREAD)
"""Models of the client whose `close` knows no generation amid a rebalance."""
BEFORE_THE_RUN = 0
"""The generation of what members owned before: the coordinator's first one is 1."""
WAITING = (MemberState.JOINING, MemberState.SYNCING)
"""States in which a JoinGroup or SyncGroup may wait for its answer."""


def learn_topics(member: ClassicMember, cluster: Cluster, group: Iterable[ClassicMember]) -> bool:
    """Take over new metadata; return whether the member has to join again because of it.

    A leader has to where a topic has changed that anybody in the group subscribes to: only it
    knows of partitions. Anybody has to whose pattern now matches other topics.
    Cost: O(topics), for a leader O(members).
    """
    before, member.cluster = member.cluster.topics, cluster
    if follow_pattern(member):
        return True
    if not member.is_leader:
        return False
    subscribed = {topic for each in group if each.is_up for topic in each.topics}
    return any(before.get(topic) != cluster.topics.get(topic) for topic in subscribed)


def follow_pattern(member: ClassicMember) -> bool:
    """Subscribe to what the pattern matches now; return whether that is something else."""
    if member.config.pattern is None:
        return False
    found = matching(member.config.pattern, member.cluster.topics)
    topics = tuple(dict.fromkeys((*member.config.topics, *found)))
    has_changed = set(topics) != set(member.topics)
    member.topics = topics
    return has_changed


def step(state: ClassicMember, event: MemberEvent) -> list[Effect]:
    """Return what a member does about an event; `state` is changed in place.

    Cost: O(its partitions) for an assignment; that of the assignor for a leader; O(1) otherwise.
    """
    state.out = []
    if isinstance(event, Answered):
        _answered(state, event)
    elif isinstance(event, Fired):
        _TIMERS[event.key[0]](state)
    elif isinstance(event, Failed):
        request_failed(state, event)
    elif isinstance(event, Disturbed):
        slow_down(state, event)
    else:
        _COMMANDS[event](state)
    return state.out


def _answered(state: ClassicMember, answered: Answered) -> None:
    """Handle an answer; that of a JoinGroup or SyncGroup only if it is still waited for."""
    state.is_connected = True
    number, response = answered
    if isinstance(response, HeartbeatResponse):
        _heard(state, response.error)
    elif number != state.awaited:
        return
    elif isinstance(response, JoinGroupResponse) and state.state is MemberState.JOINING:
        joined(state, response)
    elif isinstance(response, SyncGroupResponse) and state.state is MemberState.SYNCING:
        synced(state, response)


def _heard(state: ClassicMember, error: ErrorCode) -> None:
    """Handle what a heartbeat reports: a rebalance at the next poll, once."""
    if error is ErrorCode.NONE or state.state is not MemberState.STABLE:
        return
    if error is ErrorCode.REBALANCE_IN_PROGRESS:
        _rejoin(state)
    else:
        lose_place(state, error)


def _rejoin(state: ClassicMember) -> None:
    """Join again at the next poll, if the member is at rest; otherwise it is on its way."""
    if state.state is MemberState.STABLE and not state.must_rejoin:
        state.must_rejoin = True
        if not state.application.is_busy:
            state.poll_later()


def _assigned(state: ClassicMember) -> None:
    """Consume what is new, and go on with what came while the callback ran."""
    assigned(state)
    free(state, at_once=False)


def _stop(state: ClassicMember) -> None:
    """Close the consumer: revoke everything, then leave. It waits for the application's thread."""
    if state.state is MemberState.DOWN:
        return
    state.is_stopping = True
    if not state.application.is_busy:
        revoke_then_leave(state)


def _crash(state: ClassicMember) -> None:
    if state.state is not MemberState.DOWN:
        lose(state, "crashed")
        end(state)


def start_process(state: ClassicMember) -> None:
    """Start the process: a consumer without a member id and without a past."""
    is_first = state.number == 0
    state.claimed = state.config.owned if is_first else {}
    state.memberships = tuple(
        Membership(
            kind=assignor.user_data,
            rack_id=state.config.rack_id,
            assigned=state.claimed,
            generation=BEFORE_THE_RUN if state.claimed else NO_GENERATION_ID,
        )
        for assignor in state.assignors
    )
    state.topics = state.topics or state.config.topics
    state.member_id, state.generation, state.owned = UNKNOWN_MEMBER_ID, NO_GENERATION_ID, {}
    state.must_rejoin = state.must_follow_up = state.is_stopping = state.is_leader = False
    state.must_start_anew, state.failures, state.user_data = False, 0, None
    state.is_beat_due = True
    state.memory = Memory()
    state.is_connected = state.may_join = True
    look_next_second(state)
    state.application.restart()
    send_join(state)


def send_join(state: ClassicMember, after_us: int = 0) -> None:
    """Join with what it owns now."""
    memberships, protocols = [], []
    for assignor, membership in zip(state.assignors, state.memberships, strict=True):
        after, blob = written(state, assignor, membership)
        memberships.append(after)
        protocols.append(Protocol(assignor.name, blob))
    begin_join(state, tuple(memberships))
    config = state.config
    pause_joins(state)
    poll_to_its_end(state)
    state.out += ENDED_BY_A_JOIN[:-1] if state.beats_go_on else ENDED_BY_A_JOIN
    state.awaited = state.send(
        JoinGroup(
            config.name,
            state.member_id,
            config.instance_id,
            config.session_timeout_ms,
            config.rebalance_timeout_ms,
            tuple(protocols),
            version=SKIPS_ASSIGNMENT if state.dialect is None else state.dialect.join_version,
        ),
        after_us,
    )


def begin_join(state: ClassicMember, memberships: tuple[Membership, ...]) -> None:
    """Let a member join that has written its Subscriptions: `memberships` are those after it."""
    state.state = MemberState.JOINING
    state.must_rejoin = state.application.has_left = state.is_round_lost = False
    state.deferred = ErrorCode.NONE
    state.memberships, state.joined_topics = memberships, state.topics


def joined(state: ClassicMember, response: JoinGroupResponse) -> None:
    """Take part in the generation that the answer names, or do what the error asks for."""
    error, state.late, state.plan = response.error, 0, ()
    if error is ErrorCode.NONE:
        state.member_id, state.generation = response.member_id, response.generation
        state.state = MemberState.SYNCING
        state.chosen = [each.name for each in state.assignors].index(response.protocol or "")
        state.is_leader = response.leader == response.member_id
        config = state.config
        if state.waits_for_sync and not state.beats_go_on:
            state.is_beat_due = state.beats_at_once
        if not (state.beats_go_on or state.beats_anew or config.runs_handlers):
            state.beat_later()
        if response.members and not response.skip_assignment:
            compute(state, response)
        else:
            send_sync(state, state.draw("sync", state.config.sync_delay_us))
    elif error is ErrorCode.MEMBER_ID_REQUIRED:
        state.member_id = response.member_id
        send_join(state)
    else:
        failed(state, error)


def compute(state: ClassicMember, response: JoinGroupResponse) -> None:
    """Compute the assignment, as the leader, and send it once the time for that is over."""
    led, error = led_whatever_fails(state, response)
    if isinstance(led, Reaction):
        react(state, led, error)
        return
    state.plan = led
    known = state.cluster.topics
    count = sum(topic.partition_count for topic in known.values())
    takes = state.compute_us_per_partition * count + state.application.slow_assignor_us
    state.watch_thread(takes)
    state.out.append(Schedule(("computed",), takes))


def retry(state: ClassicMember) -> None:
    """Join again, after what was received could not be used."""
    if state.must_start_anew:
        state.must_start_anew = False
        failed(state, ErrorCode.UNKNOWN_MEMBER_ID)
    else:
        send_join(state)


def computed(state: ClassicMember) -> None:
    """Send the assignment, unless the leader has lost its place meanwhile."""
    if state.application.has_left:
        failed(state, ErrorCode.UNKNOWN_MEMBER_ID)
    elif state.state is MemberState.SYNCING:
        send_sync(state, 0)


def send_sync(state: ClassicMember, after_us: int) -> None:
    """Send SyncGroup; a leader puts the assignment of everybody into it."""
    request = SyncGroup(
        state.member_id,
        state.config.instance_id,
        state.generation,
        state.assignors[state.chosen].name,
        state.plan,
    )
    if not state.sends_again:
        state.plan = ()
    state.awaited = state.send(request, after_us)


def synced(state: ClassicMember, response: SyncGroupResponse) -> None:
    """Apply an assignment; the callbacks take their time."""
    state.late = 0
    if state.is_between_polls:
        state.is_round_lost = True
        return
    if response.error is not ErrorCode.NONE:
        failed(state, response.error)
        return
    assigned = taken(state, response)
    if assigned is None:
        return
    if state.times.between_polls_us:
        state.out += (Cancel(("poll-ends",)),)
    beat_again(state)
    claimed, state.claimed = state.claimed, {}
    held = claimed if claimed and state.is_cooperative else state.owned
    kept = shared(held, assigned)
    kept_count = count(kept)
    has_lost = kept is not held and kept_count < count(held)
    state.owned = assigned
    if has_lost:
        # What it lost it stops at once; what is new to it starts after both callbacks.
        state.out.append(Consume(kept, "revoked"))
        state.state = MemberState.REVOKING
        state.call_back("revoked", state.config.revoke_ms)
    elif kept_count < count(assigned) or claimed:
        state.call_back("assigned", state.config.assign_ms)
    if state.is_leader and state.must_follow_up and not has_lost:
        delay = state.config.heartbeat_interval_ms * MILLISECOND
        state.out.append(Schedule(("follow-up",), delay))
    begin_long_poll(state)
    if state.topics != state.joined_topics:
        _rejoin(state)


def revoke_then_join(state: ClassicMember, kept: TopicPartitions) -> None:
    """Join with `kept`, once the callback for what is revoked is over."""
    if count(kept) == count(state.owned):
        send_join(state)
        return
    state.owned = kept
    state.state = MemberState.REVOKING
    state.out.append(Consume(kept, "revoked"))
    state.call_back("revoked", state.config.revoke_ms)


def revoke_then_leave(state: ClassicMember) -> None:
    """Leave, once the callback for what it still owns is over.

    Java's client, which closes amid a rebalance, calls that lost (`onLeavePrepare`): no commit.
    """
    if state.config.client_model in LOSING and state.state in WAITING:
        lose(state, "lost")
    if state.owned:
        revoke_then_join(state, {})
    else:
        leave(state)


def revoked(state: ClassicMember) -> None:
    """Leave, or join again, once the callback for revoked partitions is over."""
    state.application.is_in_callback = False
    if state.is_stopping:
        revoke_then_leave(state)
        return
    if state.application.has_left:
        failed(state, ErrorCode.UNKNOWN_MEMBER_ID)
        return
    if state.owned:
        state.out.append(Consume(state.owned, "assigned"))
    if state.times.between_polls_us and state.is_cooperative:
        state.state, state.must_rejoin = MemberState.STABLE, True
        state.poll_later()
        return
    send_join(state)


def assigned(state: ClassicMember) -> None:
    """Consume what is new: the callback for assigned partitions is over."""
    state.application.is_in_callback = False
    if not state.application.has_left and state.deferred is ErrorCode.NONE:
        state.out.append(Consume(state.owned, "assigned"))


def poll(state: ClassicMember) -> None:
    """Prepare to join: under an eager protocol everything is revoked first."""
    if state.state is not MemberState.STABLE or state.application.is_busy:
        return
    wanted = {topic: n for topic, n in state.owned.items() if topic in state.topics}
    kept: TopicPartitions = wanted if state.is_cooperative else {}
    if not state.may_join and state.is_cooperative and count(kept) == count(state.owned):
        state.is_join_due = True
        return
    revoke_then_join(state, kept)


def begin_long_poll(state: ClassicMember) -> None:
    """Let the application be busy with its records, if it takes long for them."""
    application = state.application
    if application.long_poll_us and not application.is_busy and state.state is MemberState.STABLE:
        application.is_in_poll = True
        state.watch_thread(application.long_poll_us)


def free(state: ClassicMember, *, at_once: bool = True) -> None:
    """Do what has waited for the application's thread: at once, or a rebalance at the next poll."""
    if state.application.is_busy or state.state is not MemberState.STABLE:
        return
    state.out.append(NOT_LATE)
    if state.is_stopping:
        revoke_then_leave(state)
    elif state.application.has_left:
        failed(state, ErrorCode.UNKNOWN_MEMBER_ID)
    elif state.deferred is not ErrorCode.NONE:
        failed(state, state.deferred)
    elif state.must_rejoin and at_once:
        poll(state)
    elif state.must_rejoin:
        state.poll_later()
    else:
        begin_long_poll(state)


def leave(state: ClassicMember) -> None:
    """Leave the group and end; a static member says nothing, so that it can come back."""
    say_leave(state)
    end(state)


def failed(state: ClassicMember, error: ErrorCode) -> None:
    """Do what an error asks for: join again as the same member, as a new one, or give up."""
    if error in FATAL:
        lose(state, "fenced")
        end_by_itself(state, error.name)
        return
    if error is ErrorCode.COORDINATOR_NOT_AVAILABLE:
        send_join(state, RETRY_BACKOFF_US)
        return
    if error is ErrorCode.REBALANCE_IN_PROGRESS:
        if state.is_cooperative:
            send_join(state)
        else:
            revoke_then_join(state, {})
        return
    if error is ErrorCode.UNKNOWN_MEMBER_ID:
        state.member_id = UNKNOWN_MEMBER_ID
    state.generation = NO_GENERATION_ID
    lose(state, "lost")
    send_join(state)


BEATING = (MemberState.STABLE, MemberState.REVOKING, MemberState.SYNCING)
"""States in which a member sends heartbeats."""


def beat(state: ClassicMember, after_us: int = 0) -> None:
    """Send a heartbeat; the next one is due an interval later, whenever the answer comes.

    One that waits for its connection to open is enough. One that is due amid a round waits for it.
    """
    is_joining = state.state in {MemberState.JOINING, MemberState.SYNCING}
    waits_for_round = is_joining and (state.beats_go_on or state.waits_for_sync)
    if waits_for_round or (state.times.wake_ms and not after_us):
        state.is_beat_due = True
        return
    _send_beat(state, after_us)


def _send_beat(state: ClassicMember, after_us: int) -> None:
    if state.is_connected or after_us:
        request = Heartbeat(state.member_id, state.config.instance_id, state.generation)
        state.send(request, after_us)
    state.beat_later()


def look(state: ClassicMember) -> None:
    """Do what is due, and look again."""
    look_later(state)
    _do_due(state)


def look_each_second(state: ClassicMember) -> None:
    """Do what is due, and look again in a second."""
    look_next_second(state)
    _do_due(state)


def _do_due(state: ClassicMember) -> None:
    """Send a heartbeat that is due, and the JoinGroup that has waited for its second."""
    is_in = not state.application.has_left and state.deferred is ErrorCode.NONE
    if state.is_beat_due and is_in and state.state in {MemberState.STABLE, MemberState.REVOKING}:
        state.is_beat_due = False
        _send_beat(state, 0)
    if state.is_join_due:
        state.is_join_due = False
        poll(state)


def end_join_pause(state: ClassicMember) -> None:
    """Let a join follow."""
    state.may_join = True


def end_poll(state: ClassicMember) -> None:
    """Leave a poll whose time is over, while the member waits for its round to end."""
    if state.state in WAITING:
        state.is_between_polls = True
        state.out.append(Schedule(("poll-begins",), state.times.between_polls_us))


def begin_poll(state: ClassicMember) -> None:
    """Wait on for the round, or ask again for the assignment that was lost."""
    if state.state not in WAITING:
        return
    if state.is_round_lost:
        send_join(state)
    else:
        poll_to_its_end(state)


def lose_place(state: ClassicMember, error: ErrorCode) -> None:
    """Do what an error asks for, once the application's thread has time for it."""
    if state.application.is_busy:
        state.deferred = error
        stop_beats(state)
    else:
        failed(state, error)


def request_failed(state: ClassicMember, event: Failed) -> None:
    """Send a request that has no answer again, on the next connection."""
    if state.state in WAITING and event.number == state.awaited:
        _ask_again(state, event.failure)
    elif state.state in BEATING and event.number > state.reconnected_at:
        if state.application.has_left:
            return
        state.is_connected = False
        state.reconnected_at = state.number
        beat(state, RETRY_BACKOFF_US)


def _ask_again(state: ClassicMember, failure: Failure) -> None:
    """Ask again for a generation, or for an assignment, as the member's client does.

    Most join again as who they are: they revoke nothing for that.
    """
    dialect = state.dialect
    if dialect is None or failure is Failure.REFUSED:
        send_join(state, RETRY_BACKOFF_US)
        return
    after_us = dialect.retry_ms * MILLISECOND
    match dialect.unanswered:
        case Unanswered.LOSES:
            _send_again_or_lose(state, failure, dialect.retry_ms)
        case Unanswered.REVOKES if state.owned:
            revoke_then_join(state, {})
        case Unanswered.NEW_AT_FIRST if not _has_been_assigned(state):
            state.member_id = UNKNOWN_MEMBER_ID
            send_join(state, after_us)
        case _:
            send_join(state, after_us)


def _send_again_or_lose(state: ClassicMember, failure: Failure, retry_ms: int) -> None:
    """Send the same request again while a session lasts; then give up everything, and join.

    The pauses in between double each time.
    """
    config, is_syncing = state.config, state.state is MemberState.SYNCING
    pause_ms = retry_ms << state.late
    if failure is Failure.LATE:
        state.late += 1
        limit_ms = config.sync_limit_ms if is_syncing else config.join_limit_ms
        paused_ms = retry_ms * ((1 << state.late) - 1)
        if state.late * limit_ms + paused_ms > config.session_timeout_ms:
            state.late = 0
            lose(state, "lost")
            state.memberships = tuple(replace(each, assigned={}) for each in state.memberships)
            send_join(state, retry_ms * MILLISECOND)
            return
    if is_syncing:
        send_sync(state, pause_ms * MILLISECOND)
    else:
        send_join(state, pause_ms * MILLISECOND)


def _has_been_assigned(state: ClassicMember) -> bool:
    return any(each.generation != NO_GENERATION for each in state.memberships)


def session_over(state: ClassicMember) -> None:
    """Open another connection: no answer has come for a session timeout."""
    is_patient = state.waits_for_sync and state.state is MemberState.SYNCING
    if state.state not in BEATING or is_patient:
        return
    state.out.append(Disconnect())
    if state.config.stops_without_answer and state.state is MemberState.STABLE:
        lose_place(state, ErrorCode.ILLEGAL_GENERATION)


def lose_generation(state: ClassicMember) -> None:
    """Forget the generation, not the member id; a member on its way gets a new one anyway."""
    if state.state is MemberState.STABLE:
        lose_place(state, ErrorCode.ILLEGAL_GENERATION)


def forget_generation(state: ClassicMember) -> None:
    """Forget the generation as librdkafka does that has committed with an older one.

    At rest it gives up everything and joins again. Amid a rebalance it only forgets: a JoinGroup
    whose answer has yet to come brings a new generation, but a member that waits for its
    assignment has none from then on, and hears so in answer to its next heartbeat.

    Source: `rd_kafka_cgrp_op_handle_OffsetCommit`, `rd_kafka_cgrp_revoke_all_rejoin_maybe`.
    """
    if state.state is MemberState.STABLE:
        lose_place(state, ErrorCode.ILLEGAL_GENERATION)
    else:
        state.generation = NO_GENERATION_ID


def slow_down(state: ClassicMember, event: Disturbed) -> None:
    """Take over how slow the application is; a long poll begins or ends."""
    if state.application.slow_down(event):
        begin_long_poll(state)
        free(state)


def poll_late(state: ClassicMember) -> None:
    """Leave the group: the application has not polled in time. It does not know yet."""
    if state.member_id and state.config.instance_id is None and state.is_connected:
        state.send(LeaveGroup(state.member_id))
    state.member_id, state.generation = UNKNOWN_MEMBER_ID, NO_GENERATION_ID
    state.application.has_left = True
    stop_beats(state)


# The bytes that it writes and reads


CHECKED_ITSELF = "cooperative-sticky"
"""Java's clients from 2.8.2 on trust a plan under this name: it has looked at generations."""
FAILURES = (AssignorError, JavaFailure)
"""What an assignor of somebody's own raises; a copy of Kafka's that it calls may be what failed."""
Plan = tuple[tuple[str, bytes], ...]
"""(Member id, Assignment bytes) pairs."""


def written(
    state: ClassicMember, assignor: Assignor, membership: Membership
) -> tuple[Membership, bytes]:
    """Return the Subscription with which a member joins, and its membership after that."""
    config = state.config
    if config.subscription_hex is not None:
        return membership, bytes.fromhex(config.subscription_hex)
    if config.claims is not Claims.TRUE:
        return membership, _false_claim(state, assignor.user_data, membership)
    if state.dialect is None:
        owned = state.owned or state.claimed
        return subscribe(membership, state.topics, owned=owned, generation=state.generation)
    return membership, subscription_bytes(
        state.dialect, assignor.user_data, _knowledge(state, membership)
    )


def led_by(
    state: ClassicMember, response: JoinGroupResponse, assignor: Assignor | None = None
) -> Plan | Reaction:
    """Return the plan that a leader sends, or what it does because it cannot make one.

    `assignor` leads in place of the one that the group has chosen. Changes what the leader keeps.
    Raises `FAILURES` where an assignor of somebody's own does. Cost: that of the assignor, plus
    O(bytes).
    """
    assignor = assignor or state.assignors[state.chosen]
    blobs: Mapping[str, bytes] = {each.member_id: each.metadata for each in response.members}
    if state.dialect is None:
        led = _lead(state, response, assignor, blobs, state.memory)
        state.memory, state.must_follow_up = led.memory, led.must_follow_up
        return tuple(led.assignments.items())
    met = meet(state.dialect, assignor.user_data, state.cluster, blobs, own_topics=state.topics)
    if met.stops is not None:
        return met.stops
    is_cooperative = assignor.user_data is UserData.COOPERATIVE
    rule = state.dialect.hand_over if is_cooperative else HandOver.ASSIGNOR
    eager = None if rule is HandOver.ASSIGNOR else eager_sibling(assignor)
    if eager is None:
        plan = _lead(state, response, assignor, met.led, None).rebalance.assignment
    else:
        eagerly = {member_id: as_sticky(read) for member_id, read in met.led.items()}
        target = _lead(state, response, eager, eagerly, None).rebalance.assignment
        plan = given_now(rule, target, claims_of(met.led))
    if state.dialect.checks_claims and is_cooperative and refuses_plan(plan, met.claims):
        return Reaction.ENDS
    is_other = state.dialect.checks_other_assignors and assignor.name != CHECKED_ITSELF
    if is_other and state.is_cooperative and refuses_plan(plan, met.claims):
        words = "gave a claimed partition to another member, which its client refuses (KAFKA-13406)"
        raise AssignorError(f"{assignor.full_name} {words}")
    return tuple(
        (member_id, written_assignment(state.dialect, known_from(read), plan[member_id]))
        for member_id, read in met.led.items()
    )


def led_whatever_fails(
    state: ClassicMember, response: JoinGroupResponse
) -> tuple[Plan | Reaction, str]:
    """Return the same where the assignor may fail, and the error with which a client then stops.

    Without a `client` the best assignor leads that round, as in the plug-ins of this package
    (`clients.common.client_session`). Cost: as `led_by`, twice.
    """
    try:
        return led_by(state, response), UNUSABLE
    except FAILURES as error:
        state.out.append(AssignorFailed(str(error)))
    if state.dialect is not None:
        return state.dialect.assignor_fails, ASSIGNOR_FAILED
    return led_by(state, response, replacement_of(state.assignors[state.chosen])), UNUSABLE


def taken(state: ClassicMember, response: SyncGroupResponse) -> TopicPartitions | None:
    """Return the assignment that has come; `None` where the client cannot use it, and reacts."""
    assigned, reaction = read_assignment(state, response.assignment)
    if reaction is not None:
        react(state, reaction)
        return None
    state.failures = 0
    state.memberships = tuple(
        applied(membership, assigned, state.generation) for membership in state.memberships
    )
    state.state = MemberState.STABLE
    return assigned


def read_assignment(state: ClassicMember, blob: bytes) -> tuple[TopicPartitions, Reaction | None]:
    """Return what a member takes from its assignment, and what stops it, if anything.

    A member with a client keeps the UserData of an assignment that it can use.
    """
    if state.dialect is not None:
        decoded = decode_assignment(blob)
        assigned, reaction = received(state.dialect, blob, decoded, state.owned, state.topics)
        if reaction is None:
            state.user_data = None if decoded.value is None else decoded.value.user_data
        return assigned, reaction
    if blob != state.assignment_bytes:
        read = decode_assignment(blob).value
        state.assignment_bytes = blob
        state.assignment_read = {} if read is None else read.partitions
    return state.assignment_read, None


def _lead(
    state: ClassicMember,
    response: JoinGroupResponse,
    assignor: Assignor,
    subscriptions: Mapping[str, bytes | Decoded[Subscription]],
    memory: Memory | None,
) -> Led:
    """Return what a leader answers; what is wrong in the answer of somebody's own is reported."""
    led = lead(
        assignor,
        state.cluster,
        subscriptions,
        instance_ids={
            each.member_id: each.instance_id
            for each in response.members
            if each.instance_id is not None
        },
        joined=response.generation,
        memory=memory,
    )
    if is_from_outside(assignor):
        # Whether a partition is given too early shows in who consumes it.
        answer = led.rebalance
        broken = validity(led.group, answer.assignment, answer.withheld)
        if broken:
            words = f"the answer of {assignor.full_name} breaks {summary(broken)}"
            state.out.append(AssignorFailed(words))
    return led


def _knowledge(state: ClassicMember, membership: Membership) -> Knowledge:
    return Knowledge(
        topics=state.topics,
        consumed=state.owned or state.claimed,
        assigned=membership.assigned,
        assigned_in=membership.generation,
        generation=state.generation,
        received=state.user_data,
        rack_id=state.config.rack_id,
    )


def _false_claim(state: ClassicMember, kind: UserData, membership: Membership) -> bytes:
    """Return a Subscription with claims that are not what the member consumes."""
    claims = state.config.claims
    if claims is Claims.ABSENT:
        return encode_subscription(Subscription(version=0, topics=state.topics))
    owned, since = membership.assigned, membership.generation
    if claims is Claims.SENTINEL:
        owned, since = state.owned, NO_GENERATION
    elif claims is Claims.EVERYTHING:
        known = state.cluster.topics
        owned = {
            topic: tuple(range(known[topic].partition_count))
            for topic in state.topics
            if topic in known
        }
    if state.dialect is not None:
        knows = replace(
            _knowledge(state, membership),
            consumed=owned,
            assigned=owned,
            assigned_in=since,
            generation=since,
        )
        return subscription_bytes(state.dialect, kind, knows)
    given = subscription(kind, state.topics, owned=owned, owned_since=since, generation=since)
    return encode_subscription(given)


_TIMERS: dict[str, Callable[[ClassicMember], None]] = {
    "heartbeat": beat,
    "poll": poll,
    "revoked": revoked,
    "assigned": _assigned,
    "computed": computed,
    "follow-up": _rejoin,
    "retry": retry,
    "max-poll": poll_late,
    "look": look,
    "look-at-once": look,
    "look-each-second": look_each_second,
    "join-pause": end_join_pause,
    "poll-ends": end_poll,
    "poll-begins": begin_poll,
}
_COMMANDS: dict[Command, Callable[[ClassicMember], None]] = {
    Command.START: start_process,
    Command.STOP: _stop,
    Command.CRASH: _crash,
    Command.REJOIN: _rejoin,
    Command.LOSE_GENERATION: lose_generation,
    Command.FORGET_GENERATION: forget_generation,
    Command.SESSION_OVER: session_over,
}
