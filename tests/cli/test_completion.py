"""What the shell completes: asked as bash, zsh and fish ask."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assignors.cli.command import SUMMARIES
from assignors.names.assignor_names import BEST
from assignors.registry import ASSIGNORS
from assignors.simulation.timed.gallery import GALLERY
from tests.cli.running import ROOT, process
from tests.conftest import need


def completed(line: str) -> list[str]:
    """Return what bash would offer for the last word of a line."""
    words = line.split(" ")
    ended = process(
        COMP_WORDS=line, COMP_CWORD=str(len(words) - 1), _KAFKA_ASSIGNORS_COMPLETE="bash_complete"
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    return [entry.split(",", 1)[1] for entry in ended.stdout.decode().splitlines()]


@pytest.mark.parametrize(
    "before",
    ["assign --assignor", "explain --assignor", "simulate --assignor", "replay --what-if"],
)
def test_names_of_assignors_are_completed(before: str) -> None:
    assert completed(f"kafka-assignors {before} coop") == ["cooperative-sticky"]


def test_all_names_of_assignors_are_offered() -> None:
    assert set(completed("kafka-assignors assign --assignor ")) == {*BEST, *ASSIGNORS}
    assert completed("kafka-assignors assign --assignor server/s") == ["server/simple"]


def test_of_names_with_commas_the_last_one_is_completed() -> None:
    assert completed("kafka-assignors assign --compare sticky,java/r") == [
        "sticky,java/range",
        "sticky,java/roundrobin",
    ]


def test_subcommands_options_and_scenarios_are_completed() -> None:
    assert completed("kafka-assignors ") == list(SUMMARIES)
    assert completed("kafka-assignors con") == ["conform"]
    assert "--assignor" in completed("kafka-assignors assign --a")
    assert set(completed("kafka-assignors simulate ")) == set(GALLERY)
    assert completed("kafka-assignors decode sub") == ["subscription"]
    assert completed("kafka-assignors assign --assignor range gro") == ["gro"]  # a file's name


def test_summaries_beside_subcommands_are_whole() -> None:
    ended = process(
        COMP_WORDS="kafka-assignors ", COMP_CWORD="1", _KAFKA_ASSIGNORS_COMPLETE="zsh_complete"
    )
    assert ended.stdout.decode().splitlines()[2::3] == list(SUMMARIES.values())


def test_completing_subcommands_imports_none() -> None:
    program = (
        "import sys\n"
        "from assignors.cli.command import run\n"
        "code = None\n"
        "try:\n"
        "    run()\n"
        "except SystemExit:\n"
        "    pass\n"
        "print(*(name for name in sys.modules if '.cli.commands.' in name), file=sys.stderr)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=True,
        cwd=ROOT,
        env={
            "COMP_WORDS": "kafka-assignors ",
            "COMP_CWORD": "1",
            "_KAFKA_ASSIGNORS_COMPLETE": "bash_complete",
        },
    )
    assert (ended.stdout.count(b"plain,"), ended.stderr.strip()) == (len(SUMMARIES), b"")


def test_bash_completes_with_the_documented_line(tmp_path: Path) -> None:
    if shutil.which("bash") is None:
        need("bash")
    script = tmp_path / "kafka-assignors"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m assignors "$@"\n')
    script.chmod(0o755)
    page = (ROOT / "docs" / "command.md").read_text(encoding="utf-8")
    line = 'eval "$(_KAFKA_ASSIGNORS_COMPLETE=bash_source kafka-assignors)"'
    assert f"`{line}`" in page
    played = (
        f"export PATH={shlex.quote(str(tmp_path))}:$PATH\n{line}\n"
        "COMP_WORDS=(kafka-assignors assign --assignor coop); COMP_CWORD=3; COMPREPLY=()\n"
        '_kafka_assignors_completion kafka-assignors\necho "${COMPREPLY[@]}"\n'
    )
    ended = subprocess.run(
        ["bash", "--norc", "-c", played],  # noqa: S607 - the bash that is on the PATH
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert (ended.stdout, ended.stderr) == ("cooperative-sticky\n", "")
