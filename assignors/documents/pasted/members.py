"""Bytes of members in documents: in any form that people paste, but a Subscription alone."""

from __future__ import annotations

from collections.abc import Mapping

from assignors.documents.pasted.frames import frame_sentence
from assignors.documents.pasted.given import given_bytes
from assignors.documents.values import DocumentError, ErrorCode, Place, optional_string
from wire import Decoded, Note, Subscription, decode_subscription
from wire.frames import UNSOUND


def subscription_alone(blob: bytes, place: Place) -> Decoded[Subscription]:
    """Return what a Subscription holds; `DocumentError` for a whole message with one in it."""
    decoded = decode_subscription(blob)
    if decoded.error is not None or {note.code for note in decoded.notes} & UNSOUND:
        words = frame_sentence(blob)
        if words is not None:
            raise DocumentError(ErrorCode.WRONG_TYPE, f"{words}: give those bytes alone", place)
    return decoded


def optional_given_bytes(
    fields: Mapping[str, object], key: str, place: Place
) -> tuple[bytes | None, tuple[Note, ...]]:
    """Return the bytes of a key, in any form that people paste, and a note unless it is plain."""
    text = optional_string(fields, key, place)
    if text is None:
        return None, ()
    try:
        return given_bytes(text.encode())
    except DocumentError as error:
        words = f"{error.text} (character {error.offset})"
        raise DocumentError(error.kind, words, (*place, key)) from None
