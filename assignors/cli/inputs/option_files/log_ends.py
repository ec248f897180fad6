"""The option `--log-ends`: where partitions ended at some moments, a JSON object a line."""

from __future__ import annotations

import click

from assignors.cli.inputs.json_text import parse_json
from assignors.cli.inputs.option_files.json_file import bytes_of, sentence
from assignors.documents.values import DocumentError
from assignors.replay.history.log_ends import LogEnds, log_ends_from_document


class LogEndsFile(click.ParamType[tuple[LogEnds, ...]]):
    """A file of JSON lines, each with the log ends of one moment."""

    name = "file"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[LogEnds, ...]:
        """Return the moments; a usage error says which line is wrong, and where in it."""
        found = []
        lines = bytes_of(str(value), self.fail, param, ctx).splitlines()
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                found.append(log_ends_from_document(parse_json(line)))
            except DocumentError as error:
                self.fail(f"{value}, line {number}: {sentence(error)}", param, ctx)
        if not found:
            self.fail(f"{value}: no line has log ends", param, ctx)
        return tuple(found)
