"""Programs under test: other clients behind the kit's protocol, built where that is needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import need
from tests.foreign.jars import jars
from tests.interop.install import CLIENTS_24, CLIENTS_31, NODE, Step

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


def _compile(target: Path) -> None:
    # The oldest client compiles what all of them run.
    path = f"{CLIENTS_24.made()}{os.sep}*{os.pathsep}{jars()}{os.sep}*"
    options = ["--release", "11", "-nowarn", "-Xlint:-deprecation", "-cp", path]
    done = subprocess.run(
        ["javac", *options, "-d", str(target), str(DRIVERS / "JavaDriver.java")],  # noqa: S607 - the JDK on the PATH
        capture_output=True,
        text=True,
        timeout=BUILD_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


JAVA = Step(
    name="conformance-java",
    tools=("javac", *CLIENTS_24.tools),
    made_from=(DRIVERS / "JavaDriver.java", *CLIENTS_24.made_from),
    make=_compile,
)
OLD_CLIENTS = {"2.4.1": CLIENTS_24, "3.1.2": CLIENTS_31}


def java_program(version: str) -> list[str]:
    """The command of Java's client in a version; skips where Java or Maven are missing."""
    for tool in ("java", *JAVA.missing_tools()):
        need(tool)
    if version in OLD_CLIENTS:
        folder = OLD_CLIENTS[version].made()
        json = sorted(map(str, jars().glob("jackson-*.jar")))
        path = [str(JAVA.made()), f"{folder}{os.sep}*", *json]
    else:
        path = [str(JAVA.made()), f"{jars()}{os.sep}*"]
    options = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData")
    quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"
    return ["java", *options, quiet, "-cp", os.pathsep.join(path), "JavaDriver"]


def node_program(name: str) -> list[str]:
    """The command of a program in Node; skips where Node or npm are missing."""
    for tool in ("node", *NODE.missing_tools()):
        need(tool)
    return ["node", str(DRIVERS / name), str(NODE.made())]


def python_driver(name: str) -> list[str]:
    """The command of a driver in Python."""
    return [sys.executable, "-m", f"tests.foreign.drivers.{name}"]


OURSELVES = [sys.executable, "-m", "assignors.conformance"]
