"""The command, asked several times in one process, as Spark takes long to start.

The folder has `asked.json`: lists of arguments.
"""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from assignors.cli.command import command


def main(folder: Path) -> None:
    """Ask, and write what came."""
    answers = []
    for arguments in json.loads((folder / "asked.json").read_text()):
        result = CliRunner().invoke(command, arguments)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        answers.append([result.exit_code, result.stdout, result.stderr])
    (folder / "answers.json").write_text(json.dumps(answers))
