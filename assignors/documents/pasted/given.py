"""Bytes as they are given, in any form or as a dump, with a note on how they were read."""

from __future__ import annotations

from assignors.documents.pasted.dumps import bytes_in_dump, is_dump
from assignors.documents.pasted.forms import FORMS, CutTextError, Given, as_base64, bytes_in
from assignors.documents.values import DocumentError, bytes_from_hex
from wire import Note, NoteCode

BASE64_STARTS = {b"A", b" ", b"\t"}
"""First characters of a line that may be base64."""

FORMS_READ = f"forms that are read: {', '.join(FORMS)}, hex dumps with offsets"


def given_bytes(text: bytes) -> tuple[bytes, tuple[Note, ...]]:
    """Return the bytes of a text, which may have several lines, and a note unless they are plain.

    Raises `DocumentError` where they are none of the forms, with a list of the forms.

    >>> given_bytes(b"00 03")[1][0].text
    'read as hexadecimal with separators: 2 bytes'
    """
    try:
        # First, because nearly all are plain.
        given = Given(bytes_from_hex(text), "")
    except DocumentError:
        try:
            given = bytes_in_dump(text) if is_dump(text) else bytes_in(text)
        except CutTextError:
            raise
        except DocumentError as error:
            words = f"{error.text} ({FORMS_READ})"
            raise DocumentError(error.kind, words, offset=error.offset) from None
    return given.blob, form_notes(given, text)


def form_notes(given: Given, text: bytes) -> tuple[Note, ...]:
    """Return a note on the form of given bytes; none for plain hexadecimal, which has one meaning.

    Digits that are base64 too, as `AAAAAAAA`, have two: they are read as hexadecimal, with a note.
    """
    size = len(given.blob)
    count = f"{size} byte{'' if size == 1 else 's'}"
    if given.form:
        return (Note(NoteCode.INPUT_FORM, 0, f"read as {given.form}: {count}"),)
    other = as_base64(text) if text[:1] in BASE64_STARTS else None
    if other is None:
        return ()
    words = f"read as hexadecimal: {count}; as base64 it would be {len(other)} others"
    return (Note(NoteCode.INPUT_FORM, 0, words),)
