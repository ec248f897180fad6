"""Everything foreign: a broker, Kafka's jars, programs in Java, Go and Node, under `build/foreign`.

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.locks import locked

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES = ROOT / "tests" / "foreign" / "members"
EXAMPLES = ROOT / "notebooks" / "examples" / "clients"
BUILD = ROOT / "build" / "foreign"

STEP_S = 900
"""How long one step may take: a cold Go build on a busy machine is the longest."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One thing to fetch or build."""

    name: str
    """Of its folder, below `build/foreign`."""
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
            folder.parent.mkdir(parents=True, exist_ok=True)
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


def jars(name: str, pom: Path, *options: str) -> Step:
    """Return the step that fetches the jars of a pom; `options` of Maven choose some."""

    def make(target: Path) -> None:
        run(
            *("mvn", "--quiet", "--batch-mode", "--file", str(pom)),
            *("dependency:copy-dependencies", *options, f"-DoutputDirectory={target}"),
        )

    return Step(name=name, tools=("java", "mvn"), made_from=(pom,), make=make)


def classes(name: str, sources: Sequence[Path], *on: Step, options: Sequence[str] = ()) -> Step:
    """Return the step that compiles programs in Java, with the jars of other steps."""

    def make(target: Path) -> None:
        path = class_path(*(each.made() for each in on))
        plain = ("-nowarn", "-Xlint:-deprecation", "-encoding", "UTF-8", *options)
        run("javac", *plain, "-cp", path, "-d", str(target), *map(str, sources))

    return Step(
        name=name,
        tools=("javac", *dict.fromkeys(tool for each in on for tool in each.tools)),
        made_from=(*sources, *(path for each in on for path in each.made_from)),
        make=make,
    )


def go(name: str, folder: Path, *packages: str, module: str = "go") -> Step:
    """Return the step that builds programs in Go; `module` is the name of the module file."""

    def make(target: Path) -> None:
        options = ("-mod=readonly", f"-modfile={module}.mod", "-o", f"{target}{os.sep}")
        run("go", "build", *options, *packages, folder=folder)

    sources = (*sorted(folder.rglob("*.go")), folder / f"{module}.mod", folder / f"{module}.sum")
    return Step(name=name, tools=("go",), made_from=sources, make=make)


def node(name: str, folder: Path) -> Step:
    """Return the step that fetches what programs in Node need, and copies them beside it."""
    sources = tuple(sorted(folder.glob("*.js*")))

    def make(target: Path) -> None:
        for source in sources:
            shutil.copy(source, target)
        run("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts", folder=target)

    return Step(name=name, tools=("node", "npm"), made_from=sources, make=make)


_POM = SOURCES / "java" / "pom.xml"
_RUNTIME = ("-DincludeScope=runtime", "-P")
BROKER = jars("members/broker", _POM, *_RUNTIME, "broker")
CLIENTS_31 = jars("members/clients-3.1", _POM, *_RUNTIME, "clients-3.1")
CLIENTS_24 = jars("members/clients-2.4", _POM, *_RUNTIME, "clients-2.4")
OLDEST_JAVA = ("--release", "11")
"""The oldest client compiles what all of them run."""
CLASSES = classes(
    "members/classes", [SOURCES / "java" / "Member.java"], CLIENTS_24, options=OLDEST_JAVA
)
GO = go("members/go", SOURCES / "go", "./sarama", "./franz")
NODE = node("members/node", SOURCES / "node")
EXAMPLE_JARS = jars("members/example-jars", EXAMPLES / "java" / "pom.xml")
EXAMPLE_JAVA = classes(
    "members/example-java", [EXAMPLES / "java" / "MixedGroup.java"], EXAMPLE_JARS
)
EXAMPLE_GO = go("members/example-go", EXAMPLES / "go", "./sarama", "./franz")
EXAMPLE_NODE = node("members/example-node", EXAMPLES / "node")

STEPS = (
    *(BROKER, CLIENTS_31, CLIENTS_24, CLASSES, GO, NODE),
    *(EXAMPLE_JARS, EXAMPLE_JAVA, EXAMPLE_GO, EXAMPLE_NODE),
)


def missing_tools() -> list[str]:
    """The programs without which not everything can be built or run."""
    missing = [tool for step in STEPS for tool in step.missing_tools()]
    missing += [tool for tool in ("java", "node") if shutil.which(tool) is None]
    return sorted(set(missing))


def class_path(*folders: Path) -> str:
    """What `java -cp` takes: the classes and every jar of these folders."""
    return os.pathsep.join(f"{folder}{os.pathsep}{folder}{os.sep}*" for folder in folders)


def run(*command: str, folder: Path = SOURCES) -> None:
    """Run a command; `RuntimeError` with what it said where it fails."""
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
