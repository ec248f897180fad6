"""What the keeper of committed offsets needs of the group they belong to, for each protocol."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from assignors.simulation.timed.protocols.classic import coordinator as classic_coordinator
from assignors.simulation.timed.protocols.classic.coordinator_state import (
    ClassicCoordinator,
    start,
)
from assignors.simulation.timed.protocols.classic.group import ClassicGroup, SeenGroup
from assignors.simulation.timed.protocols.classic.messages import (
    CONSUMER,
    GroupRecord,
    GroupTombstone,
)
from assignors.simulation.timed.protocols.classic.states import GroupState
from assignors.simulation.timed.protocols.consumer.coordinator_state import ConsumerCoordinator
from assignors.simulation.timed.protocols.consumer.group import ConsumerGroup
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Append,
    CoordinatorEvent,
    Effect,
    Record,
)
from assignors.simulation.timed.protocols.mixed.downgrade import tombstones
from assignors.simulation.timed.protocols.offsets.messages import (
    CommitError,
    OffsetCommit,
    OffsetFetch,
)
from assignors.simulation.timed.protocols.offsets.rules import (
    classic_commit_refusal,
    classic_delete_refusal,
    consumer_commit_refusal,
    consumer_fetch_refusal,
)
from wire import decode_subscription

Step = Callable[[int, CoordinatorEvent], list[Effect]]
KEPT_ALIVE = (GroupState.STABLE, GroupState.PREPARING_REBALANCE)
"""The states of a classic group in which a commit counts as a heartbeat."""


class Removed(NamedTuple):
    """What is left of a group that is deleted."""

    tombstones: tuple[Record, ...]
    put_back: Callable[[], None]
    """Puts it back as it was, if its tombstones could not be written."""
    is_reverted: bool
    """Whether its coordinator then takes it back to its records."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAccess:
    """A group, as its committed offsets see it."""

    step: Step
    """The coordinator of the group itself: the time in microseconds and an event -> effects."""
    exists: Callable[[], bool]
    make: Callable[[], None]
    """Makes a classic group without members, for commits from outside any group, where the
    coordinator knows of such."""
    commit_refusal: Callable[[OffsetCommit], CommitError]
    fetch_refusal: Callable[[OffsetFetch], CommitError]
    delete_refusal: Callable[[], CommitError]
    after_commit: Callable[[OffsetCommit], list[Effect]]
    subscribes: Callable[[str], bool]
    """Whether members subscribe to a topic: its offsets do not expire, nobody deletes them."""
    retained_since: Callable[[int], int | None]
    """When an offset committed at that time (ms) began to expire; `None`: none does now."""
    is_empty: Callable[[], bool]
    remove: Callable[[], Removed]
    """Deletes the group."""
    goes_back: bool = False
    """Whether its coordinator goes back to the group that there was, whatever has failed."""


def classic_access(
    coordinator: ClassicCoordinator,
    *,
    clock_starts_ms: int,
    step: Step | None = None,
    since_ms: int | None = None,
) -> GroupAccess:
    """Return the access to a classic group; `step` is what plays its events, if it does not.

    `since_ms` is when a group that is there already came into its state.
    """
    began_ms = clock_starts_ms if since_ms is None else since_ms
    if coordinator.exists:
        coordinator.group.seen = _seen(coordinator.group, began_ms)
    play = step or (lambda _, event: classic_coordinator.step(coordinator, event))
    return GroupAccess(
        step=partial(_classic_step, coordinator, clock_starts_ms, play),
        exists=lambda: coordinator.exists,
        make=partial(setattr, coordinator, "exists", True),  # noqa: FBT003 - that of setattr
        commit_refusal=lambda request: classic_commit_refusal(coordinator.group, request),
        fetch_refusal=lambda _: CommitError.NONE,
        delete_refusal=lambda: classic_delete_refusal(coordinator.group),
        after_commit=partial(_restart_session, coordinator),
        subscribes=partial(_subscribes, coordinator),
        retained_since=partial(_retained_since, coordinator),
        is_empty=lambda: coordinator.group.state is GroupState.EMPTY,
        remove=partial(_remove, coordinator),
    )


def _classic_step(
    coordinator: ClassicCoordinator,
    clock_starts_ms: int,
    play: Step,
    at_us: int,
    event: CoordinatorEvent,
) -> list[Effect]:
    """Play an event; note a change of state, and the Subscriptions of a generation that begins.

    A group that comes back as an append has failed has been in its state since then.
    """
    now_ms = clock_starts_ms + at_us // MILLISECOND
    effects = play(at_us, event)
    if not coordinator.exists:
        return effects
    group = coordinator.group
    seen = group.seen or SeenGroup(group.transitions, now_ms, 0, None)
    if group.transitions != seen.transitions:
        seen = seen._replace(transitions=group.transitions, since_ms=now_ms)
    if group.generation != seen.generation:
        seen = _seen(group, seen.since_ms)
    group.seen = seen
    return [_with_time(each, seen.since_ms) for each in effects]


def _seen(group: ClassicGroup, since_ms: int) -> SeenGroup:
    return SeenGroup(group.transitions, since_ms, group.generation, _subscriptions(group))


def _subscriptions(group: ClassicGroup) -> tuple[bytes, ...] | None:
    """Return the Subscriptions of a generation, `None` where they are not those of consumers."""
    protocol = group.protocol
    if group.protocol_type != CONSUMER:
        return None
    return () if protocol is None else tuple(m.metadata(protocol) for m in group.members.values())


def _with_time(effect: Effect, since_ms: int) -> Effect:
    """Return the effect; the record of a group says since when it is in its state."""
    if not isinstance(effect, Append):
        return effect
    record = effect.records[-1]
    if not isinstance(record, GroupRecord):
        return effect
    return Append((*effect.records[:-1], record._replace(since_ms=since_ms)), effect.token)


def _restart_session(coordinator: ClassicCoordinator, request: OffsetCommit) -> list[Effect]:
    coordinator.out = []
    member = coordinator.group.members.get(request.member_id)
    if member is not None and coordinator.group.state in KEPT_ALIVE:
        start(coordinator, ("session", member.member_id), member.session_timeout_ms)
    return coordinator.out


def _topics(group: ClassicGroup) -> frozenset[str] | None:
    """Return the topics of the generation, read once; `None` where they cannot be known."""
    seen = group.seen
    if seen is None or seen.subscriptions is None:
        return None
    if not seen.topics:
        found: set[str] = set()
        for blob in seen.subscriptions:
            read = decode_subscription(blob).value
            if read is None:
                return None
            found.update(read.topics)
        group.seen = seen = seen._replace(topics=frozenset(found))
    return seen.topics


def _subscribes(coordinator: ClassicCoordinator, topic: str) -> bool:
    topics = _topics(coordinator.group)
    if topics is None:
        return coordinator.group.protocol_type == CONSUMER
    return topic in topics


def _retained_since(coordinator: ClassicCoordinator, committed_ms: int) -> int | None:
    group = coordinator.group
    if group.protocol_type is None or group.seen is None:
        return committed_ms
    if group.state is GroupState.EMPTY:
        return group.seen.since_ms
    knows_topics = group.protocol_type == CONSUMER and _topics(group) is not None
    return committed_ms if knows_topics and group.state is GroupState.STABLE else None


def _remove(coordinator: ClassicCoordinator) -> Removed:
    group = coordinator.group

    def put_back() -> None:
        coordinator.group, coordinator.exists = group, True

    coordinator.group, coordinator.exists = ClassicGroup(), False
    return Removed((GroupTombstone(),), put_back, is_reverted=False)


def consumer_access(coordinator: ConsumerCoordinator, step: Step) -> GroupAccess:
    """Return the access to a consumer group; `step` is what plays its own events."""

    def subscribes(topic: str) -> bool:
        group = coordinator.group
        matched = any(topic in (each.topics or ()) for each in group.resolved.values())
        return topic in group.counts.topics or matched

    def remove() -> Removed:
        group = coordinator.group

        def put_back() -> None:
            coordinator.group, coordinator.exists = group, True

        coordinator.group, coordinator.exists = ConsumerGroup(), False
        return Removed(tuple(tombstones(group)), put_back, is_reverted=True)

    return GroupAccess(
        step=step,
        exists=lambda: coordinator.exists,
        make=lambda: None,
        commit_refusal=lambda request: consumer_commit_refusal(coordinator, request),
        fetch_refusal=lambda request: consumer_fetch_refusal(coordinator, request),
        delete_refusal=lambda: CommitError.NONE,
        after_commit=lambda _: [],
        subscribes=subscribes,
        retained_since=lambda committed_ms: committed_ms,
        is_empty=lambda: not coordinator.group.members,
        remove=remove,
    )
