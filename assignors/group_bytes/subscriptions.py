"""The Subscriptions of a whole group, read together.

Plain bytes are version 0 to 3 with every field there, nothing repeated, nothing behind the end;
UserData and rack may be empty, as librdkafka and kafka-python write them.
Plain members are read in lock step: first the topic lists, of which most are those of the member
before, byte for byte; then the first owned topic of everybody, the second of everybody. A member
that is not plain takes `wire.decode_subscription`, alone: values and notes are those of that
reader for every member.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assignors.arrays import OwnedArrays
from assignors.group_bytes.entries import (
    NAME_LENGTH_SIZE,
    KnownNames,
    Messages,
    found_at_once,
    joined_messages,
    owned_arrays,
    sizes_of,
)
from assignors.group_bytes.fields import Fields, fields_alike, read_fields
from assignors.group_bytes.in_turn import SharedNames, plain_member
from assignors.group_bytes.members import MemberArrays, ReadMembers
from assignors.group_bytes.topic_lists import (
    TopicLists,
    are_mostly_different,
    different_lists,
    equal_lists,
    lists_of_names,
    located_lists,
)
from assignors.model import Member
from wire import Decoded, Subscription, decode_subscription

MEMBERS_MIN = 48
"""Smaller groups are read member by member. Measured with equal subscriptions after a member left,
a whole round from bytes to bytes, in turn against together: 30 members x 300 partitions 0.21 and
0.37 ms, 40 x 400 0.30 and 0.44, 48 x 480 (one layout) 0.36 and 0.26, 60 x 600 0.49 and 0.46;
without claims 30 x 300 0.15 and 0.19, 44 x 440 0.22 and 0.21, 60 x 600 0.31 and 0.23. With half of
ten topics each it would be 70: 60 x 600 1.00 and 1.25, 70 x 700 1.18 and 1.15, 90 x 900 1.39 and
1.18."""


def read_members(
    subscriptions: Mapping[str, bytes | Decoded[Subscription]],
    instance_ids: Mapping[str, str] | None = None,
    *,
    names: KnownNames | None = None,
) -> Sequence[Member]:
    """Return the members that wrote these Subscriptions, member id -> bytes, in that order.

    Each equals `member_from_bytes(member_id, blob)`; those of a large group are `ReadMembers`.
    Names of topics that are known already, `names`, are found without learning them.
    Never raises. Cost: linear in the bytes.
    """
    named = instance_ids or {}
    if len(subscriptions) < MEMBERS_MIN:
        return members_in_turn(subscriptions, named)
    return ReadMembers(_arrays(subscriptions, named, names))


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


def _arrays(
    subscriptions: Mapping[str, bytes | Decoded[Subscription]],
    instance_ids: Mapping[str, str],
    names: KnownNames | None,
) -> MemberArrays:
    """Return these members, read together."""
    # What has been decoded already is not read again: to the arrays it is like odd bytes.
    blobs: list[Any] = list(subscriptions.values())
    given: list[bytes | None] = blobs
    if set(map(type, blobs)) != {bytes}:
        given = [None if isinstance(blob, Decoded) else bytes(blob) for blob in blobs]
        blobs = [blob or b"" for blob in given]
    lists, fields, owned = read_together(blobs, names)
    ids = tuple(subscriptions)
    alone = {
        row: member_from_bytes(
            ids[row], subscriptions[ids[row]], instance_id=instance_ids.get(ids[row])
        )
        for row in (~fields.is_plain).nonzero()[0].tolist()
    }
    return MemberArrays(
        member_ids=ids,
        blobs=tuple(given),
        instance_ids=instance_ids,
        names=owned.names,
        list_ptr=lists.list_ptr,
        name=lists.name,
        list_of=lists.list_of,
        version=lists.version,
        generation=fields.generation,
        owned=owned,
        user_data=fields.user_data,
        rack_ids=fields.rack_ids,
        empty_rack_at=fields.empty_rack_at,
        alone=alone,
    )


def read_together(
    blobs: Sequence[bytes], names: KnownNames | None = None
) -> tuple[TopicLists, Fields, OwnedArrays]:
    """Return the topic lists, the other fields and the owned partitions of Subscriptions.

    Only rows with `Fields.is_plain` are read; the others want `wire.decode_subscription`.
    """
    lists, size = equal_lists(blobs, names), sizes_of(blobs)
    if lists is not None:
        end = int(lists.end[0])
        parts = [memoryview(blob)[end:] for blob in blobs]
        messages = joined_messages(parts, size - end, left_out=end)
    else:
        messages = joined_messages(blobs, size)
        if names is not None and are_mostly_different(blobs):
            read = _read_at_once(messages, names)
            if read is not None:
                return read
        lists = different_lists(blobs, messages, names)
    fields, entries = read_fields(messages, lists)
    return lists, fields, owned_arrays(entries, lists.known, fields.is_plain)


def _read_at_once(
    messages: Messages, names: KnownNames
) -> tuple[TopicLists, Fields, OwnedArrays] | None:
    """Return what `read_together` does where all have version 3, and known names of one length.

    `None` elsewhere. Most lists should differ.
    """
    length = names.all_in_table().common_length
    if length is None or not 0 < length < 1 << 8:
        return None
    located = located_lists(messages, NAME_LENGTH_SIZE + length)
    alike = None if located is None else fields_alike(messages, located[1])
    if located is None or alike is None:
        return None
    (listed, list_end), (fields, owned, owned_end) = located, alike
    found = found_at_once(messages.buffer, names, listed, owned, owned_end)
    if found is None:
        return None
    return lists_of_names(names, found, list_end - messages.begin), fields, found.owned


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
