"""Help texts whose lines end between words: `--what-if` and `cooperative-sticky` stay whole.

click breaks lines behind hyphens too. A name of an option that is cut in two can neither be copied
nor searched for, so hyphens are replaced by ones that do not break while lines are made.
"""

from __future__ import annotations

from collections.abc import Iterable

import click

UNBREAKABLE = str.maketrans("-", "\N{NON-BREAKING HYPHEN}")
BREAKABLE = str.maketrans("\N{NON-BREAKING HYPHEN}", "-")


class WholeWords(click.HelpFormatter):
    """Writes help as click does, but never breaks a line at a hyphen."""

    def write(self, string: str) -> None:
        """Write a text with its own hyphens."""
        super().write(string.translate(BREAKABLE))

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write the line of the usage."""
        super().write_usage(prog, args.translate(UNBREAKABLE), prefix)

    def write_text(self, text: str) -> None:
        """Write paragraphs."""
        super().write_text(text.translate(UNBREAKABLE))

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write options or commands with their texts."""
        whole = [(term, text.translate(UNBREAKABLE)) for term, text in rows]
        super().write_dl(whole, col_max, col_spacing)


class HelpContext(click.Context):
    """The context of a command whose help is written by `WholeWords`."""

    formatter_class = WholeWords
