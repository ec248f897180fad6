"""Bytes of members in documents: in any form that people paste, but a Subscription alone."""

from __future__ import annotations

import json
from collections.abc import Mapping

from assignors.documents.pasted.frames import (
    frame_sentence,
    other_kind_sentence,
    reads_whole,
)
from assignors.documents.pasted.given import given_bytes
from assignors.documents.values import DocumentError, ErrorCode, Place, optional_string
from wire import Decoded, Note, Subscription, decode_subscription
from wire.frames import SUBSCRIPTION, UNSOUND


def subscription_alone(blob: bytes, place: Place) -> Decoded[Subscription]:
    """Return what a Subscription holds; `DocumentError` for a whole message, or an Assignment."""
    decoded = decode_subscription(blob)
    if decoded.error is not None or {note.code for note in decoded.notes} & UNSOUND:
        words = frame_sentence(blob)
        if words is not None:
            raise DocumentError(ErrorCode.WRONG_TYPE, f"{words}: give those bytes alone", place)
    words = other_kind_sentence(blob, SUBSCRIPTION) if decoded.notes else None
    if words is not None and not reads_whole(blob, SUBSCRIPTION):
        raise DocumentError(ErrorCode.WRONG_TYPE, f"{words}, not as a Subscription", place)
    return decoded


def optional_given_bytes(
    fields: Mapping[str, object], key: str, place: Place
) -> tuple[bytes | None, tuple[Note, ...]]:
    """Return the bytes of a key, in any form that people paste, and a note unless it is plain.

    A list of numbers, and Node's Buffer as an object, need no quotes.
    """
    value = fields.get(key)
    as_json = json.dumps(value) if isinstance(value, list | dict) else None
    text = optional_string(fields, key, place) if as_json is None else as_json
    if text is None:
        return None, ()
    try:
        return given_bytes(text.encode())
    except DocumentError as error:
        words = f"{error.text} (character {error.offset})"
        raise DocumentError(error.kind, words, (*place, key)) from None
