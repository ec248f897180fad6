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
from itertools import compress
from typing import Any

import numpy as np

from assignors.arrays import OwnedArrays
from assignors.group_bytes.entries import (
    NAME_LENGTH_SIZE,
    KnownNames,
    Messages,
    filled,
    found_at_once,
    joined_messages,
    owned_arrays,
    sizes_of,
)
from assignors.group_bytes.fields import Fields, fields_alike, read_fields
from assignors.group_bytes.in_turn import SharedNames, plain_member
from assignors.group_bytes.members import MemberArrays, ReadMembers
from assignors.group_bytes.rounds import joined_members, unchanged_since, with_generations
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
from wire.constructors import unchecked

_member_arrays = unchecked(MemberArrays)

MEMBERS_MIN = 48
"""Smaller groups are read member by member. Measured with equal subscriptions after a member left,
a whole round from bytes to bytes, in turn against together: 30 members x 300 partitions 0.21 and
0.37 ms, 40 x 400 0.30 and 0.44, 48 x 480 (one layout) 0.36 and 0.26, 60 x 600 0.49 and 0.46;
without claims 30 x 300 0.15 and 0.19, 44 x 440 0.22 and 0.21, 60 x 600 0.31 and 0.23. With half of
ten topics each it would be 70: 60 x 600 1.00 and 1.25, 70 x 700 1.18 and 1.15, 90 x 900 1.39 and
1.18; but a leader that leads again gains more when they have been read together."""

COMPARED_MIN = 50_000
"""With fewer owned partitions and one topic list, all is read afresh unless nothing has changed.
Measured with a generation that changed and one member that left, against reading afresh: 100
members x 1,000 partitions 0.09 and 0.11 ms, and then claims take 0.02 ms longer, 1,000 x 10,000
0.65 and 0.64, 2,000 x 100,000 4.5 and 6.2."""

JOINED_MIN = 5_000
"""With fewer, and different lists, all is read afresh where somebody is new. Measured as above, a
whole round where one member joined, and where a tenth was replaced: 100 members x 1,000 partitions
with half of ten topics each 1.05 and 0.82 ms, 1.31 and 0.94; 500 x 3,000 with 3 of 60 each 3.1 and
2.1, 3.7 and 2.5; 1,000 x 10,000 with half of 100 each 4.7 and 5.0, 5.9 and 5.9."""


def read_members(
    subscriptions: Mapping[str, bytes | Decoded[Subscription]],
    instance_ids: Mapping[str, str] | None = None,
    *,
    before: ReadMembers | None = None,
    names: KnownNames | None = None,
) -> Sequence[Member]:
    """Return the members that wrote these Subscriptions, member id -> bytes, in that order.

    Each equals `member_from_bytes(member_id, blob)`; those of a large group are `ReadMembers`.
    With those of an earlier round in `before`, only what has changed since is read. Names of topics
    that are known already, `names` or else those of that round, are found without learning them.
    Never raises. Cost: linear in the bytes.
    """
    named = instance_ids or {}
    if len(subscriptions) < MEMBERS_MIN:
        return members_in_turn(subscriptions, named)
    if names is None and before is not None:
        names = _names_of(before.arrays)
    if before is not None and before.arrays.member_ids:
        again = _read_again(before.arrays, subscriptions, named, names)
        if again is not None:
            return again
    return ReadMembers(_arrays(subscriptions, named, names))


def _names_of(before: MemberArrays) -> KnownNames | None:
    """Return the names of an earlier round; `None` where many may be nobody's any more."""
    known, place_count = before.known, len(before.name) + len(before.owned.topic)
    return None if known is None or len(known.numbers) > place_count else known


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


def _read_again(
    before: MemberArrays,
    subscriptions: Mapping[str, bytes | Decoded[Subscription]],
    instance_ids: Mapping[str, str],
    names: KnownNames | None,
) -> ReadMembers | None:
    """Return the members, reading those that changed; `None` where that would save little."""
    count = len(subscriptions)
    is_same = tuple(subscriptions) == before.member_ids and instance_ids == before.instance_ids
    if is_same and tuple(subscriptions.values()) == before.blobs:
        return ReadMembers(before)
    if _is_faster_afresh(before, subscriptions):
        return None
    unchanged = unchanged_since(before, subscriptions, instance_ids)
    row = unchanged.row
    is_known = row >= 0
    known = int(np.count_nonzero(is_known))
    if 2 * max(count - known, len(before.member_ids) - known) > count:
        return None
    arrays = with_generations(before, unchanged, subscriptions, instance_ids)
    if known == count:
        is_whole = known == len(before.member_ids) and bool((row[1:] > row[:-1]).all())
        return ReadMembers(arrays, None if is_whole else row)
    changed = dict(compress(subscriptions.items(), (~is_known).tolist()))
    arrays = joined_members(arrays, row[is_known].tolist(), _arrays(changed, instance_ids, names))
    # What nobody has any more is kept: up to a bound, then all is read afresh.
    name_places = len(arrays.name) + len(arrays.owned.topic)
    if len(arrays.list_ptr) > 2 * count or len(arrays.names) > name_places:
        return None
    row_of = {member_id: row for row, member_id in enumerate(arrays.member_ids)}
    rows = np.fromiter(map(row_of.__getitem__, subscriptions), np.int64, count)
    return ReadMembers(arrays, rows)


def _is_faster_afresh(before: MemberArrays, subscriptions: Mapping[str, object]) -> bool:
    """Return whether to compare these Subscriptions would take longer than to read them."""
    owned_count = len(before.owned.number)
    if len(before.list_ptr) == 2:
        return owned_count < COMPARED_MIN
    return owned_count < JOINED_MIN and not subscriptions.keys() <= before.row_of_id().keys()


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
    return _member_arrays(
        member_ids=ids,
        blobs=tuple(given),
        instance_ids=instance_ids,
        names=owned.names,
        known=lists.known,
        list_ptr=lists.list_ptr,
        name=lists.name,
        list_of=lists.list_of,
        version=lists.version,
        generation=fields.generation,
        generation_at=fields.generation_at,
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
    equal = equal_lists(blobs, names)
    if equal is not None:
        lists, messages = equal
    else:
        messages = joined_messages(blobs, sizes_of(blobs))
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
    if located is None:
        return None
    listed, end = located
    buffer, begin, stop, _ = messages
    is_plain = filled(len(end), 1, np.bool_)
    alike = fields_alike(buffer, end, stop, is_plain, behind_part=-begin)
    if alike is None:
        return None
    fields, owned = alike
    found = found_at_once(buffer, names, listed, owned.sections, owned.end)
    if found is None:
        return None
    return lists_of_names(names, found, end - begin), fields, found.owned


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
