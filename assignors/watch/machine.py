"""One group under watch: `step(watch, input, rules)` changes its state and returns events.

An input is a record, a tick or what the cluster says. A record goes through the fold of `replay`,
and its rows into bounded rings. The finders of `replay` run over the rings at whole seconds of the
group's own time, not at each record: what a coordinator writes at once is judged at once, and how
records are cut into batches changes nothing. Times at which an alert opens or is over are looked
at exactly, so a tick only says that the clock has come so far. Nothing here reads a clock.

A commit that follows the commit before it changes no row, and takes a short path: it moves the last
commit of its partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from sys import intern

from assignors.ownership.changes import Change
from assignors.replay.analysis.drops import Drop
from assignors.replay.decode.logged_records import NO_GROUP, LoggedRecord
from assignors.replay.history.classic import ClassicLife
from assignors.replay.history.epochs import EpochLife
from assignors.replay.history.fold import COMMITS, current, recorded_names
from assignors.replay.history.fold import step as fold_step
from assignors.replay.history.model import (
    Generation,
    HistoryRow,
    Kind,
    Life,
    Participant,
    Takeover,
    Unreadable,
)
from assignors.replay.tables.rows import OffsetRow
from assignors.watch.conditions import conditions_of_rows
from assignors.watch.encoding import renamed
from assignors.watch.events import Alert
from assignors.watch.group_state import (
    GENERATIONS,
    RING,
    Cluster,
    GroupWatch,
    Place,
    Rest,
    Slots,
)
from assignors.watch.life_cycle import Condition, Key, Phase, due_ms, evaluated
from assignors.watch.rules import Rules
from assignors.watch.silence import (
    REBALANCE_TIMEOUT_MS,
    commits_due,
    note_ends,
    reconciling,
    silent_commits,
)
from assignors.watch.slots import conditions_of_slots, note_generation

SECOND = 1_000

CHANGES = 32
"""Changes that are kept, and two for each member."""

FORGOTTEN_MS = 86_400_000
"""A group without members, offsets and alerts is forgotten after so long without a record."""

GAPS = 8
"""Usual gaps after which the time between commits is learned again."""

NOTHING = Cluster(at_ms=0)


@dataclass(frozen=True, slots=True)
class Tick:
    """The clock has come so far, and every record before is read."""

    at_ms: int


Input = LoggedRecord | Tick | Cluster


def step(
    watch: GroupWatch,
    given: Input,
    rules: Rules,
    cluster: Cluster = NOTHING,
    since_ms: int = 0,
) -> list[Alert]:
    """Add an input to the state of a group, and return what happened to its alerts.

    `cluster` is the last one that was given as input. Events before `since_ms` are not returned;
    of alerts that are open then the first event is `opened`. A record that is not behind the last
    one of its group is dropped. Cost: constant for most commits; linear in the record for others;
    each second with such records, that of the finders over the rings.
    """
    match given:
        case Tick():
            return [*_advance(watch, given.at_ms, rules, cluster, since_ms)]
        case Cluster():
            events = [*_advance(watch, given.at_ms, rules, cluster, since_ms)]
            note_ends(watch, given)
            _, watch.silent_ms = commits_due(watch, watch.clock_ms, rules)
            if watch.is_any_silent:
                watch.silent_ms = watch.clock_ms
            topics = {*watch.topics, *(topic for topic, _ in watch.places)}
            if any(given.counts.get(one) != cluster.counts.get(one) for one in topics):
                _look_soon(watch)
            return events
        case LoggedRecord():
            if given.offset is not None and watch.group != NO_GROUP:
                if given.offset <= watch.offset:
                    watch.late_count += 1
                    return []
                watch.offset = given.offset
            events = []
            if given.at_ms > watch.clock_ms:
                events = [*_advance(watch, given.at_ms, rules, cluster, since_ms)]
            watch.told_ms, watch.is_forgotten = max(watch.told_ms, given.at_ms), False
            if given.record.name in COMMITS and _commit(watch, given):
                return events
            return [*events, *_add(watch, given, rules, cluster, since_ms)]


def _advance(
    watch: GroupWatch, to_ms: int, rules: Rules, cluster: Cluster, since_ms: int
) -> Iterator[Alert]:
    """Look at the group at each time that is due, and set its clock."""
    while True:
        due = min((at for at in (watch.due_ms, watch.silent_ms) if at is not None), default=None)
        if due is None or due > to_ms:
            break
        watch.clock_ms = max(watch.clock_ms, due)
        if watch.due_ms is None or due < watch.due_ms:
            silent, watch.silent_ms = commits_due(watch, watch.clock_ms, rules)
            if not silent and not watch.is_any_silent:
                continue
        yield from _evaluate(watch, rules, cluster, since_ms)
        if watch.due_ms is None and _is_gone(watch):
            watch.due_ms = watch.told_ms + FORGOTTEN_MS
            if watch.due_ms <= watch.clock_ms:
                _forget_group(watch)
    watch.clock_ms = max(watch.clock_ms, to_ms)


def _is_gone(watch: GroupWatch) -> bool:
    """Return whether a group has neither members nor offsets, and no alert that is open."""
    rest = watch.opened()
    is_over = all(one.phase is Phase.OVER for one in rest.alerts.values())
    return rest.fold.life is None and not watch.places and is_over


def _forget_group(watch: GroupWatch) -> None:
    """Start over with a group that has been gone for long, as if it had never been there."""
    watch.rest = watch.packed = watch.due_ms = watch.silent_ms = None
    watch.life, watch.is_forgotten = 1, True


def _look_soon(watch: GroupWatch) -> None:
    """Look at the group at the next whole second."""
    soon = (watch.clock_ms // SECOND + 1) * SECOND
    watch.due_ms = soon if watch.due_ms is None else min(watch.due_ms, soon)


def _commit(watch: GroupWatch, entry: LoggedRecord) -> bool:
    """Move the last commit of a partition; return false where that is not all there is to do."""
    key, value = entry.record.key, entry.record.value
    if key is None or value is None or entry.record.error is not None:
        return False
    if entry.is_aborted:
        return True
    place = watch.places.get((key["topic"], key["partition"]))
    offset = value["offset"]
    if place is None or offset < place.offset:
        return False
    topic_id = value.get("topicId")
    if topic_id is not None and topic_id != place.topic_id:
        return False
    place.gap_ms = _usual_gap(place, max(entry.at_ms - place.at_ms, 0))
    place.count += 1
    place.floor, place.offset, place.at_ms = place.offset, offset, entry.at_ms
    place.record_offset, place.behind_ms = entry.offset, None
    place.life, place.generation = watch.life, watch.generation
    place.holder_id = place.owner_id
    return True


def _usual_gap(place: Place, gap_ms: int) -> float:
    """Return the usual time between two commits after one more.

    It at most doubles, so a night without records is forgotten soon; and it falls with the time
    that gaps take, so the commits at each rebalance of a deployment make it little shorter.
    """
    usual = place.gap_ms
    if place.count == 1 or usual < 1:
        return gap_ms
    if gap_ms >= usual:
        return min(gap_ms, 2 * usual)
    return usual - (usual - gap_ms) * gap_ms / (GAPS * usual)


def _add(
    watch: GroupWatch, entry: LoggedRecord, rules: Rules, cluster: Cluster, since_ms: int
) -> Iterator[Alert]:
    """Fold any other record, and keep its rows."""
    rest = watch.opened()
    _learn(watch, entry, cluster)
    rest = watch.opened()
    for row in fold_step(rest.fold, entry):
        if isinstance(row, Life):
            yield from _evaluate(watch, rules, cluster, since_ms, ended=row)
            _forget(rest)
        else:
            _keep(watch, row, rules)
    life = rest.fold.life
    watch.life = max(rest.fold.life_count, 1)
    watch.generation = None if life is None else life.generation
    if entry.record.name not in COMMITS:
        _note_member(rest, entry)
        for key, place in watch.places.items():
            owner_id = _shared(rest.fold.holder(key))
            if owner_id != place.owner_id:
                place.owner_id, place.owner_ms = owner_id, watch.clock_ms
        watch.patience_ms = _patience_ms(life)
        watch.topics = tuple({topic: None for one in _members(life) for topic in one.topics})
    _look_soon(watch)


def _note_member(rest: Rest, entry: LoggedRecord) -> None:
    """Note when a member of a KIP-848 group was last written."""
    member_id = (entry.record.key or {}).get("memberId")
    if member_id is None:
        return
    if entry.record.is_tombstone:
        rest.told_ms.pop(member_id, None)
    else:
        rest.told_ms[member_id] = entry.at_ms


def _members(life: ClassicLife | EpochLife | None) -> Iterable[Participant]:
    if isinstance(life, EpochLife):
        return life.members.values()
    return () if life is None or life.current is None else life.current.members


def _patience_ms(life: ClassicLife | EpochLife | None) -> int | None:
    """Return how long a rebalance may take, `None` for a group without members."""
    timeouts = (one.rebalance_timeout_ms or REBALANCE_TIMEOUT_MS for one in _members(life))
    return max(timeouts, default=None)


def _learn(watch: GroupWatch, entry: LoggedRecord, cluster: Cluster) -> None:
    """Learn the names of the topics whose ids a record has; rows that have the ids are renamed."""
    rest = watch.opened()
    found = dict(recorded_names((entry,)))
    for topic_id in _topic_ids(entry.record.value):
        if topic_id in cluster.names:
            found[topic_id] = cluster.names[topic_id]
    new = {one: name for one, name in found.items() if rest.names.get(one) != name}
    if not new:
        return
    rest.names.update(new)
    life = rest.fold.life
    if isinstance(life, EpochLife) and any(topic_id in _topics(life) for topic_id in new):
        watch.rest = replace(renamed(rest, new), names=rest.names)
        watch.rest.share_names()


def _topic_ids(value: object) -> Iterator[str]:
    """Yield the topic ids in the lists of a record."""
    if not isinstance(value, dict):
        return
    for listed in value.values():
        if isinstance(listed, list | tuple):
            for fields in listed:
                if isinstance(fields, dict) and "topicId" in fields:
                    yield str(fields["topicId"])


def _topics(life: EpochLife) -> set[str]:
    """Return the topics that members own or shall own."""
    parts = (part for one in life.members.values() for part in (one.assigned, one.target or {}))
    return {topic for part in parts for topic in part}


def _keep(watch: GroupWatch, row: HistoryRow, rules: Rules) -> None:
    """Add a row to the rings."""
    rest = watch.opened()
    match row:
        case OffsetRow():
            _keep_commit(watch, row)
        case Generation():
            _note(rest, row, rules)
            rest.generations.append(row)
            del rest.generations[: -_kept_generations(rules)]
            first = rest.generations[0].number
            rest.drops = [one for one in rest.drops if (one.commit.generation or first) >= first]
        case Change():
            rest.changes.append(row)
            _shorten(rest)
        case Takeover():
            rest.takeovers = [*rest.takeovers, row][-RING:]
        case Participant():
            rest.replaced = [*rest.replaced, row][-RING:]
        case Unreadable():
            rest.unreadable = [*rest.unreadable, row][-RING:]


def _kept_generations(rules: Rules) -> int:
    """Return how many closed generations are kept: enough for every finder and threshold."""
    return max(GENERATIONS, rules.loop_generations, rules.claims_missed + 1)


def _note(rest: Rest, generation: Generation, rules: Rules) -> None:
    """Count a generation once, when it is seen first: open or closed."""
    kind = Kind(generation.members[0].kind) if generation.members else Kind.CLASSIC
    if rest.slots.noted != generation.number:
        note_generation(rest.slots, kind, generation, rules)


def _shorten(rest: Rest) -> None:
    """Forget old changes, but for the last of each member: what it has owned since then.

    An ownership that began in a change that is forgotten begins at the one that is kept.
    """
    keep = CHANGES + 2 * len(rest.fold.owned)
    if len(rest.changes) <= 2 * keep:
        return
    old, new = rest.changes[:-keep], rest.changes[-keep:]
    last = {change.member_id: change for change in old}
    rest.changes = [change for change in last.values() if change.owned] + new


def _keep_commit(watch: GroupWatch, row: OffsetRow) -> None:
    """Note a commit that is new for its partition, goes back, or is removed."""
    rest, key = watch.opened(), (intern(row.topic), row.partition)
    last = watch.places.get(key)
    if row.is_aborted:
        return
    if row.offset is None:
        if last is not None:
            _keep_drop(watch, last, row)
            del watch.places[key]
        return
    is_other_topic = last is not None and None is not last.topic_id != row.topic_id is not None
    if last is not None and not is_other_topic and row.offset < last.offset:
        _keep_drop(watch, last, row)
    watch.places[key] = Place(
        offset=row.offset,
        at_ms=row.at_ms,
        floor=None if last is None or is_other_topic else last.offset,
        record_offset=row.record_offset,
        topic_id=row.topic_id,
        life=row.life,
        generation=row.generation,
        holder_id=_shared(row.holder_id),
        owner_id=_shared(rest.fold.holder(key)),
        owner_ms=watch.clock_ms if last is None else last.owner_ms,
        gap_ms=0.0 if last is None else last.gap_ms,
        count=1 if last is None else last.count + 1,
    )


def _shared(name: str | None) -> str | None:
    """Return a name that other partitions have too, once in memory."""
    return None if name is None else intern(name)


def _keep_drop(watch: GroupWatch, last: Place, row: OffsetRow) -> None:
    """Keep a commit that went back or was removed, behind the two before it."""
    before = replace(
        row,
        offset=last.offset,
        at_ms=last.at_ms,
        record_offset=last.record_offset,
        topic_id=last.topic_id,
        holder_id=last.holder_id,
        life=last.life,
        generation=last.generation,
    )
    earlier = None if last.floor is None else replace(before, offset=last.floor, record_offset=None)
    is_removed = row.offset is None
    rest = watch.opened()
    rest.drops = [
        *rest.drops,
        Drop(earlier=None if is_removed else earlier, last=before, commit=row),
    ][-RING:]


def _forget(rest: Rest) -> None:
    """Drop the rows of a life that is over."""
    rest.generations, rest.changes, rest.takeovers, rest.replaced = [], [], [], []
    rest.unreadable, rest.drops, rest.slots, rest.told_ms = [], [], Slots(), {}


def _evaluate(
    watch: GroupWatch, rules: Rules, cluster: Cluster, since_ms: int, *, ended: Life | None = None
) -> Iterator[Alert]:
    """Find the conditions of a group now, and bring its alerts up to them."""
    rest, now_ms = watch.opened(), watch.clock_ms
    found: list[Condition] = []
    dues: list[int | None] = []
    life = _life(rest, ended, rules)
    found += conditions_of_rows(watch, life, rules, cluster)
    found += conditions_of_slots(rest.slots, watch.life, now_ms, rules)
    is_open = ended is None and rest.fold.life is not None
    if is_open and isinstance(rest.fold.life, EpochLife):
        waiting, due = reconciling(rest.fold.life, rest.told_ms, now_ms, rules)
        found += waiting
        dues.append(due)
    silent, watch.silent_ms = commits_due(watch, now_ms, rules) if is_open else ({}, None)
    found += silent_commits(watch, silent, now_ms)
    watch.is_any_silent = bool(silent)
    conditions: dict[Key, Condition] = {one.key: one for one in found}
    is_full = len(rest.generations) == _kept_generations(rules)
    oldest = rest.generations[0].at_ms if is_full else 0
    # At a whole second, as any other look: no write of a coordinator is half read then.
    said_ms = -(-since_ms // SECOND) * SECOND
    yield from evaluated(
        watch.group, rest.alerts, conditions, now_ms, rules, oldest_ms=oldest, since_ms=said_ms
    )
    watch.is_any_open = any(alert.phase is Phase.OPEN for alert in rest.alerts.values())
    dues.append(due_ms(rest.alerts, rules))
    if now_ms < said_ms and rest.alerts:
        dues.append(said_ms)
    watch.due_ms = min((max(due, now_ms + 1) for due in dues if due is not None), default=None)


def _life(rest: Rest, ended: Life | None, rules: Rules) -> Life | None:
    """Return the life of a group with the rows that are kept, the open generation with them."""
    opened = current(rest.fold)
    if opened is not None and ended is None:
        _note(rest, opened, rules)
    life = rest.fold.life
    if ended is None and life is not None:
        ended = Life(number=life.number, kind=life.kind, from_ms=life.from_ms)
    elif ended is None:
        ended = rest.fold.ended
    if ended is None:
        return None
    return replace(
        ended,
        generations=(*rest.generations, *(() if opened is None or ended.to_ms else (opened,))),
        replaced=tuple(rest.replaced),
        takeovers=tuple(rest.takeovers),
        changes=tuple(rest.changes),
    )
