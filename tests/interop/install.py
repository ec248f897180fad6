"""A broker, the members of every client and the examples, under `build/foreign/members`.

    python -m tests.interop.install          # everything, with the time each step took

A step's result stands in a folder named after the digest of what it was made from, so that a
changed source is built anew and anything else is used as it is, without network. Several test
processes may ask at once: one works, under a file lock, and the others find it done.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.locks import locked

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = ROOT / "tests" / "foreign" / "members"
EXAMPLES = ROOT / "notebooks" / "examples" / "clients"
BUILD = ROOT / "build" / "foreign" / "members"

STEP_S = 900
"""How long one step may take: a cold Go build on a busy machine is the longest."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One thing to fetch or build."""

    name: str
    tools: tuple[str, ...]
    made_from: tuple[Path, ...]
    make: Callable[[Path], None]
    """Fills an empty folder."""

    @property
    def folder(self) -> Path:
        """Where the result stands, made or not."""
        whole = hashlib.sha256()
        for path in self.made_from:
            whole.update(path.read_bytes())
        return BUILD / f"{self.name}-{whole.hexdigest()[:12]}"

    def missing_tools(self) -> list[str]:
        """Programs this step still needs and does not find."""
        if self.folder.exists():
            return []
        return [tool for tool in self.tools if shutil.which(tool) is None]

    def made(self) -> Path:
        """The folder, made if it is not there yet."""
        folder = self.folder
        if not folder.exists():
            BUILD.mkdir(parents=True, exist_ok=True)
            with locked(BUILD / f"{self.name}.lock"):
                if not folder.exists():
                    self._make(folder)
        return folder

    def _make(self, folder: Path) -> None:
        started = time.monotonic()
        part = folder.with_name(f"{folder.name}.part")  # a version has dots, and is no suffix
        # What an interrupted run left is never taken for complete.
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        self.make(part)
        part.rename(folder)
        print(f"built {self.name}: {time.monotonic() - started:.1f} s", flush=True)


def _copy_jars(pom: Path, target: Path, *options: str) -> None:
    _run(
        *("mvn", "--quiet", "--batch-mode", "--file", str(pom)),
        *("dependency:copy-dependencies", *options, f"-DoutputDirectory={target}"),
    )


def _jars(profile: str) -> Step:
    pom = SOURCES / "java" / "pom.xml"

    def make(target: Path) -> None:
        _copy_jars(pom, target, "-DincludeScope=runtime", "-P", profile)

    return Step(name=profile, tools=("java", "mvn"), made_from=(pom,), make=make)


BROKER = _jars("broker")
CLIENTS_31 = _jars("clients-3.1")
CLIENTS_24 = _jars("clients-2.4")


def _make_classes(target: Path) -> None:
    # The oldest client compiles what all of them run.
    jars = CLIENTS_24.made()
    source = str(SOURCES / "java" / "Member.java")
    options = ["--release", "11", "-encoding", "UTF-8", "-cp", f"{jars}{os.sep}*"]
    _run("javac", *options, "-d", str(target), source)


CLASSES = Step(
    name="classes",
    tools=("javac", *CLIENTS_24.tools),
    made_from=(SOURCES / "java" / "Member.java", SOURCES / "java" / "pom.xml"),
    make=_make_classes,
)


def _make_example_java(target: Path) -> None:
    pom, source = EXAMPLE_JAVA.made_from
    _copy_jars(pom, target)
    _run("javac", "-cp", f"{target}{os.sep}*", "-d", str(target), str(source))


EXAMPLE_JAVA = Step(
    name="example-java",
    tools=("java", "javac", "mvn"),
    made_from=(EXAMPLES / "java" / "pom.xml", EXAMPLES / "java" / "MixedGroup.java"),
    make=_make_example_java,
)


def _go(name: str, folder: Path) -> Step:
    def make(target: Path) -> None:
        _run("go", "build", "-o", f"{target}{os.sep}", "./sarama", "./franz", folder=folder)

    sources = tuple(sorted(folder.rglob("*.*")))
    return Step(name=name, tools=("go",), made_from=sources, make=make)


GO = _go("go", SOURCES / "go")
EXAMPLE_GO = _go("example-go", EXAMPLES / "go")


def _node(name: str, folder: Path) -> Step:
    sources = tuple(sorted(folder.glob("*.js*")))

    def make(target: Path) -> None:
        for source in sources:
            shutil.copy(source, target)
        _run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", folder=target)

    return Step(name=name, tools=("node", "npm"), made_from=sources, make=make)


NODE = _node("node", SOURCES / "node")
EXAMPLE_NODE = _node("example-node", EXAMPLES / "node")

STEPS = (
    *(BROKER, CLIENTS_31, CLIENTS_24, CLASSES, GO, NODE),
    *(EXAMPLE_JAVA, EXAMPLE_GO, EXAMPLE_NODE),
)


def missing_tools() -> list[str]:
    """The programs without which not everything can be built or run."""
    missing = [tool for step in STEPS for tool in step.missing_tools()]
    missing += [tool for tool in ("java", "node") if shutil.which(tool) is None]
    return sorted(set(missing))


def class_path(*folders: Path) -> str:
    """What `java -cp` takes: the classes and every jar of these folders."""
    return os.pathsep.join(f"{folder}{os.pathsep}{folder}{os.sep}*" for folder in folders)


def _run(*command: str, folder: Path = SOURCES) -> None:
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=STEP_S, cwd=folder, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")


def main() -> None:
    """Make everything; say what each step took and where it is."""
    missing = missing_tools()
    if missing:
        sys.exit(f"not found: {', '.join(missing)}")
    started = time.monotonic()
    for step in STEPS:
        print(f"{step.name}: {step.made().relative_to(ROOT)}", flush=True)
    print(f"everything: {time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    main()
