"""The plain case of Subscription and Assignment, fast: nothing odd, nothing missing, nothing left.

The tolerant codecs look at every field for what some client does wrong. Most bytes are as they
should be, and a history of groups holds millions of them: those are read here in one go, twice
as fast. At the least doubt the reading is given up: whatever would earn a note or an error is
left to `decode_subscription` and `decode_assignment`, which say what is the matter. The answer is
theirs in any case.

Bounds need no check at each step. No length is negative, so the offset only grows; it must end
exactly where the bytes end, and had any step run over, it would be behind that.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable

from wire.cursor import COUNT_LIMIT, INT16_MAX
from wire.decoded import Decoded
from wire.protocol.assignment import MemberAssignment, decode_assignment
from wire.protocol.subscription import NO_GENERATION, Subscription, decode_subscription
from wire.writing import NEWEST_VERSION

_INT32 = struct.Struct(">i").unpack_from

FEW = 32
_FEW_NUMBERS = [struct.Struct(f">{count}i").unpack_from for count in range(FEW)]


class _Odd(Exception):  # noqa: N818 - no error: the tolerant codec takes over
    """Something that needs a note."""


GIVE_UP = (_Odd, IndexError, UnicodeDecodeError, struct.error)
"""What odd bytes raise on the way: the last three where they are no text, or end early."""


def read_subscription(blob: bytes) -> Decoded[Subscription]:
    """Return what `decode_subscription` returns, sooner where nothing is odd.

    >>> read_subscription(bytes.fromhex("0000" "00000001" "000174" "ffffffff")).value.topics
    ('t',)
    """
    return read_subscriptions((blob,))[0]


def read_subscriptions(blobs: Iterable[bytes]) -> list[Decoded[Subscription]]:
    """Return what `decode_subscription` returns for each, soonest for members of one group.

    They mostly ask for the same topics: where the bytes of the topics are those of the member
    before, so are the topics.
    """
    found: list[Decoded[Subscription]] = []
    section = b""
    topics: tuple[str, ...] = ()
    for blob in blobs:
        try:
            if not section or not blob.startswith(section, 2):
                topics, end = _topics(blob)
                section = blob[2:end]
            found.append(_subscription(blob, topics, 2 + len(section)))
        except GIVE_UP:
            found.append(decode_subscription(blob))
    return found


def read_assignment(blob: bytes) -> Decoded[MemberAssignment]:
    """Return what `decode_assignment` returns, sooner where nothing is odd.

    >>> read_assignment(bytes.fromhex("000100000000ffffffff")).value.partitions
    {}
    """
    try:
        return _assignment(blob)
    except GIVE_UP:
        return decode_assignment(blob)


def _topics(blob: bytes) -> tuple[tuple[str, ...], int]:
    """Return the topics behind the version, and the offset behind them."""
    (count,) = _INT32(blob, 2)
    if not 0 <= count <= COUNT_LIMIT:
        raise _Odd
    offset = 6
    topics: list[str] = []
    for _ in range(count):
        start = offset + 2
        length = blob[offset] << 8 | blob[offset + 1]
        offset = start + length
        if length > INT16_MAX:
            raise _Odd
        topics.append(blob[start:offset].decode())
    if offset > len(blob) or len(set(topics)) < count:
        raise _Odd
    return tuple(topics), offset


def _subscription(blob: bytes, topics: tuple[str, ...], offset: int) -> Decoded[Subscription]:
    version = blob[1]
    if blob[0] or version > NEWEST_VERSION:
        raise _Odd
    (length,) = _INT32(blob, offset)
    offset += 4
    user_data: bytes | None = None
    if length > 0:
        user_data = blob[offset : offset + length]
        offset += length
    elif not length:
        raise _Odd
    owned: dict[str, tuple[int, ...]] = {}
    if version:
        offset = _partitions_into(owned, blob, offset)
    generation, rack_id = _tail(blob, offset, version)
    return Decoded(
        Subscription(
            version=version,
            topics=topics,
            user_data=user_data,
            owned=owned,
            owned_known=version > 0,
            generation=generation,
            rack_id=rack_id,
        )
    )


def _tail(blob: bytes, offset: int, version: int) -> tuple[int, str | None]:
    """Return generation and rack, behind which the bytes must end."""
    left = len(blob) - offset
    if version < 2:
        if left:
            raise _Odd
        return NO_GENERATION, None
    (generation,) = _INT32(blob, offset)
    if generation < NO_GENERATION or (version == 2 and left != 4):
        raise _Odd
    if version == 2:
        return generation, None
    length = blob[offset + 4] << 8 | blob[offset + 5]
    is_null = length > INT16_MAX
    if not length or left != (6 if is_null else 6 + length):
        raise _Odd
    return generation, None if is_null else blob[offset + 6 :].decode()


def _assignment(blob: bytes) -> Decoded[MemberAssignment]:
    partitions: dict[str, tuple[int, ...]] = {}
    offset = _partitions_into(partitions, blob, 2)
    (length,) = _INT32(blob, offset)
    end = offset + 4 + max(length, 0)
    if blob[0] or blob[1] > NEWEST_VERSION or end != len(blob):
        raise _Odd
    user_data = None if length < 0 else blob[offset + 4 :]
    return Decoded(MemberAssignment(version=blob[1], partitions=partitions, user_data=user_data))


def _partitions_into(partitions: dict[str, tuple[int, ...]], blob: bytes, offset: int) -> int:
    """Read topics and their numbers; return the offset behind them."""
    (count,) = _INT32(blob, offset)
    if not 0 <= count <= COUNT_LIMIT:
        raise _Odd
    offset += 4
    for _ in range(count):
        start = offset + 2
        length = blob[offset] << 8 | blob[offset + 1]
        offset = start + length
        topic = blob[start:offset].decode()
        (number_count,) = _INT32(blob, offset)
        offset += 4
        if length > INT16_MAX or topic in partitions or not 0 <= number_count <= COUNT_LIMIT:
            raise _Odd
        if not number_count:
            continue
        if number_count < FEW:
            numbers = _FEW_NUMBERS[number_count](blob, offset)
        else:
            numbers = struct.unpack_from(f">{number_count}i", blob, offset)
        if min(numbers) < 0:
            raise _Odd
        partitions[topic] = numbers
        offset += 4 * number_count
    return offset
