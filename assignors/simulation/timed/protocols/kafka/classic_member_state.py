"""A consumer with the classic protocol: its state, and the bytes that it writes and reads.

A member without a `client` joins by `assignors.membership` and leads by `assignors.leader`, with
everything they keep between rebalances. One with a client writes, leads and follows as that client
does (`dialects`), and keeps nothing as a leader.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from assignors.simulation.timed.protocols.application import (
    Application,
    next_beat,
    rest_of_poll,
    whole_poll,
)
from assignors.simulation.timed.protocols.effects import (
    ASSIGNOR_FAILED,
    MILLISECOND,
    UNUSABLE,
    AssignorFailed,
    Cancel,
    Consume,
    Effect,
    GiveUp,
    Schedule,
    Send,
)
from assignors.simulation.timed.protocols.kafka.messages import (
    NO_GENERATION_ID,
    UNKNOWN_MEMBER_ID,
    ErrorCode,
    JoinGroupResponse,
    LeaveGroup,
    SyncGroupResponse,
)
from assignors.simulation.timed.protocols.kafka.messages import ClassicRequest as Request
from assignors.simulation.timed.scenario import Claims, MemberConfig
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
class ClassicMember:
    """A member's side of the protocol."""

    config: MemberConfig
    assignors: tuple[Assignor, ...]
    draw: Callable[[str, int], int]
    """(`"poll"`, limit), (`"sync"`, mean) or (`"look"`, mean) -> a random time in microseconds."""
    cluster: Cluster
    """What its metadata has."""
    compute_us_per_partition: int = 0
    late_us: int = 0
    """So much later than its interval is each heartbeat."""
    topics: tuple[str, ...] = ()
    state: MemberState = MemberState.DOWN
    member_id: str = UNKNOWN_MEMBER_ID
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
    number: int = 0
    """Requests sent so far; the last one's number."""
    awaited: int = 0
    """Number of the JoinGroup or SyncGroup that waits for an answer."""
    must_rejoin: bool = False
    """A rebalance is to be handled at the next poll."""
    must_follow_up: bool = False
    is_stopping: bool = False
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
    application: Application = field(default_factory=Application)
    deferred: ErrorCode = ErrorCode.NONE
    """What a heartbeat reported while the application was busy."""
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
    out: list[Effect] = field(default_factory=list)
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
    def beat_us(self) -> int:
        """The time from one of its heartbeats to the next."""
        return self.config.by_its_clock(self.config.heartbeat_interval_ms) + self.late_us

    @property
    def is_up(self) -> bool:
        """Whether its process runs."""
        return self.state is not MemberState.DOWN

    @property
    def is_at_rest(self) -> bool:
        """Whether it runs and has nothing to do but consume."""
        is_free = self.deferred is ErrorCode.NONE and not self.application.has_left
        return self.state is MemberState.STABLE and not self.must_rejoin and is_free


def send(state: ClassicMember, request: Request, after_us: int = 0) -> int:
    """Send a request; return its number."""
    state.number += 1
    state.out.append(Send(state.number, request, after_us))
    return state.number


def beat_later(state: ClassicMember) -> None:
    """Start the timer of the next heartbeat anew."""
    state.out.append(next_beat(state.beat_us))


def beat_again(state: ClassicMember) -> None:
    """Go on with heartbeats, as the member has its assignment: one at once if it is due."""
    if state.beats_anew:
        beat_later(state)
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


def poll_later(state: ClassicMember) -> None:
    """Handle a rebalance at the next poll."""
    state.out.append(Schedule(("poll",), rest_of_poll(state.config, state.draw)))


def poll_to_its_end(state: ClassicMember) -> None:
    """Begin a poll that ends a round only while it lasts, if its client has such polls."""
    state.is_between_polls = False
    if state.times.between_polls_us:
        state.out.append(Schedule(("poll-ends",), whole_poll(state.config, state.draw)))


def say_leave(state: ClassicMember) -> None:
    """Leave, as the coordinator learns it, unless the member is static."""
    if state.member_id and state.config.instance_id is None:
        send(state, LeaveGroup(state.member_id))


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
