"""The coordinator of one group: events in, effects out.

A request goes to the group of its kind, and what it asks about offsets to these. A member of the
other kind that joins changes the group, as far as the policy allows. Where appends may fail, the
group goes back to what is written.

Timers: those of `classic`, `consumer` and `offsets`. They are not stopped when the group changes
its kind: they find nothing to do, unless it has changed back by then.

Source: `GroupCoordinatorShard`, `GroupMetadataManager` of Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from assignors.jvm.hash_order import string_hash
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
    Reply,
    Request,
    Schedule,
)
from assignors.simulation.timed.protocols.kafka import classic, consumer, offsets
from assignors.simulation.timed.protocols.kafka.classic_group import SESSION, ClassicGroup
from assignors.simulation.timed.protocols.kafka.consumer_group import ConsumerGroup
from assignors.simulation.timed.protocols.kafka.conversion import tombstones, upgraded
from assignors.simulation.timed.protocols.kafka.messages import ConsumerHeartbeat, JoinGroup
from assignors.simulation.timed.protocols.kafka.records import CurrentRecord, MemberRecord
from assignors.simulation.timed.protocols.kafka.restore import Restored, restored, timers
from assignors.simulation.timed.protocols.kafka.state import (
    Changes,
    GroupCoordinator,
    Refused,
    Timer,
    Work,
    WrittenGroup,
    WrittenRecords,
)
from assignors.simulation.timed.protocols.kafka.timeline_order import TimelineOrder

EPOCHS = ("epoch", "topics_seen", "target_epoch", "target_at_ms", "has_epoch_records")
"""What the records of a consumer group say that are not about one member or pattern."""


def step(state: GroupCoordinator, at_us: int, event: CoordinatorEvent) -> list[Effect]:
    """Return what the coordinator does about an event at `at_us`; `state` changes in place.

    Cost: O(1) for a heartbeat without news, O(members) where a classic rebalance goes on, O(log
    members) otherwise, plus that of requests about offsets and of assignors.
    """
    state.now_ms = state.config.clock_starts_ms + at_us // MILLISECOND
    state.out = []
    first = [] if state.offsets.is_watched else offsets.watched(state.offsets, at_us)
    if isinstance(event, AppendFailed):
        return first + _append_failed(state, event)
    if offsets.is_about_offsets(event):
        return first + offsets.step_in_kafka(state, event)
    existed = state.group is not None
    effects = _group_step(state, event)
    if state.offsets.is_shadowed or (existed and state.group is None):
        state.offsets.is_shadowed = not any(isinstance(each, Append) for each in effects)
    return first + effects if first else effects


def _group_step(state: GroupCoordinator, event: Arrived | Fired | Committed) -> list[Effect]:
    if isinstance(event, Arrived):
        return _arrived(state, event.number, event.request)
    if isinstance(event, Committed):
        return _committed(state, event.token)
    key, data = event
    if key[0] != SESSION and len(key) == 2:
        return _asked(state, consumer.fired(state, key, data), None)
    if isinstance(state.group, ClassicGroup):
        classic.fired(state, key, data)
    return state.out


def _arrived(state: GroupCoordinator, number: int, request: Request) -> list[Effect]:
    if isinstance(request, ConsumerHeartbeat):
        return _asked(state, _consumer_heartbeat(state, request), number)
    group, before = state.consumer, []
    if group is not None:
        if not isinstance(request, JoinGroup) or group.members:
            changes = consumer.classic_request(Work(state, group, Changes()), request)
            return _asked(state, changes, number)
        # A classic group begins where a consumer group has no members any more. As in Kafka,
        # where the one who joins is refused, nothing is written: the log keeps the old group.
        before, state.group = tombstones(group), None
    classic.arrived(state, number, request)
    return _after(before, state.out) if before else state.out


def _after(before: Iterable[Record], effects: list[Effect]) -> list[Effect]:
    """Return the effects; these records are written with the first ones among them."""
    for number, each in enumerate(effects):
        if isinstance(each, Append):
            effects[number] = each._replace(records=(*before, *each.records))
            break
    return effects


def _consumer_heartbeat(state: GroupCoordinator, request: ConsumerHeartbeat) -> Changes:
    group, out = state.group, Changes()
    is_known = request.assignor is None or request.assignor in state.assignors
    if not isinstance(group, ClassicGroup) or request.epoch != 0 or not is_known:
        return consumer.heartbeat(state, request)
    try:
        made = upgraded(state, out)
    except Refused as refusing:
        return consumer.refusal(refusing, out)
    out = consumer.heartbeat_in(Work(state, made, out), request)
    if state.consumer is not None:
        state.upgraded[state.tokens + 1] = group, state.appends  # by the append that follows
        state.appends = {n: each for n, each in state.appends.items() if each.left is not None}
    return out


def _asked(state: GroupCoordinator, changes: Changes, number: int | None) -> list[Effect]:
    """Return what a consumer group asks for; the answer to request `number` waits for records."""
    out: list[Effect] = [Reply(*each) for each in changes.replies]
    out += _timers(changes.timers)
    after = _timers(changes.later)
    if changes.response is not None:
        assert number is not None
        after.append(Reply(number, changes.response))
    if not changes.records:
        return out + after
    state.tokens += 1
    state.waiting[state.tokens] = after
    records = tuple(changes.records)
    state.unwritten[state.tokens] = WrittenRecords(state.consumer, records)
    out.append(Append(records, state.tokens))
    return out


def _timers(asked: list[Timer]) -> list[Effect]:
    return [
        Cancel(key) if after_us is None else Schedule(key, after_us, data)
        for key, after_us, data in asked
    ]


def _committed(state: GroupCoordinator, token: int) -> list[Effect]:
    """Return what has waited for an append."""
    state.upgraded.pop(token, None)
    if token in state.waiting:
        state.unwritten.pop(token, None)
        return state.waiting.pop(token)
    for group, appends in state.upgraded.values():
        if token in appends and appends[token].left is None:
            # The group has been converted meanwhile; it may have to come back.
            now = state.group, state.appends
            state.group, state.appends = group, appends
            classic.committed(state, token)
            state.group, state.appends = now
    if token in state.appends:
        classic.committed(state, token)
    return state.out


# Appends that fail


def note_written(state: GroupCoordinator) -> None:
    """Take note that all that was appended is in the local log, or was read from it.

    Whoever lets appends fail has to say so at first and after each batch. Cost: O(1).
    """
    group = state.group
    epochs = tuple(getattr(group, each) for each in EPOCHS) if state.consumer is not None else ()
    state.written = WrittenGroup(group, state.appends, epochs, frozenset(state.still_watched))


def _append_failed(state: GroupCoordinator, event: AppendFailed) -> list[Effect]:
    """Take offsets and the group back to what is written; answer those who wait for the rest.

    A classic group stays as it is, but for the conversion or the deletion that was not written: it
    comes back as it was when it went, which is more than its record says.
    """
    log = restored(event.records)
    offsets.take_back(state.offsets, log, event.tokens)
    for token in event.tokens:
        state.upgraded.pop(token, None)
    assert state.written is not None, "who lets appends fail says what is written"
    of_consumer = event.tokens & state.waiting.keys()
    of_classic = event.tokens - of_consumer
    match state.written.group:
        case ConsumerGroup() as written:
            _back_to_consumer_group(state, log, of_consumer, written)
            state.appends = {n: each for n, each in state.appends.items() if n not in of_classic}
        case ClassicGroup() as written:
            _drop(state, of_consumer)
            if written is not state.group:
                _back_to_classic_group(state, written, of_classic)
            classic.append_failed(state, of_classic)
        case None:
            _drop(state, of_consumer)
            if isinstance(state.group, ConsumerGroup):
                state.group = None
            classic.append_failed(state, of_classic)
            state.group = None
    state.still_watched = set(state.written.still_watched)
    note_written(state)
    return state.out


def _back_to_classic_group(
    state: GroupCoordinator, written: ClassicGroup, lost: Collection[int]
) -> None:
    assert state.written is not None
    state.group, state.appends = written, state.written.appends
    for token in lost & state.appends.keys():
        if state.appends[token].made_by is not None:
            del state.appends[token]  # of one that came later, and is gone


def _back_to_consumer_group(
    state: GroupCoordinator, log: Restored, lost: Collection[int], written: ConsumerGroup
) -> None:
    if not lost and written is state.group:
        return
    assert state.written is not None
    _revert(state, log, lost, written)
    if state.group is not None:
        for name, value in zip(EPOCHS, state.written.epochs, strict=True):
            setattr(state.group, name, value)


def _revert(
    state: GroupCoordinator, log: Restored, lost: Collection[int], before: ConsumerGroup
) -> None:
    """Take a consumer group back to what its records say; nobody waits for those that are lost.

    `before` is the group as it became since then. What runs in the background and the timers are as
    they were: none of that is in the log. Nor is to which epoch topics led: if that is lost they
    are looked at once more (Kafka's `hasMetadataExpired` compares the epochs). Cost: O(members).
    """
    undone = [each for made in _drop(state, lost) if made.group is before for each in made.records]
    state.group = group = log.group if isinstance(log.group, ConsumerGroup) else None
    if group is not None:
        _revert_order(before, group, undone)
        group.must_refresh = before.must_refresh
        group.refreshed_in = before.refreshed_in


def _drop(state: GroupCoordinator, lost: Collection[int]) -> list[WrittenRecords]:
    """Drop what waited for appends that are lost; return what these have changed, in order."""
    for token in lost:
        state.waiting.pop(token, None)
    return [state.unwritten.pop(token) for token in sorted(lost) if token in state.unwritten]


def _revert_order(before: ConsumerGroup, group: ConsumerGroup, undone: Iterable[Record]) -> None:
    """Let members have the order that Kafka's map has after it went back.

    Whoever was put or removed since then is taken out, and comes back as it was, last and in the
    order of another map. The map stays as large as it was (`SnapshottableHashTable.executeRevert`).
    """
    order, put_back = before.order, TimelineOrder()
    changed = {each.member_id for each in undone if isinstance(each, MemberRecord | CurrentRecord)}
    for member_id in [each for each in order if each in changed]:
        order.remove(member_id, string_hash(member_id))
    for each in undone:
        if isinstance(each, MemberRecord | CurrentRecord) and each.member_id in group.members:
            put_back.put(each.member_id, string_hash(each.member_id))
    for member_id in put_back.in_slots():
        order.put(member_id, string_hash(member_id))
    if order.size == len(group.members):
        group.order = order


# The next coordinator


def load(state: GroupCoordinator, log: Restored) -> list[Schedule]:
    """Begin with what a log says, as the next coordinator of a group; return timers that start.

    What waited at the one before is lost, and so is what only its memory had: joins that wait for
    the others, member ids that nobody has used yet, lookups in the background, timers.
    Every member has a whole session from now on. `state` changes in place, and has what `log` has.
    Cost: O(members and partitions).

    Source: `GroupCoordinatorShard.onLoaded`, `GroupMetadataManager.onLoaded` of Kafka 4.4.
    """
    config, group = state.config, log.group
    state.group, state.out, state.join_timers = group, [], set()
    state.version_of_new_topics = state.version
    state.lookup = None
    for part in (state.upgraded, state.appends, state.waiting, state.unwritten):
        part.clear()
    state.still_watched.clear()
    found = timers(group, session_timeout_ms=config.session_timeout_ms)
    if isinstance(group, ClassicGroup):
        group.since_ms = config.clock_starts_ms if group.since_ms < 0 else group.since_ms
        for member in group.members.values():
            member.generation = group.generation
        if len(group.members) > config.classic_max_size:
            # Static members come back whatever the limit is; who does not fit learns of it then.
            classic.prepare(state)
            found += [each for each in state.out if isinstance(each, Schedule)]
    if state.written is not None:
        note_written(state)
    return found + offsets.load(state.offsets, log)
