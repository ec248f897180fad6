"""`check`: a group and anybody's assignment in, the laws it breaks out."""

from __future__ import annotations

import click

from assignors.checks import check as judge
from assignors.cli.inputs.answers import answers
from assignors.cli.inputs.json_text import parse
from assignors.cli.inputs.sources import files_argument
from assignors.cli.outputs.output import Form, output_option, write
from assignors.cli.outputs.tables import show_checked
from assignors.documents.answers import report_document
from assignors.documents.groups import check_request_from_document
from assignors.documents.values import Document

BLANK: Document = {"violations": None, "gaps": None}


@click.command()
@files_argument
@output_option
@click.pass_context
def check(context: click.Context, files: tuple[str, ...], form: Form) -> None:
    """Check assignments, whoever made them: which laws they break, how far from the best.

    A line is a group as assign takes it, with "assignment": {"a": {"t": [0, 1]}}, and if
    there are any "withheld": {"t": [2]} and "protocol": "eager" or "cooperative".
    """
    context.exit(write(answers(files, BLANK, checked), form, show_checked))


def checked(line: bytes) -> Document:
    """Return violations and gaps of one line."""
    question = check_request_from_document(parse(line))
    report = judge(
        question.group,
        question.assignment,
        withheld=question.withheld,
        protocol=question.protocol,
    )
    return report_document(report)
