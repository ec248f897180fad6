"""The Subscriptions of a whole group, read together.

Plain bytes are version 1 to 3 with every field there, nothing repeated, nothing behind the end,
and owned topics that somebody subscribes to. Plain members are read in lock step: first the
topic lists, of which most are those of the member before, byte for byte; then the first owned
topic of everybody, the second of everybody. A member that is not plain takes
`wire.decode_subscription`, alone: values and notes are those of that reader for every member.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from assignors.arrays import Int64, OwnedArrays, OwnedPartitions
from assignors.group_bytes.fields import Fields, int32_view, read_fields
from assignors.group_bytes.names import find, name_table, word_view
from assignors.group_bytes.topic_lists import TopicLists, topic_lists
from assignors.model import Member
from wire import Decoded, Subscription, decode_subscription

MEMBERS_MIN = 24
"""Smaller groups are read member by member: numpy's calls would cost more than they save."""


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
    lists = topic_lists(blobs)
    fields = read_fields(blobs, lists)
    owned = _owned(fields, lists)
    return tuple(
        member_from_bytes(member_id, blob, instance_id=named.get(member_id))
        if not plain
        else Member(
            member_id=member_id,
            topics=lists.topics[topic_list],
            owned=OwnedPartitions(owned, row),
            generation=generation,
            rack_id=fields.rack_ids.get(row),
            instance_id=named.get(member_id),
            user_data=fields.user_data.get(row),
            version=version,
        )
        for row, ((member_id, blob), plain, topic_list, generation, version) in enumerate(
            zip(
                subscriptions.items(),
                fields.is_plain.tolist(),
                lists.list_of,
                fields.generation.tolist(),
                lists.version,
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


def _owned(fields: Fields, lists: TopicLists) -> OwnedArrays:
    """Return the owned partitions; rows whose topics or numbers are odd stop being plain."""
    names = list(lists.names)
    member_count = len(lists.list_of)
    table = name_table(names)
    order = _by_row(fields.row, member_count)
    row, count = fields.row[order], fields.count[order]
    start, length = fields.name_start[order], fields.name_length[order]
    topic = find(table, word_view(fields.buffer), start, length)
    fields.is_plain[row[topic < 0]] = False
    key = row * np.int64(len(names) + 1) + topic
    if bool((np.diff(key) <= 0).any()):
        in_order = np.argsort(key, kind="stable")
        again = np.flatnonzero(np.diff(key[in_order]) == 0) + 1
        fields.is_plain[row[in_order[again]]] = False
    number_ptr = np.zeros(len(count) + 1, dtype=np.int64)
    np.cumsum(count, out=number_ptr[1:])
    first = start + length + 4
    int32 = int32_view(fields.buffer)
    if int(number_ptr[-1]) == len(count):  # one number each
        number = int32[first].astype(np.int64)
        owner_of = row
    else:
        steps = np.arange(int(number_ptr[-1]), dtype=np.int64)
        number = int32[np.repeat(first - 4 * number_ptr[:-1], count) + 4 * steps].astype(np.int64)
        owner_of = np.repeat(row, count) if bool((number < 0).any()) else row
    if len(number) and int(number.min()) < 0:
        fields.is_plain[owner_of[number < 0]] = False
    entry_ptr = np.zeros(member_count + 1, dtype=np.int64)
    np.cumsum(np.bincount(row, minlength=member_count), out=entry_ptr[1:])
    return OwnedArrays(
        names=tuple(lists.names.values()),
        name_set=frozenset(lists.names.values()),
        entry_ptr=entry_ptr,
        topic=topic,
        number_ptr=number_ptr,
        number=number,
    )


def _by_row(row: Int64, member_count: int) -> Int64:
    """Return the entries in the order of their rows, each row's in its own order."""
    small: NDArray[np.uint16] | Int64 = row.astype(np.uint16) if member_count < 1 << 16 else row
    return np.argsort(small, kind="stable")
