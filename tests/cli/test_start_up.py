"""What `--help` and the import of an adapter load: unlike seconds, alike on every machine.

`--help` of the command and of each subcommand is to take at most 0.25 s of CPU, an adapter at most
0.15 s beyond its client and numpy. What they import decides that: numpy is a third of it.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from assignors.cli.command import SUMMARIES
from tests.cli.running import ROOT

FAMILIES = {"java", "optimal", "server", "weighted"}
CORE = FAMILIES | {
    "claims",
    "group_bytes",
    "jvm",
    "names",
    "own_assignors",
    "problem",
    "weighting",
}
"""Folders that `import assignors` loads."""

ALWAYS = {"cli", "documents"}
LOADED = {
    "": ALWAYS,
    "decode": ALWAYS | {"checks"},
    "assign": ALWAYS | {"checks"},
    "check": ALWAYS | {"checks"},
    "explain": ALWAYS | {"checks"},
    "simulate": ALWAYS | {"arrow", "checks", "ownership", "simulation"},
    "dump": ALWAYS | {"ownership", "replay", "workload"},
    "replay": ALWAYS | {"checks", "ownership", "replay", "workload"},
    "conform": ALWAYS | {"checks", "conformance"},
    "assignors": ALWAYS | {"checks"},
}
"""Subcommand, or none -> the folders beside the core that its `--help` loads."""

SLOW = {"asyncio", "concurrent", "email", "http", "unittest", "xml"}
"""Packages of the standard library that cost a tenth of the time or more, and no help needs."""


def loaded(program: str) -> set[str]:
    """Return the modules that a program prints in an interpreter of its own."""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, cwd=ROOT, text=True
    )
    return set(ended.stderr.splitlines()[-1].split())


def folders(modules: set[str]) -> set[str]:
    """Return which folders of `assignors` are among the modules."""
    parts = [name.split(".") for name in modules if name.startswith("assignors.")]
    return {name[1] for name in parts if (ROOT / "assignors" / name[1]).is_dir()}


def test_every_subcommand_has_its_row() -> None:
    assert set(LOADED) == {"", *SUMMARIES}


def test_the_library_alone_loads_the_core() -> None:
    """`replay`, `simulation` and what they need are imported by who asks for them."""
    modules = loaded("import sys, assignors\nprint(*sys.modules, file=sys.stderr)\n")
    assert folders(modules) <= CORE


def test_the_search_by_weight_is_loaded_by_who_has_weights() -> None:
    """It is a tenth of what importing `assignors` takes, and few groups have weights."""
    modules = loaded(
        "import sys, assignors, assignors.checks.explain\nprint(*sys.modules, file=sys.stderr)\n"
    )
    assert "assignors.weighted.sticky" in modules
    assert not [module for module in modules if module.startswith("assignors.weighted.search")]


@pytest.mark.parametrize("name", list(LOADED))
def test_help_loads_what_it_needs(name: str) -> None:
    modules = loaded(
        "import sys\n"
        "from assignors.cli.command import run\n"
        f"run([*{name.split()!r}, '--help'])\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )
    assert folders(modules) - CORE == LOADED[name]
    tops = {module.partition(".")[0].removeprefix("_") for module in modules}
    assert not tops & SLOW
    installed = tops - set(sys.stdlib_module_names) - {"assignors", "wire", "main", "mp_main"}
    assert {"click", "numpy"} <= installed
    assert not installed & {"hypothesis", "jinja2", "pandas", "pyarrow", "pyspark"}
    assert {module for module in modules if module.startswith("rich")} <= {"rich"}
    subcommands = {module for module in modules if ".cli.commands." in module}
    assert bool(subcommands) == bool(name)


@pytest.mark.parametrize(("client", "package"), [("kafka_python", "kafka"), ("aiokafka",) * 2])
def test_an_adapter_loads_the_core_and_nothing_else(client: str, package: str) -> None:
    pytest.importorskip(package)
    modules = loaded(
        f"import sys, numpy, {package}\n"
        "before = set(sys.modules)\n"
        f"import assignors.clients.{client}\n"
        "print(*(set(sys.modules) - before), file=sys.stderr)\n"
    )
    assert folders(modules) - CORE == {"clients", "workload"}
    tops = {module.partition(".")[0] for module in modules}
    assert tops - set(sys.stdlib_module_names) <= {"assignors", "wire", "numpy", package}
    assert not tops & SLOW
