"""Runs the benchmarks and puts their figures into docs/speed.md, so that nobody types them.

    python -m tests.benchmarks.speed_page            all of them
    python -m tests.benchmarks.speed_page optimal    those that are named; the others' figures stay
    python -m tests.benchmarks.speed_page twins:server/    of its lines those with this text

`peers` is `tests.benchmarks.peers.run`, of whose tables the page has a part, and stores the
ratios that the suite compares with. Any other benchmark is a module `bench_<name>` here that
prints a table; `SHORT` has the arguments that keep it to the lines a reader wants.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.peers.results import load
from tests.benchmarks.peers.tables import summary

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "speed.md"
SECTION = re.compile(r"(?<=<!-- benchmark -->\n).*?(?=<!-- /benchmark -->)", flags=re.DOTALL)

NAMED = re.compile(r"`tests/benchmarks/bench_(\w+)\.py`")

SHORT: dict[str, tuple[str, ...]] = {
    "simulation": ("--scenarios", "1000", "--spark"),
    "records": ("--parts", "alone,segments,spark"),
    "optimal": ("2000 x 1000000", "1000 x 10000", "U 20 x 200"),
}
"""Arguments of a benchmark for the page; none means the whole table."""

LABELS = {"twins": 68}
"""Of benchmarks of which a part can be run: how wide the text is that says what a line measures."""

TITLES = {
    "optimal": "The solver alone, on arrays",
    "twins": "The copies beside Kafka's own classes in a warmed JVM",
    "records": "Records of the offsets topic",
    "wire": "Codecs",
    "simulation": "Group histories",
}


def main(arguments: list[str]) -> None:
    """Run what is named, or everything, and write its part of the page."""
    for argument in arguments or ["peers", *TITLES]:
        name, _, part = argument.partition(":")
        if name == "peers":
            for arguments_of in (["run"], ["quick", "--store"]):
                _run(f"peers.{arguments_of[0]}", *arguments_of[1:], output=None)
            table = None
        else:
            given = [part] if part else SHORT.get(name, ())
            table = (_run(f"bench_{name}", *given) or "").strip()
            print(f"## {name}\n\n{table}\n", flush=True)
        text = PAGE.read_text(encoding="utf-8")
        if table is not None and part:
            table = with_lines(table_of(text, name), table, LABELS[name])
        PAGE.write_text(with_table(text, name, table), encoding="utf-8")


def with_table(text: str, name: str, table: str | None) -> str:
    """Return the page with this table instead of the last one of that benchmark.

    What stands before the tables is always made anew of the kept results.
    """
    section = _section(text)
    tables = _parts(section[0])
    if table is not None:
        tables[name] = (
            f"## {TITLES[name]}\n\n`tests/benchmarks/bench_{name}.py`, {machine()}:\n\n"
            f"```text\n{table}\n```\n\n"
        )
    whole = summary(load()) + "".join(tables[each] for each in TITLES if each in tables)
    return text[: section.start()] + whole + text[section.end() :]


def table_of(text: str, name: str) -> str:
    """Return the table of a benchmark as the page has it."""
    return _parts(_section(text)[0])[name].split("```text\n")[1].partition("\n```")[0]


def with_lines(table: str, newer: str, width: int) -> str:
    """Return a table with those lines that are in a newer one, known by their first `width` signs.

    The first line is the header, the last one says how busy the machine was.

    >>> print(with_lines("of  ms\\na    3\\nb    4\\nload 9", "of  ms\\nb    2\\nload 1", 3))
    of  ms
    a    3
    b    2
    load 9
    1 line measured apart: load 1
    """
    header, *lines, load = newer.splitlines()
    found = {line[:width]: line for line in lines}
    kept = [found.pop(line[:width], line) for line in table.splitlines()[1:]]
    count = f"{len(lines)} line{'s' * (len(lines) > 1)}"
    return "\n".join([header, *kept, *found.values(), f"{count} measured apart: {load}"])


def _section(text: str) -> re.Match[str]:
    section = SECTION.search(text)
    assert section, "the page has lost its marked section"
    return section


def _parts(section: str) -> dict[str, str]:
    """Return the parts of the page by the name of their benchmark."""
    _, *parts = re.split(r"^(?=## [^\n]*\n\n`tests/benchmarks/bench_)", section, flags=re.MULTILINE)
    return {found[1]: part for part in parts if (found := NAMED.search(part))}


def _run(module: str, *arguments: str, output: int | None = subprocess.PIPE) -> str | None:
    """Return what one benchmark prints; its notes and progress pass through to the terminal."""
    command = [sys.executable, "-m", f"tests.benchmarks.{module}", *arguments]
    done = subprocess.run(command, cwd=ROOT, stdout=output, text=True, check=True)
    return done.stdout


def machine() -> str:
    """Return what a reader must know to compare: never whose machine it is."""
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return f"{os.cpu_count()} cores ({platform.machine()}), {python}"


if __name__ == "__main__":
    main(sys.argv[1:])
