"""`decode` of a whole JoinGroup or SyncGroup message: says what it is, decodes what is in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assignors.documents.pasted.frames import frame_name, sentence
from assignors.documents.values import Document, DocumentError, ErrorCode
from wire import Decoded, Note, NoteCode
from wire.frames import GroupFrame, Part, group_frames
from wire.protocol.documents import error_document, note_document

Decode = Callable[[bytes], Decoded[Any]]


def decoded_frame(
    blob: bytes, kind: str, decode: Decode, document_of: Callable[[Any], Document]
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
    errors = [answer["error"] for answer in answers if answer["error"] is not None]
    return {
        "value": single["value"],
        "notes": [note, *single["notes"]],  # type: ignore[misc]  # a list, as `_part` makes it
        "error": errors[0] if errors else None,
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


def _part(
    part: Part, blob: bytes, decode: Decode, document_of: Callable[[Any], Document]
) -> Document:
    """Return one part, its offsets counted from the first byte of the whole."""
    found = decode(blob[part.start : part.end])
    notes = [note_document(note) for note in found.notes]
    error = None if found.error is None else error_document(found.error)
    for each in (*notes, *([error] if error else ())):
        each["offset"] = part.start + int(str(each["offset"]))
    return {
        "owner": part.owner,
        "start": part.start,
        "end": part.end,
        "value": None if found.value is None else document_of(found.value),
        "notes": notes,
        "error": error,
    }
