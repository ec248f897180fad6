"""What a consumer with the classic protocol does with each answer, timer and command.

A member that learns of a rebalance, in the answer to a heartbeat, handles it between two polls.
Under an eager protocol it then revokes everything and joins again. Under a cooperative one it goes
on consuming, joins again, and learns from its new assignment what it has to revoke: then it revokes
that and joins once more. An assignment that arrives too late, because others joined again before,
comes as REBALANCE_IN_PROGRESS: the member joins again with what it has.

Timers: `("heartbeat",)`; `("poll",)`, the next look at the protocol; `("revoked",)` and
`("assigned",)`, the ends of the two callbacks; `("computed",)`, the end of the leader's work;
`("follow-up",)`, after which a leader starts another rebalance by itself; `("retry",)`, after bytes
that its client failed on; `("max-poll",)`, by which the application has to poll; and of a client
that only looks from time to time (`Timing.wake_ms`), `("look",)`, `("look-at-once",)`,
`("look-each-second",)` and `("join-pause",)`, the end of the second after a join.

A member that subscribes by a pattern matches it over its own metadata, and joins again where that
gives another subscription. It fetches new metadata before it joins: so one member that has seen a
new topic makes the others see it, too.

Source: `ConsumerCoordinator` and `AbstractCoordinator` of Kafka's Java client; librdkafka 2.x's
`rd_kafka_thread_main` and `rd_kafka_cgrp_join_state_serve`, whose main thread wakes for messages,
for `one_s_tmr` and for `rkcg_max_poll_interval_tmr`, and joins by `rkcg_join_intvl`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from assignors.model import Cluster
from assignors.simulation.timed.protocols.effects import (
    Answered,
    Command,
    Disturbed,
    Effect,
    Failed,
    Fired,
    MemberEvent,
)
from assignors.simulation.timed.protocols.kafka.classic_member_state import (
    ClassicMember,
    MemberState,
    end,
    lose,
    poll_later,
)
from assignors.simulation.timed.protocols.kafka.classic_member_steps import (
    assigned,
    beat,
    begin_poll,
    computed,
    end_join_pause,
    end_poll,
    forget_generation,
    free,
    joined,
    look,
    look_each_second,
    lose_generation,
    lose_place,
    poll,
    poll_late,
    request_failed,
    retry,
    revoke_then_leave,
    revoked,
    session_over,
    slow_down,
    start_process,
    synced,
)
from assignors.simulation.timed.protocols.kafka.classic_sessions import handled
from assignors.simulation.timed.protocols.kafka.messages import (
    ErrorCode,
    HeartbeatResponse,
    JoinGroupResponse,
    SyncGroupResponse,
)
from assignors.simulation.topic_patterns import matching


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
    if state.config.runs_handlers and handled(state, event):
        return state.out
    if isinstance(event, Answered):
        _answered(state, event)
    elif isinstance(event, Fired):
        TIMERS[event.key[0]](state)
    elif isinstance(event, Failed):
        request_failed(state, event)
    elif isinstance(event, Disturbed):
        slow_down(state, event)
    else:
        COMMANDS[event](state)
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
            poll_later(state)


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


TIMERS: dict[str, Callable[[ClassicMember], None]] = {
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
COMMANDS: dict[Command, Callable[[ClassicMember], None]] = {
    Command.START: start_process,
    Command.STOP: _stop,
    Command.CRASH: _crash,
    Command.REJOIN: _rejoin,
    Command.LOSE_GENERATION: lose_generation,
    Command.FORGET_GENERATION: forget_generation,
    Command.SESSION_OVER: session_over,
}
