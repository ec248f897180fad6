"""ConsumerProtocolSubscription, versions 0 to 3: what a member asks for and says it owns.

An int16 version, then topics, UserData, and with each version one field more: owned
partitions (1, KIP-429), generation (2, KIP-792), rack (3, KIP-881). Clients in the field
stamp a version and leave its last fields out, so tolerant reading takes a message that ends
early for what it holds, and says where it ended.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from wire.cursor import Cursor, TopicPartitions
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
    """The int16 as it stands in the bytes: it may be negative or above 3."""
    topics: tuple[str, ...] = ()
    user_data: bytes | None = None
    owned: TopicPartitions = field(default_factory=dict)
    owned_known: bool = True
    """False where the bytes do not say what is owned: version 0, the array null, missing or cut."""
    generation: int = NO_GENERATION
    rack_id: str | None = None


def encode_subscription(subscription: Subscription) -> bytes:
    """Return the canonical bytes: what Kafka 4.4 writes for the same fields.

    Topics and owned partitions are sorted in UTF-16 order; fields younger than the version
    are left out; a version above 3 is written as 3. Raises `WireError` for a negative
    version, a string above 32767 bytes or a number that is no int32.

    >>> encode_subscription(Subscription(version=0, topics=("t",))).hex()
    '000000000001000174ffffffff'
    """
    version, prefix = version_bytes(subscription.version, "subscription")
    chunks = [prefix, topics_bytes(subscription.topics), nullable_bytes(subscription.user_data)]
    if version >= 1:
        chunks.append(partitions_bytes(subscription.owned))
    if version >= 2:
        chunks.append(int32_bytes(max(subscription.generation, NO_GENERATION), "generation"))
    if version >= 3:
        chunks.append(nullable_string_bytes(subscription.rack_id))
    return b"".join(chunks)


def decode_subscription(
    blob: bytes | bytearray | memoryview, *, mode: Mode = Mode.TOLERANT
) -> Decoded[Subscription]:
    """Return the Subscription in `blob`. Never raises. Cost: linear in its size.

    Tolerant: the value as far as the bytes go, with notes; no value only below two bytes.
    Strict: the value where Kafka 4.4 reads one, else its error.

    >>> decoded = decode_subscription(bytes.fromhex("0001" "00000001" "000174" "ffffffff"))
    >>> decoded.value.topics, [note.code.value for note in decoded.notes]
    (('t',), ['owned-missing'])
    """
    cursor = Cursor(bytes(blob), mode)
    draft = _Draft()
    error: WireError | None = None
    try:
        draft.read(cursor)
    except WireError as failure:
        error = failure
    if error is None:
        cursor.note_trailing()
    elif cursor.is_strict or draft.version is None:
        return Decoded(notes=_without_value(cursor), error=error)
    else:
        draft.note_end(cursor, error)
    return Decoded(value=draft.value(), notes=cursor.oddities.notes())


def _without_value(cursor: Cursor) -> tuple[Note, ...]:
    if cursor.size < 2:
        text = f"{cursor.size} bytes hold no version"
        cursor.oddities.add(NoteCode.EMPTY_BLOB, 0, text)
    return cursor.oddities.notes()


class _Draft:
    """The fields read so far: what is here when the bytes end is the value."""

    __slots__ = (
        "field",
        "generation",
        "owned",
        "owned_known",
        "rack_id",
        "topics",
        "user_data",
        "version",
    )

    def __init__(self) -> None:
        self.field = "version"
        self.version: int | None = None
        self.topics: list[str] = []
        self.user_data: bytes | None = None
        self.owned: dict[str, tuple[int, ...]] = {}
        self.owned_known = False
        self.generation = NO_GENERATION
        self.rack_id: str | None = None

    def read(self, cursor: Cursor) -> None:
        """Read field by field; `WireError` where the bytes end or a length cannot be."""
        version = self._read_version(cursor)
        self.field = "topics"
        cursor.topics_into(self.topics)
        self.field = "user data"
        self._read_user_data(cursor)
        if version >= 1:
            self.field = "owned"
            self._read_owned(cursor)
        if version >= 2:
            self.field = "generation"
            self._read_generation(cursor)
        if version >= 3:
            self.field = "rack"
            self._read_rack(cursor)

    def note_end(self, cursor: Cursor, error: WireError) -> None:
        """Say where the bytes ended, by the name of the field where clients do that."""
        is_before_field = cursor.offset == cursor.size
        code = NoteCode.CUT
        if self.field == "owned":
            code = (
                NoteCode.OWNED_MISSING if is_before_field and not self.owned else NoteCode.OWNED_CUT
            )
        elif self.field == "generation" and is_before_field:
            code = NoteCode.GENERATION_MISSING
        elif self.field == "rack" and is_before_field:
            code = NoteCode.RACK_MISSING
        cursor.oddities.add(code, error.offset, f"{self.field}: {error.text}")

    def value(self) -> Subscription:
        """Return what has been read."""
        return Subscription(
            version=0 if self.version is None else self.version,
            topics=tuple(self.topics),
            user_data=self.user_data,
            owned=self.owned,
            owned_known=self.owned_known,
            generation=self.generation,
            rack_id=self.rack_id,
        )

    def _read_version(self, cursor: Cursor) -> int:
        version = cursor.int16("version")
        if version < 0 and cursor.is_strict:
            text = f"unsupported subscription version: {version}"
            raise WireError(ErrorKind.UNKNOWN_VERSION, text, 0)
        self.version = version
        if version < 0:
            cursor.oddities.add(NoteCode.VERSION_NEGATIVE, 0, f"version {version}, read as 0")
        elif version > NEWEST_VERSION:
            text = f"version {version}, read as {NEWEST_VERSION}"
            cursor.oddities.add(NoteCode.VERSION_ABOVE_3, 0, text)
        return version

    def _read_user_data(self, cursor: Cursor) -> None:
        start = cursor.offset
        self.user_data = cursor.nullable_bytes("user data")
        if self.user_data == b"":
            cursor.oddities.add(NoteCode.USER_DATA_EMPTY, start, "user data of length 0, not null")

    def _read_owned(self, cursor: Cursor) -> None:
        before = len(cursor.oddities.notes())
        cursor.partitions_into(self.owned, NoteCode.OWNED_NULL)
        noted = [note.code for note in cursor.oddities.notes()[before:]]
        self.owned_known = NoteCode.OWNED_NULL not in noted

    def _read_generation(self, cursor: Cursor) -> None:
        start = cursor.offset
        generation = cursor.int32("generation")
        self.generation = max(generation, NO_GENERATION)
        if generation < NO_GENERATION:
            text = f"generation {generation} is negative, read as none"
            cursor.oddities.add(NoteCode.GENERATION_NEGATIVE, start, text)

    def _read_rack(self, cursor: Cursor) -> None:
        start = cursor.offset
        rack_id = cursor.nullable_string("rack")
        self.rack_id = rack_id or None
        if rack_id == "":
            cursor.oddities.add(NoteCode.RACK_EMPTY, start, "rack of length 0, not null")
