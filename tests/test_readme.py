"""Whatever the documents show is what happens.

```python blocks of a document run in order, in one namespace: those with prompts as doctests,
others as they stand. ```console blocks run their `$ kafka-assignors` lines in a shell and must
print what the block shows. `...` stands for anything.
"""

from __future__ import annotations

import doctest
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.cli.forked import COMMAND, forked_command
from tests.docs.examples import ROOT, blocks, failures

PAGES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/**/*.md"))
DOCUMENTS = ("README.md", *PAGES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One shell line of a console block and what it must print."""

    command: str
    expected: str
    place: str


def console_runs() -> list[Run]:
    """The lines of console blocks that call our command."""
    runs = []
    for block in (each for name in DOCUMENTS for each in blocks(name, "console")):
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            # A command goes on over lines that end in a backslash.
            match = re.match(r"((?:[^\n]*\\\n)*[^\n]*)\n?(.*)", part, flags=re.DOTALL)
            assert match
            if COMMAND in match[1] and "pip " not in match[1]:
                place = f"{Path(block.document).stem}-{block.line}"
                runs.append(Run(command=match[1], expected=match[2], place=place))
    return runs


def readme_questions() -> list[tuple[str, str]]:
    """The rows of the README's table of questions: each with its command."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.partition("| question | command |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| \[(.+?)\]\(docs/recipes/\S+\) \| `(.+)` \|$", table, flags=re.MULTILINE)
    return [(question, command.replace("\\|", "|")) for question, command in rows]


@pytest.mark.parametrize(("question", "command"), readme_questions())
def test_the_command_for_each_question_answers(
    question: str, command: str, shell_path: str, tmp_path: Path
) -> None:
    assert question.endswith("?")
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],  # noqa: S607 - the bash that is on the PATH
        cwd=tmp_path,
        env={**os.environ, "PATH": shell_path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode in {0, 1}, done.stderr
    assert done.stdout.count("\n") > 2
    assert not done.stdout.startswith("{")


def test_the_group_of_the_recipes_is_what_kafkas_tool_printed() -> None:
    """A part of the capture, so that the recipes begin where a reader does."""
    shown = (ROOT / "assignors" / "documents" / "sample" / "shop.txt").read_text(encoding="utf-8")
    captured = ROOT / "tests" / "described" / "outputs" / "4.3.0-members-verbose.txt"
    assert shown in captured.read_text(encoding="utf-8")
    assert shown.count("\n") == 5


@pytest.mark.parametrize("document", DOCUMENTS)
def test_python_examples_do_what_they_show(document: str) -> None:
    assert not failures(document, "python", {})


@pytest.fixture(scope="session")
def shell_path(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A PATH on which the command is this tree's, installed or not, and `python` is this one."""
    with forked_command(tmp_path_factory.mktemp("bin")) as path:
        yield path


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks like the tree, in which examples may leave files."""
    folder = tmp_path_factory.mktemp("checkout")
    for entry in ROOT.iterdir():
        if not entry.name.startswith(".") and entry.name != "build":
            (folder / entry.name).symlink_to(entry)
    return folder


@pytest.mark.parametrize("run", console_runs(), ids=lambda run: run.place)
def test_console_examples_print_what_they_show(run: Run, shell_path: str, checkout: Path) -> None:
    printed = printed_by(run.command, shell_path, checkout)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert doctest.OutputChecker().check_output(run.expected, printed, flags), printed


@cache
def printed_by(command: str, shell_path: str, checkout: Path) -> str:
    """What a command prints; documents that show the same one share its run."""
    done = subprocess.run(
        ["bash", "-c", command],  # noqa: S607 - the bash that is on the PATH
        cwd=checkout,
        env={**os.environ, "PATH": shell_path, "COLUMNS": "100"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        check=False,
    )
    return done.stdout


def test_every_link_to_a_file_leads_somewhere() -> None:
    for document in sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]):
        text = document.read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?://|#)([^)#\s]+)", text):
            assert (document.parent / target).exists(), f"{document.name}: {target}"
