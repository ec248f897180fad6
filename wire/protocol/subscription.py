"""ConsumerProtocolSubscription, versions 0 to 3: topics and owned partitions of a member.

An int16 version, then topics, UserData, and with each version one field more: owned
partitions (1, KIP-429), generation (2, KIP-792), rack (3, KIP-881). Clients in the field
stamp a version and leave its last fields out, so tolerant reading takes a message that ends
early for what it holds, and says where it ended.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from wire.cursor import Cursor, TopicPartitions, as_bytes
from wire.decoded import Decoded, Mode, Note, NoteCode
from wire.errors import ErrorKind, WireError
from wire.writing import (
    NEWEST_VERSION,
    int32_bytes,
    nullable_bytes,
    nullable_string_bytes,
    partitions_bytes,
    topics_bytes,
    version_bytes,
)

NO_GENERATION = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """A member's Subscription, field by field as the bytes have it."""

    version: int = NEWEST_VERSION
    """As in the bytes: it may be negative or above 3."""
    topics: tuple[str, ...] = ()
    """Topics asked for."""
    user_data: bytes | None = None
    """Bytes for the assignor."""
    owned: TopicPartitions = field(default_factory=dict)
    """Owned partitions, in the order of the bytes."""
    owned_known: bool = True
    """False where the bytes do not say what is owned: version 0, the array null, missing or cut."""
    generation: int = NO_GENERATION
    """The generation in which they were owned; -1: none."""
    rack_id: str | None = None
    """`client.rack`, if it is given and not empty."""


def encode_subscription(subscription: Subscription, *, keep_order: bool = False) -> bytes:
    """Return the canonical bytes: what Kafka 4.4 writes for the same fields.

    Topics and owned partitions are sorted in UTF-16 order, unless the given order is to be kept
    as some clients keep it. Fields younger than the version are left out; a version above 3 is
    written as 3. Raises `WireError` for a negative version, a string above 32767 bytes, a number
    that is no int32, or one topic in place of several. Cost: O(P log P) for P topics and
    partitions.

    >>> encode_subscription(Subscription(version=0, topics=("t",))).hex()
    '000000000001000174ffffffff'
    """
    version, prefix = version_bytes(subscription.version, "subscription")
    chunks = [
        prefix,
        topics_bytes(subscription.topics, keep_order=keep_order),
        nullable_bytes(subscription.user_data),
    ]
    if version >= 1:
        chunks.append(partitions_bytes(subscription.owned, keep_order=keep_order))
    if version >= 2:
        chunks.append(int32_bytes(max(subscription.generation, NO_GENERATION), "generation"))
    if version >= 3:
        chunks.append(nullable_string_bytes(subscription.rack_id))
    return b"".join(chunks)


def decode_subscription(
    blob: bytes | bytearray | memoryview, *, mode: Mode = Mode.TOLERANT
) -> Decoded[Subscription]:
    """Return the Subscription in `blob`, whatever bytes it has. Cost: linear in its size.

    Tolerant: the value as far as the bytes go, with notes; no value only below two bytes.
    Strict: the value where Kafka 4.4 reads one, else its error.

    >>> decoded = decode_subscription(bytes.fromhex("0001" "00000001" "000174" "ffffffff"))
    >>> decoded.value.topics, [note.code.value for note in decoded.notes]
    (('t',), ['owned-missing'])
    """
    cursor = Cursor(as_bytes(blob), mode)
    # The fields read so far: where the bytes end early, these are the value.
    version: int | None = None
    topics: list[str] = []
    user_data: bytes | None = None
    owned: dict[str, tuple[int, ...]] = {}
    owned_known = False
    generation = NO_GENERATION
    rack_id: str | None = None
    field = "version"
    try:
        version = _version(cursor)
        field = "topics"
        cursor.topics_into(topics)
        field = "user data"
        user_data = _user_data(cursor)
        if version >= 1:
            field = "owned"
            owned_known = cursor.partitions_into(owned, NoteCode.OWNED_NULL)
        if version >= 2:
            field = "generation"
            generation = _generation(cursor)
        if version >= 3:
            field = "rack"
            rack_id = _rack(cursor)
        cursor.note_trailing()
    except WireError as error:
        if cursor.is_strict or version is None:
            return Decoded(notes=_notes_without_value(cursor), error=error)
        text = error.text if error.text.startswith(field) else f"{field}: {error.text}"
        cursor.oddities.add(_end_code(cursor, field, owned), error.offset, text)
    value = Subscription(
        version=version,
        topics=tuple(topics),
        user_data=user_data,
        owned=owned,
        owned_known=owned_known,
        generation=generation,
        rack_id=rack_id,
    )
    return Decoded(value=value, notes=cursor.oddities.notes())


def _notes_without_value(cursor: Cursor) -> tuple[Note, ...]:
    if cursor.size < 2:
        text = f"{cursor.size} bytes hold no version"
        cursor.oddities.add(NoteCode.EMPTY_BLOB, 0, text)
    return cursor.oddities.notes()


def _end_code(cursor: Cursor, field: str, owned: TopicPartitions) -> NoteCode:
    """Return the rule that bytes break which end in this field: clients are known to omit some."""
    is_before_field = cursor.offset == cursor.size
    if field == "owned":
        return NoteCode.OWNED_MISSING if is_before_field and not owned else NoteCode.OWNED_CUT
    if field == "generation" and is_before_field:
        return NoteCode.GENERATION_MISSING
    if field == "rack" and is_before_field:
        return NoteCode.RACK_MISSING
    return NoteCode.CUT


def _version(cursor: Cursor) -> int:
    version = cursor.int16("version")
    if version < 0:
        if cursor.is_strict:
            text = f"unsupported subscription version: {version}"
            raise WireError(ErrorKind.UNKNOWN_VERSION, text, 0)
        cursor.oddities.add(NoteCode.VERSION_NEGATIVE, 0, f"version {version}, read as 0")
    elif version > NEWEST_VERSION:
        text = f"version {version}, read as {NEWEST_VERSION}"
        cursor.oddities.add(NoteCode.VERSION_ABOVE_3, 0, text)
    return version


def _user_data(cursor: Cursor) -> bytes | None:
    start = cursor.offset
    user_data = cursor.nullable_bytes("user data")
    if user_data == b"":
        cursor.oddities.add(NoteCode.USER_DATA_EMPTY, start, "user data of length 0, not null")
    return user_data


def _generation(cursor: Cursor) -> int:
    start = cursor.offset
    generation = cursor.int32("generation")
    if generation < NO_GENERATION:
        text = f"generation {generation} is negative, read as none"
        cursor.oddities.add(NoteCode.GENERATION_NEGATIVE, start, text)
        return NO_GENERATION
    return generation


def _rack(cursor: Cursor) -> str | None:
    start = cursor.offset
    rack_id = cursor.nullable_string("rack")
    if rack_id == "":
        cursor.oddities.add(NoteCode.RACK_EMPTY, start, "rack of length 0, not null")
        return None
    return rack_id
