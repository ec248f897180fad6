"""The command, asked several times in one process and one session, as Spark takes long to start.

The folder has `asked.json`: lists of arguments; and `given`, the standard input, if there is one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from assignors.cli.command import command
from tests.cli.running import AS_LINES


def main(folder: Path) -> None:
    """Ask, and write what came. The last ask stops the session, as the command does."""
    answers = []
    asked = json.loads((folder / "asked.json").read_text())
    given = folder / "given"
    for number, arguments in enumerate(asked, start=1):
        goes_on = number < len(asked) and "spark" in arguments
        with _kept_session() if goes_on else nullcontext():
            result = CliRunner(env={**AS_LINES, "COLUMNS": "120"}).invoke(
                command, arguments, input=given.read_bytes() if given.exists() else None
            )
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        answers.append([result.exit_code, result.stdout, result.stderr])
    (folder / "answers.json").write_text(json.dumps(answers))


@contextmanager
def _kept_session() -> Iterator[None]:
    """Let the session outlive the command, empty."""
    from pyspark.sql import SparkSession  # noqa: PLC0415 - it is classic or remote in a process

    def emptied(session: Any) -> None:
        session.catalog.clearCache()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SparkSession, "stop", emptied)
        yield
