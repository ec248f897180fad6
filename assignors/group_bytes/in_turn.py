"""The Subscriptions of a small group, read one after the other with what they share.

The members of a group name the same topics again and again. Here each name is decoded once and
each topic list compared with the one before, so a member costs half of what
`wire.decode_subscription` takes for it alone. That reader takes every member whose bytes are not
plain: version 1 to 3 with every field there, nothing repeated, negative or empty, nothing behind
the end, and owned topics that somebody listed before.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from assignors.model import NO_GENERATION, Member
from wire.cursor import COUNT_LIMIT
from wire.writing import STRING_LIMIT

NULL = -1
PLAIN_VERSIONS = {b"\0\1": 1, b"\0\2": 2, b"\0\3": 3}

_int16 = struct.Struct(">h").unpack_from
_int32 = struct.Struct(">i").unpack_from
_generation_and_rack = struct.Struct(">ih").unpack_from
_lists = [struct.Struct(f">{count}i").unpack_from for count in range(32)]
"""For short lists of partition numbers, which are most."""


@dataclass(slots=True)
class SharedNames:
    """What the members of one group have been found to share."""

    names: dict[bytes, str] = field(default_factory=dict)
    """Length and UTF-8 of a topic name, as they stand in the bytes -> the name."""
    lists: dict[bytes, tuple[str, ...]] = field(default_factory=dict)
    """The bytes of a topic list -> its names."""
    section: bytes = b""
    """The topic list that was read last."""
    topics: tuple[str, ...] = ()
    """Its names."""


def plain_member(
    member_id: str, blob: bytes, shared: SharedNames, instance_id: str | None
) -> Member | None:
    """Return the member that plain bytes describe, `None` for others.

    Equal to `subscriptions.member_from_bytes` of the same bytes. Never raises. Cost: O(bytes).

    >>> blob = bytes.fromhex("0001" "00000001" "000174" "ffffffff" "00000000")
    >>> plain_member("a", blob, SharedNames(), None).topics
    ('t',)
    >>> plain_member("a", blob[:-1], SharedNames(), None)
    """
    version = PLAIN_VERSIONS.get(blob[:2])
    if version is None:
        return None
    try:
        if not shared.section or not blob.startswith(shared.section, 2):
            read_topics(blob, shared)
        topics, place = shared.topics, 2 + len(shared.section)
        user_data, place = _user_data(blob, place)
        owned, place = _owned(blob, place, shared.names)
        generation, rack_id = NO_GENERATION, None
        if version == 3:
            generation, rack_length = _generation_and_rack(blob, place)
            place += 6
            if rack_length != NULL:
                rack_id, place = _rack_id(blob, place, rack_length)
        elif version == 2:
            (generation,) = _int32(blob, place)
            place += 4
    except (struct.error, IndexError, UnicodeDecodeError, NotPlainError):
        return None
    if place != len(blob) or generation < NO_GENERATION:
        return None
    return Member(
        member_id=member_id,
        topics=topics,
        owned=owned,
        generation=generation,
        rack_id=rack_id,
        instance_id=instance_id,
        user_data=user_data,
        version=version,
    )


def topic_headers(topics: Iterable[str]) -> dict[bytes, str]:
    r"""Return length and UTF-8 of each topic name that can be written -> the name.

    >>> topic_headers(["t", chr(0xD800)])
    {b'\x00\x01t': 't'}
    """
    headers = {}
    for topic in topics:
        try:
            name = topic.encode()
        except UnicodeEncodeError:
            continue
        if len(name) <= STRING_LIMIT:
            headers[len(name).to_bytes(2, "big") + name] = topic
    return headers


def plain_sticky_user_data(
    data: bytes, names: Mapping[bytes, str]
) -> tuple[dict[str, tuple[int, ...]], int] | None:
    """Return the claims and the generation in sticky UserData; `None` where they are not plain.

    Equal to what `wire.decode_sticky_user_data` returns for the same bytes. `names` are
    `topic_headers`. Never raises. Cost: O(bytes).

    >>> data = bytes.fromhex("00000001" "000174" "00000001" "00000007" "00000002")
    >>> plain_sticky_user_data(data, topic_headers(["t"]))
    ({'t': (7,)}, 2)
    """
    try:
        owned, place = _owned(data, 0, names)
        (generation,) = _int32(data, place)
    except (struct.error, IndexError, NotPlainError):
        return None
    return (owned, generation) if place + 4 == len(data) else None


class NotPlainError(Exception):
    """These bytes want another reader."""


def read_topics(blob: bytes, shared: SharedNames) -> None:
    """Read the topic list at the start of a Subscription into `shared`.

    Raises `NotPlainError`, `struct.error` or `UnicodeDecodeError` for one that is not plain.
    """
    (count,) = _int32(blob, 2)
    if not 0 <= count <= min(COUNT_LIMIT, len(blob)):
        raise NotPlainError
    names = []
    place = 6
    for _ in range(count):
        end = place + 2 + _int16(blob, place)[0]
        name = blob[place:end]
        if name not in shared.names:
            if not place + 2 <= end <= len(blob):
                raise NotPlainError
            shared.names[name] = name[2:].decode()
        names.append(shared.names[name])
        place = end
    section = blob[2:place]
    if section not in shared.lists:
        if len(set(names)) < len(names):
            raise NotPlainError
        shared.lists[section] = tuple(names)
    shared.section, shared.topics = section, shared.lists[section]


def _user_data(blob: bytes, place: int) -> tuple[bytes | None, int]:
    """Return UserData and where it ends, which may be behind the bytes."""
    (length,) = _int32(blob, place)
    place += 4
    if length == NULL:
        return None, place
    if length <= 0:
        raise NotPlainError
    return blob[place : place + length], place + length


def _owned(
    blob: bytes, place: int, names: Mapping[bytes, str]
) -> tuple[dict[str, tuple[int, ...]], int]:
    """Return the owned partitions and where they end."""
    (count,) = _int32(blob, place)
    place += 4
    owned: dict[str, tuple[int, ...]] = {}
    if not 0 <= count <= len(blob) or count > COUNT_LIMIT:
        raise NotPlainError
    for _ in range(count):
        after = place + 2 + (blob[place] << 8 | blob[place + 1])
        topic = names.get(blob[place:after])
        (length,) = _int32(blob, after)
        if topic is None or not 0 < length <= COUNT_LIMIT:
            raise NotPlainError
        after += 4
        place = after + 4 * length
        read = _lists[length] if length < len(_lists) else struct.Struct(f">{length}i").unpack_from
        owned[topic] = read(blob, after)
        if not blob[after:place:4].isascii():  # a sign bit is set somewhere
            raise NotPlainError
    if len(owned) < count:
        raise NotPlainError
    return owned, place


def _rack_id(blob: bytes, place: int, length: int) -> tuple[str, int]:
    """Return the rack of so many bytes and where it ends, which may be behind the bytes."""
    if length <= 0:
        raise NotPlainError
    return blob[place : place + length].decode(), place + length
