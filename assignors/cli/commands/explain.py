"""`explain`: writes why one partition of a group moves, stays or waits."""

from __future__ import annotations

import click

from assignors.assignor import Assignor
from assignors.checks.explain import explain as explained
from assignors.cli.inputs.assignor_names import ASSIGNOR, ASSIGNOR_HELP
from assignors.cli.inputs.given_groups import (
    GivenGroup,
    GroupOptions,
    group_options,
    group_results,
    weights_option,
)
from assignors.cli.inputs.lines import files_argument
from assignors.cli.inputs.option_types import Value
from assignors.cli.inputs.run_options import refuse
from assignors.cli.outputs.forms import Form, output_option, write
from assignors.cli.outputs.tables import show_explained
from assignors.documents.answers import ExplainAnswer, explanation_document
from assignors.documents.groups import require_partition
from assignors.documents.keys import blank
from assignors.documents.values import Document
from assignors.own_assignors.answers import FAMILIES


def _topic_partition(text: str) -> tuple[str, int]:
    """Return a partition of `topic:number`, or `topic-number` as Kafka's logs have it.

    Kafka's topic names have no colon.
    """
    topic, _, digits = text.rpartition(":" if ":" in text else "-")
    if not topic or not (digits.isascii() and digits.isdecimal()) or len(digits) > 10:
        raise ValueError(f"{text!r} is not topic:number, as orders:3")
    return topic, int(digits)


@click.command()
@files_argument
@click.option(
    "--partition",
    type=Value("topic:number", _topic_partition),
    required=True,
    help="The partition to explain: orders:3, or orders-3 as in Kafka's logs.",
)
@click.option(
    "--assignor",
    type=ASSIGNOR,
    default="cooperative-sticky",
    show_default=True,
    help=ASSIGNOR_HELP,
)
@weights_option
@group_options
@output_option
@click.pass_context
def explain(
    context: click.Context,
    *,
    files: tuple[str, ...],
    partition: tuple[str, int],
    assignor: Assignor,
    about: GroupOptions,
    form: Form,
) -> None:
    """Explain why a partition moves, stays or waits.

    A line is a group as assign takes it, or FILE is what kafka-consumer-groups.sh --describe
    --members --verbose prints.
    """
    if assignor.family in FAMILIES - {"weighted"}:
        refuse(context, ("weights",), "is for weighted/*")

    def explained_group(given: GivenGroup) -> Document:
        require_partition(given.group, *partition)
        return explanation_document(explained(given.group, assignor, *partition))

    context.exit(
        write(
            group_results(files, blank(ExplainAnswer), about, explained_group), form, show_explained
        )
    )
