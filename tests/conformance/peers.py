"""Programs under test: other clients behind the kit's protocol, built where that is needed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.conftest import need
from tests.foreign.jars import JARS
from tests.interop.install import CLIENTS_24, CLIENTS_31, NODE, OLDEST_JAVA, classes, go

ROOT = Path(__file__).resolve().parent.parent.parent
DRIVERS = ROOT / "tests" / "foreign" / "drivers"
GO_SOURCES = ROOT / "tests" / "foreign" / "go"

GO = go("members/conformance", GO_SOURCES, "./franz", "./sarama", "./contender")


def go_program(name: str) -> list[str]:
    """The command of a program in Go; skips where Go is missing and nothing is built yet."""
    for tool in GO.missing_tools():
        need(tool)
    return [str(GO.made() / name)]


JAVA = classes(
    "members/conformance-java",
    [DRIVERS / "JavaDriver.java"],
    CLIENTS_24,
    JARS,
    options=OLDEST_JAVA,
)
OLD_CLIENTS = {"2.4.1": CLIENTS_24, "3.1.2": CLIENTS_31}


def java_program(version: str) -> list[str]:
    """The command of Java's client in a version; skips where Java or Maven are missing."""
    for tool in ("java", *JAVA.missing_tools()):
        need(tool)
    if version in OLD_CLIENTS:
        folder = OLD_CLIENTS[version].made()
        json = sorted(map(str, JARS.made().glob("jackson-*.jar")))
        path = [str(JAVA.made()), f"{folder}{os.sep}*", *json]
    else:
        path = [str(JAVA.made()), f"{JARS.made()}{os.sep}*"]
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
