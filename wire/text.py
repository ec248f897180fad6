"""Strings as Java sees them: UTF-16 order, and its way of reading broken UTF-8."""

from __future__ import annotations

import re

_SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]?")


def utf16_key(text: str) -> bytes:
    r"""Return a sort key that gives the order of Java's `String.compareTo`.

    It differs from Python's order where characters above U+FFFF meet U+E000..U+FFFF.

    >>> sorted(["\uffff", "\U0001f600"], key=utf16_key) == ["\U0001f600", "\uffff"]
    True
    """
    return text.encode("utf-16-be", "surrogatepass")


def decode_utf8(data: bytes) -> tuple[str, bool]:
    """Return the text and whether something in it had to be replaced by U+FFFD.

    Java and Python replace alike, except that an encoded surrogate (ED A0..BF, and the byte
    after it if that continues it) is one replacement in Java and three in Python.

    >>> decode_utf8(b"t" + bytes([0xED, 0xA0, 0x80]))[0] == "t" + chr(0xFFFD)
    True
    """
    try:
        return data.decode(), False
    except UnicodeDecodeError:
        return _SURROGATE.sub(b"\xff", data).decode("utf-8", "replace"), True


def encode_utf8(text: str) -> bytes:
    """Return the bytes Java writes: a lone surrogate, which has none, becomes a question mark."""
    return text.encode("utf-8", "replace")
