"""What a coordinator does with requests about committed offsets; the rest goes to its group.

A commit is one batch of records, and its answer leaves once that is replicated. A fetch sees what
is replicated; one that asks for stable offsets sees everything that is written, and is refused for
partitions that an open transaction commits.

Now and then offsets are looked through: those that nobody subscribes to expire some time after
their commit, or after the group lost its last member. A group without members and offsets goes too.

Timers: `("offsets",)`, the next look for expired offsets. Tokens of appends count down from -1,
so that they are none of the group's.

Source: `OffsetMetadataManager`, `GroupCoordinatorShard.cleanupGroupMetadata` of Kafka 4.4.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from assignors.simulation.timed.protocols.classic.group import ClassicGroup
from assignors.simulation.timed.protocols.classic.messages import GroupTombstone
from assignors.simulation.timed.protocols.effects import (
    MILLISECOND,
    Append,
    AppendFailed,
    Arrived,
    Committed,
    CoordinatorEvent,
    Effect,
    Fired,
    Record,
    Reply,
    Schedule,
)
from assignors.simulation.timed.protocols.offsets.access import GroupAccess, Removed
from assignors.simulation.timed.protocols.offsets.messages import (
    NO_OFFSET,
    NO_PRODUCER,
    CommitError,
    EndTransaction,
    OffsetCommit,
    OffsetCommitResponse,
    OffsetDelete,
    OffsetDeleteResponse,
    OffsetFetch,
    OffsetFetchResponse,
    OffsetRecord,
)
from assignors.simulation.timed.protocols.offsets.rules import missing_group_refusal
from assignors.simulation.timed.protocols.offsets.table import OffsetTable, Partition
from assignors.simulation.timed.protocols.restore import restored

CHECK: tuple[str, ...] = ("offsets",)


@dataclass(frozen=True, slots=True, kw_only=True)
class OffsetsConfig:
    """The broker's settings for committed offsets."""

    retention_ms: int = 604_800_000
    """`offsets.retention.minutes`."""
    check_ms: int = 600_000
    """`offsets.retention.check.interval.ms`."""
    clock_starts_ms: int = 1
    """What the broker's clock shows when the run begins."""


@dataclass(slots=True, kw_only=True)
class OffsetsCoordinator:
    """The state of the coordinator's side: the group, and the offsets it has committed."""

    group: GroupAccess
    inner: object = None
    """The state of the group's own coordinator, for who looks at that."""
    config: OffsetsConfig = field(default_factory=OffsetsConfig)
    table: OffsetTable = field(default_factory=OffsetTable)
    """As of the last record written."""
    replicated: dict[Partition, int] = field(default_factory=dict)
    """Partition -> the committed offset, as far as records are replicated."""
    is_simple: bool = False
    """Whether commits from outside have made a classic group, of which the group's own coordinator
    does not know."""
    is_shadowed: bool = False
    """Whether the group has gone without a record: fetches, which see what is replicated, see it
    still, and without members."""
    is_watched: bool = False
    """Whether the timer for expired offsets runs."""
    waiting: dict[int, tuple[Reply | None, tuple[OffsetRecord, ...]]] = field(default_factory=dict)
    """Token of an append -> the answer that waits for it, and the offsets it writes."""
    tokens: int = 0
    removed: dict[int, Removed] = field(default_factory=dict, compare=False)
    """Groups that are deleted, by the token of the append of their tombstones."""
    made_by: int | None = None
    """The append of the commit that has made the group, until it is replicated."""


def step(state: OffsetsCoordinator, at_us: int, event: CoordinatorEvent) -> list[Effect]:
    """Return what the coordinator does about an event at `at_us`; `state` changes in place.

    Cost: O(partitions) of a request; that of the group's step for what is the group's.
    """
    out: list[Effect] = []
    if not state.is_watched:
        state.is_watched = True
        interval = state.config.check_ms * MILLISECOND
        out.append(Schedule(CHECK, interval - at_us % interval))
    match event:
        case Arrived(number, OffsetCommit() as request):
            out += _commit(state, _now_ms(state, at_us), number, request)
        case Arrived(number, OffsetFetch() as request):
            out.append(Reply(number, _fetch(state, request)))
        case Arrived(number, OffsetDelete() as request):
            out += _delete(state, number, request)
        case Arrived(_, EndTransaction(producer_id, is_commit)):
            state.is_shadowed = False
            state.table.end(producer_id, is_commit=is_commit)
            state.replicated = {each: c.offset for each, c in state.table.committed.items()}
        case Fired(("offsets",)):
            out += _expire(state, _now_ms(state, at_us))
            out.append(Schedule(CHECK, state.config.check_ms * MILLISECOND))
        case Committed(token) if token < 0:
            out += _replicated(state, token)
        case AppendFailed():
            out += _append_failed(state, at_us, event)
        case _:
            out += _group_step(state, at_us, event)
    return out


def _now_ms(state: OffsetsCoordinator, at_us: int) -> int:
    return state.config.clock_starts_ms + at_us // MILLISECOND


def _group_step(state: OffsetsCoordinator, at_us: int, event: CoordinatorEvent) -> list[Effect]:
    """Let the group play the event; its first member deletes a group that commits have made."""
    existed = state.group.exists()
    effects = state.group.step(at_us, event)
    for number, effect in enumerate(effects):
        if isinstance(effect, Append):
            state.is_shadowed = False
            if state.is_simple and not existed:
                state.is_simple = False
                effects[number] = Append((GroupTombstone(), *effect.records), effect.token)
            return effects
    state.is_shadowed |= existed and not state.group.exists()
    return effects


def _commit(
    state: OffsetsCoordinator, now_ms: int, number: int, request: OffsetCommit
) -> list[Effect]:
    existed = state.group.exists() or state.is_simple
    error = _commit_refusal(state, request)
    reply = Reply(number, OffsetCommitResponse(error))
    if error is not CommitError.NONE:
        return [reply]
    records = [
        OffsetRecord(topic, partition, offset, now_ms, request.producer_id)
        for topic, partition, offset in request.offsets
    ]
    alive = [] if request.is_transactional else state.group.after_commit(request)
    written = _write(state, records, reply)
    if records and not existed:
        state.made_by = state.tokens
    return [*alive, *written]


def _commit_refusal(state: OffsetsCoordinator, request: OffsetCommit) -> CommitError:
    group = state.group
    if group.exists():
        return group.commit_refusal(request)
    if state.is_simple and request.generation >= 0:
        return CommitError.UNKNOWN_MEMBER_ID
    error = missing_group_refusal(request)
    if error is CommitError.NONE:
        group.make()
        state.is_simple = not group.exists()
    return error


def _fetch(state: OffsetsCoordinator, request: OffsetFetch) -> OffsetFetchResponse:
    """Answer a fetch; a group that does not exist has no offsets, whatever the table has."""
    exists = state.group.exists()
    is_shadowed = state.is_shadowed and not exists and not request.requires_stable
    error = CommitError.NONE
    if exists:
        error = state.group.fetch_refusal(request)
    elif is_shadowed and request.member_id is not None:
        error = CommitError.UNKNOWN_MEMBER_ID
    if error is not CommitError.NONE:
        return OffsetFetchResponse(error)
    unstable: frozenset[Partition] = frozenset()
    known: dict[Partition, int] = {}
    if request.requires_stable:
        unstable = frozenset(filter(state.table.is_pending, request.partitions))
    if exists or state.is_simple or is_shadowed:
        known = state.replicated
        if request.requires_stable:
            known = {each: value.offset for each, value in state.table.committed.items()}
    offsets = tuple(
        (*each, NO_OFFSET if each in unstable else known.get(each, NO_OFFSET))
        for each in request.partitions
    )
    return OffsetFetchResponse(CommitError.NONE, offsets, unstable)


def _delete(state: OffsetsCoordinator, number: int, request: OffsetDelete) -> list[Effect]:
    group, table = state.group, state.table
    if not group.exists():
        error = CommitError.NONE if state.is_simple else CommitError.GROUP_ID_NOT_FOUND
    else:
        error = group.delete_refusal()
    if error is not CommitError.NONE:
        return [Reply(number, OffsetDeleteResponse(error))]
    topics = {topic for topic, _ in request.partitions}
    subscribed = frozenset(topic for topic in topics if group.exists() and group.subscribes(topic))
    records = [
        OffsetRecord(topic, partition, None)
        for topic, partition in request.partitions
        if topic not in subscribed
        and ((topic, partition) in table.committed or table.is_pending((topic, partition)))
    ]
    return _write(state, records, Reply(number, OffsetDeleteResponse(error, subscribed)))


def _expire(state: OffsetsCoordinator, now_ms: int) -> list[Effect]:
    """Delete offsets that have expired, and the group if it has neither offsets nor members."""
    group, table = state.group, state.table
    exists = group.exists()
    if not exists and not state.is_simple:
        return []
    records: list[Record] = []
    for partition, committed in table.committed.items():
        is_used = exists and group.subscribes(partition[0])
        since = group.retained_since(committed.at_ms) if exists else committed.at_ms
        is_over = since is not None and now_ms - since >= state.config.retention_ms
        if is_over and not is_used and not table.is_pending(partition):
            records.append(OffsetRecord(*partition, None))
    is_bare = len(records) == len(table.committed) and not any(table.pending.values())
    if is_bare and exists and group.is_empty():
        removed = group.remove()
        records += removed.tombstones
        state.removed[state.tokens - 1] = removed  # by the token of what is written below
        state.is_simple = False
    elif is_bare and not exists:
        records.append(GroupTombstone())
        state.is_simple = False
    return _write(state, records, None)


def _write(
    state: OffsetsCoordinator, records: list[OffsetRecord] | list[Record], reply: Reply | None
) -> list[Effect]:
    """Append records and let the answer wait for them; without records it leaves at once."""
    if not records:
        return [] if reply is None else [reply]
    state.is_shadowed = False
    offsets = tuple(record for record in records if isinstance(record, OffsetRecord))
    for record in offsets:
        state.table.apply(record)
    state.tokens -= 1
    state.waiting[state.tokens] = (reply, offsets)
    return [Append(tuple(records), state.tokens)]


def _append_failed(state: OffsetsCoordinator, at_us: int, event: AppendFailed) -> list[Effect]:
    """Take offsets back to what is written, and let the group do the same for what is its own.

    A group that a commit has made is gone with that, and one that was deleted is there again.
    """
    log = restored(event.records)
    state.table = log.offsets
    for token in event.tokens:
        state.waiting.pop(token, None)
    # The first of them is the one that the log has: tokens count down.
    gone = sorted(event.tokens & state.removed.keys(), reverse=True)
    removed = [state.removed.pop(token) for token in gone]
    of_group = event._replace(tokens=frozenset(token for token in event.tokens if token > 0))
    made_it = state.made_by in event.tokens
    if made_it:
        state.made_by = None
    if state.group.goes_back:
        return state.group.step(at_us, of_group)
    is_back = bool(removed) and log.group is not None
    if is_back and removed[0].is_reverted:
        removed[0].put_back()
    effects = state.group.step(at_us, of_group) if of_group.tokens else []
    if made_it and state.group.exists() and not (is_back and removed[0].is_reverted):
        state.group.remove()
    if is_back and not removed[0].is_reverted:
        removed[0].put_back()
    state.is_simple = isinstance(log.group, ClassicGroup) and not state.group.exists()
    return effects


def _replicated(state: OffsetsCoordinator, token: int) -> list[Effect]:
    reply, offsets = state.waiting.pop(token)
    state.removed.pop(token, None)
    if token == state.made_by:
        state.made_by = None
    for record in offsets:
        partition = (record.topic, record.partition)
        if record.offset is None:
            state.replicated.pop(partition, None)
        elif record.producer_id == NO_PRODUCER:
            state.replicated[partition] = record.offset
    return [] if reply is None else [reply]
