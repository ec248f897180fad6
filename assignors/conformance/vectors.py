"""Read vectors from the files in which they are published.

A file is JSON lines, gzipped or not: a header, then one vector a line. Keys that a line leaves out
follow from its algorithm, so that files from before `op` and `judge` can be read too. The format is
described in `tests/vectors/README.md`.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

from assignors.documents.groups import require_known
from assignors.documents.values import (
    Document,
    DocumentError,
    ErrorCode,
    as_object,
    as_string,
    bytes_from_hex,
    described,
    required,
)
from wire import NoteCode, decode_assignment, decode_subscription

FORMAT = 1
"""Version of the files; a reader refuses a higher one."""

GZIP_MAGIC = b"\x1f\x8b"


class Operation(StrEnum):
    """What a program is asked to do."""

    ASSIGN = "assign"
    DECODE = "decode"
    ENCODE = "encode"


class Judge(StrEnum):
    """Which comparison applies to an answer."""

    EQUAL = "equal"
    """The same as the reference's; the order of lists does not count."""
    LAWFUL = "lawful"
    """Any answer that keeps the laws and is balanced as well as the reference's."""
    ACCEPT = "accept"
    """The bytes are decoded, to the reference's values."""
    REFUSE = "refuse"
    """The bytes are refused with an error."""
    EITHER = "either"
    """Decoding and refusing are both right: missing last fields, null for empty, bad UTF-8."""


VECTOR_KEYS = frozenset({"id", "category", "in", "op", "judge", "out", "value", "note", "clients"})
"""Keys of a vector; those of `in` are for the program that is asked, `clients` for readers."""

Name = TypeVar("Name", Operation, Judge)

CLIENT_ALGORITHMS = ("range", "roundrobin", "sticky", "coop")
SERVER_ALGORITHMS = ("srv-uniform", "srv-range", "srv-simple")
READ_ALGORITHMS = ("codec-sub", "codec-asg", "codec-mdsticky", "codec-mdcoop", "rec-dec")
WRITTEN_ALGORITHMS = ("codec-mksub", "codec-mkasg", "codec-stickyud", "codec-coopud", "rec-enc")

OPERATIONS: dict[str, Operation] = {
    **dict.fromkeys(CLIENT_ALGORITHMS + SERVER_ALGORITHMS, Operation.ASSIGN),
    **dict.fromkeys(READ_ALGORITHMS, Operation.DECODE),
    **dict.fromkeys(WRITTEN_ALGORITHMS, Operation.ENCODE),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Vector:
    """One request, the reference's answer, and how to compare."""

    vector_id: str
    category: str
    operation: Operation
    algorithm: str
    judge: Judge
    given: Document
    expected: Document
    """The reference's `out`; empty where the vector was written by hand."""
    value: Document | None = None
    """The decoded value, where the vector has it beside `out`."""
    note: str = ""

    @property
    def is_reference_failing(self) -> bool:
        """Whether the reference throws."""
        return "err" in self.expected

    def request(self) -> Document:
        """Return what is sent to a program."""
        return {**self.given, "id": self.vector_id, "op": self.operation.value}


def read_vectors(path: Path) -> Iterator[Vector]:
    """Yield the vectors of a file; `DocumentError`, with its number, for a line that is none."""
    with path.open("rb") as stream:
        is_packed = stream.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    with gzip.open(path, "rb") if is_packed else path.open("rb") as lines:
        try:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield from _vector_in(line, number)
        except (EOFError, gzip.BadGzipFile) as error:
            raise DocumentError(ErrorCode.BAD_JSON, f"{path.name}: {error}") from None


def vector_from_document(document: Document) -> Vector:
    """Return the vector of one line.

    >>> vector = vector_from_document({"id": "sticky-0001", "in": {"algo": "sticky"}, "out": {}})
    >>> vector.category, str(vector.operation), str(vector.judge)
    ('sticky', 'assign', 'lawful')
    """
    require_known(document, VECTOR_KEYS)
    vector_id = as_string(required(document, "id", ()), ("id",))
    given = dict(as_object(required(document, "in", ()), ("in",)))
    expected = dict(as_object(document.get("out", {}), ("out",)))
    value = document.get("value")
    algorithm = as_string(required(given, "algo", ("in",)), ("in", "algo"))
    operation = document.get("op", OPERATIONS.get(algorithm))
    judge = document.get("judge", default_judge(algorithm, given, expected))
    return Vector(
        vector_id=vector_id,
        category=as_string(document.get("category", vector_id.rpartition("-")[0]), ("category",)),
        operation=_one_of(Operation, operation, "op"),
        algorithm=algorithm,
        judge=_one_of(Judge, judge, "judge"),
        given=given,
        expected=expected,
        value=None if value is None else dict(as_object(value, ("value",))),
        note=as_string(document.get("note", ""), ("note",)),
    )


def default_judge(algorithm: str, given: Document, expected: Document) -> Judge:
    """Return the comparison for a vector that names none.

    Range and round-robin have one right answer; the sticky assignors have several balanced ones,
    and members need not get Java's. Racks are optional for range (KIP-881): an answer without
    regard to them is right too. The order within a message, which Java sorts or hashes, does not
    count.
    """
    if algorithm in {"codec-sub", "codec-asg"}:
        return _judge_of_bytes(algorithm, given, expected)
    if algorithm == "rec-dec" and "err" in expected:
        # Kafka's loader skips a type that it does not know; other readers may keep it.
        is_new = str(expected["err"]).startswith("UnknownRecord")
        return Judge.EITHER if is_new else Judge.REFUSE
    if algorithm in {"codec-mdsticky", "codec-mdcoop"}:
        return Judge.ACCEPT
    if algorithm in {"sticky", "coop", "codec-stickyud", "codec-mksub", "codec-mkasg"}:
        return Judge.LAWFUL
    members = given.get("members")
    has_racks = isinstance(members, list) and any(
        isinstance(member, dict) and member.get("rack") for member in members
    )
    return Judge.LAWFUL if algorithm == "range" and has_racks else Judge.EQUAL


def _judge_of_bytes(algorithm: str, given: Document, expected: Document) -> Judge:
    """Return `EITHER` for bytes that clients in use write and Java refuses, else Java's verdict."""
    decode = decode_subscription if algorithm == "codec-sub" else decode_assignment
    read = decode(
        bytes_from_hex(as_string(required(given, "hex", ("in",)), ("in", "hex")).encode())
    )
    oddities = {note.code for note in read.notes}
    if "err" in expected:
        is_habit = read.value is not None and oddities <= HABITS
        return Judge.EITHER if is_habit else Judge.REFUSE
    return Judge.EITHER if NoteCode.INVALID_UTF8 in oddities else Judge.ACCEPT


HABITS = frozenset(
    {
        NoteCode.VERSION_NEGATIVE,
        NoteCode.VERSION_ABOVE_3,
        NoteCode.TRAILING_BYTES,
        NoteCode.TOPICS_NULL,
        NoteCode.TOPIC_NULL,
        NoteCode.USER_DATA_EMPTY,
        NoteCode.OWNED_MISSING,
        NoteCode.OWNED_NULL,
        NoteCode.PARTITIONS_NULL,
        NoteCode.GENERATION_MISSING,
        NoteCode.RACK_MISSING,
        NoteCode.RACK_EMPTY,
    }
)
"""What other decoders accept where Java throws: missing last fields, null for empty."""


def _vector_in(line: bytes, number: int) -> Iterator[Vector]:
    """Yield the vector of a line, nothing for a header."""
    try:
        document = json.loads(line)
        fields = dict(as_object(document, ()))
        if number == 1 and not {"id", "in"} & fields.keys():
            _check_format(fields)
        else:
            yield vector_from_document(fields)
    except DocumentError as error:
        raise DocumentError(error.kind, f"line {number}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise DocumentError(ErrorCode.BAD_JSON, f"line {number}: {error}") from None


def _check_format(header: Document) -> None:
    version = header.get("format", FORMAT)
    if type(version) is not int or not 1 <= version <= FORMAT:
        words = f"vectors of format {described(version)}; this program reads {FORMAT}"
        raise DocumentError(ErrorCode.UNKNOWN, words, ("format",))


def _one_of(kind: type[Name], value: object, key: str) -> Name:
    try:
        return kind(value)  # type: ignore[arg-type]  # an enum refuses what is no value of it
    except ValueError:
        known = ", ".join(kind)
        words = f"{key} is one of {known}, found {described(value)}"
        raise DocumentError(ErrorCode.UNKNOWN, words, (key,)) from None
