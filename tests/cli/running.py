"""Ways to run the command: in this process, and as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from assignors.cli.command import command

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-m", "assignors"]

GROUP: dict[str, Any] = {
    "topics": {"t": 4},
    "generation": 7,
    "members": [
        {"id": "a", "topics": ["t"], "owned": [["t", [0, 1, 2, 3]]], "generation": 7},
        {"id": "b", "topics": ["t"]},
    ],
}


AS_LINES = {"KAFKA_ASSIGNORS_OUTPUT": "jsonl"}
"""What programs set that read answers: without it, and without `-o`, they are tables."""


def answers(*arguments: str, given: str | bytes = "") -> tuple[list[dict[str, Any]], int]:
    """Return the documents and the exit code of one run in this process."""
    result = CliRunner(env=AS_LINES).invoke(command, arguments, input=given)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return [json.loads(line) for line in result.stdout.splitlines()], result.exit_code


def answer(*arguments: str, given: str | bytes) -> dict[str, Any]:
    """Return the only document of one run."""
    (document,), _ = answers(*arguments, given=given)
    return document


def called(
    *arguments: str, given: str | bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the command in this process; return what it would leave as one of its own.

    Answers are JSON lines unless `-o` or the environment says otherwise; so in `process`.
    """
    result = CliRunner(env=AS_LINES).invoke(command, arguments, input=given, env=environment)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return subprocess.CompletedProcess(
        arguments, result.exit_code, result.stdout_bytes, result.stderr_bytes
    )


def process(
    *arguments: str, given: bytes = b"", **environment: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the command as a process of its own."""
    return subprocess.run(
        [*COMMAND, *arguments],
        input=given,
        capture_output=True,
        timeout=400,
        check=False,
        cwd=ROOT,
        env={**os.environ, **AS_LINES, **environment},
    )


def printed_rows(*arguments: str) -> list[dict[str, Any]]:
    """Return the rows that `replay` prints as a process of its own, whatever it finds in them."""
    done = process("replay", *arguments)
    assert done.returncode in {0, 1}, done.stderr.decode()[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]
