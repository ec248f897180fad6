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
    CUT = "cut"
    VERSION_NEGATIVE = "version-negative"
    VERSION_ABOVE_3 = "version-above-3"
    TRAILING_BYTES = "trailing-bytes"
    TOPICS_NULL = "topics-null"
    TOPIC_NULL = "topic-null"
    TOPIC_REPEATED = "topic-repeated"
    USER_DATA_NULL = "user-data-null"
    USER_DATA_EMPTY = "user-data-empty"
    USER_DATA_SHORT = "user-data-short"
    USER_DATA_UNREADABLE = "user-data-unreadable"
    OWNED_MISSING = "owned-missing"
    OWNED_CUT = "owned-cut"
    OWNED_NULL = "owned-null"
    PARTITIONS_NULL = "partitions-null"
    PARTITION_NEGATIVE = "partition-negative"
    PARTITION_REPEATED = "partition-repeated"
    GENERATION_MISSING = "generation-missing"
    GENERATION_NEGATIVE = "generation-negative"
    RACK_MISSING = "rack-missing"
    RACK_EMPTY = "rack-empty"
    COUNT_ABOVE_LIMIT = "count-above-limit"
    INVALID_UTF8 = "invalid-utf8"
    INT16_PREFIX = "int16-prefix"
    STICKY_LAYOUT = "sticky-layout"
    UNKNOWN_TAG = "unknown-tag"
    TAG_REPEATED = "tag-repeated"
    TAG_SIZE = "tag-size"


@dataclass(frozen=True, slots=True)
class Note:
    """A rule that the bytes break, the first byte where they do, and what is there, in words."""

    code: NoteCode
    offset: int
    text: str


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
