"""`check`: reads a group and an assignment, writes which rules the assignment breaks."""

from __future__ import annotations

import click

from assignors.assignor import UserData
from assignors.checks import check as judge
from assignors.cli.inputs.given_groups import (
    GivenGroup,
    GroupOptions,
    group_options,
    group_results,
    weights_option,
)
from assignors.cli.inputs.lines import files_argument
from assignors.cli.outputs.forms import Form, output_option, write
from assignors.cli.outputs.tables import show_checked
from assignors.documents.answers import CheckAnswer, report_document
from assignors.documents.groups import check_request_from_document
from assignors.documents.keys import blank
from assignors.documents.values import Document
from assignors.registry import registered

CHECK_KEYS = ("assignment", "withheld", "protocol")
"""Keys of an assignment, in the document of its group."""


@click.command()
@files_argument
@weights_option
@group_options
@output_option
@click.pass_context
def check(
    context: click.Context,
    *,
    files: tuple[str, ...],
    about: GroupOptions,
    form: Form,
) -> None:
    """Check assignments, whoever made them.

    Which rules are broken, and how far the assignment is from the best possible one. A line is a
    group as assign takes it, with "assignment": {"a": {"t": [0, 1]}}; optional are "withheld":
    {"t": [2]} (partitions that wait for the next round) and "protocol": "eager" or "cooperative".

    assign --with-group writes such lines.

    Or FILE is what kafka-consumer-groups.sh --describe --members --verbose prints: the assignment
    that the group has is checked.

    In Python: assignors.checks.check.
    """
    results = group_results(files, blank(CheckAnswer), about, checked_group, CHECK_KEYS)
    context.exit(write(results, form, show_checked))


def checked_group(given: GivenGroup) -> Document:
    """Return the violations and gaps of the assignment that is given with a group."""
    request = check_request_from_document(given.document)
    report = judge(
        request.group,
        request.assignment,
        withheld=request.withheld,
        protocol=request.protocol,
        user_data=_user_data_of(given.document.get("assignor")),
    )
    return report_document(report)


def _user_data_of(assignor: object) -> UserData | None:
    """Return where the assignor of an answer reads claims, so that moves are counted from those."""
    known = registered(assignor) if isinstance(assignor, str) else None
    return None if known is None or known.user_data is UserData.NONE else known.user_data
