"""Whatever the documents show is what happens.

```python blocks of the README run in order, in one namespace: those with prompts as doctests,
others as they stand. ```console blocks run their `$ kafka-assignors` lines in a shell and must
print what the block shows. `...` stands for anything.
"""

from __future__ import annotations

import doctest
import os
import re
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
COMMAND = "kafka-assignors"


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block: its language, its text, the README line it starts on."""

    language: str
    text: str
    line: int


def blocks(language: str) -> list[Block]:
    """The README's blocks in one language, in order."""
    return [
        Block(language=match[1], text=match[2], line=README.count("\n", 0, match.start()) + 2)
        for match in FENCE.finditer(README)
        if match[1] == language
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One shell line of a console block and what it must print."""

    command: str
    expected: str
    line: int


def console_runs() -> list[Run]:
    """The lines of console blocks that call our command."""
    runs = []
    for block in blocks("console"):
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            # A command goes on over lines that end in a backslash.
            match = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", part, flags=re.DOTALL)
            assert match
            if COMMAND in match[1] and "pip " not in match[1]:
                runs.append(Run(command=match[1], expected=match[2], line=block.line))
    return runs


def test_the_readme_has_its_five_examples() -> None:
    assert len(blocks("python")) >= 5


def test_python_examples_do_what_they_show() -> None:
    namespace: dict[str, object] = {}
    runner = doctest.DocTestRunner(
        verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
    for block in blocks("python"):
        if ">>>" not in block.text:
            exec(compile(block.text, f"README.md:{block.line}", "exec"), namespace)  # noqa: S102 - our own README
            continue
        example = doctest.DocTestParser().get_doctest(
            block.text, namespace, "README", "README.md", block.line
        )
        said: list[str] = []
        failed = runner.run(example, out=said.append, clear_globs=False).failed
        namespace.update(example.globs)
        assert not failed, "".join(said)


@pytest.fixture(scope="session")
def shell_path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH on which the command is this tree's, installed or not, and `python` is this one."""
    folder = tmp_path_factory.mktemp("bin")
    # A link to a virtual environment's Python would not find the environment.
    python = folder / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    script = folder / COMMAND
    script.write_text(
        f'#!/bin/sh\nPYTHONPATH="{ROOT}" exec "{sys.executable}" -c '
        f"'import sys; from assignors.cli import main; sys.exit(main())' \"$@\"\n"
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


@pytest.mark.parametrize("run", console_runs(), ids=lambda run: f"line-{run.line}")
def test_console_examples_print_what_they_show(run: Run, shell_path: str) -> None:
    done = subprocess.run(
        ["bash", "-c", run.command],  # noqa: S607 - the bash that is on the PATH
        cwd=ROOT,
        env={**os.environ, "PATH": shell_path, "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(run.expected, done.stdout, flags), done.stdout


def test_every_link_to_a_file_leads_somewhere() -> None:
    for document in sorted(ROOT.glob("*.md")):
        text = document.read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?://|#)([^)#\s]+)", text):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
