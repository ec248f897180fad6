"""`assign`: one group a line in, its assignment out; `assignors` lists who can do it."""

from __future__ import annotations

import click

from assignors.assignor import Assignor
from assignors.cli.answers import answers
from assignors.cli.json_text import parse
from assignors.cli.output import Form, output_option, write
from assignors.cli.sources import files_argument
from assignors.cli.tables import show_assigned, show_assignors
from assignors.documents import Document, group_from_document, rebalance_document
from assignors.registry import ASSIGNORS, BEST, assignor_named

BLANK: Document = {"assignment": None, "withheld": None, "notes": [], "stats": None}


class AssignorName(click.ParamType[Assignor]):
    """The name of an assignor, as `registry.assignor_named` takes it."""

    name = "name"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> Assignor:
        """Return the assignor, or say which names there are."""
        if isinstance(value, Assignor):
            return value
        try:
            return assignor_named(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


ASSIGNOR_HELP = f"{', '.join(BEST)}, FAMILY/NAME, or package.module:object for your own."


@click.command()
@files_argument
@click.option("--assignor", type=AssignorName(), required=True, help=ASSIGNOR_HELP)
@output_option
@click.pass_context
def assign(context: click.Context, files: tuple[str, ...], assignor: Assignor, form: Form) -> None:
    """Assign the partitions of each group, one JSON object a line.

    A group: {"topics": {"t": 6}, "generation": 7, "members": [{"id": "a", "topics": ["t"],
    "owned": [["t", [0, 1]]], "generation": 7}, {"id": "b", "subscription": "<hex>"}]}
    """

    def answer(line: bytes) -> Document:
        return rebalance_document(assignor.assign(group_from_document(parse(line))))

    context.exit(write(answers(files, BLANK, answer), form, show_assigned))


@click.command()
@output_option
@click.pass_context
def assignors(context: click.Context, form: Form) -> None:
    """List the assignors that --assignor knows by name."""
    bare = {full_name: name for name, full_name in BEST.items()}
    documents: list[Document] = [
        {
            "schema": 1,
            "name": full_name,
            "short": bare.get(full_name),
            "protocols": sorted(protocol.name.lower() for protocol in assignor.protocols),
            "user_data": assignor.user_data.value,
            "error": None,
        }
        for full_name, assignor in ASSIGNORS.items()
    ]

    context.exit(write(documents, form, show_assignors))
