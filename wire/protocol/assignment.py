"""ConsumerProtocolAssignment, versions 0 to 3: what the leader gives a member.

All versions have the same bytes behind the version: topics with their partitions, UserData.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from wire.cursor import Cursor, TopicPartitions, as_bytes
from wire.decoded import Decoded, Mode, NoteCode
from wire.errors import ErrorKind, WireError
from wire.writing import NEWEST_VERSION, nullable_bytes, partitions_bytes, version_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberAssignment:
    """A member's Assignment, field by field as the bytes have it."""

    version: int = NEWEST_VERSION
    """As in the bytes."""
    partitions: TopicPartitions = field(default_factory=dict)
    """Assigned partitions, in the order of the bytes."""
    user_data: bytes | None = None
    """Bytes of the assignor."""


def encode_assignment(
    partitions: TopicPartitions | MemberAssignment,
    *,
    user_data: bytes | None = None,
    version: int = NEWEST_VERSION,
    keep_order: bool = False,
) -> bytes:
    """Return the bytes: topics and numbers sorted, or in the given order as Java writes them.

    `partitions` is topic -> numbers, or all that `decode_assignment` returned, with its own
    version and UserData. A version above 3 is written as 3. Raises `WireError` for a negative
    version, a topic above 32767 bytes or a number that is no int32. Cost: O(P log P) for P
    partitions.

    >>> encode_assignment({}, version=1).hex()
    '000100000000ffffffff'
    >>> encode_assignment(MemberAssignment(version=1)).hex()
    '000100000000ffffffff'
    """
    if isinstance(partitions, MemberAssignment):
        if user_data is not None or version != NEWEST_VERSION:
            raise ValueError("the MemberAssignment has a version and UserData of its own")
        given, partitions = partitions, partitions.partitions
        user_data, version = given.user_data, given.version
    _, prefix = version_bytes(version, "assignment")
    return prefix + partitions_bytes(partitions, keep_order=keep_order) + nullable_bytes(user_data)


def decode_assignment(
    blob: bytes | bytearray | memoryview, *, mode: Mode = Mode.TOLERANT
) -> Decoded[MemberAssignment]:
    """Return the Assignment in `blob`, whatever bytes it has. Cost: linear in its size.

    Tolerant: the value as far as the bytes go, with notes. Strict: the value where Kafka 4.4
    reads one, else its error. Zero bytes, which a broker sends to a member that its leader left
    out, have no value in either mode.

    >>> decode_assignment(bytes.fromhex("000100000000ffffffff")).value.partitions
    {}
    """
    cursor = Cursor(as_bytes(blob), mode)
    version: int | None = None
    partitions: dict[str, tuple[int, ...]] = {}
    user_data: bytes | None = None
    try:
        version = _version(cursor)
        cursor.partitions_into(partitions, NoteCode.TOPICS_NULL)
        user_data = cursor.nullable_bytes("user data")
        cursor.note_trailing()
    except WireError as error:
        if cursor.size < 2:
            text = f"{cursor.size} bytes hold no version"
            cursor.oddities.add(NoteCode.EMPTY_BLOB, 0, text)
        if cursor.is_strict or version is None:
            return Decoded(notes=cursor.oddities.notes(), error=error)
        cursor.oddities.add(NoteCode.CUT, error.offset, error.text)
    value = MemberAssignment(version=version, partitions=partitions, user_data=user_data)
    return Decoded(value=value, notes=cursor.oddities.notes())


def _version(cursor: Cursor) -> int:
    version = cursor.int16("version")
    if version < 0:
        if cursor.is_strict:
            text = f"unsupported assignment version: {version}"
            raise WireError(ErrorKind.UNKNOWN_VERSION, text, 0)
        cursor.oddities.add(NoteCode.VERSION_NEGATIVE, 0, f"version {version}")
    elif version > NEWEST_VERSION:
        cursor.oddities.add(NoteCode.VERSION_ABOVE_3, 0, f"version {version}, read as 3")
    return version
