"""Asks Meta's Rebalancer, in an environment of its own: its wheels need Python 3.12 or later.

The environment is made once, under `build/foreign`, with any such Python on the path or under
pyenv. Where there is none, or no network the first time, the benchmark says why it is left out.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from assignors.arrays import Int32
from tests.benchmarks.weighted.peers.task import Task
from tests.locks import locked

ROOT = Path(__file__).resolve().parent.parent.parent.parent
BUILD = ROOT / "build" / "foreign"
PROGRAM = Path(__file__).resolve().with_name("rebalancer_program.py")
PACKAGE = "rebalancer==1.0.4"
MINORS = (12, 13)
"""Versions 3.x with wheels of that release."""

INSTALL_S = 600
ANSWER_S = 600


class MissingError(Exception):
    """Rebalancer can not run here; the text says why."""


@cache
def interpreter() -> Path:
    """Return a Python that has Rebalancer, made if need be; `MissingError` where it can not be."""
    folder = BUILD / PACKAGE.replace("==", "-")
    python = folder / "bin" / "python"
    with locked(BUILD / "rebalancer.lock"):
        if not (folder / "done").exists():
            base = next(_pythons(), None)
            if base is None:
                raise MissingError("no Python 3.12 or 3.13 was found")
            shutil.rmtree(folder, ignore_errors=True)
            _run(base, "-m", "venv", str(folder))
            _run(str(python), "-m", "pip", "install", "--quiet", PACKAGE)
            (folder / "done").touch()
    return python


def _pythons() -> Iterator[str]:
    """Yield programs that are a Python of a version with wheels."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for minor in MINORS:
        on_path = shutil.which(f"python3.{minor}")
        places = [on_path] if on_path else []
        places += [str(path) for path in sorted(pyenv.glob(f"3.{minor}.*/bin/python"))]
        for place in places:
            asked = [place, "-c", "import sys; print(sys.version_info[1])"]
            done = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=60)
            if done.stdout.strip() == str(minor):  # a shim of pyenv may not be one
                yield place


def _run(*command: str) -> None:
    # The versions of our own environment mean nothing in another.
    plain = {name: one for name, one in os.environ.items() if not name.startswith("PIP_CONSTRAINT")}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=INSTALL_S, check=False, env=plain
    )
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or ["no message"]
        raise MissingError(f"{PACKAGE} could not be installed: {last[0]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What Rebalancer answers, asked several times in one process."""

    owner: Int32
    first_s: float
    """Seconds of CPU of the first time, with what a new process has to load,"""
    best_s: float
    """and the fewest."""


def ask(task: Task, moves: int, times: int) -> Asked:
    """Return who gets what after at most so many moves."""
    question = {
        "weight": task.weight.tolist(),
        "owner": task.owner.tolist(),
        "members": task.member_count,
        "moves": moves,
        "times": times,
    }
    done = subprocess.run(
        [str(interpreter()), "-I", str(PROGRAM)],  # this file has the name of the package
        input=json.dumps(question),
        capture_output=True,
        text=True,
        timeout=ANSWER_S,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"Rebalancer failed: {done.stderr[-2000:]}")
    answer = json.loads(done.stdout.splitlines()[-1])
    return Asked(
        owner=np.array(answer["owner"], dtype=np.int32),
        first_s=float(answer["first_cpu_s"]),
        best_s=float(answer["cpu_s"]),
    )
