"""What every line has: the version of the formats, and an error where there is no answer."""

from __future__ import annotations

from collections.abc import Iterable

from assignors.documents.schemas import (
    COUNT,
    NULL,
    STRING,
    Key,
    Schema,
    constant,
    one_of,
    record,
)
from assignors.documents.values import SCHEMA, ErrorCode
from wire import ErrorKind, NoteCode

BAD_ROW = "bad-row"
"""Kind of the error of a scenario that cannot be: `text` begins with the key at fault."""

ERROR = {
    **record(
        Key("kind", one_of([*ErrorKind, *ErrorCode, BAD_ROW]), "Why, as a code."),
        Key("text", STRING, "The reason, for people."),
        Key("offset", COUNT, "Where, as a byte of the input.", is_optional=True),
        Key("path", STRING, "Where, as a path in the document.", is_optional=True),
        Key("line", COUNT, "Line of the input, from 1.", is_optional=True),
        Key("file", STRING, "File of that line; absent: standard input.", is_optional=True),
        Key("trace", STRING, "Simulations: what an own assignor raised.", is_optional=True),
        text="Why there is no answer, and where in the input.",
    ),
    "oneOf": [{"required": ["offset"]}, {"required": ["path"]}],
}

NOTE = record(
    Key("code", one_of(NoteCode), "What is odd, as a code."),
    Key("offset", COUNT, "The first byte where it is."),
    Key("text", STRING, "The same, for people."),
    text="Something odd in bytes that were read all the same.",
)

VERSION = Key("schema", constant(SCHEMA), "Version of the formats.")


def answer(*keys: Key) -> Schema:
    """Return the schema of a line that always has an answer."""
    return record(VERSION, *keys, Key("error", NULL, "Null."))


def answer_or_error(
    blank: Iterable[str],
    *keys: Key,
    beside: Iterable[Key] = (),
    blank_optional: Iterable[str] = (),
) -> Schema:
    """Return the schema of a line: `keys`, or an error beside which the keys of `blank` are null.

    Keys of `beside` have their values there too; those of `blank_optional` are null or absent.
    """
    nulls = [Key(name, NULL) for name in blank]
    nulls += [Key(name, NULL, is_optional=True) for name in blank_optional]
    refused = record(VERSION, *nulls, *beside, Key("error", ERROR, "Why there is no answer."))
    answered = answer(*keys)
    return {"oneOf": [{"title": "answered", **answered}, {"title": "refused", **refused}]}
