"""The history of a group is a fold over its records: `step(state, record)` gives rows.

All records of a group are in one partition of the topic, in the order in which they were written.
So a group's history needs no other group, and a Spark task that has the records of one group alone
builds the same history as a process that has them all. A row comes out as soon as no later record
of the group can change it: a commit at once, a generation when the next one begins. `finish` closes
what is open. The state is the members, their partitions and the current generation, not history.

A group name may have several lives. A tombstone of the group's own record ends one, and a record
of another kind starts the next. Where the tombstone was compacted, a generation or epoch lower than
the one before shows that there was one.

Nothing looks ahead but for the names of topics: KIP-848 records have ids, and commits their names
(`recorded_names`, `by_majority`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from assignors.ownership.changes import Change, TopicPartition, pairs
from assignors.replay.decode.logged_records import (
    NO_GROUP,
    LoggedRecord,
    group_in,
    is_record,
    reason,
)
from assignors.replay.history.classic import ClassicLife
from assignors.replay.history.epochs import KINDS, EpochLife
from assignors.replay.history.fingerprint import guessed_writer
from assignors.replay.history.model import (
    Generation,
    GroupHistory,
    HistoryRow,
    Kind,
    Life,
    Participant,
    Takeover,
    Unreadable,
)
from assignors.replay.history.truncation import MEMBER_ROWS_MAX, newest_records
from assignors.replay.tables.rows import OffsetRow
from wire.constructors import unchecked
from wire.text import utf16_key

_new_commit = unchecked(OffsetRow)

COMMITS = {"OFFSET_COMMIT", "LEGACY_OFFSET_COMMIT"}

TOPIC_LISTS: Mapping[str, tuple[str, ...]] = {
    "SHARE_GROUP_STATE_PARTITION_METADATA": (
        "initializingTopics",
        "initializedTopics",
        "deletingTopics",
    ),
    "CONSUMER_GROUP_PARTITION_METADATA": ("topics",),
}
"""Record types that list topics with id and name -> the fields with the lists."""

NO_TOPIC_ID = "AAAAAAAAAAAAAAAAAAAAAA"
"""The topic id that means none."""


@dataclass(slots=True)
class GroupState:
    """What the next record of a group is read with."""

    group: str
    topic_names: Mapping[str, str]
    """Topic id -> name."""
    life: ClassicLife | EpochLife | None = None
    before: Generation | None = None
    """The last generation of the life that is closed."""
    ended: Life | None = None
    """The last life, if no other has begun since: the next record shows whether it goes on under
    another protocol."""
    life_count: int = 0
    owners: dict[TopicPartition, dict[str, None]] = field(default_factory=dict)
    """Who owns each partition; of share groups nobody, as any of their members may commit."""
    owned: dict[str, dict[TopicPartition, None]] = field(default_factory=dict)
    now_ms: int | None = None
    """The time of the latest record of the group itself."""
    first_commit_ms: int | None = None
    is_any_unreadable: bool = False
    """Whether a record that is no commit could not be read."""

    def holder(self, place: TopicPartition) -> str | None:
        """Return the one owner of a partition, `None` where there is none, or more than one."""
        owners = self.owners.get(place, ())
        return next(iter(owners)) if len(owners) == 1 else None


def step(state: GroupState, entry: LoggedRecord) -> list[HistoryRow]:
    """Add the next record of a group to its state, and return the rows that are known by it.

    The clock of a broker may be behind that of the broker before it. The time of a record is then
    that of the latest record before it, as what is written later did not happen earlier. Commits
    keep the time they have. Cost: linear in the record, and in the members of an epoch that begins.
    """
    record = entry.record
    is_read = record.error is None and record.key is not None and not _is_unknown(entry)
    rows: list[HistoryRow] = [] if is_read else [_unreadable(entry)]
    if record.name in COMMITS:
        if is_read:
            rows.append(_commit(state, entry))
        return rows
    state.is_any_unreadable |= not is_read
    if record.key is not None:
        state.now_ms = entry.at_ms if state.now_ms is None else max(state.now_ms, entry.at_ms)
        if entry.at_ms != state.now_ms:
            entry = replace(entry, at_ms=state.now_ms)
        if is_read:
            rows += _add(state, entry, record.name)
        elif record.name == "GROUP_METADATA":
            rows += _add_unreadable(state, entry)
    return rows


def finish(state: GroupState) -> list[HistoryRow]:
    """Return the rows that were open at the end of the records."""
    rows = [*_end(state, None), *_over(state)]
    if not state.life_count and state.first_commit_ms is not None:
        rows.append(
            Life(
                number=1,
                kind=Kind.SIMPLE,
                from_ms=state.first_commit_ms,
                is_state_known=not state.is_any_unreadable,
            )
        )
    return rows


def current(state: GroupState) -> Generation | None:
    """Return the generation that is open, as it would be closed now; the state stays as it is."""
    opened = None if state.life is None else state.life.until(None)
    return None if opened is None else _with_rows(state, opened)


def histories(
    entries: Iterable[LoggedRecord], *, topic_names: Mapping[str, str] | None = None
) -> Iterator[GroupHistory]:
    """Yield the history of each group, by name in UTF-16 order.

    `entries` are in the order of the topic: those of one partition as they stand there, whole
    partitions in any order. `topic_names` (id -> name) adds to the names
    in a group's own records. Records that name no group come under the empty name.
    Memory: the records. Cost: linear; the bytes of every member are decoded once.
    """
    by_group: dict[str, list[LoggedRecord]] = {}
    for entry in entries:
        by_group.setdefault(group_in(entry.record.key) or NO_GROUP, []).append(entry)
    for group in sorted(by_group, key=utf16_key):
        listed = by_group.pop(group)
        names = {**learned_names(listed), **(topic_names or {})}
        yield group_history(group, listed, topic_names=names)


def group_history(
    group: str,
    entries: Iterable[LoggedRecord],
    *,
    topic_names: Mapping[str, str] | None = None,
    member_rows_max: int = MEMBER_ROWS_MAX,
) -> GroupHistory:
    """Return the rows of a group from its first record to its last.

    `topic_names` is id -> name; without it the group's own records have the names.

    The oldest generations of a very large group are left out, beyond `member_rows_max` member
    rows: see `truncation`.
    """
    listed, left_out = newest_records(list(entries), member_rows_max)
    names = learned_names(listed) if topic_names is None else topic_names
    state = GroupState(group, names)
    rows: list[HistoryRow] = [] if left_out is None else [left_out]
    for entry in listed:
        rows += step(state, entry)
    rows += finish(state)
    return _history(group, rows, names)


def _history(group: str, rows: Iterable[HistoryRow], names: Mapping[str, str]) -> GroupHistory:
    lives: list[Life] = []
    commits: list[OffsetRow] = []
    unreadable: list[Unreadable] = []
    generations: list[Generation] = []
    replaced: list[Participant] = []
    takeovers: list[Takeover] = []
    changes: list[Change] = []
    for row in rows:
        match row:
            case OffsetRow():
                commits.append(row)
            case Unreadable():
                unreadable.append(row)
            case Generation():
                generations.append(row)
            case Participant():
                replaced.append(row)
            case Takeover():
                takeovers.append(row)
            case Change():
                changes.append(row)
            case Life():
                lives.append(
                    replace(
                        row,
                        generations=tuple(generations),
                        replaced=tuple(replaced),
                        takeovers=tuple(takeovers),
                        changes=tuple(changes),
                    )
                )
                generations, replaced, takeovers, changes = [], [], [], []
    return GroupHistory(
        group=group,
        lives=tuple(lives),
        commits=tuple(commits),
        unreadable=tuple(unreadable),
        topic_names=names,
    )


def learned_names(entries: Iterable[LoggedRecord]) -> dict[str, str]:
    """Return topic id -> name, from commits and from the groups' own lists of topics.

    >>> learned_names([])
    {}
    """
    return by_majority(Counter(recorded_names(entries)))


def recorded_names(entries: Iterable[LoggedRecord]) -> Iterator[tuple[str, str]]:
    """Yield the id and the name of a topic each time that a record has both."""
    for entry in entries:
        value, name = entry.record.value, entry.record.name
        if value is None or entry.record.key is None:
            continue
        if name == "OFFSET_COMMIT" and value.get("topicId"):
            yield str(value["topicId"]), entry.record.key["topic"]
        for listed in TOPIC_LISTS.get(name, ()):
            yield from ((str(t["topicId"]), t["topicName"]) for t in value.get(listed, ()))


def by_majority(counts: Mapping[tuple[str, str], int]) -> dict[str, str]:
    """Return topic id -> the name that most records have for it: one bad record renames nothing.

    `counts` has how many records have each pair of id and name.

    >>> by_majority({("1", "orders"): 2, ("1", "0rders"): 1})
    {'1': 'orders'}
    """
    ranked = sorted(counts.items(), key=lambda pair: (pair[1], pair[0]))
    return {topic_id: name for (topic_id, name), _ in ranked}


def _add(state: GroupState, entry: LoggedRecord, name: str) -> Iterator[HistoryRow]:
    """Add one record that is no commit and can be read."""
    if name == "GROUP_METADATA":
        yield from _add_classic(state, entry)
        return
    word, _, part = name.partition("_GROUP_")
    kind = KINDS.get(word)
    if kind is not None:
        yield from _add_epochs(state, entry, kind, part)


def _add_unreadable(state: GroupState, entry: LoggedRecord) -> Iterator[HistoryRow]:
    """Add a record of which only the key can be read: the group's state is not known then."""
    if state.life is None:
        yield from _over(state)
        state.life = _next_classic(state, entry, is_from_broker=False)
    if isinstance(state.life, ClassicLife):
        state.life.is_state_known = False


def _add_classic(state: GroupState, entry: LoggedRecord) -> Iterator[HistoryRow]:
    value = entry.record.value
    if value is None:
        if isinstance(state.life, ClassicLife):
            yield from _end(state, entry.at_ms)
        return
    life = state.life
    if not isinstance(life, ClassicLife) or life.starts_over(value):
        follows = _follows(state, entry, Kind.CLASSIC)
        yield from _end(state, entry.at_ms)
        yield from _over(state, is_converted=follows)
        life = state.life = _next_classic(
            state, entry, is_from_broker=follows and bool(value["members"])
        )
    life.add(entry, value)
    yield from _taken(state, life)


def _add_epochs(
    state: GroupState, entry: LoggedRecord, kind: Kind, part: str
) -> Iterator[HistoryRow]:
    life = state.life
    is_end = part == "METADATA" and entry.record.is_tombstone
    if not isinstance(life, EpochLife) or life.kind is not kind:
        if entry.record.is_tombstone:
            return  # compaction left it of a life that has ended
        follows = _follows(state, entry, kind)
        yield from _end(state, entry.at_ms)
        yield from _over(state, is_converted=follows)
        life = state.life = _next_epochs(state, entry, kind)
        life.follows = follows
    elif life.starts_over(entry, part):
        yield from _end(state, entry.at_ms)
        yield from _over(state)
        after = state.life = _next_epochs(state, entry, kind)
        after.goes_on_from(life)
        life = after
    elif is_end:
        yield from _end(state, entry.at_ms)
        return
    life.add(entry, part)
    yield from _taken(state, life)


def _next_classic(state: GroupState, entry: LoggedRecord, *, is_from_broker: bool) -> ClassicLife:
    state.life_count += 1
    return ClassicLife(state.life_count, entry.at_ms, is_from_broker=is_from_broker)


def _next_epochs(state: GroupState, entry: LoggedRecord, kind: Kind) -> EpochLife:
    state.life_count += 1
    return EpochLife(state.life_count, kind, entry.at_ms, state.topic_names)


def _follows(state: GroupState, entry: LoggedRecord, kind: Kind) -> bool:
    """Return whether the life that starts here goes on from one that ended here."""
    before = state.ended
    return before is not None and before.to_ms == entry.at_ms and before.kind is not kind


def _end(state: GroupState, to_ms: int | None) -> list[HistoryRow]:
    """End the current life, if there is one, and return its last rows."""
    life = state.life
    if life is None:
        return []
    life.finish(to_ms)
    rows = _taken(state, life)
    state.ended = Life(
        number=life.number,
        kind=life.kind,
        from_ms=life.from_ms,
        to_ms=to_ms,
        is_state_known=life.is_state_known,
    )
    state.life = state.before = None
    state.owners, state.owned = {}, {}
    return rows


def _over(state: GroupState, *, is_converted: bool = False) -> list[HistoryRow]:
    """Return the life that ended before the next one begins."""
    ended, state.ended = state.ended, None
    return [] if ended is None else [replace(ended, is_converted=is_converted)]


def _taken(state: GroupState, life: ClassicLife | EpochLife) -> list[HistoryRow]:
    """Return the rows of a life since the last step."""
    rows: list[HistoryRow] = []
    for row in life.rows:
        if isinstance(row, Change) and life.kind is not Kind.SHARE:
            _own(state, row)
        if isinstance(row, Generation):
            state.before = _with_rows(state, row)
            rows.append(state.before)
        else:
            rows.append(row)
    life.rows = []
    return rows


def _with_rows(state: GroupState, closed: Generation) -> Generation:
    """Return a generation of the current life whose members are rows of its group."""
    life = state.life
    assert life is not None, "a generation has a life"
    were_here = {member.member_id for member in state.before.members} if state.before else ()
    members = tuple(
        replace(
            member,
            group=state.group,
            life=life.number,
            kind=life.kind.value,
            generation=closed.number,
            at_ms=closed.at_ms,
            is_leader=member.member_id == closed.leader_id,
            is_new=member.member_id not in were_here,
        )
        for member in closed.members
    )
    return replace(closed, members=members, writer=guessed_writer(closed))


def _own(state: GroupState, change: Change) -> None:
    """Note who owns the partitions of a change from now on."""
    had = state.owned.get(change.member_id, {})
    has = pairs(change.owned)
    for place in had:
        if place not in has:
            del state.owners[place][change.member_id]
    for place in has:
        if place not in had:
            state.owners.setdefault(place, {})[change.member_id] = None
    state.owned[change.member_id] = has


def _commit(state: GroupState, entry: LoggedRecord) -> OffsetRow:
    key: Mapping[str, Any] = entry.record.key or {}
    if state.first_commit_ms is None:
        state.first_commit_ms = entry.at_ms
    topic, partition, life = key["topic"], key["partition"], state.life
    value = entry.record.value or {}
    topic_id = value.get("topicId")
    return _new_commit(
        group=state.group,
        topic=topic,
        topic_id=None if topic_id is None or str(topic_id) == NO_TOPIC_ID else str(topic_id),
        partition=partition,
        offset=value.get("offset"),
        leader_epoch=_set(value.get("leaderEpoch")),
        metadata=value.get("metadata"),
        commit_ms=value.get("commitTimestamp"),
        expire_ms=_set(value.get("expireTimestamp")),
        at_ms=entry.at_ms,
        record_partition=entry.partition,
        record_offset=entry.offset,
        holder_id=state.holder((topic, partition)) if value else None,
        is_aborted=entry.is_aborted,
        life=max(state.life_count, 1),
        generation=None if life is None else life.generation,
    )


def _is_unknown(entry: LoggedRecord) -> bool:
    """Return whether there is a value that could not be read: of an unknown version."""
    return entry.record.value is None and not entry.record.is_tombstone


def _unreadable(entry: LoggedRecord) -> Unreadable:
    return Unreadable(
        at_ms=entry.at_ms,
        name=entry.record.name,
        text=reason(entry.record),
        is_record=is_record(entry.record),
        partition=entry.partition,
        offset=entry.offset,
    )


def _set(number: int | None) -> int | None:
    return None if number is None or number < 0 else number
