"""The bytes that a classic member writes and reads: as this package does, or as its client.

A member without a `client` joins by `assignors.membership` and leads by `assignors.leader`, with
everything they keep between rounds. One with a client writes, leads and follows as that client
does (`dialects`), and keeps nothing as a leader.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from assignors.assignor import Assignor, UserData
from assignors.checks import summary, validity
from assignors.jvm.failure import JavaFailure
from assignors.leader import Led, Memory, lead
from assignors.membership import Membership, applied, subscribe, subscription
from assignors.model import NO_GENERATION
from assignors.own_assignors.answers import AssignorError, is_from_outside
from assignors.registry import replacement_of
from assignors.simulation.timed.dialects.dialect import (
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
from assignors.simulation.timed.dialects.user_data import Knowledge
from assignors.simulation.timed.protocols.classic.member_state import ClassicMember, react
from assignors.simulation.timed.protocols.classic.messages import (
    JoinGroupResponse,
    SyncGroupResponse,
)
from assignors.simulation.timed.protocols.classic.states import MemberState
from assignors.simulation.timed.protocols.effects import (
    ASSIGNOR_FAILED,
    UNUSABLE,
    AssignorFailed,
)
from assignors.simulation.timed.scenario import Claims
from wire import Decoded, Subscription, TopicPartitions, decode_assignment, encode_subscription

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
        return subscribe(membership, state.topics, owned=state.owned, generation=state.generation)
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
        consumed=state.owned,
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
