"""Assignors in tables, by the name that was asked for: a class of Kafka stays that class.

JSON has the full name, `FAMILY/NAME`, which is the same whatever somebody typed.
"""

from __future__ import annotations

import click

from assignors.names.assignor_names import BEST, CLASSES

ASKED = "assignors.cli.asked_names"
"""Key of a context's `meta`: full name -> the names that were typed for it."""

SHORT = {full_name: name for name, full_name in BEST.items()}


def keep_asked_name(context: click.Context | None, full_name: str, asked: str) -> list[str]:
    """Keep a name that was typed for an assignor; return all that were, this one last."""
    if context is None:
        return [asked]
    names: dict[str, list[str]] = context.meta.setdefault(ASKED, {})
    typed = names.setdefault(full_name, [])
    typed.append(asked)
    return typed


def shown_name(full_name: str) -> str:
    """Return the name that was typed for an assignor, else its short name, else the full one.

    Of a class of Kafka without its package, which no table has room for.
    """
    context = click.get_current_context(silent=True)
    asked: dict[str, list[str]] = {} if context is None else context.meta.get(ASKED, {})
    name = asked[full_name][0] if full_name in asked else SHORT.get(full_name, full_name)
    return name.rpartition(".")[2] if name in CLASSES else name
