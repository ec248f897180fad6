"""Writes docs/reference/command.md: every subcommand with its arguments, options and help.

python -m tests.docs.command_reference
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache

import click

from assignors.cli.command import command
from tests.docs.source import DOCS, one_line, plain, table

PAGE = DOCS / "reference" / "command.md"

NAME = "kafka-assignors"
HEADING = ("option", "default", "meaning")
SHARED = "Options of several subcommands"
HEAD = """# The command: reference

Subcommands, arguments and options of `kafka-assignors`; what each reads and writes, with examples,
is in [the command](../command.md). This page is written
by `python -m tests.docs.command_reference`, from the command itself.
"""


def page() -> str:
    """Return the page."""
    return "\n".join([HEAD, *_overview(), *_subcommands(command, NAME)]) + "\n"


def _overview() -> Iterator[str]:
    yield from _help(command)
    rows = []
    for name, one in _commands(command):
        summary = one_line((one.help or "").split("\n\n")[0])
        rows.append((f"[`{name}`](#{name})", plain(summary)))
    yield from table(("subcommand", "what it does"), rows)
    yield from table(HEADING, _rows(command, NAME))
    yield f"## {SHARED}\n"
    yield from table(HEADING, _shared())


def _subcommands(group: click.Group, path: str, level: int = 2) -> Iterator[str]:
    for name, one in _commands(group):
        yield f"{'#' * level} {name}\n"
        context = click.Context(one, info_name=name, parent=click.Context(group, info_name=path))
        pieces = " ".join(one.collect_usage_pieces(context))
        yield f"`{path} {name} {pieces}`\n"
        yield from _help(one)
        rows, shared = _rows(one, name), _shared()
        if own := [row for row in rows if row not in shared]:
            yield from table(HEADING, own)
        if others := [row[0] for row in rows if row in shared]:
            yield f"Also {', '.join(others)} ([shared](#{SHARED.lower().replace(' ', '-')})).\n"
        if isinstance(one, click.Group):
            yield from _subcommands(one, f"{path} {name}", level + 1)


def _commands(group: click.Group) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        one = group.get_command(context, name)
        assert one is not None
        yield name, one


def _help(one: click.Command) -> Iterator[str]:
    """Yield the paragraphs of a help text; one that click does not wrap stays as it is."""
    for paragraph in (one.help or "").split("\n\n"):
        if paragraph.startswith("\b\n"):
            yield f"```text\n{paragraph[2:]}\n```\n"
        else:
            yield f"{plain(one_line(paragraph))}\n"


def _rows(one: click.Command, name: str) -> list[tuple[str, str, str]]:
    context = click.Context(one, info_name=name)
    return [_row(each, context) for each in one.get_params(context) if _is_shown(each)]


@cache
def _shared() -> list[tuple[str, str, str]]:
    """Return the options that several subcommands have."""
    counts = Counter(row for name, one in _commands(command) for row in _rows(one, name))
    return [row for row, count in counts.items() if count > 1]


def _is_shown(parameter: click.Parameter) -> bool:
    """Return whether the parameter belongs into a table: help is everywhere, hidden is hidden."""
    if isinstance(parameter, click.Option):
        return not parameter.hidden and "--help" not in parameter.opts
    return isinstance(parameter.type, click.Choice)


def _row(parameter: click.Parameter, context: click.Context) -> tuple[str, str, str]:
    if not isinstance(parameter, click.Option):
        assert isinstance(parameter.type, click.Choice)
        choices = ", ".join(f"`{one}`" for one in parameter.type.choices)
        return f"`{(parameter.name or '').upper()}`", "", f"One of {choices}."
    metavar = "" if parameter.is_flag else f" {parameter.make_metavar(context)}"
    names = ", ".join(parameter.opts) + "".join(f" / {one}" for one in parameter.secondary_opts)
    extra = parameter.get_help_extra(context)
    meaning = plain(one_line(parameter.help or ""))
    limits = extra.get("range")
    if limits:
        meaning += f" Range: `{limits}`."
    if "required" in extra:
        meaning += " Required."
    default = extra.get("default", "")
    if parameter.is_flag and parameter.secondary_opts:
        default = (parameter.opts if parameter.default else parameter.secondary_opts)[0]
    return f"`{names}{metavar}`", f"`{default}`" if default else "", meaning


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
