"""Bytes in many lines: what xxd, hexdump -C, od -t x1, tcpdump -X and Wireshark print.

Each line has an offset, bytes, and perhaps the same bytes as text. The text is compared with the
bytes: it decides where the bytes end, and a dump whose words are swapped is refused. Offsets
must follow each other, in hexadecimal, octal or decimal.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from assignors.documents.pasted.forms import Given
from assignors.documents.values import DocumentError, ErrorCode

WITH_COLON = re.compile(rb"\s*(?:0[xX])?([0-9A-Fa-f]{4,16}):\s{1,2}(\S.*?)\s*")
"""xxd and tcpdump: a colon behind the offset."""
WITH_SPACES = re.compile(rb"\s*([0-9A-Fa-f]{4,16})\s{2,}([0-9A-Fa-f]{2}(?:\s.*?)?)\s*")
"""hexdump -C and Wireshark: two spaces or more behind an offset, then single bytes."""
WITH_ODD_OFFSET = re.compile(
    rb"\s*([0-9A-Fa-f]{7})\s+([0-9A-Fa-f]{2}(?:[0-9A-Fa-f]{2})?(?:\s.*?)?)\s*"
)
"""od, and hexdump without -C: seven digits, which no bytes have."""
WITH_FRAMED_TEXT = re.compile(rb"\s*([0-9A-Fa-f]{6})\s+([0-9A-Fa-f]{2}\s.*[|>].*[|<])\s*")
"""od -A x -t x1z: six digits, and the text at the end of the line."""
LAST_OFFSET = re.compile(rb"\s*([0-9A-Fa-f]{6,8})\s*")
REPEATED = re.compile(rb"\s*\*\s*")
TCPDUMP_TITLE = re.compile(rb"(?:\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d\.\d+ .*\bIP6? .*")
PIPES = re.compile(rb"([0-9A-Fa-f\s]*?)\s*[|>](.*)[|<]", flags=re.DOTALL)
GROUP = re.compile(rb"(?:[0-9A-Fa-f]{2})+")
BASES = (16, 8, 10)
LONGEST_REPEAT = 2**24
"""Most bytes that a `*` may stand for."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class DumpLine:
    """One line of a dump: its offset as it is written, and what stands behind."""

    offset: bytes
    rest: bytes


def blocks(lines: Iterable[T], text_of: Callable[[T], bytes]) -> Iterator[list[T]]:
    """Yield each line in a list of its own, and the lines of a dump in one.

    A dump begins with a line that has an offset and ends before the first line that does not go on;
    an empty line behind it, and the title that tcpdump prints before it, are left out. A line that
    is no dump's is passed on at once.
    """
    dump: list[T] = []
    titles: list[T] = []
    for line in lines:
        text = text_of(line)
        if _goes_on([text_of(each) for each in (*dump[:1], *dump[-1:])], text):
            dump.append(line)
            continue
        was_dump = bool(dump)
        if was_dump:
            yield dump
        dump = []
        if is_dump(text):
            dump = [line]
            titles = []
            continue
        yield from ([title] for title in titles)
        titles = []
        if TCPDUMP_TITLE.fullmatch(text.strip()):
            titles = [line]
        elif text.strip() or not was_dump:
            yield [line]
    yield from ([title] for title in titles)
    if dump:
        yield dump


def is_dump(text: bytes) -> bool:
    """Return whether a text begins as a dump does: with an offset that plain digits cannot be."""
    first = text.partition(b"\n")[0]
    line = _dump_line(first)
    if line is None:
        return False
    is_clear = any(pattern.fullmatch(first) for pattern in (WITH_COLON, WITH_ODD_OFFSET))
    return is_clear or not line.offset.strip(b"0")


def bytes_in_dump(text: bytes) -> Given:
    r"""Return the bytes of a dump, given as its lines.

    Raises `DocumentError` with the line that does not fit.

    >>> bytes_in_dump(b"00000000: 0003 0000 0001  ......")
    Given(blob=b'\x00\x03\x00\x00\x00\x01', form='hex dump of 1 line')
    """
    lines = text.split(b"\n")
    found: list[bytes] = []
    errors: list[DocumentError] = []
    for base in BASES:
        try:
            found.append(_bytes_in_lines(lines, base))
        except DocumentError as error:
            errors.append(error)
    if not found:
        raise errors[0]
    if len(set(found)) > 1:
        words = "its offsets may be hexadecimal or not, and a * stands for lines: use od -v"
        raise DocumentError(ErrorCode.BAD_HEX, words, offset=0)
    count = f"{len(lines)} line{'s' if len(lines) > 1 else ''}"
    return Given(found[0], f"hex dump of {count}")


def _bytes_in_lines(lines: list[bytes], base: int) -> bytes:
    """Return the bytes of a dump whose offsets are of one base."""
    found = bytearray()
    last, first = b"", -1
    repeats = False
    at = 0
    for number, raw in enumerate(lines, 1):
        if REPEATED.fullmatch(raw):
            repeats = True
            at += len(raw) + 1
            continue
        line = _dump_line(raw)
        try:
            offset = int(_final_offset(raw) if line is None else line.offset, base)
        except ValueError:
            words = f"line {number} of the dump: its offset does not follow"
            raise DocumentError(ErrorCode.BAD_HEX, words, offset=at) from None
        first = offset if first < 0 else first
        if repeats:
            found += _repeated(offset - first - len(found), last, at)
            repeats = False
        if offset - first != len(found):
            words = f"line {number} of the dump: its offset does not follow: lines are missing"
            raise DocumentError(ErrorCode.BAD_HEX, words, offset=at)
        if line is not None:
            last = _bytes_of(line, number, at)
            found += last
        at += len(raw) + 1
    return bytes(found)


def _goes_on(dump: list[bytes], line: bytes) -> bool:
    """Return whether a line belongs to the dump before it: any offset but zero does."""
    if not dump:
        return False
    if REPEATED.fullmatch(line):
        return True
    if (found := _dump_line(line)) is not None:
        return bool(found.offset.strip(b"0"))
    match = LAST_OFFSET.fullmatch(line)
    if match is None or WITH_COLON.fullmatch(dump[0]) or LAST_OFFSET.fullmatch(dump[-1]):
        return False
    first = _dump_line(dump[0])
    assert first, "a dump begins with such a line"
    return len(match[1]) == len(first.offset)


def _dump_line(line: bytes) -> DumpLine | None:
    for pattern in (WITH_COLON, WITH_ODD_OFFSET, WITH_FRAMED_TEXT, WITH_SPACES):
        if match := pattern.fullmatch(line):
            return DumpLine(match[1], match[2])
    return None


def _final_offset(line: bytes) -> bytes:
    match = LAST_OFFSET.fullmatch(line)
    assert match, "nothing else goes on a dump"
    return match[1]


def _repeated(count: int, last: bytes, at: int) -> bytes:
    """Return what a `*` stands for: the line before it, as often as fills so many bytes."""
    if not last or not 0 <= count <= LONGEST_REPEAT or count % len(last):
        words = "* does not stand for a known number of whole lines"
        raise DocumentError(ErrorCode.BAD_HEX, words, offset=at)
    return last * (count // len(last))


def _bytes_of(line: DumpLine, number: int, at: int) -> bytes:
    """Return the bytes of one line, by the text beside them where there is some."""
    if match := PIPES.fullmatch(line.rest):
        candidates = [(match[1], match[2])]
    else:
        gaps = [gap.span() for gap in re.finditer(rb"\s+", line.rest)]
        candidates = [(line.rest[:start], line.rest[end:]) for start, end in gaps]
    for digits, text in candidates:
        blob = _hex_groups(digits)
        if blob and _is_text_of(text, blob):
            return blob
    blob = _hex_groups(line.rest)
    if blob and not match and _has_bytes_alone(line.rest) and not _has_swapped_words(line):
        return blob
    words = f"line {number} of the dump: "
    words += (
        "od and hexdump swap the bytes of such words: use hexdump -C, od -t x1 or xxd"
        if blob
        else "the text beside the bytes is not theirs, or there are no bytes"
    )
    raise DocumentError(ErrorCode.BAD_HEX, words, offset=at)


def _has_bytes_alone(rest: bytes) -> bool:
    """Return whether there is no gap before a text: one between eight bytes and eight is none."""
    halves = re.split(rb"\s{2,}", rest)
    is_halved = len(halves) == 2 and len(halves[0].split()) == 8
    return len(halves) == 1 or (is_halved and all(len(each) == 2 for each in rest.split()))


def _has_swapped_words(line: DumpLine) -> bool:
    """Return whether a line is as hexdump prints without -C: words, the low byte first."""
    groups = line.rest.split()
    return len(line.offset) == 7 and len(groups[0]) == 4


def _hex_groups(digits: bytes) -> bytes | None:
    groups = digits.split()
    if not all(GROUP.fullmatch(group) for group in groups):
        return None
    return bytes.fromhex(b"".join(groups).decode())


def _is_text_of(text: bytes, blob: bytes) -> bool:
    """Return whether a dump shows these bytes so: a dot, or a middle dot, for what has no sign."""
    shown = text.decode(errors="replace").replace("\N{MIDDLE DOT}", ".")
    expected = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in blob)
    return shown.strip() == expected.strip()
