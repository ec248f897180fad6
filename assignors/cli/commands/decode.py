"""`decode`: reads bytes of clients and brokers in hex, writes their fields."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from assignors.cli.commands import decode_records
from assignors.cli.inputs.lines import files_argument
from assignors.cli.inputs.results import result_documents
from assignors.cli.outputs.forms import Form, output_option, write
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

# Kind -> its decoder, and what turns the decoded value into a document.
KINDS: dict[str, tuple[Callable[..., Any], Callable[[Any], Document]]] = {
    "subscription": (decode_subscription, subscription_document),
    "assignment": (decode_assignment, assignment_document),
    "sticky-userdata": (decode_sticky_user_data, sticky_user_data_document),
    "cooperative-userdata": (decode_cooperative_user_data, cooperative_user_data_document),
}

MAY_BE_NULL = {"sticky-userdata", "cooperative-userdata"}

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
    """Decode bytes of members, leaders and brokers, given as hex.

    KIND is subscription, assignment, sticky-userdata, cooperative-userdata or offsets-record.

    One value a line. An empty line is zero bytes; for UserData, null or - means no UserData. A line
    of offsets-record is a record of __consumer_offsets: its key, a space, and its value, - for a
    tombstone.
    """
    if kind == decode_records.KIND:
        records = result_documents(
            files,
            {**decode_records.BLANK, **({"members": []} if with_members else {})},
            lambda line: decode_records.decoded_record(line, with_members=with_members),
        )
        context.exit(write(records, form, decode_records.show_records))
    if with_members:
        raise click.UsageError(f"--members is for {decode_records.KIND}")
    documents = result_documents(files, BLANK, lambda line: decoded_line(kind, line, Mode(mode)))
    context.exit(write(documents, form, lambda found: show_decoded(kind, found)))


def decoded_line(kind: str, line: bytes, mode: Mode) -> Document:
    """Return the value, notes and error of a line of hex."""
    decoder, document_of = KINDS[kind]
    is_null = kind in MAY_BE_NULL and line.strip() in {b"null", b"-"}
    found = decoder(None if is_null else bytes_from_hex(line), mode=mode)
    return {
        "value": None if found.value is None else document_of(found.value),
        "notes": [note_document(note) for note in found.notes],
        "error": None if found.error is None else error_document(found.error),
    }
