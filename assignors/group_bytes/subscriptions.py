"""The Subscriptions of a whole group, read together.

Plain bytes are version 1 to 3 with every field there, nothing repeated, nothing behind the end,
and owned topics that somebody subscribes to. Plain members are read in lock step: first the
topic lists, of which most are those of the member before, byte for byte; then the first owned
topic of everybody, the second of everybody. A member that is not plain takes
`wire.decode_subscription`, alone: values and notes are those of that reader for every member.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Bool, Int64
from assignors.group_bytes.names import find, name_table, word_view
from assignors.group_bytes.owned import OwnedArrays, OwnedPartitions
from assignors.model import Member
from wire import Decoded, Subscription, decode_subscription

MEMBERS_MIN = 24
"""Smaller groups are read member by member: numpy's calls would cost more than they save."""
TOGETHER_MIN = 16
"""So many members at least are read in one step; the rest of the longest ones is read alone."""
COUNT_LIMIT = 1_000_000
PLAIN_VERSIONS = {b"\0\1": 1, b"\0\2": 2, b"\0\3": 3}
PAD = 1 << 15
"""Zeros behind the bytes, so that no read of a string's length leaves the buffer."""


def read_members(
    subscriptions: Mapping[str, bytes | Decoded[Subscription]],
    instance_ids: Mapping[str, str] | None = None,
) -> tuple[Member, ...]:
    """Return the members that wrote these Subscriptions, member id -> bytes, in that order.

    Each equals `member_from_bytes(member_id, blob)`. Never raises. Cost: linear in the bytes.
    """
    named = instance_ids or {}
    if len(subscriptions) < MEMBERS_MIN:
        return tuple(
            member_from_bytes(member_id, blob, instance_id=named.get(member_id))
            for member_id, blob in subscriptions.items()
        )
    # What has been decoded already is not read again: to the arrays it is like odd bytes.
    blobs = [b"" if isinstance(b, Decoded) else bytes(b) for b in subscriptions.values()]
    sections = _sections(blobs)
    tails = _tails(blobs, sections)
    owned = _owned(tails, sections)
    return tuple(
        member_from_bytes(member_id, blob, instance_id=named.get(member_id))
        if not plain
        else Member(
            member_id=member_id,
            topics=sections.topics[section],
            owned=OwnedPartitions(owned, row),
            generation=generation,
            rack_id=tails.rack_ids.get(row),
            instance_id=named.get(member_id),
            user_data=tails.user_data.get(row),
            version=version,
        )
        for row, ((member_id, blob), plain, section, generation, version) in enumerate(
            zip(
                subscriptions.items(),
                tails.is_plain.tolist(),
                sections.section_of,
                tails.generation.tolist(),
                sections.version,
                strict=True,
            )
        )
    )


def member_from_bytes(
    member_id: str, blob: bytes | Decoded[Subscription], *, instance_id: str | None = None
) -> Member:
    """Return the member that `blob` describes, as far as it can be read. Never raises.

    `blob` is the bytes of a Subscription, or what `decode_subscription` returned for them.

    >>> member_from_bytes("a", b"").owned_known
    False
    """
    decoded = blob if isinstance(blob, Decoded) else decode_subscription(blob)
    read = decoded.value
    if read is None:
        return Member(
            member_id=member_id,
            instance_id=instance_id,
            version=0,
            owned_known=False,
            notes=decoded.notes,
        )
    return Member(
        member_id=member_id,
        topics=read.topics,
        owned=read.owned,
        generation=read.generation,
        rack_id=read.rack_id,
        instance_id=instance_id,
        user_data=read.user_data,
        version=read.version,
        owned_known=read.owned_known,
        notes=decoded.notes,
    )


@dataclass(slots=True)
class _Sections:
    """The topic lists of M members: S different ones."""

    topics: list[tuple[str, ...]] = field(default_factory=list)
    section_of: list[int] = field(default_factory=list)
    """M: the list of each member, -1 where its bytes are not plain."""
    version: list[int] = field(default_factory=list)
    """M."""
    end: list[int] = field(default_factory=list)
    """M: where the topic list ends in the member's bytes."""
    names: dict[bytes, str] = field(default_factory=dict)
    """Every name that stands in a list."""


def _sections(blobs: Sequence[bytes]) -> _Sections:
    """Return the topic lists. Cost: a comparison for a list that is known, else its length."""
    read = _Sections()
    known: dict[bytes, int] = {}
    section, place = b"", -1
    for blob in blobs:
        version = PLAIN_VERSIONS.get(blob[:2], 0)
        if place < 0 or not blob.startswith(section, 2):
            names, end = _names(blob) if version else (None, 0)
            section = blob[2:end]
            place = -1 if names is None else known.get(section, -1)
            if names is not None and place < 0:
                place = known[section] = _new_section(read, names)
        read.section_of.append(place if version else -1)
        read.version.append(version)
        read.end.append(2 + len(section))
    return read


def _names(blob: bytes) -> tuple[list[bytes] | None, int]:
    """Return the names of a topic list and where it ends; `None` where it is not plain."""
    count = int.from_bytes(blob[2:6], "big")
    if count > min(COUNT_LIMIT, len(blob) // 2):
        return None, 0
    names = []
    place = 6
    try:
        for _ in range(count):
            end = place + 2 + (blob[place] << 8 | blob[place + 1])
            names.append(blob[place + 2 : end])
            place = end
    except IndexError:
        return None, 0
    return (names, place) if place <= len(blob) else (None, 0)


def _new_section(read: _Sections, names: Sequence[bytes]) -> int:
    """Return the number of a list that is new, -1 where a name is odd or stands twice."""
    known = read.names
    for name in names:
        if name not in known:
            try:
                text = name.decode()
            except UnicodeDecodeError:
                return -1
            if len(name) >= PAD:
                return -1
            known[name] = text
    if len(set(names)) < len(names):
        return -1
    read.topics.append(tuple(map(known.__getitem__, names)))
    return len(read.topics) - 1


@dataclass(slots=True, kw_only=True)
class _Tails:
    """What stands behind the topic lists, of M members. E: entries of owned topics."""

    buffer: bytes
    is_plain: Bool
    """bool[M]."""
    generation: Int64
    """int64[M]."""
    user_data: dict[int, bytes]
    rack_ids: dict[int, str]
    row: Int64
    """int64[E]: whose entry; then where its name starts, its length, how many numbers."""
    name_start: Int64
    name_length: Int64
    count: Int64


def _tails(blobs: Sequence[bytes], sections: _Sections) -> _Tails:
    """Return the fields behind the topic lists, read in lock step."""
    member_count = len(blobs)
    parts = [
        blob[end:] if section >= 0 else b""
        for blob, end, section in zip(blobs, sections.end, sections.section_of, strict=True)
    ]
    bounds = np.zeros(member_count + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, parts), np.int64, member_count), out=bounds[1:])
    buffer = b"".join([*parts, bytes(PAD + 16)])
    place, end = bounds[:-1].copy(), bounds[1:]
    is_plain = np.array(sections.section_of, dtype=np.int64) >= 0
    int32 = _int32_view(buffer)
    user_data = _user_data(buffer, int32, place, end, is_plain)
    is_plain &= place + 4 <= end
    entry_count = np.where(is_plain, int32[np.where(is_plain, place, 0)], 0).astype(np.int64)
    place += 4
    # An entry has 10 bytes at least, and a null array is not plain.
    is_plain &= (entry_count >= 0) & (entry_count <= COUNT_LIMIT)
    is_plain &= entry_count * 10 <= np.maximum(end - place, 0)
    entries = _entries(buffer, place, end, is_plain, entry_count)
    version = np.array(sections.version, dtype=np.int64)
    generation = _generations(int32, version, place, end, is_plain)
    rack_ids = _rack_ids(buffer, version, place, end, is_plain)
    is_plain &= place == end
    return _Tails(
        buffer=buffer,
        is_plain=is_plain,
        generation=generation,
        user_data=user_data,
        rack_ids=rack_ids,
        row=entries[0],
        name_start=entries[1],
        name_length=entries[2],
        count=entries[3],
    )


def _user_data(
    buffer: bytes, int32: NDArray[np.int32], place: Int64, end: Int64, is_plain: Bool
) -> dict[int, bytes]:
    """Read UserData; move `place` behind it. Empty UserData is not plain."""
    is_plain &= place + 4 <= end
    length = int32[np.where(is_plain, place, 0)].astype(np.int64)
    place += 4
    has = is_plain & (length >= 0)
    is_plain &= (length < 0) | ((length > 0) & (place + length <= end))
    has &= is_plain
    rows = np.flatnonzero(has)
    found = {
        row: buffer[start : start + size]
        for row, start, size in zip(
            rows.tolist(), place[rows].tolist(), length[rows].tolist(), strict=True
        )
    }
    place[rows] += length[rows]
    return found


def _entries(
    buffer: bytes, place: Int64, end: Int64, is_plain: Bool, entry_count: Int64
) -> tuple[Int64, Int64, Int64, Int64]:
    """Read owned topics, one of each member at a time; move `place` behind them.

    Rows with odd entries, and the few with more entries than nearly all others, stop being plain.
    """
    int16, int32 = _int16_view(buffer), _int32_view(buffer)
    sizes = np.sort(entry_count[is_plain])[::-1]
    longest = int(sizes[min(TOGETHER_MIN, len(sizes)) - 1]) if len(sizes) else 0
    is_plain &= entry_count <= longest
    active = np.flatnonzero(is_plain & (entry_count > 0))
    active = active[np.argsort(-entry_count[active], kind="stable")]
    left = entry_count[active]
    found: list[tuple[Int64, Int64, Int64, Int64]] = []
    at, stop = place[active], end[active]
    step = 0
    while len(active):
        step += 1
        length = int16[at].astype(np.int64)
        np.maximum(length, 0, out=length)
        behind = at + (2 + length)
        count = int32[np.minimum(behind, stop)].astype(np.int64)
        after = behind + (4 + 4 * count)
        is_good = (behind + 4 <= stop) & (count > 0) & (count <= COUNT_LIMIT) & (after <= stop)
        if not is_good.all():
            is_plain[active[~is_good]] = False
            active, left, at, stop = active[is_good], left[is_good], at[is_good], stop[is_good]
            length, count, after = length[is_good], count[is_good], after[is_good]
        found.append((active, at + 2, length, count))
        going_on = int(np.searchsorted(-left, -step, side="left"))
        if going_on < len(active):
            place[active[going_on:]] = after[going_on:]
            active, left, stop = active[:going_on], left[:going_on], stop[:going_on]
        at = after[:going_on]
    if not found:
        empty = np.zeros(0, dtype=np.int64)
        return empty, empty, empty, empty
    row, start, length, count = (np.concatenate(column) for column in zip(*found, strict=True))
    return row, start, length, count


def _generations(
    int32: NDArray[np.int32], version: Int64, place: Int64, end: Int64, is_plain: Bool
) -> Int64:
    """Read the generation of versions 2 and 3; move `place` behind it."""
    has = version >= 2
    is_plain &= ~has | (place + 4 <= end)
    there = has & is_plain
    generation = np.where(there, int32[np.where(there, place, 0)], -1).astype(np.int64)
    is_plain &= generation >= -1
    place[there] += 4
    return generation


def _rack_ids(
    buffer: bytes, version: Int64, place: Int64, end: Int64, is_plain: Bool
) -> dict[int, str]:
    """Read the rack of version 3; move `place` behind it. An empty rack is not plain."""
    has = version >= 3
    is_plain &= ~has | (place + 2 <= end)
    there = has & is_plain
    length = np.where(there, _int16_view(buffer)[np.where(there, place, 0)], -1).astype(np.int64)
    place[there] += 2
    is_plain &= (length != 0) & (place + length <= end)
    found: dict[int, str] = {}
    known: dict[bytes, str] = {}
    for row in np.flatnonzero(is_plain & (length > 0)).tolist():
        start = int(place[row])
        data = buffer[start : start + int(length[row])]
        try:
            found[row] = known.get(data) or known.setdefault(data, data.decode())
        except UnicodeDecodeError:
            is_plain[row] = False
    rows = np.flatnonzero(length > 0)
    place[rows] += length[rows]
    return found


def _owned(tails: _Tails, sections: _Sections) -> OwnedArrays:
    """Return the owned partitions; rows whose topics or numbers are odd stop being plain."""
    names = list(sections.names)
    member_count = len(sections.section_of)
    table = name_table(names)
    order = _by_row(tails.row, member_count)
    row, count = tails.row[order], tails.count[order]
    start, length = tails.name_start[order], tails.name_length[order]
    topic = find(table, word_view(tails.buffer), start, length)
    tails.is_plain[row[topic < 0]] = False
    key = row * np.int64(len(names) + 1) + topic
    if bool((np.diff(key) <= 0).any()):
        in_order = np.argsort(key, kind="stable")
        again = np.flatnonzero(np.diff(key[in_order]) == 0) + 1
        tails.is_plain[row[in_order[again]]] = False
    number_ptr = np.zeros(len(count) + 1, dtype=np.int64)
    np.cumsum(count, out=number_ptr[1:])
    first = start + length + 4
    int32 = _int32_view(tails.buffer)
    if int(number_ptr[-1]) == len(count):  # one number each
        number = int32[first].astype(np.int64)
        owner_of = row
    else:
        steps = np.arange(int(number_ptr[-1]), dtype=np.int64)
        number = int32[np.repeat(first - 4 * number_ptr[:-1], count) + 4 * steps].astype(np.int64)
        owner_of = np.repeat(row, count) if bool((number < 0).any()) else row
    if len(number) and int(number.min()) < 0:
        tails.is_plain[owner_of[number < 0]] = False
    entry_ptr = np.zeros(member_count + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=member_count), out=entry_ptr[1:])
    return OwnedArrays(
        names=tuple(sections.names.values()),
        name_set=frozenset(sections.names.values()),
        entry_ptr=entry_ptr,
        topic=topic,
        number_ptr=number_ptr,
        number=number,
    )


def _by_row(row: Int64, member_count: int) -> Int64:
    """Return the entries in the order of their rows, each row's in its own order."""
    small: NDArray[np.uint16] | Int64 = row.astype(np.uint16) if member_count < 1 << 16 else row
    return np.argsort(small, kind="stable")


def _int16_view(buffer: bytes) -> NDArray[np.int16]:
    return np.ndarray((len(buffer) - 1,), ">i2", buffer, strides=(1,))


def _int32_view(buffer: bytes) -> NDArray[np.int32]:
    return np.ndarray((len(buffer) - 3,), ">i4", buffer, strides=(1,))
