"""`assign`: reads groups, writes an assignment for each; `assignors`: lists the assignors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import click
from click.core import ParameterSource

from assignors.assignor import Assignor
from assignors.checks import judged
from assignors.checks.compare import compare
from assignors.claims import is_claim_known
from assignors.cli.inputs.assignor_names import ASSIGNOR, ASSIGNOR_HELP, COMPARED
from assignors.cli.inputs.given_groups import (
    GivenGroup,
    GroupOptions,
    group_options,
    group_results,
    weights_option,
)
from assignors.cli.inputs.lines import files_argument
from assignors.cli.inputs.run_options import refuse
from assignors.cli.outputs.comparison import show_compared
from assignors.cli.outputs.forms import Form, output_option, write
from assignors.cli.outputs.tables import show_assigned, show_assignors
from assignors.documents.answers import (
    AssignAnswer,
    AssignorRow,
    CompareAnswer,
    comparison_document,
    rebalance_document,
)
from assignors.documents.failures import NO_ERROR
from assignors.documents.groups import assignment_from_document
from assignors.documents.keys import blank, brief
from assignors.documents.notes import USED_BY, given_weighting, key_unused
from assignors.documents.values import SCHEMA, Document
from assignors.leader import Memory, lead_members
from assignors.names.assignor_names import BEST
from assignors.options import Options, Prefer
from assignors.own_assignors.answers import FAMILIES
from assignors.rebalance import Rebalance
from assignors.registry import ASSIGNORS
from assignors.weighted.sticky import WEIGHTED

LISTED: Document = {"lists": None, "order": None}


@click.command()
@files_argument
@click.option("--assignor", type=ASSIGNOR, help=ASSIGNOR_HELP)
@click.option(
    "--compare",
    "compared",
    type=COMPARED,
    help="Compare assignors: who gets what, moves, gaps.",
)
@click.option(
    "--reasons",
    is_flag=True,
    help="With --compare: say why partitions differ.",
)
@click.option(
    "--with-group",
    is_flag=True,
    help="Write JSON lines that check and what-if read.",
)
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    metavar="STEPS",
    help="optimal/*: stop the search after so many us.",
)
@click.option(
    "--prefer",
    type=click.Choice([choice.value for choice in Prefer]),
    default=Prefer.MOVES.value,
    show_default=True,
    help="optimal/*: few moves first, or even topics.",
)
@weights_option
@group_options
@output_option
@click.pass_context
def assign(
    context: click.Context,
    *,
    files: tuple[str, ...],
    assignor: Assignor | None,
    compared: tuple[Assignor, ...] | None,
    reasons: bool,
    with_group: bool,
    limit: int | None,
    prefer: str,
    about: GroupOptions,
    form: Form,
) -> None:
    """Assign the partitions of groups.

    A line is a group: {"topics": {"t": 6}, "generation": 7, "members": [{"id": "a", "topics":
    ["t"], "owned": [["t", [0, 1]]], "generation": 7}, {"id": "b", "subscription": "<hex>"}]}

    Or FILE is what kafka-consumer-groups.sh --describe --members --verbose prints, or --offsets, or
    both; `notes` has what was assumed. In Python: assignor_named(NAME).assign(group).
    """
    options = Options(limit=limit, prefer=Prefer(prefer))
    if (assignor is None) == (compared is None):
        raise click.UsageError("give either --assignor or --compare")
    _refuse_unread(context, compared or [one for one in (assignor,) if one])
    if compared is not None:
        refuse(context, ("with_group",), "is for --assignor: check takes one assignment")
        several = [one.configured(options) for one in compared]
        context.exit(_show_compared(files, several, about, form, reasons=reasons))
    refuse(context, ("reasons",), "is for --compare; explain has those of one partition")
    assert assignor is not None
    chosen = assignor.configured(options)

    def assigned_group(given: GivenGroup) -> Document:
        group = {key: given.document[key] for key in given.document if key not in USED_BY}
        rebalance = _led(chosen, given)
        broken = judged(given.group, chosen, rebalance)
        unused = () if chosen.family == WEIGHTED.family else given_weighting(given.document)
        notes = [key_unused(key, chosen.full_name) for key in unused]
        answer = rebalance_document(rebalance, notes=notes, broken=broken)
        return (group if with_group else {}) | answer

    if with_group and form is Form.TABLE:
        if context.get_parameter_source("form") is ParameterSource.COMMANDLINE:
            raise click.UsageError("--with-group is for -o jsonl")
        form = Form.JSONL
    named: Document = {
        "assignor": chosen.full_name,
        "protocol": "cooperative" if chosen.is_cooperative else "eager",
    }
    empty = named | blank(AssignAnswer) | {"notes": []} | (LISTED if chosen.keeps_lists else {})
    results = group_results(files, empty, about, assigned_group, partial(_used, chosen))
    context.exit(write(results, form, show_assigned))


def _refuse_unread(context: click.Context, chosen: Sequence[Assignor]) -> None:
    """Raise `click.UsageError` for an option that none of the assignors reads."""
    families = {one.family for one in chosen}
    if families <= FAMILIES - {"optimal"}:
        refuse(context, ("limit", "prefer"), "is for optimal/*")
    is_alone = len(chosen) == 1 and not context.params["with_group"]
    if is_alone and families <= FAMILIES - {"weighted"}:
        refuse(context, ("weights",), "is for weighted/*, --compare and --with-group")


def _show_compared(
    files: tuple[str, ...],
    assignors: Sequence[Assignor],
    about: GroupOptions,
    form: Form,
    *,
    reasons: bool,
) -> int:
    """Write the answers of several assignors side by side; return the exit code."""

    def compared_group(given: GivenGroup) -> Document:
        return comparison_document(compare(given.group, assignors))

    results = group_results(files, blank(CompareAnswer), about, compared_group)
    return write(results, form, partial(show_compared, reasons=reasons))


def _led(assignor: Assignor, given: GivenGroup) -> Rebalance:
    """Return the answer of a leader, which remembers the `assignment` of the document."""
    if not _used(assignor, given):
        return assignor.assign(given.group)
    plan = assignment_from_document(given.document["assignment"])
    memory = Memory(plan=plan, state=given.group.state)
    rebalance, _, must_follow_up = lead_members(assignor, given.group, memory=memory)
    return replace(rebalance, follow_up=must_follow_up)


def _used(assignor: Assignor, given: GivenGroup) -> tuple[str, ...]:
    """Return the further keys of a group that count.

    The `assignment` of the round before is what members own whose bytes do not say so, as in
    `lead`. A copy of Kafka's assigns what Kafka does.
    """
    is_silent = not all(map(is_claim_known, given.group.members))
    remembers = is_silent and assignor.is_cooperative and not assignor.keeps_lists
    has_plan = given.document.get("assignment") is not None
    return ("assignment",) if remembers and has_plan else ()


@click.command()
@output_option
@click.pass_context
def assignors(context: click.Context, form: Form) -> None:
    """List the assignors that --assignor knows by name."""
    bare = {full_name: name for name, full_name in BEST.items()}
    rows = [
        AssignorRow(
            name=full_name,
            short=bare.get(full_name),
            protocols=tuple(sorted(one.name.lower() for one in assignor.protocols)),
            user_data=assignor.user_data.value,
        )
        for full_name, assignor in ASSIGNORS.items()
    ]
    documents: list[Document] = [{"schema": SCHEMA, **brief(row), **NO_ERROR} for row in rows]
    context.exit(write(documents, form, show_assignors))
