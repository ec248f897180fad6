"""Build the distributions of this tree, and make environments that know nothing of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD_S = 120
INSTALL_S = 300


def built(tree: Path, folder: Path, *targets: str) -> list[Path]:
    """Build the targets (`sdist`, `wheel`) of a source tree; return the files, in that order.

    With the backend of this environment, in its own process as pip runs it.
    """
    chosen = [word for target in targets for word in ("--target", target)]
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", *chosen, "--directory", str(folder)],
        cwd=tree,
        check=True,
        capture_output=True,
        timeout=BUILD_S,
    )
    endings = {"sdist": "*.tar.gz", "wheel": "*.whl"}
    return [next(folder.glob(endings[target])) for target in targets]


class Environment:
    """A new virtual environment, and what runs in it."""

    def __init__(self, folder: Path, python: str = sys.executable) -> None:
        self.folder = folder
        # Its own pip would cost two seconds; the one of this environment installs into it.
        subprocess.run(
            [python, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=BUILD_S
        )

    def program(self, name: str) -> str:
        """Return the path of one of its programs."""
        return str(self.folder / "bin" / name)

    def install(self, *wanted: str) -> subprocess.CompletedProcess[str]:
        """Install packages in the versions that this suite passed with, if they are listed."""
        pip = [sys.executable, "-m", "pip", "--python", self.program("python"), "install"]
        options = ["--quiet", "--no-compile", "--only-binary", ":all:"]
        constraints = ["--constraint", str(ROOT / "constraints.txt")]
        return subprocess.run(
            [*pip, *options, *constraints, *wanted],
            cwd=self.folder,
            env={**plain_environment(), "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
            capture_output=True,
            text=True,
            timeout=INSTALL_S,
            check=False,
        )

    def run(
        self, *command: str, given: str = "", options: Sequence[str] = ()
    ) -> subprocess.CompletedProcess[str]:
        """Run one of its programs, outside of every source tree."""
        return subprocess.run(
            [self.program(command[0]), *options, *command[1:]],
            cwd=self.folder,
            env=plain_environment(),
            input=given,
            capture_output=True,
            text=True,
            timeout=BUILD_S,
            check=False,
        )


def plain_environment() -> dict[str, str]:
    """Return the variables of this process without those that lead Python to other packages."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "VIRTUAL_ENV", "COVERAGE"))
    }
