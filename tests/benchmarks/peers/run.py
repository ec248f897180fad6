"""Measure every contender in one run, on the same bytes; write the figures into docs/speed.md.

    python -m tests.benchmarks.peers.run [--only NAME,NAME] [part of a workload's name ...]
    python -m tests.benchmarks.peers.run --write       writes the tables of the last run

Named workloads or contenders replace their rows of the last run and keep the others: for trying
out; the run that is kept names none. Rows are in `tests/benchmarks/results`, saved after each
workload.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from math import inf
from pathlib import Path

from tests.benchmarks.peers.contenders import BIG, CONTENDERS, FEW, WORKLOADS, Contender, Stage
from tests.benchmarks.peers.group_files import write_workload
from tests.benchmarks.peers.measure import (
    LIMIT_S,
    pinned,
    processor,
    quality_rows,
    say,
    stage_rows,
)
from tests.benchmarks.peers.results import FILE, Quality, Results, Row, load, save
from tests.benchmarks.peers.tables import summary
from tests.conformance.peers import GO
from tests.foreign.jars import SOURCES, missing_tools
from tests.optimal.groups import Arrays
from tests.optimal.workloads import EVENTS, parts

PAGE = Path(__file__).resolve().parents[3] / "docs" / "speed.md"
SECTION = re.compile(r"(?<=<!-- benchmark -->\n).*?(?=<!-- /benchmark -->)", flags=re.DOTALL)
SECONDS = 0.15
TURNS = 3
"""How often everybody's turn comes: what else runs on a machine may slow one turn down."""
LONG_MS = 100.0
"""Who needs longer for one call has one turn, as has Java, whose compiler needs seconds of each."""


def main(arguments: Sequence[str]) -> None:
    """Measure, unless only to write; write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("workloads", nargs="*")
    parser.add_argument("--only", default="", help="contenders, with commas between them")
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(arguments)
    if not options.write:
        missing = {*GO.missing_tools(), *missing_tools()}
        if missing:
            sys.exit(f"not found: {', '.join(sorted(missing))}")
        with pinned(options.core):
            measure(options.workloads, options.only.split(",") if options.only else [])
    text = PAGE.read_text(encoding="utf-8")
    assert SECTION.search(text), "the page has lost its marked section"
    PAGE.write_text(SECTION.sub(lambda _: summary(load()), text), encoding="utf-8")


def measure(wanted: Sequence[str], only: Sequence[str]) -> None:
    """Measure what is wanted, everything if nothing is named; save after each workload."""
    begin = time.monotonic()
    chosen = [name for name in WORKLOADS if not wanted or any(part in name for part in wanted)]
    who = [each for each in CONTENDERS if not only or each.name in only]
    names = {each.name for each in who}
    rows: list[Row | Quality] = []
    if (wanted or only) and FILE.exists():
        last = load()
        everything: tuple[Row | Quality, ...] = (*last.rows, *last.quality)
        rows += [
            row for row in everything if row.workload not in chosen or row.contender not in names
        ]
    for name in chosen:
        say(name, since=begin)
        rows += measured(name, who, begin)
        save(results_of(rows))
    say("measured", since=begin)


def results_of(rows: list[Row | Quality]) -> Results:
    """Return the rows with what a reader must know of them."""
    return Results(
        machine=machine(),
        versions=versions(),
        date=f"{datetime.now(tz=UTC):%Y-%m-%d}",
        limit_s=LIMIT_S,
        load=round(os.getloadavg()[2], 1),
        rows=tuple(row for row in rows if isinstance(row, Row)),
        quality=tuple(row for row in rows if isinstance(row, Quality)),
    )


def measured(name: str, contenders: Sequence[Contender], begin: float) -> Iterator[Row | Quality]:
    """Yield every row of one workload."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        groups: dict[str, Arrays] = dict(
            write_workload(folder, name, EVENTS, eager=FEW if parts(name)[2] >= BIG else EVENTS)
        )
        for contender in contenders:
            say(f"    {contender.name}", since=begin)
            for stage in contender.stages:
                if stage == "plan":
                    yield from quality_rows(contender, folder, name, groups)
        yield from least_rows(name, folder, contenders, begin)


def least_rows(
    name: str, folder: Path, contenders: Sequence[Contender], begin: float
) -> Iterable[Row]:
    """Return the row of least CPU time of each contender, stage and event, after all turns."""
    least: dict[tuple[str, str, Stage], tuple[float, Row]] = {}
    waiting = [(each, stage) for each in contenders for stage in each.stages if stage != "plan"]
    for turn in range(TURNS):
        say(f"    turn {turn + 1}", since=begin)
        again = []
        for contender, stage in waiting:
            longest = 0.0
            for row in stage_rows(contender, folder, name, stage, seconds=SECONDS):
                spent = inf if row.least_ms is None else row.least_ms
                key, longest = (row.contender, row.event, row.stage), max(spent, longest)
                if key not in least or spent < least[key][0]:
                    least[key] = spent, row
            if longest < LONG_MS and contender.language != "java":
                again.append((contender, stage))
        waiting = again
    return (row for _, row in least.values())


def machine() -> str:
    """Return what a reader must know to compare: never whose machine it is."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores ({processor()}), {memory:.0f} GB"


def versions() -> str:
    """Return what took part."""
    pom = (SOURCES / "pom.xml").read_text(encoding="utf-8")
    modules = (SOURCES.parent / "go" / "go.mod").read_text(encoding="utf-8")
    kafka = re.search(r"<kafka.version>(.*)</kafka.version>", pom)
    peers = [re.search(rf"{name} v(\S+)", modules) for name in ("franz-go", "sarama")]
    assert kafka
    assert all(peers)
    franz, sarama = (found[1] for found in peers if found)
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True)  # noqa: S607 - Java from the PATH
    go = subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True, check=True)  # noqa: S607 - Go from the PATH
    found = re.search(r'"(.*)"', java.stderr)
    return ", ".join(
        (
            f"Kafka {kafka[1]} on Java {found[1] if found else '?'}",
            f"franz-go {franz} and Sarama {sarama} with {go.stdout.strip()}",
            f"kafka-python {version('kafka-python')}, aiokafka {version('aiokafka')}",
            f"{platform.python_implementation()} {platform.python_version()}",
            f"numpy {version('numpy')}",
        )
    )


if __name__ == "__main__":
    main(sys.argv[1:])
