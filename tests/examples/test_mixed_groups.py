"""Programs of Java, Go and Node share a topic with a Python member, and both say the same."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.conftest import need
from tests.examples.test_examples import SAID
from tests.interop.broker import Broker
from tests.interop.install import (
    EXAMPLE_GO,
    EXAMPLE_JARS,
    EXAMPLE_JAVA,
    EXAMPLE_NODE,
    EXAMPLES,
    Step,
    class_path,
)
from tests.waiting import comes

pytestmark = pytest.mark.interop

SHARED = {"mixed_group", "inspect_group"}
"""What the Python member consists of."""
STARTS_S, RUN_S = 60.0, 120.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Neighbour:
    """A client's program, and what is said when it joins the Python member."""

    source: Path
    step: Step
    runs_with: tuple[str, ...]
    """Tools that must be there even when everything is built."""
    command: Callable[[Path], list[str]]
    """Given what the step made."""
    protocol: str
    has: str
    python_has: str
    wrote: str
    """The members as the broker's topic has them."""


NEIGHBOURS = {
    "java": Neighbour(
        source=EXAMPLES / "java" / "MixedGroup.java",
        step=EXAMPLE_JAVA,
        runs_with=("java",),
        command=lambda made: [
            *("java", "-XX:TieredStopAtLevel=1"),
            *("-cp", class_path(made, EXAMPLE_JARS.made()), "MixedGroup"),
        ],
        protocol="cooperative-sticky",
        has="3 4 5",
        python_has="0 1 2",
        wrote="""\
  java wrote version 3, odd:
  python wrote version 3, odd:
""",
    ),
    "franz": Neighbour(
        source=EXAMPLES / "go" / "franz" / "main.go",
        step=EXAMPLE_GO,
        runs_with=(),
        command=lambda made: [str(made / "franz")],
        protocol="cooperative-sticky",
        has="3 4 5",
        python_has="0 1 2",
        wrote="""\
  franz wrote version 3, odd:
  python wrote version 3, odd:
""",
    ),
    "sarama": Neighbour(
        source=EXAMPLES / "go" / "sarama" / "main.go",
        step=EXAMPLE_GO,
        runs_with=(),
        command=lambda made: [str(made / "sarama")],
        protocol="sticky",
        has="3 4 5",
        python_has="0 1 2",
        wrote="""\
  python wrote version 3, odd:
  sarama wrote version 1, odd:
""",
    ),
    "node": Neighbour(
        source=EXAMPLES / "node" / "mixed_group.js",
        step=EXAMPLE_NODE,
        runs_with=("node",),
        command=lambda made: ["node", str(made / "mixed_group.js")],
        protocol="RoundRobinAssigner",
        has="0 2 4",
        python_has="1 3 5",
        wrote="""\
  node wrote version 0, odd: user-data-empty
  python wrote version 3, odd:
""",
    ),
}

STARTED = """\
alone: python has 0 1 2 3 4 5
start the other member now
"""

PYTHON_SAID = """\
together: python has {python_has}
30 of 60 records read
chosen: {protocol}
{wrote}rules broken: 0
short of the best balance by: 0
"""

NEIGHBOUR_SAID = """\
together: {name} has {has}
60 records written
30 of 60 records read
python left: {name} has 0 1 2 3 4 5
"""


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_a_program_shares_a_topic_with_ours(name: str, broker: Broker, tmp_path: Path) -> None:
    neighbour = NEIGHBOURS[name]
    for tool in (*neighbour.step.missing_tools(), *neighbour.runs_with):
        need(tool)
    command = neighbour.command(neighbour.step.made())
    place = [broker.bootstrap, f"orders-{uuid.uuid4().hex[:8]}"]
    our_command = [sys.executable, str(EXAMPLES / "mixed_group.py"), *place, neighbour.protocol]
    with running(our_command, tmp_path / "python") as ours:
        comes(lambda: ours.has_ended or ours.said == STARTED, within_s=STARTS_S)
        assert ours.said == STARTED, ours.errors
        with running([*command, *place], tmp_path / name) as theirs:
            comes(lambda: have_ended(ours, theirs), within_s=RUN_S)
            errors = f"python: {ours.errors}\n{name}: {theirs.errors}"
            assert ours.said == STARTED + PYTHON_SAID.format(
                python_has=neighbour.python_has, protocol=neighbour.protocol, wrote=neighbour.wrote
            ), errors
            assert theirs.said == NEIGHBOUR_SAID.format(name=name, has=neighbour.has), errors
            assert [ours.exit_code, theirs.exit_code] == [0, 0], errors


def test_a_group_that_nobody_is_in_is_said(broker: Broker, tmp_path: Path) -> None:
    command = [sys.executable, str(EXAMPLES / "inspect_group.py"), broker.bootstrap, "nobody"]
    with running(command, tmp_path / "look") as look:
        comes(lambda: look.has_ended, within_s=RUN_S)
        assert (look.exit_code, look.said) == (1, "")
        assert look.errors == "no classic group nobody on record\n"


def test_every_example_is_run() -> None:
    found = {path for end in ("py", "java", "go", "js") for path in EXAMPLES.rglob(f"*.{end}")}
    ours = {EXAMPLES / f"{name}.py" for name in {*SAID, *SHARED}}
    installed = set(EXAMPLES.glob("node/node_modules/**/*"))
    assert found - installed == ours | {neighbour.source for neighbour in NEIGHBOURS.values()}


@dataclass(frozen=True, kw_only=True, slots=True)
class Program:
    """A program that runs, and the two files it writes to."""

    process: subprocess.Popen[bytes]
    path: Path

    @property
    def said(self) -> str:
        """What it wrote so far."""
        return self.path.with_suffix(".out").read_text("utf-8")

    @property
    def errors(self) -> str:
        """The end of what it complained about."""
        return self.path.with_suffix(".err").read_text("utf-8", "replace")[-4000:]

    @property
    def exit_code(self) -> int | None:
        """None while it runs."""
        return self.process.poll()

    @property
    def has_ended(self) -> bool:
        return self.exit_code is not None


@contextmanager
def running(command: list[str], path: Path) -> Iterator[Program]:
    """A program that is gone at the end of the block."""
    with path.with_suffix(".out").open("wb") as out, path.with_suffix(".err").open("wb") as err:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        try:
            yield Program(process=process, path=path)
        finally:
            process.kill()
            process.wait()


def have_ended(ours: Program, theirs: Program) -> bool:
    """Whether both have, or one in a way that the other would wait for in vain."""
    return (ours.has_ended and theirs.has_ended) or bool(ours.exit_code or theirs.exit_code)
