"""Find Subscriptions and Assignments in whole JoinGroup, SyncGroup and DescribeGroups messages.

A request says what it is: its header has the number of the message and its version. A response says
nothing but a correlation id, so every version is tried: it counts only if it ends with the last
byte, if its values are usual ones, and if there is a Subscription or an Assignment in it, the name
of the protocol or a length before it. Readings that agree on every place are one `GroupFrame`, with
all versions that it may be.

A frame may come with or without the four bytes of its length, and within a packet: Ethernet, IPv4
or IPv6, and TCP headers are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from wire.decoded import Mode, NoteCode, Oddities
from wire.errors import WireError
from wire.frames.messages import DESCRIBED, HEADER, REQUESTS, RESPONSES, SUBSCRIPTION, TAGS
from wire.layout import UNKNOWN_TAGS, Layout
from wire.layout.reading import compile_reader
from wire.protocol.assignment import decode_assignment
from wire.protocol.subscription import decode_subscription

ERROR_CODES = range(-1, 200)
"""Error codes that brokers use, with some to spare."""

CONSUMER = "consumer"
"""The protocol type whose bytes are Subscriptions and Assignments."""
THROTTLE_MAX_MS = 3_600_000
UNSOUND = {
    NoteCode.CUT,
    NoteCode.INVALID_UTF8,
    NoteCode.TRAILING_BYTES,
    NoteCode.VERSION_ABOVE_3,
    NoteCode.VERSION_NEGATIVE,
}
"""What no Subscription or Assignment of a client has."""

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A Subscription or an Assignment in a frame: the bytes from `start` to before `end`."""

    kind: str
    owner: str
    """Id of the member, in a JoinGroup request name of the assignor; empty where there is none."""
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupFrame:
    """A JoinGroup, SyncGroup or DescribeGroups message."""

    message: str
    versions: tuple[int, ...]
    """Versions of the message that have these bytes; a request has one."""
    fields: Fields
    """Its fields that are numbers and text, with those of the header and of the first group."""
    parts: tuple[Part, ...]
    start: int
    """Where its header begins: behind the length and the headers of a packet."""


def group_frames(data: bytes) -> list[GroupFrame]:
    """Return what the data may be: none, one, or several frames that disagree.

    Cost: linear in the data, for each of 23 versions.

    >>> group_frames(b"no frame")
    []
    """
    found: list[GroupFrame] = []
    for start in _starts(data):
        for frame in (*_request(data, start), *_responses(data, start)):
            if not any(_is_same(frame, other) for other in found):
                found.append(frame)
            else:
                found = [
                    replace(other, versions=(*other.versions, *frame.versions))
                    if _is_same(frame, other)
                    else other
                    for other in found
                ]
    return found


def _is_same(one: GroupFrame, other: GroupFrame) -> bool:
    return (one.message, one.parts, one.start) == (other.message, other.parts, other.start)


def _starts(data: bytes) -> Iterator[int]:
    """Yield where a frame may begin: behind a length that fits, at once, or behind TCP's header."""
    for start in (0, *_payloads(data)):
        if int.from_bytes(data[start : start + 4]) == len(data) - start - 4:
            yield start + 4
        else:
            yield start


def _payloads(data: bytes) -> Iterator[int]:
    """Yield where the payload of TCP begins, if the data is a packet."""
    for start in (0, 14):
        if start and data[12:14] not in {b"\x08\x00", b"\x86\xdd"}:
            return
        version = data[start] >> 4 if len(data) > start + 40 else 0
        if version == 4 and data[start + 9] == 6:
            tcp = start + 4 * (data[start] & 15)
        elif version == 6 and data[start + 6] == 6:
            tcp = start + 40
        else:
            continue
        if len(data) > tcp + 20:
            yield tcp + 4 * (data[tcp + 12] >> 4)


def _request(data: bytes, start: int) -> Iterator[GroupFrame]:
    layout = REQUESTS.get(int.from_bytes(data[start : start + 2]))
    version = int.from_bytes(data[start + 2 : start + 4])
    if layout is None or version not in layout.versions:
        return
    try:
        header, offset = compile_reader(HEADER, 0)(data, start, Oddities())
        yield from _frame(layout, version, data, start=start, offset=offset, header=header)
    except WireError:
        return


def _responses(data: bytes, start: int) -> Iterator[GroupFrame]:
    if len(data) < start + 4:
        return
    header = {"correlation_id": int.from_bytes(data[start : start + 4])}
    for layout in RESPONSES:
        for version in layout.versions:
            try:
                yield from _frame(
                    layout, version, data, start=start, offset=start + 4, header=header
                )
            except WireError:
                continue


def _frame(
    layout: Layout, version: int, data: bytes, *, start: int, offset: int, header: Fields
) -> Iterator[GroupFrame]:
    """Yield the frame if it ends where the data does, and its parts are what they should be.

    The header's tag section, of flexible versions, is at `offset`.
    """
    if layout.is_flexible(version):
        _, offset = compile_reader(TAGS, 0)(data, offset, Oddities())
    value, end = compile_reader(layout, version)(data, offset, Oddities())
    groups = value.get(DESCRIBED)
    first = groups[0] if groups else {}
    fields = {
        name: found
        for name, found in {**header, **first, **value}.items()
        if not isinstance(found, range | list)
    }
    parts = tuple(_parts(value))
    if end == len(data) and _is_plausible(fields, parts, data, start):
        yield GroupFrame(
            message=layout.name, versions=(version,), fields=fields, parts=parts, start=start
        )


def _parts(value: Fields) -> Iterator[Part]:
    """Yield the Subscriptions and Assignments in a message or in a struct of it."""
    owner = value.get("member_id") or value.get("name") or ""
    for name, found in value.items():
        if isinstance(found, range):
            yield Part(kind=name, owner=owner, start=found.start, end=found.stop)
        elif isinstance(found, list) and name != UNKNOWN_TAGS:
            for struct in found:
                yield from _parts(struct)


def _is_plausible(fields: Fields, parts: Sequence[Part], data: bytes, start: int) -> bool:
    """Return whether a message that ends where the data does is one.

    A request says what it is. Four bytes that fit the length are as good; what has neither must
    have a Subscription or an Assignment in it or name the protocol "consumer", and everything must
    look as brokers write it.
    """
    if "api_version" in fields:
        return True
    is_usual = (
        fields.get("error_code") in ERROR_CODES
        and 0 <= fields.get("throttle_time_ms", 0) <= THROTTLE_MAX_MS
        and all(text.isprintable() for text in fields.values() if isinstance(text, str))
    )
    if not is_usual:
        return False
    blobs = [(part.kind, data[part.start : part.end]) for part in parts]
    is_measured = start >= 4 and int.from_bytes(data[start - 4 : start]) == len(data) - start
    protocol_type = fields.get("protocol_type")
    is_named = protocol_type == CONSUMER and bool(parts)
    is_filled = fields["error_code"] == 0 and (is_named or any(blob for _, blob in blobs))
    is_foreign = protocol_type not in {None, CONSUMER}
    are_sound = is_foreign or all(not blob or _is_sound(kind, blob) for kind, blob in blobs)
    return is_measured or (is_filled and are_sound)


def _is_sound(kind: str, blob: bytes) -> bool:
    """Return whether a part has a version that exists and can be read to its end."""
    decode = decode_subscription if kind == SUBSCRIPTION else decode_assignment
    found = decode(blob, mode=Mode.TOLERANT)
    return found.error is None and not {note.code for note in found.notes} & UNSOUND
