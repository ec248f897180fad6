"""The command `replay`, asked several times in one process, as Spark takes long to start.

`python -m tests.spark.replay_job FOLDER`, where the folder has `asked.json`: lists of arguments.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from click.testing import CliRunner

from assignors.cli.command import command


def main(folder: Path) -> None:
    """Ask, and write what came."""
    answers = []
    for arguments in json.loads((folder / "asked.json").read_text()):
        result = CliRunner().invoke(command, ["replay", *arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        answers.append([result.exit_code, result.stdout, result.stderr])
    (folder / "answers.json").write_text(json.dumps(answers))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
