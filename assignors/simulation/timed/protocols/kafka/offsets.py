"""What a coordinator does with requests about committed offsets, and who may commit what.

A commit is one batch of records, and its answer leaves once that is replicated. A fetch sees what
is replicated; one that asks for stable offsets sees everything that is written, and is refused for
partitions that an open transaction commits.

A classic group takes a commit from a member of the present generation, but not between the two
barriers of a rebalance. A consumer group looks at each partition: a member may commit what it has
been assigned under the epoch that it names, or before (KIP-1251); under its present epoch it may
commit anything. Consumers that are in no group (`assign()`) commit with generation -1, which a
group takes as long as it has no members; the first such commit makes the group.

Now and then offsets are looked through: those that nobody subscribes to expire some time after
their commit, or after the group lost its last member. A group without members and offsets goes too.

Timers: `("offsets",)`, the next look for expired offsets. Tokens of appends count down from -1,
so that they are none of the group's.

Source: `OffsetMetadataManager`, `GroupCoordinatorShard.cleanupGroupMetadata`,
`ClassicGroup.validateOffsetCommit`, `ConsumerGroup.validateOffsetCommit` of Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Append,
    Arrived,
    Committed,
    CoordinatorEvent,
    Effect,
    Fired,
    Record,
    Reply,
    Schedule,
)
from assignors.simulation.timed.protocols.kafka.classic_group import ClassicGroup, GroupState
from assignors.simulation.timed.protocols.kafka.consumer_group import ConsumerGroup, ConsumerMember
from assignors.simulation.timed.protocols.kafka.conversion import tombstones
from assignors.simulation.timed.protocols.kafka.messages import (
    CONSUMER,
    NO_OFFSET,
    NO_PRODUCER,
    UNKNOWN_MEMBER_ID,
    EndTransaction,
    ErrorCode,
    OffsetCommit,
    OffsetCommitResponse,
    OffsetDelete,
    OffsetDeleteResponse,
    OffsetFetch,
    OffsetFetchResponse,
)
from assignors.simulation.timed.protocols.kafka.records import GroupTombstone, OffsetRecord
from assignors.simulation.timed.protocols.kafka.restore import Restored
from assignors.simulation.timed.protocols.kafka.state import (
    GroupCoordinator,
    Offsets,
    Partition,
)
from wire import decode_subscription

CHECK: tuple[str, ...] = ("offsets",)
PER_PARTITION_VERSION = 9
"""From this version of OffsetCommit on members of consumer groups can commit (KIP-848)."""
KEPT_ALIVE = (GroupState.STABLE, GroupState.PREPARING_REBALANCE)
"""The states of a classic group in which a commit counts as a heartbeat."""


class OffsetsOwner(Protocol):
    """A group, as its committed offsets see it."""

    def exists(self) -> bool:
        """Return whether there is a group."""

    def make(self) -> None:
        """Make a classic group without members, for commits from outside any group."""

    def commit_refusal(self, request: OffsetCommit) -> ErrorCode:
        """Return why a commit is refused, `NONE` if it is not."""

    def fetch_refusal(self, request: OffsetFetch, /) -> ErrorCode:
        """Return why a fetch of offsets is refused."""

    def delete_refusal(self) -> ErrorCode:
        """Return why no offset may be deleted."""

    def after_commit(self, request: OffsetCommit, /) -> list[Effect]:
        """Return what an accepted commit leads to beside its records."""

    def subscribes(self, topic: str) -> bool:
        """Return whether members subscribe to a topic: its offsets stay."""

    def retained_since(self, committed_ms: int) -> int | None:
        """Return when an offset committed at that time began to expire; `None`: none does now."""

    def is_empty(self) -> bool:
        """Return whether the group has no members."""

    def remove(self) -> list[Record]:
        """Delete the group; return its tombstones."""


@dataclass(slots=True)
class _KafkaGroup:
    """The group of a `GroupCoordinator`, as its committed offsets see it."""

    state: GroupCoordinator

    def exists(self) -> bool:
        return self.state.group is not None

    def make(self) -> None:
        self.state.group = ClassicGroup(since_ms=self.state.now_ms)

    def commit_refusal(self, request: OffsetCommit) -> ErrorCode:
        group = self.state.group
        if isinstance(group, ConsumerGroup):
            return _consumer_commit_refusal(group, request)
        return _classic_commit_refusal(self.state.classic, request)

    def fetch_refusal(self, request: OffsetFetch) -> ErrorCode:
        group = self.state.group
        if not isinstance(group, ConsumerGroup) or (
            request.member_id is None and request.epoch < 0
        ):
            return ErrorCode.NONE
        member = group.members.get(request.member_id or "")
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        return ErrorCode.NONE if member.epoch == request.epoch else _stale(member)

    def delete_refusal(self) -> ErrorCode:
        """Refuse where members are no consumers."""
        group = self.state.group
        is_free = (
            not isinstance(group, ClassicGroup)
            or group.state is GroupState.EMPTY
            or group.protocol_type == CONSUMER
        )
        return ErrorCode.NONE if is_free else ErrorCode.NON_EMPTY_GROUP

    def after_commit(self, request: OffsetCommit) -> list[Effect]:
        group = self.state.group
        if not isinstance(group, ClassicGroup) or group.state not in KEPT_ALIVE:
            return []
        member = group.members.get(request.member_id)
        return [] if member is None else [member.session_timer()]

    def subscribes(self, topic: str) -> bool:
        group = self.state.group
        if isinstance(group, ConsumerGroup):
            matched = any(topic in (each.topics or ()) for each in group.resolved.values())
            return topic in group.counts.topics or matched
        topics = _topics(self.state.classic)
        if topics is None:
            return self.state.classic.protocol_type == CONSUMER
        return topic in topics

    def retained_since(self, committed_ms: int) -> int | None:
        group = self.state.group
        if not isinstance(group, ClassicGroup) or group.protocol_type is None:
            return committed_ms
        if group.state is GroupState.EMPTY:
            return group.since_ms
        knows_topics = group.protocol_type == CONSUMER and _topics(group) is not None
        return committed_ms if knows_topics and group.state is GroupState.STABLE else None

    def is_empty(self) -> bool:
        group = self.state.group
        if isinstance(group, ClassicGroup):
            return group.state is GroupState.EMPTY
        return group is not None and not group.members

    def remove(self) -> list[Record]:
        group, self.state.group = self.state.group, None
        return tombstones(group) if isinstance(group, ConsumerGroup) else [GroupTombstone()]


def _topics(group: ClassicGroup) -> frozenset[str] | None:
    """Return the topics of the generation; `None` where they cannot be known."""
    return None if group.subscriptions is None else _topics_of(group.subscriptions)


@lru_cache(maxsize=100)
def _topics_of(subscriptions: tuple[bytes, ...]) -> frozenset[str] | None:
    found: set[str] = set()
    for blob in subscriptions:
        read = decode_subscription(blob).value
        if read is None:
            return None
        found.update(read.topics)
    return frozenset(found)


def _missing_group_refusal(request: OffsetCommit) -> ErrorCode:
    """Return why a commit is refused where there is no group; from outside any group it is not."""
    if request.generation < 0:
        return ErrorCode.NONE
    is_old = not request.is_transactional and request.version < PER_PARTITION_VERSION
    return ErrorCode.ILLEGAL_GENERATION if is_old else ErrorCode.GROUP_ID_NOT_FOUND


def _classic_commit_refusal(group: ClassicGroup, request: OffsetCommit) -> ErrorCode:
    if request.generation < 0 and group.state is GroupState.EMPTY:
        return ErrorCode.NONE
    is_member = request.member_id != UNKNOWN_MEMBER_ID or request.instance_id is not None
    if request.generation >= 0 or is_member:
        refusal = group.refusal(request.member_id, request.instance_id)
        if refusal is not ErrorCode.NONE:
            return refusal
        if request.generation != group.generation:
            return ErrorCode.ILLEGAL_GENERATION
    elif not request.is_transactional:
        return ErrorCode.UNKNOWN_MEMBER_ID
    if not request.is_transactional and group.state is GroupState.COMPLETING_REBALANCE:
        return ErrorCode.REBALANCE_IN_PROGRESS
    return ErrorCode.NONE


def _consumer_commit_refusal(group: ConsumerGroup, request: OffsetCommit) -> ErrorCode:
    """Return why a consumer group refuses a commit. Cost: O(partitions of the commit)."""
    if request.generation < 0 and not group.members:
        return ErrorCode.NONE
    is_outside = not request.member_id and request.generation == -1 and request.instance_id is None
    if request.is_transactional and is_outside:
        return ErrorCode.NONE
    member = group.members.get(request.member_id)
    if member is None:
        return ErrorCode.UNKNOWN_MEMBER_ID
    is_old = not request.is_transactional and request.version < PER_PARTITION_VERSION
    if is_old and member.classic is None:
        return ErrorCode.UNSUPPORTED_VERSION
    if request.generation == member.epoch or _had_all(member, request):
        return ErrorCode.NONE
    return _stale(member)


def _stale(member: ConsumerMember) -> ErrorCode:
    """Return how a member learns that its epoch is not the right one, in its protocol's words."""
    is_classic = member.classic is not None
    return ErrorCode.ILLEGAL_GENERATION if is_classic else ErrorCode.STALE_MEMBER_EPOCH


def _had_all(member: ConsumerMember, request: OffsetCommit) -> bool:
    """Return whether the member has all partitions at least since the epoch of the commit."""
    if request.generation > member.epoch:
        return False
    for topic, number, _ in request.offsets:
        epoch = member.assigned.get(topic, {}).get(number)
        if epoch is None:
            epoch = member.revoking.get(topic, {}).get(number)
        if epoch is None or request.generation < epoch:
            return False
    return True


def watched(offsets: Offsets, at_us: int) -> list[Effect]:
    """Return the timer of the first look for expired offsets, unless it runs already."""
    if offsets.is_watched or not offsets.check_ms:
        return []
    offsets.is_watched = True
    interval = offsets.check_ms * MILLISECOND
    return [Schedule(CHECK, interval - at_us % interval)]


def is_about_offsets(event: CoordinatorEvent) -> bool:
    """Return whether an event is one for `step`."""
    match event:
        case Arrived(_, request):
            return isinstance(request, OffsetCommit | OffsetFetch | OffsetDelete | EndTransaction)
        case Fired(key):
            return key == CHECK
        case Committed(token):
            return token < 0
    return False


def step(
    offsets: Offsets, owner: OffsetsOwner, now_ms: int, event: CoordinatorEvent
) -> list[Effect]:
    """Return what a coordinator does about an event that concerns offsets alone.

    Cost: O(partitions) of a request, O(committed offsets) of a look for expired ones.
    """
    match event:
        case Arrived(number, OffsetCommit() as request):
            return _commit(offsets, owner, now_ms, number, request)
        case Arrived(number, OffsetFetch() as request):
            return [Reply(number, _fetch(offsets, owner, request))]
        case Arrived(number, OffsetDelete() as request):
            return _delete(offsets, owner, number, request)
        case Arrived(_, EndTransaction(producer_id, is_commit)):
            offsets.is_shadowed = False
            offsets.table.end(producer_id, is_commit=is_commit)
            offsets.replicated = {each: c.offset for each, c in offsets.table.committed.items()}
            return []
        case Fired():
            expired = _expire(offsets, owner, now_ms)
            return [*expired, Schedule(CHECK, offsets.check_ms * MILLISECOND)]
        case Committed(token):
            return _replicated(offsets, token)
    raise AssertionError(event)


def step_in_kafka(state: GroupCoordinator, event: CoordinatorEvent) -> list[Effect]:
    """Return what Kafka's coordinator does about such an event."""
    return step(state.offsets, _KafkaGroup(state), state.now_ms, event)


def take_back(offsets: Offsets, log: Restored, lost: Iterable[int]) -> None:
    """Go back to the offsets that are written; nobody waits for the appends that are lost."""
    offsets.table = log.offsets
    for token in lost:
        offsets.waiting.pop(token, None)


def load(offsets: Offsets, log: Restored) -> list[Schedule]:
    """Begin with what a log says; return the timers that start. Cost: O(partitions)."""
    offsets.table = log.offsets
    offsets.replicated = {each: value.offset for each, value in log.offsets.committed.items()}
    offsets.is_shadowed = False
    offsets.waiting.clear()
    offsets.is_watched = offsets.check_ms > 0
    return [Schedule(CHECK, offsets.check_ms * MILLISECOND)] if offsets.is_watched else []


def _commit(
    offsets: Offsets, owner: OffsetsOwner, now_ms: int, number: int, request: OffsetCommit
) -> list[Effect]:
    if owner.exists():
        error = owner.commit_refusal(request)
    else:
        error = _missing_group_refusal(request)
        if error is ErrorCode.NONE:
            owner.make()
    reply = Reply(number, OffsetCommitResponse(error))
    if error is not ErrorCode.NONE:
        return [reply]
    records = [
        OffsetRecord(topic, partition, offset, now_ms, request.producer_id)
        for topic, partition, offset in request.offsets
    ]
    alive = [] if request.is_transactional else owner.after_commit(request)
    return [*alive, *_write(offsets, records, reply)]


def _fetch(offsets: Offsets, owner: OffsetsOwner, request: OffsetFetch) -> OffsetFetchResponse:
    """Answer a fetch; a group that does not exist has no offsets, whatever the table has."""
    exists = owner.exists()
    is_shadowed = offsets.is_shadowed and not exists and not request.requires_stable
    error = ErrorCode.NONE
    if exists:
        error = owner.fetch_refusal(request)
    elif is_shadowed and request.member_id is not None:
        error = ErrorCode.UNKNOWN_MEMBER_ID
    if error is not ErrorCode.NONE:
        return OffsetFetchResponse(error)
    unstable: frozenset[Partition] = frozenset()
    known: dict[Partition, int] = {}
    if request.requires_stable:
        unstable = frozenset(filter(offsets.table.is_pending, request.partitions))
    if exists or is_shadowed:
        known = offsets.replicated
        if request.requires_stable:
            known = {each: value.offset for each, value in offsets.table.committed.items()}
    found = tuple(
        (*each, NO_OFFSET if each in unstable else known.get(each, NO_OFFSET))
        for each in request.partitions
    )
    return OffsetFetchResponse(ErrorCode.NONE, found, unstable)


def _delete(
    offsets: Offsets, owner: OffsetsOwner, number: int, request: OffsetDelete
) -> list[Effect]:
    error = owner.delete_refusal() if owner.exists() else ErrorCode.GROUP_ID_NOT_FOUND
    if error is not ErrorCode.NONE:
        return [Reply(number, OffsetDeleteResponse(error))]
    topics = {topic for topic, _ in request.partitions}
    subscribed = frozenset(topic for topic in topics if owner.subscribes(topic))
    table = offsets.table
    records = [
        OffsetRecord(topic, partition, None)
        for topic, partition in request.partitions
        if topic not in subscribed
        and ((topic, partition) in table.committed or table.is_pending((topic, partition)))
    ]
    return _write(offsets, records, Reply(number, OffsetDeleteResponse(error, subscribed)))


def _expire(offsets: Offsets, owner: OffsetsOwner, now_ms: int) -> list[Effect]:
    """Delete offsets that have expired, and the group if it has neither offsets nor members."""
    table = offsets.table
    if not owner.exists():
        return []
    records: list[Record] = []
    for partition, committed in table.committed.items():
        since = owner.retained_since(committed.at_ms)
        is_over = since is not None and now_ms - since >= offsets.retention_ms
        if is_over and not owner.subscribes(partition[0]) and not table.is_pending(partition):
            records.append(OffsetRecord(*partition, None))
    is_bare = len(records) == len(table.committed) and not any(table.pending.values())
    if is_bare and owner.is_empty():
        records += owner.remove()
    return _write(offsets, records, None)


def _write(
    offsets: Offsets, records: list[OffsetRecord] | list[Record], reply: Reply | None
) -> list[Effect]:
    """Append records and let the answer wait for them; without records it leaves at once."""
    if not records:
        return [] if reply is None else [reply]
    offsets.is_shadowed = False
    of_offsets = tuple(record for record in records if isinstance(record, OffsetRecord))
    for record in of_offsets:
        offsets.table.apply(record)
    offsets.tokens -= 1
    offsets.waiting[offsets.tokens] = (reply, of_offsets)
    return [Append(tuple(records), offsets.tokens)]


def _replicated(offsets: Offsets, token: int) -> list[Effect]:
    reply, records = offsets.waiting.pop(token)
    for record in records:
        partition = (record.topic, record.partition)
        if record.offset is None:
            offsets.replicated.pop(partition, None)
        elif record.producer_id == NO_PRODUCER:
            offsets.replicated[partition] = record.offset
    return [] if reply is None else [reply]
