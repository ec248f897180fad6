"""Reading the consumer protocol from one buffer: numbers, strings, lists of partitions.

Every read checks what is left before it takes anything, so no count in the input can make
the reader allocate more than the input holds. In tolerant mode a list that says it is longer
than the bytes yields what is there before the reading stops; what has been read by then stays
with the caller, which hands in the list or dict to fill.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from itertools import chain

from wire.decoded import Mode, NoteCode, Oddities
from wire.errors import ErrorKind, WireError
from wire.text import replaced_utf8

TopicPartitions = Mapping[str, tuple[int, ...]]
"""Topic -> partition numbers, in the order of the bytes."""

INT16_MAX = 32767

COUNT_LIMIT = 1_000_000
"""Longest array that Kafka 4.4 reads."""

_INT16 = struct.Struct(">h")
_INT32 = struct.Struct(">i")

_NUMBERS = [struct.Struct(f">{count}i") for count in range(32)]
"""For short lists of partition numbers, which are most."""


def as_bytes(blob: bytes | bytearray | memoryview) -> bytes:
    """Return the bytes of a blob. Raises `TypeError` for text, which somebody has to decode first.

    >>> as_bytes(memoryview(b"k"))
    b'k'
    """
    if type(blob) is bytes:
        return blob
    if isinstance(blob, bytes | bytearray | memoryview):
        return bytes(blob)
    hint = "; bytes.fromhex(...) reads hexadecimal" if isinstance(blob, str) else ""
    raise TypeError(f"expected bytes, found {type(blob).__name__}{hint}")


class Cursor:
    """A position in a buffer, and the notes on what was odd up to there."""

    __slots__ = ("data", "is_strict", "oddities", "offset", "size")

    def __init__(self, data: bytes, mode: Mode) -> None:
        """Stand at the start of `data`."""
        self.data = data
        self.offset = 0
        self.size = len(data)
        self.is_strict = mode is Mode.STRICT
        self.oddities = Oddities()

    def int16(self, what: str) -> int:
        """Return the next int16."""
        offset = self.offset
        if offset + 2 > self.size:
            raise self._truncated(what, 2)
        self.offset = offset + 2
        value: int = _INT16.unpack_from(self.data, offset)[0]
        return value

    def int32(self, what: str) -> int:
        """Return the next int32."""
        offset = self.offset
        if offset + 4 > self.size:
            raise self._truncated(what, 4)
        self.offset = offset + 4
        value: int = _INT32.unpack_from(self.data, offset)[0]
        return value

    def count(self, what: str, null: NoteCode) -> int:
        """Return an array's length; a null array has none, which strict mode refuses."""
        offset = self.offset
        left = self.size - offset - 4
        if left < 0:
            raise self._truncated(what, 4)
        self.offset = offset + 4
        count: int = _INT32.unpack_from(self.data, offset)[0]
        if 0 <= count <= left and count <= COUNT_LIMIT:
            return count
        if count < 0:
            if self.is_strict:
                raise WireError(ErrorKind.BAD_LENGTH, f"{what}: {count} elements", offset)
            self.oddities.add(null, offset, f"{what}: null array ({count})")
            return 0
        if self.is_strict:
            text = f"{what}: {count} elements in {left} bytes"
            raise WireError(ErrorKind.BAD_LENGTH, text, offset)
        if count > COUNT_LIMIT:
            text = f"{what}: {count} elements, Kafka reads at most {COUNT_LIMIT}"
            self.oddities.add(NoteCode.COUNT_ABOVE_LIMIT, offset, text)
        return count

    def take(self, length: int, what: str) -> bytes:
        """Return the next `length` bytes."""
        offset = self.offset
        if offset + length > self.size:
            raise self._truncated(what, length)
        self.offset = offset + length
        return self.data[offset : offset + length]

    def nullable_bytes(self, what: str) -> bytes | None:
        """Return bytes behind an int32 length; every negative length is null."""
        length = self.int32(what)
        return None if length < 0 else self.take(length, what)

    def nullable_string(self, what: str) -> str | None:
        """Return text behind an int16 length; every negative length is null."""
        offset = self.offset
        start = offset + 2
        if start > self.size:
            raise self._truncated(what, 2)
        data = self.data
        length = data[offset] << 8 | data[offset + 1]
        self.offset = start
        if length > INT16_MAX:
            return None
        end = start + length
        if end > self.size:
            raise self._truncated(what, length)
        self.offset = end
        data = data[start:end]
        try:
            return data.decode()
        except UnicodeDecodeError:
            self.oddities.add(NoteCode.INVALID_UTF8, offset, f"{what}: invalid UTF-8")
            return replaced_utf8(data)

    def topics_into(self, topics: list[str]) -> None:
        """Append an array of topic names to `topics`."""
        seen: set[str] = set()
        for _ in range(self.count("topics", NoteCode.TOPICS_NULL)):
            start = self.offset
            topic = self.nullable_string("topic")
            if topic is None:
                topic = self._null_topic(start)
            if topic in seen:
                self._note_repeated(topic, start)
            seen.add(topic)
            topics.append(topic)

    def partitions_into(self, partitions: dict[str, tuple[int, ...]], null: NoteCode) -> bool:
        """Add an array of (topic, partition numbers) to `partitions`.

        Returns whether there is one: False where the array is null. A topic that stands more
        than once is merged, a topic without numbers is left out.
        Cost: linear in the bytes, however often a topic is repeated.
        """
        offset = self.offset
        repeated: dict[str, list[tuple[int, ...]]] = {}
        try:
            for _ in range(self.count("partitions by topic", null)):
                start = self.offset
                topic = self.nullable_string("topic")
                if topic is None:
                    topic = self._null_topic(start)
                numbers, is_cut = self._numbers()
                if topic in partitions:
                    self._note_repeated(topic, start)
                    repeated.setdefault(topic, [partitions[topic]]).append(numbers)
                elif numbers:
                    partitions[topic] = numbers
                if is_cut:
                    raise self._truncated("partitions", 4)
        finally:
            for topic, groups in repeated.items():
                partitions[topic] = tuple(chain.from_iterable(groups))
        return self.data[offset] < 0x80

    def note_trailing(self) -> None:
        """Note bytes after the end of the message."""
        if self.offset < self.size:
            text = f"{self.size - self.offset} bytes after the end"
            self.oddities.add(NoteCode.TRAILING_BYTES, self.offset, text)

    def _null_topic(self, offset: int) -> str:
        """Return the name that a null one is read as; strict mode refuses it."""
        if self.is_strict:
            raise WireError(ErrorKind.BAD_LENGTH, "topic: null name", offset)
        self.oddities.add(NoteCode.TOPIC_NULL, offset, "topic: null name")
        return ""

    def _numbers(self) -> tuple[tuple[int, ...], bool]:
        """Return a list of partition numbers in one step, and whether the bytes end early."""
        offset, size = self.offset, self.size
        start = offset + 4
        there = _INT32.unpack_from(self.data, offset)[0] if start <= size else -1
        end = start + 4 * there
        is_cut = False
        if not 0 <= there <= COUNT_LIMIT or end > size:
            count = self.count("partitions", NoteCode.PARTITIONS_NULL)
            there = min(count, (size - start) // 4)
            end = start + 4 * there
            is_cut = there < count
            if is_cut and self.is_strict:
                raise self._truncated("partitions", 4 * count)
        form = _NUMBERS[there] if there < len(_NUMBERS) else struct.Struct(f">{there}i")
        numbers: tuple[int, ...] = form.unpack_from(self.data, start)
        self.offset = end
        if not self.data[start:end:4].isascii():  # a sign bit is set somewhere
            text = f"partition {min(numbers)} is negative"
            self.oddities.add(NoteCode.PARTITION_NEGATIVE, start, text)
        return numbers, is_cut

    def _note_repeated(self, topic: str, offset: int) -> None:
        text = f"topic {topic!r} stands more than once"
        self.oddities.add(NoteCode.TOPIC_REPEATED, offset, text)

    def _truncated(self, what: str, length: int) -> WireError:
        left = self.size - self.offset
        return WireError(ErrorKind.TRUNCATED, f"{what}: {length} bytes in {left}", self.offset)
