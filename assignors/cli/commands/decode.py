"""`decode`: reads bytes of clients and brokers in hex, writes their fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from operator import attrgetter

import click

from assignors.cli.inputs.lines import Line, files_argument
from assignors.cli.inputs.results import result_documents
from assignors.cli.inputs.run_options import refuse
from assignors.cli.outputs.forms import CLEAN, VIOLATIONS, Form, output_option, write
from assignors.cli.outputs.tables import show_decoded, show_records
from assignors.documents.pasted.decoding import (
    KINDS,
    LINE_END,
    RECORD,
    decoded,
    decoded_record,
    is_mostly_unread,
    values_of_lines,
)
from assignors.documents.values import Document
from wire import Mode

BLANK: Document = {"value": None, "notes": []}
BLANK_RECORD: Document = {
    **dict.fromkeys(("type", "name", "key", "version", "value")),
    "notes": [],
}


@click.command()
@click.argument("kind", metavar="KIND", type=click.Choice([*KINDS, RECORD]))
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

    One value a line, in hexadecimal: plain, or with spaces, colons or 0x. Escapes as \x00, base64,
    PostgreSQL's \x0001, lists of numbers ([0, 1, -1], <<0,1>>) and Node's Buffers are read too,
    with a note. The lines of a hex dump (xxd, hexdump -C, od -t x1, tcpdump -X, Wireshark) are one
    value, and so are lines that read whole only together. A whole JoinGroup, SyncGroup or
    DescribeGroups message is recognised, and what is in it decoded.

    Exit code 1 where more than half of a value was not read, 2 where one is an error.

    An empty line is zero bytes; for UserData, null or - means no UserData. A line of offsets-record
    is a record of __consumer_offsets: its key, a space, and its value, - for a tombstone.

    In Python: wire.decode_subscription and the like, assignors.documents.pasted.decoding.decoded.
    """
    if kind == RECORD:
        refuse(context, ("mode",), "is not for offsets-record: records have one form")
        blank = {**BLANK_RECORD, **({"members": []} if with_members else {})}
        record_of = partial(decoded_record, with_members=with_members)
        context.exit(write(result_documents(files, blank, record_of), form, show_records))
    refuse(context, ("with_members",), f"is for {RECORD}")
    documents = result_documents(
        files,
        BLANK,
        lambda line: decoded(kind, line, Mode(mode)),
        together=partial(_joined, kind=kind),
    )
    codes = [CLEAN]

    def noticed() -> Iterator[Document]:
        for document in documents:
            if is_mostly_unread(document):
                codes[0] = VIOLATIONS
            yield document

    context.exit(max(write(noticed(), form, partial(show_decoded, kind)), *codes))


def _joined(given: Iterable[Line], kind: str) -> Iterator[Line]:
    """Yield the lines, those of one value as one."""
    for lines in values_of_lines(kind, given, attrgetter("text")):
        yield Line(LINE_END.join(line.text for line in lines), lines[0].number, lines[0].file)
