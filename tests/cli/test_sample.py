"""`replay --sample`: the first command of a new user, without a dump, a checkout or pyarrow."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from assignors.replay.sample import incident, incident_file
from assignors.replay.tables.rows import TABLES
from tests.cli.running import ROOT, answers, called, process

FILE = str(incident_file())


def tabled(*arguments: str) -> tuple[list[dict[str, Any]], int]:
    """What one run prints of every table."""
    tables = [word for name in TABLES for word in ("--table", name)]
    return answers("replay", *arguments, *tables, "--what-if", "sticky", "-o", "jsonl")


def test_the_sample_is_the_bundled_file() -> None:
    assert tabled("--sample") == tabled(FILE)
    assert len(tabled("--sample")[0]) > len(incident()) / 10


def test_the_sample_answers_in_a_second() -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = process("replay", "--sample", "-o", "table", COLUMNS="100")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 1
    assert b"given-too-early" in done.stdout or b"needless-moves" in done.stdout
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 1


def test_a_wheel_without_pyarrow_answers_the_same(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel"]
    subprocess.run([*build, "--directory", tmp_path], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    program = (
        "import sys; sys.modules.update(pyarrow=None, jinja2=None, pyspark=None)\n"
        "from assignors.cli import main; sys.exit(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "replay", "--sample", "-o", "jsonl"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(wheel)},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert not done.stderr
    assert done.returncode == 1
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert (found, 1) == answers("replay", "--sample", "-o", "jsonl")


@pytest.mark.parametrize("other", [(FILE,), ("--bootstrap", "localhost:1")])
def test_the_sample_is_no_second_source(other: tuple[str, ...]) -> None:
    done = called("replay", "--sample", *other)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--sample is a source" in done.stderr


def test_a_command_without_a_source_names_the_sample() -> None:
    done = called("replay")
    assert done.returncode == 2
    assert b"--sample" in done.stderr
    assert (ROOT / "assignors" / "replay" / "sample" / "README.md").exists()
