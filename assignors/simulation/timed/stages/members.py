"""What a member comes to in a round that it went through with others; how it goes on alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assignors.membership import applied, subscribed, wanted_by
from assignors.simulation.timed.heartbeats import HEARTBEAT, Heartbeats
from assignors.simulation.timed.protocols.classic.barriers import joined
from assignors.simulation.timed.protocols.classic.group import ClassicGroup
from assignors.simulation.timed.protocols.classic.member_rounds import begin_join, send_join
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember
from assignors.simulation.timed.protocols.classic.messages import (
    ErrorCode,
    Protocol,
    SyncGroupResponse,
)
from assignors.simulation.timed.protocols.classic.states import MemberState
from assignors.simulation.timed.protocols.effects import (
    COORDINATOR,
    MILLISECOND,
    Answered,
    Fired,
)
from assignors.simulation.timed.queue import EventQueue, Rank
from assignors.simulation.timed.stages.stage import Round, Stage


def keep(member: ClassicMember, after: Round) -> None:
    """Let a member have taken part in a round in which it got what it had."""
    member.generation, member.is_leader, member.failures = after.generation, False, 0
    member.chosen = _chosen(member, after)
    member.memberships = tuple(
        applied(each, member.assignment_read, after.generation) for each in member.memberships
    )


def answer_join(
    heartbeats: Heartbeats, member: ClassicMember, number: int, group: ClassicGroup, at: int
) -> None:
    """Put into the queue what stands there for a member once the first barrier has opened.

    The answer to its JoinGroup comes at `at`, in microseconds.
    """
    queue = heartbeats.queue
    rest = heartbeats.resting.pop(number)
    del heartbeats.by_id[rest.member_id]
    known = group.members[member.member_id]
    _join(member, known.protocols)
    heartbeats.network.links[number].returns = at
    answer = joined(group, known)
    queue.put(at, (number, Answered(member.awaited, answer)))
    key = ("session", rest.member_id)
    session = (COORDINATOR, Fired(key, 0))
    over = queue.now + rest.session_timeout
    queue.start((COORDINATOR, key), over, session, Rank.SESSION, rest.member_id)


def await_plan(
    heartbeats: Heartbeats, member: ClassicMember, group: ClassicGroup, stage: Stage, number: int
) -> None:
    """Let a member leave a stage, its SyncGroup at the coordinator, which has yet to answer it."""
    network, row = heartbeats.network, stage.rows.pop(number)
    rest = heartbeats.resting.pop(number)
    del heartbeats.by_id[rest.member_id]
    known = group.members[rest.member_id]
    _join(member, known.protocols)
    _sync(member, Round(group.generation, group.protocol, 0))
    answered, link = int(stage.answered[row]), network.links[number]
    link.arrives, link.returns = int(stage.synced[row]), answered
    link.unanswered += 1
    network.sent = request = network.sent + 1
    deadline = answered + member.config.sync_limit_ms * MILLISECOND
    network.in_flight[request] = (number, member.awaited, link.life, deadline, None)
    network.count("SyncGroup", 1)
    known.waiting_sync = request
    group.pending_syncs.discard(rest.member_id)
    queue, key, due = heartbeats.queue, (number, HEARTBEAT.key), answered + rest.every
    queue.start(key, due, (number, HEARTBEAT), Rank.HEARTBEAT, number)


def await_assignment(
    queue: EventQueue[Any],
    member: ClassicMember,
    number: int,
    at: int,
    after: Round,
    *,
    assignment: bytes,
) -> None:
    """Put the answer to a member's SyncGroup into the queue: it comes at `at`, in microseconds."""
    _join(member)
    _sync(member, after)
    response = SyncGroupResponse(ErrorCode.NONE, assignment, after.protocol)
    queue.put(at, (number, Answered(member.awaited, response)))


def _join(member: ClassicMember, protocols: Sequence[Protocol] = ()) -> None:
    """Let a member have joined again, unless it has; an eager one has given up everything.

    `protocols`: its Subscriptions, where they are known.
    """
    if member.state is MemberState.JOINING:
        return
    if not member.is_cooperative:
        member.owned = {}
    topics, owned, generation = member.topics, member.owned, member.generation
    if not protocols or any(each.repeats for each in member.memberships):
        send_join(member)
        member.out = []
        return
    memberships = []
    for each, protocol in zip(member.memberships, protocols, strict=True):
        wanted = wanted_by(each, topics, owned=owned, generation=generation)
        memberships.append(subscribed(each, wanted, protocol.metadata))
    begin_join(member, tuple(memberships))
    member.number = member.awaited = member.number + 1


def _sync(member: ClassicMember, after: Round) -> None:
    """Let a member that has joined have sent SyncGroup."""
    member.generation, member.is_leader = after.generation, False
    member.chosen = _chosen(member, after)
    member.state = MemberState.SYNCING
    member.number += 1
    member.awaited = member.number


def _chosen(member: ClassicMember, after: Round) -> int:
    """Return the position of the assignor that a round used."""
    if len(member.assignors) == 1:
        return 0
    return [each.name for each in member.assignors].index(after.protocol or "")
