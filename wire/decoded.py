"""The result of decoding: a value as far as it could be read, notes on what was odd, an error."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from wire.errors import ErrorKind, WireError

T = TypeVar("T")


class Mode(StrEnum):
    """How strictly a decoder reads."""

    STRICT = "strict"
    """Accept and refuse exactly what Kafka's own classes do."""
    TOLERANT = "tolerant"
    """Accept whatever a real client is known to write, and say what was odd."""


class NoteCode(StrEnum):
    """The rules that bytes may break and still be read; each note names one."""

    EMPTY_BLOB = "empty-blob"
    """Fewer than two bytes: not even a version."""
    CUT = "cut"
    """The bytes end within a field; what stands before it was read."""
    VERSION_NEGATIVE = "version-negative"
    """The version is below 0."""
    VERSION_ABOVE_3 = "version-above-3"
    """The version is newer than 3; read as 3, as Kafka does."""
    TRAILING_BYTES = "trailing-bytes"
    """Bytes follow the last field."""
    TOPICS_NULL = "topics-null"
    """The array of topics, or of assigned partitions, is null; read as empty."""
    TOPIC_NULL = "topic-null"
    """The name of a topic is null; read as an empty name."""
    TOPIC_REPEATED = "topic-repeated"
    """A topic occurs more than once; its partitions are merged."""
    USER_DATA_EMPTY = "user-data-empty"
    """UserData has length 0, where Java writes null."""
    USER_DATA_SHORT = "user-data-short"
    """UserData of the cooperative assignor has fewer than the 4 bytes of a generation."""
    USER_DATA_UNREADABLE = "user-data-unreadable"
    """UserData fits no known layout: the member's claims are not known."""
    OWNED_MISSING = "owned-missing"
    """A Subscription of version 1 or newer ends before its owned partitions."""
    OWNED_CUT = "owned-cut"
    """The bytes end within the owned partitions; those before were read."""
    OWNED_NULL = "owned-null"
    """The array of owned partitions is null."""
    PARTITIONS_NULL = "partitions-null"
    """The array of a topic's partition numbers is null; read as empty."""
    PARTITION_NEGATIVE = "partition-negative"
    """A partition number is negative."""
    GENERATION_MISSING = "generation-missing"
    """A Subscription of version 2 or newer ends before its generation."""
    GENERATION_NEGATIVE = "generation-negative"
    """The generation is below -1; read as none."""
    RACK_MISSING = "rack-missing"
    """A Subscription of version 3 ends before its rack."""
    RACK_EMPTY = "rack-empty"
    """The rack has length 0, where Java writes null; read as none."""
    COUNT_ABOVE_LIMIT = "count-above-limit"
    """An array has more elements than Kafka reads."""
    INVALID_UTF8 = "invalid-utf8"
    """Text is not valid UTF-8; what is wrong was replaced, as Java does."""
    INT16_PREFIX = "int16-prefix"
    """An int16 stands before UserData, as kafka-python 3 writes it."""
    MEMBER_VERSION = "member-version"
    """An int16 stands before each member of a GROUP_METADATA value, as Redpanda writes it."""
    STICKY_LAYOUT = "sticky-layout"
    """Cooperative UserData has the owned partitions too, as librdkafka and franz-go write it."""
    UNKNOWN_TAG = "unknown-tag"
    """A tagged field that Kafka 4.4 does not have; it was skipped."""
    TAG_REPEATED = "tag-repeated"
    """A tagged field occurs twice; the last one counts."""
    INPUT_FORM = "input-form"
    """The bytes were not written in plain hexadecimal: in which form they were read."""
    INPUT_FRAME = "input-frame"
    """The bytes are a whole message of JoinGroup, SyncGroup or DescribeGroups: which, what part."""
    INPUT_KIND = "input-kind"
    """The bytes read whole as the other kind too: Subscription and Assignment."""
    MOSTLY_UNREAD = "mostly-unread"
    """More than half of the bytes were not read: they may be something else."""
    TAG_SIZE = "tag-size"
    """The size of a tagged field is larger than the field."""


@dataclass(frozen=True, slots=True)
class Note:
    """A rule that the bytes break, the first byte where they do, and what is there, in words."""

    code: NoteCode
    """What is odd, as a code."""
    offset: int
    """The first byte where it is."""
    text: str
    """The same, for people."""


@dataclass(frozen=True, slots=True)
class Decoded(Generic[T]):
    """A value, or the error that left none; and everything odd on the way."""

    value: T | None = None
    notes: tuple[Note, ...] = ()
    error: WireError | None = None

    def require(self) -> T:
        """Return the value; raise the error if there is one."""
        if self.error is not None:
            raise self.error
        if self.value is None:
            raise WireError(ErrorKind.TRUNCATED, "no value could be read")
        return self.value


class Oddities:
    """Collects notes, one for each rule however often it was broken.

    A blob of a megabyte can break a rule half a million times: the note keeps the first
    place and the count.
    """

    __slots__ = ("_seen",)

    def __init__(self) -> None:
        """Start with none."""
        self._seen: dict[NoteCode, tuple[int, str, int]] = {}

    def add(self, code: NoteCode, offset: int, text: str) -> None:
        """Record one more breach of a rule."""
        first = self._seen.get(code)
        if first is None:
            self._seen[code] = (offset, text, 1)
        else:
            self._seen[code] = (first[0], first[1], first[2] + 1)

    def notes(self) -> tuple[Note, ...]:
        """Return a note for each rule, in order of first breach."""
        if not self._seen:
            return ()
        return tuple(
            Note(code, offset, text if count == 1 else f"{text} ({count} times)")
            for code, (offset, text, count) in self._seen.items()
        )
