"""Measures every peer and puts the figures into docs/speed.md.

    python -m tests.benchmarks.speed_page

`peers.run` measures and writes `tests/benchmarks/results`, `peers.quick` the ratios that the suite
compares with. `python -m tests.benchmarks.speed_page page` writes the page from the kept results.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.benchmarks.peers.results import load
from tests.benchmarks.peers.tables import summary

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "speed.md"
SECTION = re.compile(r"(?<=<!-- benchmark -->\n).*?(?=<!-- /benchmark -->)", flags=re.DOTALL)


def main(arguments: list[str]) -> None:
    """Measure, unless the page alone is asked for, and write the page."""
    if arguments != ["page"]:
        for module, *options in (["run"], ["quick", "--store"]):
            command = [sys.executable, "-m", f"tests.benchmarks.peers.{module}", *options]
            subprocess.run(command, cwd=ROOT, check=True)
    text = PAGE.read_text(encoding="utf-8")
    assert SECTION.search(text), "the page has lost its marked section"
    PAGE.write_text(SECTION.sub(lambda _: summary(load()), text), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
