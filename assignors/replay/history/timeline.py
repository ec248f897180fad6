"""From the records of `__consumer_offsets` to the history of each group.

All records of a group are in one partition of the topic, in the order in which they were written.
So histories are built group by group, and a Spark task that has the records of one group alone
builds the same history as a process that has them all.

A group name may have several lives. A tombstone of the group's own record ends one, and a record
of another kind starts the next. Where the tombstone was compacted, a generation or epoch lower than
the one before shows that there was one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from assignors.replay.decode.logged_records import (
    NO_GROUP,
    LoggedRecord,
    group_in,
    is_record,
    reason,
)
from assignors.replay.history.classic import ClassicLife
from assignors.replay.history.epochs import KINDS, EpochLife
from assignors.replay.history.model import Commit, GroupHistory, Kind, Life, Unreadable
from assignors.replay.history.truncation import MEMBER_ROWS_MAX, newest_records
from wire.constructors import unchecked
from wire.text import utf16_key

_new_commit = unchecked(Commit)

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


def timeline(
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
        yield group_history(group, by_group.pop(group), topic_names=topic_names)


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


def group_history(
    group: str,
    entries: Iterable[LoggedRecord],
    *,
    topic_names: Mapping[str, str] | None = None,
    member_rows_max: int = MEMBER_ROWS_MAX,
) -> GroupHistory:
    """Return the history of one group from its records, which are in the order of the topic.

    The clock of a broker may be behind that of the broker before it. The time of a record is then
    that of the latest record before it, as what is written later did not happen earlier. Commits
    keep the time they have. The oldest generations of a very large group are left out, beyond
    `member_rows_max` member rows: see `truncation`.
    """
    listed, left_out = newest_records(list(entries), member_rows_max)
    names = {**learned_names(listed), **(topic_names or {})}
    history = _Lives(names)
    commits: list[Commit] = []
    unreadable: list[Unreadable] = [] if left_out is None else [left_out]
    now_ms = None
    for entry in listed:
        record = entry.record
        is_read = record.error is None and record.key is not None and not _is_unknown(entry)
        if not is_read:
            unreadable.append(_unreadable(entry))
        if record.name in COMMITS:
            if is_read:
                commits.append(_commit(entry))
        elif record.key is not None:
            now_ms = entry.at_ms if now_ms is None else max(now_ms, entry.at_ms)
            if entry.at_ms != now_ms:
                entry = replace(entry, at_ms=now_ms)  # noqa: PLW2901 - as of the latest before it
            if is_read:
                history.add(entry, record.name)
            else:
                history.add_unreadable(entry, record.name)
    lives = history.finished()
    if not lives and commits:
        is_known = all(each.name in COMMITS for each in unreadable)
        at_ms = commits[0].at_ms
        lives = (Life(number=1, kind=Kind.SIMPLE, from_ms=at_ms, is_state_known=is_known),)
    return GroupHistory(
        group=group,
        lives=lives,
        commits=tuple(commits),
        unreadable=tuple(unreadable),
        topic_names=names,
    )


class _Lives:
    """Builds the lives of one group name from its records, one at a time."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names
        self.done: list[Life] = []
        self.current: ClassicLife | EpochLife | None = None
        self.ended_ms: int | None = None
        """When the last life ended, if no other has begun since."""

    def add(self, entry: LoggedRecord, name: str) -> None:
        """Add one record that is no commit."""
        if name == "GROUP_METADATA":
            self._classic(entry)
            return
        word, _, part = name.partition("_GROUP_")
        kind = KINDS.get(word)
        if kind is not None:
            self._epochs(entry, kind, part)

    def add_unreadable(self, entry: LoggedRecord, name: str) -> None:
        """Add a record of which only the key can be read: the group's state is not known then."""
        if name != "GROUP_METADATA":
            return
        if self.current is None:
            self.current = ClassicLife(len(self.done) + 1, entry.at_ms, is_from_broker=False)
        if isinstance(self.current, ClassicLife):
            self.current.is_state_known = False

    def finished(self) -> tuple[Life, ...]:
        """Return all lives, the last one still going on if nothing ended it."""
        self._end(None)
        return tuple(self.done)

    def _classic(self, entry: LoggedRecord) -> None:
        value = entry.record.value
        if value is None:
            if isinstance(self.current, ClassicLife):
                self._end(entry.at_ms)
            return
        life = self.current
        if not isinstance(life, ClassicLife) or life.starts_over(value):
            follows = self._follows(entry, Kind.CLASSIC)
            self._end(entry.at_ms)
            life = ClassicLife(
                len(self.done) + 1,
                entry.at_ms,
                is_from_broker=follows and bool(value["members"]),
            )
            self.current = life
        life.add(entry, value)

    def _epochs(self, entry: LoggedRecord, kind: Kind, part: str) -> None:
        life = self.current
        is_end = part == "METADATA" and entry.record.is_tombstone
        if isinstance(life, EpochLife) and life.kind is kind:
            if life.starts_over(entry, part):
                self._end(entry.at_ms)
                after = EpochLife(len(self.done) + 1, kind, entry.at_ms, self._name_of)
                after.goes_on_from(life)
                after.add(entry, part)
                self.current = after
            elif is_end:
                self._end(entry.at_ms)
            else:
                life.add(entry, part)
            return
        if entry.record.is_tombstone:
            return  # compaction left it of a life that has ended
        follows = self._follows(entry, kind)
        self._end(entry.at_ms)
        life = EpochLife(len(self.done) + 1, kind, entry.at_ms, self._name_of)
        life.follows = follows
        self.current = life
        life.add(entry, part)

    def _follows(self, entry: LoggedRecord, kind: Kind) -> bool:
        """Return whether the life that starts here goes on from one that ends here."""
        before = self.done[-1] if self.done else None
        is_now = self.current is None and self.ended_ms == entry.at_ms
        if is_now and before is not None and before.kind is not kind:
            self.done[-1] = replace(before, is_converted=True)
            return True
        return False

    def _end(self, to_ms: int | None) -> None:
        if self.current is not None:
            self.done.append(self.current.finished(to_ms))
            self.current = None
            self.ended_ms = to_ms

    def _name_of(self, topic_id: str) -> str:
        return self.names.get(topic_id, topic_id)


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


def _commit(entry: LoggedRecord) -> Commit:
    key: Mapping[str, Any] = entry.record.key or {}
    plain = {
        "topic": key["topic"],
        "partition": key["partition"],
        "at_ms": entry.at_ms,
        "record_partition": entry.partition,
        "record_offset": entry.offset,
        "is_aborted": entry.is_aborted,
    }
    value = entry.record.value
    if value is None:
        return Commit(**plain)
    topic_id = value.get("topicId")
    return _new_commit(
        **plain,
        topic_id=None if topic_id is None or str(topic_id) == NO_TOPIC_ID else str(topic_id),
        offset=value["offset"],
        leader_epoch=_set(value.get("leaderEpoch")),
        metadata=value["metadata"],
        commit_ms=value["commitTimestamp"],
        expire_ms=_set(value.get("expireTimestamp")),
    )


def _set(number: int | None) -> int | None:
    return None if number is None or number < 0 else number
