"""`assign`: one group a line in, its assignment out; `assignors` lists who can do it."""

from __future__ import annotations

import click

from assignors.assignor import Assignor
from assignors.checks.compare import compare
from assignors.cli.inputs.answers import answers
from assignors.cli.inputs.json_text import parse
from assignors.cli.inputs.sources import files_argument
from assignors.cli.outputs.output import Form, output_option, write
from assignors.cli.outputs.tables import show_assigned, show_assignors, show_compared
from assignors.documents.answers import comparison_document, rebalance_document
from assignors.documents.groups import group_from_document
from assignors.documents.values import Document
from assignors.options import OnFailure, Options
from assignors.registry import ASSIGNORS, BEST, assignor_named

BLANK: Document = {"assignment": None, "withheld": None, "notes": [], "stats": None}
LISTED: Document = {"lists": None, "order": None}
COMPARED: Document = {"compared": None, "different": None, "partitions": None}


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


class AssignorNames(click.ParamType[tuple[Assignor, ...]]):
    """Names of assignors with commas between them."""

    name = "name,name"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[Assignor, ...]:
        """Return the assignors, or say what is wrong with the list."""
        named = AssignorName()
        found = tuple(named.convert(name, param, ctx) for name in str(value).split(","))
        if len({assignor.full_name for assignor in found}) < max(len(found), 2):
            self.fail("name two or more different assignors: sticky,java/sticky", param, ctx)
        return found


@click.command()
@files_argument
@click.option("--assignor", type=AssignorName(), help=ASSIGNOR_HELP)
@click.option(
    "--compare",
    "compared",
    type=AssignorNames(),
    help="Two or more assignors, A,B: loads, moves, gaps, and which partitions differ and why.",
)
@click.option(
    "--jdk",
    type=click.Choice(["17", "25"]),
    default="17",
    show_default=True,
    help="server/*: the JDK whose hash sets the broker runs on.",
)
@click.option(
    "--on-failure",
    type=click.Choice([choice.value for choice in OnFailure]),
    default=OnFailure.RAISE.value,
    show_default=True,
    help="java/*, server/*: fail where the original fails, or repair and say so in a note.",
)
@output_option
@click.pass_context
def assign(
    context: click.Context,
    *,
    files: tuple[str, ...],
    assignor: Assignor | None,
    compared: tuple[Assignor, ...] | None,
    jdk: str,
    on_failure: str,
    form: Form,
) -> None:
    """Assign the partitions of each group, one JSON object a line.

    A group: {"topics": {"t": 6}, "generation": 7, "members": [{"id": "a", "topics": ["t"],
    "owned": [["t", [0, 1]]], "generation": 7}, {"id": "b", "subscription": "<hex>"}]}

    The java and server assignors take members in the order of the line, as Java's maps get
    them, and answer with `lists` and `order`; java/sticky keeps {"state": {"max_generation": n}}.
    """
    options = Options(jdk=25 if jdk == "25" else 17, on_failure=OnFailure(on_failure))
    if (assignor is None) == (compared is None):
        raise click.UsageError("give either --assignor or --compare")
    if compared is not None:
        several = [one.configured(options) for one in compared]

        def compare_line(line: bytes) -> Document:
            return comparison_document(compare(group_from_document(parse(line)), several))

        context.exit(write(answers(files, COMPARED, compare_line), form, show_compared))
    assert assignor is not None
    chosen = assignor.configured(options)

    def answer(line: bytes) -> Document:
        return rebalance_document(chosen.assign(group_from_document(parse(line))))

    blank = BLANK | LISTED if chosen.keeps_lists else BLANK
    context.exit(write(answers(files, blank, answer), form, show_assigned))


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
