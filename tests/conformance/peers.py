"""Programs under test: other clients behind the kit's protocol, built where that is needed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.conftest import need
from tests.interop.install import Step

ROOT = Path(__file__).resolve().parent.parent.parent
DRIVERS = ROOT / "tests" / "foreign" / "drivers"
GO_SOURCES = ROOT / "tests" / "foreign" / "go"

BUILD_S = 900
"""How long a first build may take on a busy machine, the download of sources included."""


def _build(target: Path) -> None:
    done = subprocess.run(
        ["go", "build", "-mod=readonly", "-o", f"{target}/", "./franz", "./sarama", "./contender"],  # noqa: S607 - Go from the PATH
        cwd=GO_SOURCES,
        capture_output=True,
        text=True,
        timeout=BUILD_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


GO = Step(
    name="conformance",
    tools=("go",),
    made_from=(*sorted(GO_SOURCES.rglob("*.go")), *sorted(GO_SOURCES.glob("go.*"))),
    make=_build,
)


def go_program(name: str) -> list[str]:
    """The command of a program in Go; skips where Go is missing and nothing is built yet."""
    for tool in GO.missing_tools():
        need(tool)
    return [str(GO.made() / name)]


def python_driver(name: str) -> list[str]:
    """The command of a driver in Python."""
    return [sys.executable, str(DRIVERS / name)]


OURSELVES = [sys.executable, "-m", "assignors.conformance"]
