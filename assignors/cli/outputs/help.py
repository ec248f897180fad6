"""Help texts whose lines end between words: `--what-if` and `cooperative-sticky` stay whole.

click breaks lines behind hyphens too. A name of an option that is cut in two can neither be copied
nor searched for, so hyphens are replaced by ones that do not break while lines are made.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

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


class SectionedCommand(click.Command):
    """A command with many options, listed under headings in the order in which they stand."""

    def __init__(
        self,
        *arguments: Any,  # noqa: ANN401 - click's own
        sections: Mapping[str, str],
        **others: Any,  # noqa: ANN401 - as above
    ) -> None:
        """`sections` has headings, each with the option that it stands before."""
        super().__init__(*arguments, **others)
        self.headings = tuple(sections)
        self._headings = {option: heading for heading, option in sections.items()}

    def sections(self, ctx: click.Context) -> dict[str, list[click.Parameter]]:
        """Return the parameters of each heading; those before the first have the usual one."""
        found: dict[str, list[click.Parameter]] = {}
        heading = "Options"
        for each in self.get_params(ctx):
            heading = next((self._headings[o] for o in each.opts if o in self._headings), heading)
            found.setdefault(heading, []).append(each)
        return found

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a list of options for each heading."""
        for heading, options in self.sections(ctx).items():
            shown = [each for each in options if isinstance(each, click.Option)]
            records = [each.get_help_record(ctx) for each in shown]
            with formatter.section(heading):
                formatter.write_dl([record for record in records if record is not None])
