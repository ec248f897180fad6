"""Where a package is missing, the message names an extra that exists and brings that package."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.release.building import ROOT, plain_environment

HINT = re.compile(r"kafka-assignors\[([^\]{]+)\]")
EXTRAS: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
    "project"
]["optional-dependencies"]

DISTRIBUTIONS = {
    "kafka": "kafka-python",
    "confluent_kafka": "confluent-kafka",
    "prometheus_client": "prometheus-client",
}
"""Package -> what it is called where it is installed from, if not the same."""

COMMANDS: dict[str, list[str]] = {
    "click": ["assignors"],
    "rich": ["assignors -o table"],
    "pyarrow": [
        "replay dump.parquet",
        "replay --sample --out tables",
        "dump --bootstrap localhost:1 --output dump.parquet",
        "simulate crash --log run.parquet",
    ],
    "crc32c": ["simulate crash --log folder"],
    "jinja2": [
        "replay --sample --report page.html",
        "simulate crash --report page.html",
    ],
    "confluent_kafka": [
        "dump --bootstrap localhost:1 --output dump.jsonl",
        "replay --bootstrap localhost:1",
        "watch --bootstrap localhost:1",
    ],
    "prometheus_client": ["watch --sample --metrics :0"],
}
"""Package -> what needs it, as a user types it."""

IMPORTS = {
    "kafka": "import assignors.clients.kafka_python",
    "aiokafka": "import assignors.clients.aiokafka",
    "hypothesis": "from assignors.testing import groups",
    "pyspark": "from assignors.replay.engines.spark import decode_records",
    "pyarrow": (
        "from assignors.replay import replay; from assignors.replay.sample import incident; "
        "replay(incident()).groups.to_arrow()"
    ),
    "jinja2": "import assignors.replay.report",
    "confluent_kafka": "from assignors.replay import replay; replay(bootstrap='localhost:1')",
    "prometheus_client": "import assignors.watch.metrics",
}
"""Package -> what needs it in Python."""

ARROW = (
    "arrow.codecs",
    "arrow.groups",
    "arrow.schemas",
    "replay.engines.spark",
    "replay.sources.arrow",
    "simulation.arrow",
    "simulation.spark",
    "spark",
    "watch.spark",
)
"""Modules of ours that need pyarrow."""


def brought(extra: str) -> set[str]:
    """Return the distributions that an extra brings, those of other extras in it included."""
    wanted = [Requirement(line) for line in EXTRAS[extra]]
    inner = (name for each in wanted if each.name == "kafka-assignors" for name in each.extras)
    return {each.name for each in wanted}.union(*(brought(name) for name in inner))


def without(package: str, code: str, folder: Path, *arguments: str) -> tuple[str, int]:
    """Return what Python prints, and its exit code, where a package is not installed."""
    absent = f"""
import importlib.abc, sys
class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {package!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent())
import importlib.util as util
found = util.find_spec
util.find_spec = lambda name, *more: None if name == {package!r} else found(name, *more)
{code}"""
    done = subprocess.run(
        [sys.executable, "-c", absent, *arguments],
        cwd=folder,
        env={**plain_environment(), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout, done.returncode


RUN = """
from assignors.cli import main
for line in sys.argv[1:]:
    sys.argv = ["kafka-assignors", *line.split()]
    try:
        ended = main()
    except SystemExit as end:
        ended = end.code
    print("ended", ended, flush=True)
    sys.stderr.flush()
"""
"""One process for the lines of a package: to start one costs more than what it does."""


@pytest.mark.parametrize("package", list(COMMANDS))
def test_the_command_names_the_extra(package: str, tmp_path: Path) -> None:
    for name in ("dump.jsonl", "dump.parquet"):
        (tmp_path / name).write_text("{}\n", encoding="utf-8")
    lines = COMMANDS[package]
    said, ended = without(package, RUN, tmp_path, *lines)
    assert ended == 0, said
    assert "Traceback" not in said
    *answers, rest = re.split(r"^ended (.*)$\n", said, flags=re.MULTILINE)
    assert rest == ""
    assert answers[1::2] == ["2"] * len(lines)
    for answer in answers[::2]:
        extras = HINT.findall(answer)
        assert extras, said
        assert all(DISTRIBUTIONS.get(package, package) in brought(extra) for extra in extras), said


def test_json_lines_are_replayed_and_written_without_pyarrow(tmp_path: Path) -> None:
    lines = ["simulate crash --log run.jsonl.gz", "replay run.jsonl.gz -o jsonl"]
    said, ended = without("pyarrow", RUN, tmp_path, *lines)
    assert ended == 0, said
    assert re.findall(r"^ended (.*)$", said, flags=re.MULTILINE) in (["0", "0"], ["0", "1"]), said
    assert said.count('"table": "groups"') == 1


@pytest.mark.parametrize("package", list(IMPORTS))
def test_python_names_the_extra(package: str, tmp_path: Path) -> None:
    said, ended = without(package, IMPORTS[package], tmp_path)
    assert ended == 1
    (extra,) = HINT.findall(said)
    assert DISTRIBUTIONS.get(package, package) in brought(extra)


def test_each_module_that_needs_arrow_names_the_extra(tmp_path: Path) -> None:
    lines = "".join(
        f"""
try:
    import assignors.{name}
except ModuleNotFoundError as error:
    print(error)
"""
        for name in ARROW
    )
    said, ended = without("pyarrow", lines, tmp_path)
    assert ended == 0, said
    assert said.count("pyarrow is missing: ") == len(ARROW), said
    assert all("pyarrow" in brought(extra) for extra in HINT.findall(said))


def places() -> list[Path]:
    """Return the files in which a hint may stand."""
    folders = ("assignors", "wire", "docs", "notebooks", "tests/vectors")
    found = [path for name in folders for path in (ROOT / name).rglob("*.*") if path.is_file()]
    kinds = {".py", ".md", ".ipynb", ".html"}
    return [*ROOT.glob("*.md"), *(path for path in found if path.suffix in kinds)]


def test_every_extra_that_is_named_exists() -> None:
    named = {
        (extra, path.relative_to(ROOT).as_posix())
        for path in places()
        for listed in HINT.findall(path.read_text(encoding="utf-8"))
        for extra in listed.split(",")
    }
    assert {extra for extra, _ in named} >= {"cli", "replay", "spark", "kafka-python"}
    assert [each for each in named if each[0] not in EXTRAS] == []
