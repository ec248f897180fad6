"""Runs the benchmarks and puts their figures into the README, so that nobody types them.

    python -m tests.benchmarks.readme            all of them, and the README is written
    python -m tests.benchmarks.readme optimal    those that are named, printed only

A benchmark is a module `bench_<name>` here that prints a table; `SHORT` has the arguments that
keep it to the lines a reader wants.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
README = ROOT / "README.md"
SECTION = re.compile(r"(?<=<!-- benchmark -->\n).*?(?=<!-- /benchmark -->)", flags=re.DOTALL)

SHORT: dict[str, tuple[str, ...]] = {
    "simulation": ("--scenarios", "2000", "--spark"),
    "optimal": ("2000 x 1000000", "1000 x 10000", "U 20 x 200"),
}
"""Arguments of a benchmark for the README; none means the whole table."""

TITLES = {
    "leader": "A leader's round from bytes to bytes, after one member left",
    "optimal": "The solver alone, on arrays",
    "wire": "Codecs",
    "simulation": "Group histories",
}


def main(arguments: list[str]) -> None:
    """Run what is named, or everything; write the README if it was everything."""
    paths = sorted(Path(__file__).parent.glob("bench_*.py"))
    known = [path.stem.removeprefix("bench_") for path in paths]
    sections = []
    for name in arguments or known:
        table = output(name)
        print(f"## {name}\n\n{table}\n", flush=True)
        sections.append(f"{TITLES.get(name, name)} (`tests/benchmarks/bench_{name}.py`):\n\n")
        sections.append(f"```text\n{table}\n```\n\n")
    if not arguments:
        text = README.read_text(encoding="utf-8")
        assert SECTION.search(text), "the README has lost its marked section"
        made = f"Measured by `make bench` on {machine()}.\n\n" + "".join(sections)
        README.write_text(SECTION.sub(lambda _: made, text), encoding="utf-8")


def output(name: str) -> str:
    """Return what one benchmark prints; its notes and progress pass through to the terminal."""
    return subprocess.run(
        [sys.executable, "-m", f"tests.benchmarks.bench_{name}", *SHORT.get(name, ())],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.strip()


def machine() -> str:
    """Return what a reader must know to compare: never whose machine it is."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{os.cpu_count()} cores ({platform.machine()}), {python}"


if __name__ == "__main__":
    main(sys.argv[1:])
