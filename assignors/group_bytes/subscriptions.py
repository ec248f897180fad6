"""The Subscriptions of a whole group, read together.

Plain bytes are version 1 to 3 with every field there, nothing repeated, nothing behind the end;
UserData and rack may be empty, as librdkafka and kafka-python write them. Where all members of a
large group are plain they are read in lock step: first the topic lists, of which most are those of
the member before, byte for byte; then UserData of everybody, the first owned topic of everybody,
and so on to the rack. All others are read member by member: values and notes are those of
`wire.decode_subscription` for every member.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from assignors.arrays import Int32, Int64
from assignors.group_bytes.in_turn import (
    PLAIN_VERSIONS,
    NotPlainError,
    SharedNames,
    plain_member,
    read_topics,
)
from assignors.group_bytes.lock_step import (
    INT16,
    INT32,
    add_names,
    cursor_of,
    owned_arrays,
    require,
    topics_of,
)
from assignors.group_bytes.members import MemberArrays, RackIds, ReadMembers, rack_numbers
from assignors.model import NO_GENERATION, Member
from wire import Decoded, Subscription, decode_subscription
from wire.text import utf16_key

MEMBERS_MIN = 48
"""Smaller groups are read member by member. Measured after a member left, a whole round from bytes
to bytes, in turn against together: 30 members x 300 partitions 0.36 and 0.59 ms, 48 x 480 0.57 and
0.67, 60 x 600 0.74 and 0.71, 90 x 900 1.31 and 0.79; with half of ten topics each 48 x 480 2.44 and
2.14, 90 x 900 3.57 and 2.29."""
COUNT_AT = 2
"""Where the number of topics stands: behind the version."""
ALIKE_BYTES = 128
"""Members with the same version and topic list, as far as these bytes show it, are compared."""
MEMBERS_A_LIST = 4
"""Members, on the average, that begin alike where lists are compared before they are read."""


def read_members(
    subscriptions: Mapping[str, bytes | Decoded[Subscription]],
    instance_ids: Mapping[str, str] | None = None,
) -> Sequence[Member]:
    """Return the members that wrote these Subscriptions, member id -> bytes, in that order.

    Each equals `member_from_bytes(member_id, blob)`; those of a large group are `ReadMembers`.
    Never raises. Cost: linear in the bytes.
    """
    named, blobs = instance_ids or {}, list(subscriptions.values())
    if len(blobs) >= MEMBERS_MIN and set(map(type, blobs)) == {bytes}:
        try:
            return _read_together(tuple(subscriptions), blobs, named)  # type: ignore[arg-type]
        except NotPlainError:
            pass
    return members_in_turn(subscriptions, named)


def members_in_turn(
    subscriptions: Mapping[str, bytes | Decoded[Subscription]], instance_ids: Mapping[str, str]
) -> tuple[Member, ...]:
    """Return what `read_members` returns, one member after the other. Never raises."""
    shared = SharedNames()
    members = []
    for member_id, blob in subscriptions.items():
        instance_id = instance_ids.get(member_id)
        member = None
        if isinstance(blob, bytes):
            member = plain_member(member_id, blob, shared, instance_id)
        members.append(member or member_from_bytes(member_id, blob, instance_id=instance_id))
    return tuple(members)


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


def _read_together(
    ids: tuple[str, ...], blobs: Sequence[bytes], instance_ids: Mapping[str, str]
) -> ReadMembers:
    """Return the members, read in the order of their ids; `NotPlainError` if one is not plain."""
    keys: list[Any] = list(ids if "".join(ids).isascii() else map(utf16_key, ids))
    rows = None
    if sorted(keys) != keys:
        order = sorted(range(len(ids)), key=keys.__getitem__)
        ids = tuple(map(ids.__getitem__, order))
        blobs = list(map(blobs.__getitem__, order))
        rows = np.array(order).argsort()
    lists = _topic_lists(blobs)
    version = lists.version
    begin = lists.end.tolist()
    cursor = cursor_of([memoryview(blob)[at:] for blob, at in zip(blobs, begin, strict=True)])
    left_out = lists.end - cursor.place
    data_length = cursor.numbers(INT32)
    data_start = cursor.skip(data_length) + left_out
    owned = owned_arrays(cursor.buffer, cursor.entries(), lists.names)
    generation = cursor.numbers(INT32, version >= 2)
    require(generation >= NO_GENERATION)
    rack_length = cursor.numbers(INT16, version >= 3)
    rack_start = cursor.skip(rack_length)
    require(cursor.place == cursor.end)
    arrays = MemberArrays(
        member_ids=ids,
        blobs=tuple(blobs),
        instance_ids=instance_ids,
        list_ptr=lists.ptr,
        name=lists.name,
        list_of=lists.list_of,
        version=version,
        generation=generation,
        owned=owned,
        data_start=data_start,
        data_length=data_length,
        rack_ids=_rack_ids(cursor.buffer, rack_start, rack_length),
        has_empty_rack=rack_length == 0,
    )
    return ReadMembers(arrays, rows)


class _TopicLists(NamedTuple):
    """The topic lists of M members: S of them, some of which may be equal."""

    names: dict[bytes, int]
    """Names of topics, with their numbers."""
    ptr: Int64
    """int64[S + 1]: list s has the names name[ptr[s]:ptr[s + 1]]."""
    name: Int32
    """int32: numbers of names, none twice in a list, in the order of the bytes."""
    list_of: Int64
    """int64[M]: the list of each member."""
    version: Int64
    """int64[M]."""
    end: Int64
    """int64[M]: where the topic list ends in the member's bytes."""


def _topic_lists(blobs: Sequence[bytes]) -> _TopicLists:
    """Return everybody's topic list: each is read once where all have one, or a few.

    Cost: a comparison for each member, or the length of its list.
    """
    lists = _few_lists(blobs, blobs[:1])
    if lists is None:
        begins = [blob[:ALIKE_BYTES] for blob in blobs]
        samples = dict(zip(begins, blobs, strict=True))
        if MEMBERS_A_LIST * len(samples) <= len(blobs):
            number = dict(zip(samples, range(len(samples)), strict=True))
            list_of = list(map(number.__getitem__, begins))
            lists = _few_lists(blobs, list(samples.values()), list_of)
    if lists is not None:
        return lists
    cursor = cursor_of(blobs)
    begin = cursor.place
    version = cursor.numbers(INT16)
    require((version >= min(PLAIN_VERSIONS.values())) & (version <= max(PLAIN_VERSIONS.values())))
    names: dict[bytes, int] = {}
    entries = cursor.names(cursor.numbers(INT32))
    name = topics_of(cursor.buffer, entries, names).astype(np.int32)
    ptr = np.append(0, entries.entry_count.cumsum())
    return _TopicLists(names, ptr, name, np.arange(len(blobs)), version, cursor.place - begin)


def _few_lists(
    blobs: Sequence[bytes], samples: Sequence[bytes], list_of: Sequence[int] | None = None
) -> _TopicLists | None:
    """Return the topic lists if each member has the version and the list of the sample of its list.

    `None` where one has not. Without `list_of` all members have the list of the one sample.
    """
    shared = SharedNames()
    sections, lists, version = [], [], []
    for blob in samples:
        version.append(PLAIN_VERSIONS.get(blob[:COUNT_AT], 0))
        try:
            read_topics(blob, shared)
        except (struct.error, IndexError, UnicodeDecodeError):
            raise NotPlainError from None
        sections.append(blob[:COUNT_AT] + shared.section)
        lists.append(shared.topics)
    begins = repeat(sections[0]) if list_of is None else map(sections.__getitem__, list_of)
    if not all(map(bytes.startswith, blobs, begins)):
        return None
    if not all(version):
        raise NotPlainError
    names: dict[bytes, int] = {}
    add_names(names, [header[2:] for header in shared.names])
    index = {topic: number for number, topic in enumerate(shared.names.values())}
    of_list = np.zeros(len(blobs), dtype=np.int64)
    if list_of is not None:
        of_list[:] = list_of
    return _TopicLists(
        names=names,
        ptr=np.array([0, *map(len, lists)]).cumsum(),
        name=np.array([index[topic] for topics in lists for topic in topics], dtype=np.int32),
        list_of=of_list,
        version=np.array(version).take(of_list),
        end=np.array(list(map(len, sections))).take(of_list),
    )


def _rack_ids(buffer: bytes, start: Int64, length: Int64) -> RackIds:
    """Return the racks that stand at these places."""
    if int(length.max()) <= 0:
        return RackIds((), np.full(len(length), -1, dtype=np.int32))
    places = zip(start.tolist(), length.tolist(), strict=True)
    written = [buffer[at : at + size] for at, size in places]
    try:
        texts = {each: each.decode() or None for each in set(written)}
    except UnicodeDecodeError:
        raise NotPlainError from None
    return rack_numbers(list(map(texts.__getitem__, written)))
