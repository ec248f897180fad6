"""`decode`: bytes that clients and brokers write, given as hex, one blob or record a line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from assignors.cli.commands import decode_records
from assignors.cli.inputs.answers import answers
from assignors.cli.inputs.sources import files_argument
from assignors.cli.outputs.output import Form, output_option, write
from assignors.cli.outputs.tables import show_decoded
from assignors.documents.values import Document, bytes_from_hex
from wire import (
    Mode,
    decode_assignment,
    decode_cooperative_user_data,
    decode_sticky_user_data,
    decode_subscription,
)
from wire.protocol.documents import (
    assignment_document,
    cooperative_user_data_document,
    error_document,
    note_document,
    sticky_user_data_document,
    subscription_document,
)

# Decoder and document of each kind; each pair has a type of its own in the middle.
KINDS: dict[str, tuple[Callable[..., Any], Callable[[Any], Document]]] = {
    "subscription": (decode_subscription, subscription_document),
    "assignment": (decode_assignment, assignment_document),
    "sticky-userdata": (decode_sticky_user_data, sticky_user_data_document),
    "cooperative-userdata": (decode_cooperative_user_data, cooperative_user_data_document),
}

MAY_BE_NULL = {"sticky-userdata", "cooperative-userdata"}

BLANK: Document = {"value": None, "notes": []}


@click.command()
@click.argument("kind", type=click.Choice([*KINDS, decode_records.KIND]))
@files_argument
@click.option(
    "--mode",
    type=click.Choice([mode.value for mode in Mode]),
    default=Mode.TOLERANT.value,
    show_default=True,
    help="strict takes what Kafka's own classes take; tolerant takes what clients write.",
)
@click.option(
    "--members",
    "with_members",
    is_flag=True,
    help="offsets-record: open each member's Subscription, Assignment and UserData too.",
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
    """Decode hex lines: what members say, what leaders answer, what brokers keep.

    An empty line is zero bytes; for UserData, null or - is no UserData at all. A line of
    offsets-record has the key of a record of __consumer_offsets, a space, and its value, - for a
    tombstone.
    """
    if kind == decode_records.KIND:
        records = answers(
            files,
            {**decode_records.BLANK, **({"members": []} if with_members else {})},
            lambda line: decode_records.decoded_record(line, with_members=with_members),
        )
        context.exit(write(records, form, decode_records.show_records))
    if with_members:
        raise click.UsageError(f"--members is for {decode_records.KIND}")
    documents = answers(files, BLANK, lambda line: decoded(kind, line, Mode(mode)))
    context.exit(write(documents, form, lambda found: show_decoded(kind, found)))


def decoded(kind: str, line: bytes, mode: Mode) -> Document:
    """Return value, notes and error of one line of hex."""
    decoder, document_of = KINDS[kind]
    is_null = kind in MAY_BE_NULL and line.strip() in {b"null", b"-"}
    found = decoder(None if is_null else bytes_from_hex(line), mode=mode)
    return {
        "value": None if found.value is None else document_of(found.value),
        "notes": [note_document(note) for note in found.notes],
        "error": None if found.error is None else error_document(found.error),
    }
