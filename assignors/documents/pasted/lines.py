"""Which lines are one value: those of a dump, and those over which one value was wrapped.

Values stand one a line, and a line that reads whole is always a value of its own. A line that does
not is joined with the lines after it if all of them together read whole, to the last byte, and if
none of those lines begins as a value does. A bracket that stays open, and a backslash at the end of
a line, join lines whatever they hold.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Any, Generic, TypeVar

from assignors.documents.pasted.dumps import blocks
from assignors.documents.pasted.forms import QUOTED, CutTextError
from assignors.documents.pasted.frames import other_kind_sentence
from assignors.documents.pasted.given import given_bytes
from assignors.documents.values import DocumentError
from wire import Decoded, Mode, NoteCode
from wire.frames import UNSOUND, group_frames

T = TypeVar("T")


UNREAD = frozenset(
    {
        NoteCode.CUT,
        NoteCode.OWNED_CUT,
        NoteCode.TRAILING_BYTES,
        NoteCode.USER_DATA_UNREADABLE,
    }
)
"""Notes on the first byte that was not read; of unreadable UserData nothing is."""


@dataclass(frozen=True, slots=True)
class Reading:
    """How values of a kind are read, which decides what lines are one value."""

    kind: str
    decode: Callable[..., Decoded[Any]]

    def is_whole(self, blob: bytes, *, is_strict: bool) -> bool:
        """Return whether Kafka reads the bytes to their end; else whether they are sound."""
        found = self.decode(blob, mode=Mode.STRICT if is_strict else Mode.TOLERANT)
        odd = {note.code for note in found.notes} & (UNSOUND if is_strict else UNSOUND | UNREAD)
        if found.error is None and not odd:
            return True
        return is_strict and other_kind_sentence(blob, self.kind) is not None

    def begins(self, blob: bytes) -> bool:
        """Return whether the bytes begin as those of a value do: the first topic can be read."""
        value = self.decode(blob).value
        fields = ("topics", "partitions", "owned")
        names = [name for field in fields for name in getattr(value, field, None) or ()]
        is_known = getattr(value, "version", 0) in range(4)
        return is_known and bool(names) and bool(names[0]) and names[0].isprintable()


ANY_WIDTHS = 8
"""Most lines that are joined whatever their widths: longer values were wrapped by a program."""
SIZE_MAX = 2**24
"""Most characters of lines that are joined, `LINE_SIZE` more for each of them."""
LINE_SIZE = 64
PASTED_MAX = 64
"""Where more lines than these do not read whole together, each of them is one value."""


@dataclass(slots=True)
class _Ahead(Generic[T]):
    """Lines that were read ahead: one, or those of a dump."""

    lines: list[T]
    text: bytes
    is_strict: bool
    """Whether it reads whole as Kafka's classes read."""
    is_value: bool
    """Whether it reads whole, or begins as a value does."""


def values(
    lines: Iterable[T], text_of: Callable[[T], bytes], reading: Reading
) -> Iterator[list[T]]:
    """Yield the lines of each value.

    Nothing is read ahead of a line that reads whole. Cost: linear in the lines, as a search that
    fails is repeated for `PASTED_MAX` lines at most.
    """
    source = (_looked_at(block, text_of(block[0]), reading) for block in blocks(lines, text_of))
    ahead: deque[_Ahead[T]] = deque()
    alone = 0
    """How many of the next lines were searched in vain."""
    while ahead or _has_more(ahead, source):
        first = ahead[0]
        count = 1
        if not (alone or first.is_strict or len(first.lines) > 1) and first.text.strip():
            count, searched = _search(ahead, source, reading)
            alone = searched if count == 1 and searched > PASTED_MAX else 0
        yield [line for _ in range(count) for line in ahead.popleft().lines]
        alone = max(alone - 1, 0)


def _looked_at(block: list[T], text: bytes, reading: Reading) -> _Ahead[T]:
    blob = _blob([text])
    if blob is None or len(block) > 1:
        return _Ahead(block, text, is_strict=False, is_value=len(block) > 1)
    is_strict = reading.is_whole(blob, is_strict=True)
    is_value = is_strict or reading.begins(blob) or reading.is_whole(blob, is_strict=False)
    return _Ahead(block, text, is_strict=is_strict, is_value=is_value)


def _search(
    ahead: deque[_Ahead[T]], source: Iterator[_Ahead[T]], reading: Reading
) -> tuple[int, int]:
    """Return how many lines are one value, and how many were tried; the first is in `ahead`."""
    is_joined = _goes_on(ahead[0].text, _depth(ahead[0].text))
    texts = []
    for line in _candidates(ahead, source, is_joined=is_joined):
        texts.append(line.text)
        count = len(texts)
        if count == 2 and (blob := _blob(texts[:1])) is not None and group_frames(blob):
            return 1, 1
        if not is_joined and 1 < count <= ANY_WIDTHS and _is_whole(texts, reading, is_strict=True):
            return count, count
    count = len(texts)
    if count == 1 or (is_joined and _blob(texts) is not None):
        return count, count
    if _is_whole(texts, reading, is_strict=True):
        return count, count
    for fewer in (1, *range(2, min(count, ANY_WIDTHS + 1)), count):
        if _is_whole(texts[:fewer], reading, is_strict=False):
            return fewer, count
    return 1, count


def _candidates(
    ahead: deque[_Ahead[T]], source: Iterator[_Ahead[T]], *, is_joined: bool
) -> Iterator[_Ahead[T]]:
    """Yield the first line and those that may go on with its value.

    Lines that are joined by brackets or backslashes go on until the last of them; others for a few
    lines, or as long as they are as wide as the first, and one that is shorter.
    """
    first = ahead[0]
    yield first
    depth = _depth(first.text)
    is_full = True
    size = len(first.text)
    for number in count(1):
        if len(ahead) == number and not _has_more(ahead, source):
            return
        line = ahead[number]
        size += len(line.text) + LINE_SIZE
        if size > SIZE_MAX or len(line.lines) > 1 or not line.text.strip():
            return
        is_full = is_full and len(line.text) <= len(first.text)
        if not is_joined and (line.is_value or (number >= ANY_WIDTHS and not is_full)):
            return
        yield line
        depth += _depth(line.text)
        is_full = is_full and len(line.text) == len(first.text)
        if is_joined and not _goes_on(line.text, depth):
            return


def _has_more(ahead: deque[_Ahead[T]], source: Iterator[_Ahead[T]]) -> bool:
    """Read one line or dump more; return whether there was one."""
    size = len(ahead)
    ahead.extend(islice(source, 1))
    return len(ahead) > size


def _goes_on(text: bytes, depth: int) -> bool:
    """Return whether a line says that its value goes on."""
    return depth > 0 or text.rstrip().endswith(b"\\")


def _depth(text: bytes) -> int:
    """Return how many brackets a line opens and does not close; among escapes they are bytes."""
    text = QUOTED.sub(b"", text)
    if b"\\x" in text:
        return 0
    opened = sum(text.count(bracket) for bracket in (b"[", b"{", b"(", b"<<"))
    return opened - sum(text.count(bracket) for bracket in (b"]", b"}", b")", b">>"))


def _is_whole(texts: Sequence[bytes], reading: Reading, *, is_strict: bool) -> bool:
    blob = _blob(texts)
    if blob is None:
        return False
    return reading.is_whole(blob, is_strict=is_strict) or (is_strict and bool(group_frames(blob)))


def _blob(texts: Sequence[bytes]) -> bytes | None:
    try:
        return given_bytes(b"\n".join(texts))[0]
    except CutTextError as error:
        return error.blob
    except DocumentError:
        return None
