"""Strings as Java treats them: sorted by UTF-16 code units, malformed UTF-8 replaced its way."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")


def utf16_key(text: str) -> bytes:
    r"""Return a sort key that gives the order of Java's `String.compareTo`.

    It differs from Python's order where characters above U+FFFF meet U+E000..U+FFFF.

    >>> sorted(["\uffff", "\U0001f600"], key=utf16_key) == ["\U0001f600", "\uffff"]
    True
    """
    return text.encode("utf-16-be", "surrogatepass")


def replaced_utf8(data: bytes) -> str:
    """Return the text of bytes that are no UTF-8, what cannot be read as U+FFFD.

    Java and Python replace alike, except that an encoded surrogate (ED A0..BF, and the byte
    after it if that continues it) is one replacement in Java and three in Python.

    >>> replaced_utf8(b"t" + bytes([0xED, 0xA0, 0x80])) == "t" + chr(0xFFFD)
    True
    """
    return _SURROGATE.sub(b"\xff", data).decode("utf-8", "replace")


def utf16_sorted(texts: Iterable[str]) -> list[str]:
    """Return the texts in the order of `utf16_key`, without a key where none is needed."""
    listed = list(texts)
    if len(listed) < 2:
        return listed
    return sorted(listed, key=None if "".join(listed).isascii() else utf16_key)


def encode_utf8(text: str) -> bytes:
    """Return the bytes Java writes: a lone surrogate, which has none, becomes a question mark."""
    return text.encode("utf-8", "replace")
