"""Decode bytes as people have them: a Subscription, an Assignment, UserData, a record or a message.

`decoded` reads one value in any form that `given_bytes` knows. What Kafka's classes read to its end
is always itself; anything else may be a whole JoinGroup, SyncGroup or DescribeGroups message, which
is recognised, and what is in it is decoded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from assignors.documents.failures import NO_ERROR
from assignors.documents.pasted.dumps import is_dump
from assignors.documents.pasted.forms import CutTextError
from assignors.documents.pasted.frames import (
    OTHERS,
    frame_name,
    frame_sentence,
    other_kind_sentence,
    reads_whole,
    sentence,
)
from assignors.documents.pasted.given import given_bytes
from assignors.documents.pasted.lines import UNREAD, Reading, values
from assignors.documents.values import Document, DocumentError, ErrorCode
from wire import (
    CooperativeUserData,
    Decoded,
    Mode,
    Note,
    NoteCode,
    StickyUserData,
    WireError,
    decode_assignment,
    decode_cooperative_user_data,
    decode_sticky_user_data,
    decode_subscription,
)
from wire.frames import UNSOUND, GroupFrame, Part, group_frames
from wire.protocol.documents import (
    assignment_document,
    cooperative_user_data_document,
    error_document,
    note_document,
    sticky_user_data_document,
    subscription_document,
)
from wire.records import RecordMember, decode_record, members_of, record_json

Decode = Callable[[bytes], Decoded[Any]]
DocumentOf = Callable[[Any], Document]

# Kind -> its decoder, and what turns the decoded value into a document.
KINDS: dict[str, tuple[Callable[..., Any], Callable[[Any], Document]]] = {
    "subscription": (decode_subscription, subscription_document),
    "assignment": (decode_assignment, assignment_document),
    "sticky-userdata": (decode_sticky_user_data, sticky_user_data_document),
    "cooperative-userdata": (decode_cooperative_user_data, cooperative_user_data_document),
}

MAY_BE_NULL = {"sticky-userdata", "cooperative-userdata"}

BEYOND = {NoteCode.TRAILING_BYTES, NoteCode.VERSION_ABOVE_3, NoteCode.VERSION_NEGATIVE}
"""Notes on bytes that Kafka accepts without having read them all."""

RECORD = "offsets-record"
"""The kind of a record of `__consumer_offsets`: key, a space and value, `-` for a tombstone."""

LINE_END = b"\x1e"
"""Between the lines of one value: its errors are placed at the first of them."""

NULL = b"-"

SPACE = re.compile(rb"[ \t]")


T = TypeVar("T")


def values_of_lines(kind: str, given: Iterable[T], text: Callable[[T], bytes]) -> Iterator[list[T]]:
    """Yield the lines, those of one value together."""
    return values(given, text, Reading(kind, KINDS[kind][0]))


def decoded(kind: str, line: bytes, mode: Mode = Mode.TOLERANT) -> Document:
    """Return the value, notes and error of a line, or of the lines of a dump.

    What Kafka's classes read to its end is always itself; anything else may be a whole frame.
    """
    decoder, document_of = KINDS[kind]
    if kind in MAY_BE_NULL and line.strip() in {b"null", b"-"}:
        return _document(decoder(None, mode=mode), document_of)
    cut = None
    try:
        blob, forms = given_bytes(line.replace(LINE_END, b"\n"))
    except CutTextError as error:
        blob, forms, cut = error.blob, (), error

    def decode(part: bytes) -> Decoded[Any]:
        return _with_unread(decoder(part, mode=mode), len(part))

    found = decode(blob)
    answer = None
    if kind in MAY_BE_NULL:
        if found.error is not None or found.notes:
            _refuse_frame(blob, kind)
    elif not _is_itself(found, decoder, blob):
        answer = _decoded_frame(blob, kind, decode, document_of)
    other = None if answer else other_kind_sentence(blob, kind)
    if other is not None and not reads_whole(blob, kind):
        words = f"{other}, not as the {kind} asked for: try decode {OTHERS[kind]}"
        raise DocumentError(ErrorCode.WRONG_TYPE, words, offset=0)
    if other is not None:
        forms = (*forms, Note(NoteCode.INPUT_KIND, 0, f"{other} too: is it a {kind}?"))
    answer = answer or _document(found, document_of)
    answer["notes"] = [*map(note_document, forms), *answer["notes"]]  # type: ignore[misc]  # a list
    return answer if cut is None else {**answer, **cut.document()}


def _with_unread(found: Decoded[Any], size: int) -> Decoded[Any]:
    """Return what was decoded, with a note if more than half of the bytes were not read."""
    places = {note.code: note.offset for note in found.notes if note.code in UNREAD}
    if NoteCode.USER_DATA_UNREADABLE in places:
        places[NoteCode.USER_DATA_UNREADABLE] = 0
    read = min(places.values(), default=size)
    if 2 * read >= size:
        return found
    note = Note(NoteCode.MOSTLY_UNREAD, read, f"{size - read} of {size} bytes were not read")
    return replace(found, notes=(*found.notes, note))


def is_mostly_unread(document: Document) -> bool:
    """Return whether a value, or one of a frame, has the note on it."""
    frame: Any = document.get("frame") or {"parts": ()}
    notes: list[Any] = [*document["notes"]]  # type: ignore[misc]  # a list
    notes += [note for part in frame["parts"] for note in part["notes"]]
    return any(note["code"] == NoteCode.MOSTLY_UNREAD for note in notes)


def _is_itself(found: Decoded[Any], decoder: Callable[..., Decoded[Any]], blob: bytes) -> bool:
    """Return whether bytes are what they are taken for.

    They are if they were read to their end and whatever is odd in them is a habit of clients, or
    if Kafka's own classes read them to their end.
    """
    if found.error is None and not {note.code for note in found.notes} & UNSOUND:
        return True
    strict = decoder(blob, mode=Mode.STRICT)
    return strict.error is None and not {note.code for note in found.notes} & BEYOND


def _refuse_frame(blob: bytes, kind: str) -> None:
    """Raise `DocumentError` if the bytes are a frame, which has no UserData of its own."""
    words = frame_sentence(blob)
    if words is not None:
        raise DocumentError(ErrorCode.WRONG_TYPE, f"{words}, and no {kind}", offset=0)


def _document(found: Decoded[Any], document_of: DocumentOf) -> Document:
    return {
        "value": None if found.value is None else document_of(found.value),
        "notes": [note_document(note) for note in found.notes],
        **_error(found.error),
    }


def _error(error: WireError | None) -> Document:
    return dict(NO_ERROR) if error is None else error_document(error)


def _decoded_frame(
    blob: bytes, kind: str, decode: Decode, document_of: DocumentOf
) -> Document | None:
    """Return value, notes, error and `frame` of bytes that are a frame; `None` if they are none.

    `value` is that of the only part, null where there are several: they are in `frame`. Raises
    `DocumentError` where the frame has no such part, or may be one of several messages.
    """
    frames = group_frames(blob)
    if not frames:
        return None
    if len(frames) > 1:
        names = " or ".join(map(frame_name, frames))
        words = f"the bytes may be a {names}: give the {kind} alone"
        raise DocumentError(ErrorCode.UNKNOWN, words, offset=0)
    (frame,) = frames
    parts = [part for part in frame.parts if part.kind == kind]
    if not parts:
        raise DocumentError(ErrorCode.WRONG_TYPE, _why_nothing(frame, kind), offset=frame.start)
    answers = [_part(part, blob, decode, document_of) for part in parts]
    note = note_document(Note(NoteCode.INPUT_FRAME, frame.start, sentence(frame, parts)))
    single = answers[0] if len(answers) == 1 else {"value": None, "notes": []}
    refused = next((answer for answer in answers if answer["error"] is not None), NO_ERROR)
    return {
        "value": single["value"],
        "notes": [note, *single["notes"]],  # type: ignore[misc]  # a list, as `_part` makes it
        **{key: value for key, value in refused.items() if key.startswith("error")},
        "frame": {
            "message": frame.message,
            "versions": list(frame.versions),
            "start": frame.start,
            "fields": frame.fields,
            "parts": answers,
        },
    }


def _why_nothing(frame: GroupFrame, kind: str) -> str:
    words = sentence(frame, list(frame.parts))
    if frame.fields.get("protocol_type") not in {None, "consumer"}:
        return f"{words}: its protocol type is {frame.fields['protocol_type']}"
    if frame.parts:
        other = frame.parts[0].kind
        return f"{words}: no {kind}; try decode {other}"
    return f"{words}: it has no Subscription and no Assignment in it"


def _part(part: Part, blob: bytes, decode: Decode, document_of: DocumentOf) -> Document:
    """Return one part, its offsets counted from the first byte of the whole."""
    found = decode(blob[part.start : part.end])
    error = found.error
    if error is not None:
        error = WireError(error.kind, error.text, error.offset + part.start)
    notes = tuple(replace(note, offset=note.offset + part.start) for note in found.notes)
    answer = _document(replace(found, notes=notes, error=error), document_of)
    return {"owner": part.owner, "start": part.start, "end": part.end, **answer}


def decoded_record(line: bytes, *, with_members: bool) -> Document:
    """Return the record in a line: key and value in hex, `-` for null, a space or tab between.

    A value that is missing has zero bytes.
    """
    if line.lstrip().startswith(b"{"):
        words = "a line of JSON, not key and value in hexadecimal; replay reads dumps of such lines"
        raise DocumentError(ErrorCode.BAD_HEX, words, offset=0)
    space = SPACE.search(line)
    end = space.end() if space else len(line)
    key, key_notes = _blob(line[:end], 0)
    value, value_notes = _blob(line[end:], end)
    record = decode_record(key, value)
    notes = (*key_notes, *value_notes, *record.notes)
    document: Document = {
        **record_json(record),
        "notes": [note_document(note) for note in notes],
        **_error(record.error),
    }
    if with_members:
        document["members"] = [_member_document(member) for member in members_of(record)]
    return document


def _member_document(member: RecordMember) -> Document:
    """Return a member's Subscription, Assignment and UserData, each with notes and error."""
    assignment = member.assignment
    return {
        "member_id": member.member_id,
        "protocol": member.protocol,
        "subscription": _document(member.subscription, subscription_document),
        "assignment": None if assignment is None else _document(assignment, assignment_document),
        "user_data": None if member.user_data is None else _document(member.user_data, _user_data),
    }


def _user_data(value: StickyUserData | CooperativeUserData) -> Document:
    if isinstance(value, StickyUserData):
        return sticky_user_data_document(value)
    return cooperative_user_data_document(value)


def _blob(digits: bytes, start: int) -> tuple[bytes | None, tuple[Note, ...]]:
    """Return bytes or null, and how they were read; offsets count from the start of the line.

    White space stands between key and value, so it cannot stand between digits.
    """
    if digits.strip() == NULL:
        return None, ()
    if is_dump(digits) or len(digits.split()) > 1:
        words = "a record is its key, a space and its value; in each no space between digits"
        raise DocumentError(ErrorCode.BAD_HEX, words, offset=start)
    try:
        blob, notes = given_bytes(digits)
    except DocumentError as error:
        place = start + (error.offset or 0)
        raise DocumentError(error.kind, error.text, offset=place) from None
    return blob, tuple(replace(note, offset=start) for note in notes)
