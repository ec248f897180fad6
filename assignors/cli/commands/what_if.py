"""`what-if`: plays named events in a group as it is, round by round."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from assignors.cli.inputs.assignor_names import portable_names
from assignors.cli.inputs.given_groups import GroupOptions, group_entries, group_options
from assignors.cli.inputs.run_options import assignors_option
from assignors.cli.inputs.scenarios import asked_row, outcome_documents
from assignors.cli.outputs.forms import Form, output_option, write
from assignors.cli.outputs.played_events import show_simulated
from assignors.cli.outputs.progress import with_progress
from assignors.names.assignor_names import BEST

NO_GROUP = "name a GROUP, - for standard input, or --sample; then the events, as join:5 leave:m3"


@click.command()
@click.argument("words", nargs=-1, metavar="GROUP [EVENT]...")
@assignors_option
@group_options
@output_option
@click.pass_context
def what_if(
    context: click.Context,
    *,
    words: tuple[str, ...],
    files: tuple[str, ...],
    assignors: tuple[tuple[str, ...], ...],
    about: GroupOptions,
    form: Form,
) -> None:
    """Play events in a group: consumers join or leave, topics grow.

    GROUP is a file as assign takes it, or what kafka-consumer-groups.sh --describe prints; - for
    standard input. EVENTs follow in order, and nothing is random:

    \b
    join:5, join:5:orders      members join
    leave:m3,m4, crash:m3      members leave
    return:m3                  a member is removed, and returns with its claims
    restart:m3                 a static member returns without claims
    subscribe:m3:orders,users  a member's topics; * is every member
    resize:orders:24           a topic grows; fewer: it is created again
    new-topic:users:12         a topic is created; delete:users

    A line of JSON may have its own, as "events": ["join:5", "leave:m3"]. Without --assignor:
    range, roundrobin, sticky and cooperative-sticky.

    In Python: assignors.simulation.simulate_group.
    """  # noqa: D301 - click reads the backspace
    if not files:
        if not words or (words[0] != "-" and not Path(words[0]).exists()):
            missing = "" if not words or ":" in words[0] else f"no file {words[0]!r}: "
            raise click.UsageError(f"{missing}{NO_GROUP}")
        files, words = words[:1], words[1:]
    if Path(files[0]).is_dir():
        raise click.UsageError(f"{files[0]!r} is a directory")
    names = portable_names(assignors) or tuple(BEST.values())
    row_of = partial(asked_row, about=about, events=words)
    documents = outcome_documents(group_entries(files, about), row_of, names)
    played = with_progress(documents, None, "outcomes")
    assumed = "groups as given; nothing is random"
    context.exit(write(played, form, show_simulated, assumptions=assumed))
