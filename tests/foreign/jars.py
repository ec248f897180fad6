"""Kafka's release jars and the compiled judge, under `build/foreign/java`.

Maven fetches the jars once; javac compiles `java/*.java` once for every text of the sources.
What is there is used as it is, without network. Several test processes may ask at once: one
works, under a file lock, and the others find it done.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from pathlib import Path

from tests.locks import locked

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = Path(__file__).resolve().parent / "java"
BUILD = ROOT / "build" / "foreign" / "java"

FETCH_S = 600
"""How long Maven may take for some twenty jars."""
COMPILE_S = 120


def missing_tools() -> list[str]:
    """The programs that are needed here and not found; none where everything is built."""
    compiled = _classes().exists() and _jars().exists()
    needed = ["java"] if compiled else ["java", "javac", "mvn"]
    return [tool for tool in needed if shutil.which(tool) is None]


def class_path() -> str:
    """What `java -cp` takes: fetches and compiles what is not there yet."""
    jars, classes = _jars(), _classes()
    if not (jars.exists() and classes.exists()):
        with locked(BUILD / "lock"):
            if not jars.exists():
                _fetch(jars)
            if not classes.exists():
                _compile(classes, jars)
    return f"{classes}{os.pathsep}{jars}{os.sep}*"


def jars() -> Path:
    """The folder of the release jars and what they need; fetches them if it is not there."""
    folder = _jars()
    if not folder.exists():
        with locked(BUILD / "lock"):
            if not folder.exists():
                _fetch(folder)
    return folder


def _jars() -> Path:
    return BUILD / f"jars-{_digest(SOURCES / 'pom.xml')}"


def _classes() -> Path:
    return BUILD / f"classes-{_digest(SOURCES / 'pom.xml', *sorted(SOURCES.glob('*.java')))}"


def _digest(*files: Path) -> str:
    whole = hashlib.sha256()
    for file in files:
        whole.update(file.read_bytes())
    return whole.hexdigest()[:12]


def _fetch(jars: Path) -> None:
    target = _emptied(jars.with_suffix(".part"))
    _run(
        FETCH_S,
        *("mvn", "--quiet", "--batch-mode", "--file", str(SOURCES / "pom.xml")),
        *("dependency:copy-dependencies", "-DincludeScope=runtime"),
        f"-DoutputDirectory={target}",
    )
    target.rename(jars)


def _compile(classes: Path, jars: Path) -> None:
    target = _emptied(classes.with_suffix(".part"))
    sources = [str(path) for path in sorted(SOURCES.glob("*.java"))]
    options = ["-nowarn", "-Xlint:-deprecation", "-encoding", "UTF-8"]
    _run(COMPILE_S, "javac", *options, "-cp", f"{jars}{os.sep}*", "-d", str(target), *sources)
    target.rename(classes)


def _emptied(folder: Path) -> Path:
    """A new folder: what an interrupted run left is never taken for complete."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _run(timeout_s: int, *command: str) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=timeout_s, cwd=SOURCES, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")
