"""Names of files to be written."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import click

NO_DASH = "standard output has the answers: name a file (./- is one of this name)"
"""What refuses `-` where it does not mean standard output."""


class NewFile(click.Path):
    """A file to be written, in a folder that there is: known before the work begins."""

    def __init__(self, *, allow_dash: bool = False) -> None:
        """Take `-`, standard output, where it is allowed."""
        super().__init__(dir_okay=False, writable=True, allow_dash=allow_dash)
        self._takes_dash = allow_dash

    def convert(
        self, value: str | PathLike[str], param: click.Parameter | None, ctx: click.Context | None
    ) -> str | bytes | PathLike[str]:
        """Return the name. Raises `click.BadParameter` where no file can get it."""
        if value == "-" and not self._takes_dash:
            self.fail(NO_DASH, param, ctx)
        found = super().convert(value, param, ctx)
        folder = Path(value).parent
        if not folder.is_dir():
            self.fail(f"{folder}: no such folder", param, ctx)
        return found
