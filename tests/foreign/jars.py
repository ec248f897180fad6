"""Kafka's release jars and the compiled judge, under `build/foreign/java`."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.interop import install

SOURCES = Path(__file__).resolve().parent / "java"
JARS = install.jars("java/jars", SOURCES / "pom.xml", "-DincludeScope=runtime")
JUDGE = install.classes("java/classes", sorted(SOURCES.glob("*.java")), JARS)


def missing_tools() -> list[str]:
    """The programs that are needed here and not found; none where everything is built."""
    missing = {*JARS.missing_tools(), *JUDGE.missing_tools()}
    return sorted(missing | ({"java"} if shutil.which("java") is None else set()))


def class_path() -> str:
    """What `java -cp` takes: fetches and compiles what is not there yet."""
    return install.class_path(JUDGE.made(), JARS.made())
