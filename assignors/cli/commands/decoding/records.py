"""`decode offsets-record`: decodes records of `__consumer_offsets`, a key and a value a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from assignors.cli.outputs.cells import NONE, Fields, cell, clean, console_of, most
from assignors.cli.outputs.forms import dumps
from assignors.cli.outputs.table import Table
from assignors.documents.pasted.dumps import is_dump
from assignors.documents.pasted.given import given_bytes
from assignors.documents.values import Document, DocumentError, ErrorCode
from wire import CooperativeUserData, Decoded, Note, StickyUserData
from wire.protocol.documents import (
    assignment_document,
    cooperative_user_data_document,
    error_document,
    note_document,
    sticky_user_data_document,
    subscription_document,
)
from wire.records import RecordMember, decode_record, members_of, record_json

KIND = "offsets-record"

BLANK: Document = {
    **dict.fromkeys(("type", "name", "key", "version", "value")),
    "notes": [],
}

NULL = b"-"

SPACE = re.compile(rb"[ \t]")

SHOWN = 160
"""Most characters of a value on a terminal."""


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
        "error": None if record.error is None else error_document(record.error),
    }
    if with_members:
        document["members"] = [member_document(member) for member in members_of(record)]
    return document


def member_document(member: RecordMember) -> Document:
    """Return a member's Subscription, Assignment and UserData, each with notes and error."""
    assignment = member.assignment
    return {
        "member_id": member.member_id,
        "protocol": member.protocol,
        "subscription": _decoded(member.subscription, subscription_document),
        "assignment": None if assignment is None else _decoded(assignment, assignment_document),
        "user_data": None if member.user_data is None else _decoded(member.user_data, _user_data),
    }


def _user_data(value: StickyUserData | CooperativeUserData) -> Document:
    if isinstance(value, StickyUserData):
        return sticky_user_data_document(value)
    return cooperative_user_data_document(value)


def show_records(documents: Iterable[Document]) -> None:
    """Draw one row a record, and one for each part of its members' bytes."""
    right = ("LINE", "VERSION")
    table = Table.of("LINE", "TYPE", "KEY", "VERSION", "VALUE", "NOTES", right=right)
    for line, document in enumerate(documents, 1):
        key: Fields | None = document["key"]  # type: ignore[assignment]
        table.add_row(
            str(line),
            cell(document["name"]),
            NONE if key is None else clean("/".join(map(str, key.values()))),
            cell(document["version"]),
            _value_cell(document),
            _remarks(document),
        )
        members: Iterable[Fields] = document.get("members", ())  # type: ignore[assignment]
        for member in members:
            for part in PARTS:
                found: Document | None = member[part]
                if found is not None:
                    value = NONE if found["value"] is None else _json_cell(found["value"])
                    name = clean(member["member_id"])
                    table.add_row("", part, name, "", value, _remarks(found))
    console_of().print(table)


PARTS = ("subscription", "assignment", "user_data")
"""Keys of a member with what its bytes were decoded to."""


def _value_cell(document: Document) -> str:
    if document["value"] is None:
        return NONE if document["error"] is not None else "tombstone"
    return _json_cell(document["value"])


def _json_cell(value: object) -> str:
    text = dumps(value)
    shown = text[: most(SHOWN)]
    return text if shown == text else f"{shown}..."


def _remarks(document: Document) -> str:
    """Return error and notes, a line each."""
    notes: list[Fields] = document["notes"]  # type: ignore[assignment]
    remarks = [f"{note['text']} (byte {note['offset']})" for note in notes]
    error: Fields | None = document["error"]  # type: ignore[assignment]
    if error is not None:
        remarks.insert(0, f"ERROR {error['text']} at byte {error['offset']} ({error['kind']})")
    return "\n".join(map(clean, remarks)) or NONE


def _decoded(found: Decoded[Any], document_of: Callable[[Any], Document]) -> Document:
    return {
        "value": None if found.value is None else document_of(found.value),
        "notes": [note_document(note) for note in found.notes],
        "error": None if found.error is None else error_document(found.error),
    }


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
