"""Runs the benchmarks and puts their figures into the README, so that nobody types them.

    python -m tests.benchmarks.readme            all of them
    python -m tests.benchmarks.readme optimal    those that are named; the others' figures stay

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

NAMED = re.compile(r"`tests/benchmarks/bench_(\w+)\.py`")

SHORT: dict[str, tuple[str, ...]] = {
    "simulation": ("--scenarios", "2000", "--spark"),
    "records": ("--parts", "alone,segments,spark"),
    "optimal": ("2000 x 1000000", "1000 x 10000", "U 20 x 200"),
}
"""Arguments of a benchmark for the README; none means the whole table."""

TITLES = {
    "leader": "A leader's round from bytes to bytes, after one member left",
    "optimal": "The solver alone, on arrays",
    "twins": "The copies beside Kafka's own classes in a warmed JVM",
    "records": "Records of the offsets topic; shares of both identities, by wall (by CPU)",
    "wire": "Codecs",
    "simulation": "Group histories",
}


def main(arguments: list[str]) -> None:
    """Run what is named, or everything, and write its part of the README."""
    paths = sorted(Path(__file__).parent.glob("bench_*.py"))
    known = [path.stem.removeprefix("bench_") for path in paths]
    for name in arguments or known:
        table = output(name)
        print(f"## {name}\n\n{table}\n", flush=True)
        text = README.read_text(encoding="utf-8")
        README.write_text(with_table(text, name, table), encoding="utf-8")


def with_table(text: str, name: str, table: str) -> str:
    """Return the README with this table instead of the last one of that benchmark."""
    section = SECTION.search(text)
    assert section, "the README has lost its marked section"
    measured, *parts = re.split(r"^(?=.*`tests/benchmarks/bench_)", section[0], flags=re.MULTILINE)
    tables = {found[1]: part for part in parts if (found := NAMED.search(part))}
    tables[name] = (
        f"{TITLES.get(name, name)} (`tests/benchmarks/bench_{name}.py`, {machine()}):\n\n"
        f"```text\n{table}\n```\n\n"
    )
    whole = measured + "".join(tables[each] for each in sorted(tables))
    return text[: section.start()] + whole + text[section.end() :]


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
