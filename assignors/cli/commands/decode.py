"""`decode`: reads bytes of clients and brokers in hex, writes their fields."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Any

import click

from assignors.cli.commands.decoding import records as decode_records
from assignors.cli.commands.decoding.frames import decoded_frame
from assignors.cli.inputs.lines import Line, files_argument
from assignors.cli.inputs.results import result_documents
from assignors.cli.inputs.typed.idle_options import refuse_idle
from assignors.cli.outputs.forms import Form, output_option, write
from assignors.cli.outputs.tables import show_decoded
from assignors.documents.pasted.dumps import LINE_END, blocks
from assignors.documents.pasted.frames import frame_sentence
from assignors.documents.pasted.given import given_bytes
from assignors.documents.values import Document, DocumentError, ErrorCode
from wire import (
    Decoded,
    Mode,
    NoteCode,
    decode_assignment,
    decode_cooperative_user_data,
    decode_sticky_user_data,
    decode_subscription,
)
from wire.frames import UNSOUND
from wire.protocol.documents import (
    assignment_document,
    cooperative_user_data_document,
    error_document,
    note_document,
    sticky_user_data_document,
    subscription_document,
)

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

BLANK: Document = {"value": None, "notes": []}


@click.command()
@click.argument("kind", metavar="KIND", type=click.Choice([*KINDS, decode_records.KIND]))
@files_argument
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Mode]),
    default=Mode.TOLERANT.value,
    show_default=True,
    help="strict accepts what Kafka's classes accept; tolerant, what clients in use write.",
)
@click.option(
    "--members",
    "with_members",
    is_flag=True,
    help="offsets-record: decode each member's Subscription, Assignment and UserData too.",
)
@output_option
@click.pass_context
def decode(
    context: click.Context,
    kind: str,
    files: tuple[str, ...],
    *,
    mode: str,
    with_members: bool,
    form: Form,
) -> None:
    r"""Decode bytes of members, leaders and brokers, given as hex.

    KIND is subscription, assignment, sticky-userdata, cooperative-userdata or offsets-record.

    One value a line, in hexadecimal: plain, or with spaces, colons or 0x; escapes as \x00 and
    base64 are read too, with a note. The lines of a hex dump (xxd, hexdump -C, od -t x1, tcpdump
    -X, Wireshark) are one value. A whole JoinGroup or SyncGroup message is recognised, and what is
    in it decoded.

    An empty line is zero bytes; for UserData, null or - means no UserData. A line of offsets-record
    is a record of __consumer_offsets: its key, a space, and its value, - for a tombstone.
    """
    refuse_idle(context)
    if kind == decode_records.KIND:
        records = result_documents(
            files,
            {**decode_records.BLANK, **({"members": []} if with_members else {})},
            lambda line: decode_records.decoded_record(line, with_members=with_members),
        )
        context.exit(write(records, form, decode_records.show_records))
    if with_members:
        raise click.UsageError(f"--members is for {decode_records.KIND}")
    documents = result_documents(
        files, BLANK, lambda line: decoded_line(kind, line, Mode(mode)), together=with_dumps
    )
    context.exit(write(documents, form, lambda found: show_decoded(kind, found)))


def with_dumps(given: Iterable[Line]) -> Iterator[Line]:
    """Yield the lines, those of a hex dump as one."""
    for together in blocks(given, attrgetter("text")):
        first = together[0]
        yield Line(LINE_END.join(line.text for line in together), first.number, first.file)


def decoded_line(kind: str, line: bytes, mode: Mode) -> Document:
    """Return the value, notes and error of a line, or of the lines of a dump.

    What Kafka's classes read to its end is always itself; anything else may be a whole frame.
    """
    decoder, document_of = KINDS[kind]
    if kind in MAY_BE_NULL and line.strip() in {b"null", b"-"}:
        return _document(decoder(None, mode=mode), document_of)
    blob, forms = given_bytes(line)
    found = decoder(blob, mode=mode)
    answer = None
    if kind in MAY_BE_NULL:
        if found.error is not None or found.notes:
            _refuse_frame(blob, kind)
    elif not _is_itself(found, decoder, blob):
        answer = decoded_frame(blob, kind, lambda part: decoder(part, mode=mode), document_of)
    answer = answer or _document(found, document_of)
    answer["notes"] = [*map(note_document, forms), *answer["notes"]]  # type: ignore[misc]  # a list
    return answer


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


def _document(found: Decoded[Any], document_of: Callable[[Any], Document]) -> Document:
    return {
        "value": None if found.value is None else document_of(found.value),
        "notes": [note_document(note) for note in found.notes],
        "error": None if found.error is None else error_document(found.error),
    }
