"""Subscriptions and Assignments as no encoder writes them, field by field.

The codecs under test refuse to write most of what stands here, so the bytes are laid out by hand:
an int16 version, then arrays with an int32 count, strings with an int16 length, bytes with an int32
length, -1 for null. Nothing is sorted, merged or checked.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

Listed = Sequence[tuple[str | bytes | None, Sequence[int] | None]]
"""Topics with their numbers, in the order of the bytes; null where None."""


def subscription(
    version: int,
    topics: Sequence[str | bytes | None] | None,
    *,
    user_data: bytes | None = None,
    owned: Listed | None = (),
    generation: int = -1,
    rack: str | None = None,
    fields: int | None = None,
) -> bytes:
    """A Subscription; `fields` is the version whose fields it has, where the stamp lies."""
    has = version if fields is None else fields
    blob = struct.pack(">h", version) + _array(topics, _string) + _bytes(user_data)
    if has >= 1:
        blob += _listed(owned)
    if has >= 2:
        blob += struct.pack(">i", generation)
    if has >= 3:
        blob += _string(rack)
    return blob


def assignment(version: int, partitions: Listed | None, *, user_data: bytes | None = None) -> bytes:
    """An Assignment."""
    return struct.pack(">h", version) + _listed(partitions) + _bytes(user_data)


def _listed(partitions: Listed | None) -> bytes:
    return _array(
        partitions,
        lambda one: _string(one[0]) + _array(one[1], lambda number: struct.pack(">i", number)),
    )


def _array(values: Sequence[T] | None, write: Callable[[T], bytes]) -> bytes:
    if values is None:
        return b"\xff\xff\xff\xff"
    return struct.pack(">i", len(values)) + b"".join(map(write, values))


def _string(text: str | bytes | None) -> bytes:
    if text is None:
        return b"\xff\xff"
    data = text.encode() if isinstance(text, str) else text
    return struct.pack(">h", len(data)) + data


def _bytes(data: bytes | None) -> bytes:
    return b"\xff\xff\xff\xff" if data is None else struct.pack(">i", len(data)) + data


NOTHING = assignment(1, ())
"""How a leader tells a member that it gets nothing."""
