"""What `--help` and the import of an adapter load: unlike seconds, alike on every machine.

`--help` of the command and of each subcommand is to take at most 0.25 s of CPU, an adapter at most
0.15 s beyond its client and numpy. What they import decides that: numpy is a third of it, and
the threads that its OpenBLAS starts may be as much again.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import assignors
from assignors.cli import BLAS_THREADS, THREAD_COUNTS
from assignors.cli.command import SUMMARIES
from tests.cli.running import ROOT

FAMILIES = {"java", "optimal", "server", "weighted"}
CORE = FAMILIES | {
    "claims",
    "group_bytes",
    "jvm",
    "mappings",
    "names",
    "own_assignors",
    "problem",
    "weighting",
}
"""Folders that the public names of `assignors` load."""

ALWAYS = {"cli", "documents"}
LOADED = {
    "decode": ALWAYS,
    "assign": ALWAYS | {"checks"},
    "check": ALWAYS | {"checks"},
    "explain": ALWAYS | {"checks"},
    **dict.fromkeys(
        ("what-if", "simulate", "fuzz", "histories", "traffic", "sweep"),
        ALWAYS | {"arrow", "checks", "ownership", "simulation"},
    ),
    "dump": ALWAYS,
    "replay": ALWAYS | {"ownership", "replay", "workload"},
    "watch": ALWAYS | {"ownership", "replay", "watch", "workload"},
    "conform": ALWAYS | {"checks", "conformance"},
    "assignors": ALWAYS | {"checks"},
}
"""Subcommand -> the folders beside the core that its `--help` loads."""

WITHOUT_NUMPY = {"decode", "dump"}
"""Subcommands whose `--help` loads no numpy."""

SLOW = {"asyncio", "concurrent", "email", "http", "unittest", "xml"}
"""Packages of the standard library that cost a tenth of the time or more, and no help needs."""


def loaded(program: str) -> set[str]:
    """Return the modules that a program prints in an interpreter of its own."""
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, cwd=ROOT, text=True
    )
    return set(ended.stderr.splitlines()[-1].split())


def help_loads(name: str) -> set[str]:
    """Return the modules that `--help` of a subcommand loads, without a name of the command."""
    return loaded(
        "import sys\n"
        "from assignors.cli.command import run\n"
        f"run([*{name.split()!r}, '--help'])\n"
        "print(*sys.modules, file=sys.stderr)\n"
    )


def folders(modules: set[str]) -> set[str]:
    """Return which folders of `assignors` are among the modules."""
    parts = [name.split(".") for name in modules if name.startswith("assignors.")]
    return {name[1] for name in parts if (ROOT / "assignors" / name[1]).is_dir()}


def test_every_subcommand_has_its_row() -> None:
    assert set(LOADED) == {*SUMMARIES}


def test_a_public_name_is_imported_when_it_is_used() -> None:
    """Who imports one module of the package does not wait for the others, nor for numpy."""
    none = loaded("import sys, assignors\nprint(*sys.modules, file=sys.stderr)\n")
    assert not {name for name in none if name.startswith(("assignors.", "wire", "numpy"))}
    few = loaded("import sys, assignors\nassignors.Options\nprint(*sys.modules, file=sys.stderr)\n")
    assert {"assignors.options", "assignors.leader", "numpy"} & few == {"assignors.options"}


def test_the_library_alone_loads_the_core() -> None:
    """`replay`, `simulation` and what they need are imported by who asks for them."""
    modules = loaded("import sys\nfrom assignors import *\nprint(*sys.modules, file=sys.stderr)\n")
    assert folders(modules) <= CORE
    assert "assignors.registry" in modules


def test_type_checkers_read_the_names_that_python_finds() -> None:
    """They follow the imports of `if TYPE_CHECKING`, Python the table beside them."""
    written = ast.parse(Path(str(assignors.__file__)).read_text(encoding="utf-8"))
    (checked,) = (
        node
        for node in written.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    )
    imports = [node for node in checked.body if isinstance(node, ast.ImportFrom)]
    assert {
        alias.name: getattr(import_module(str(node.module)), alias.name)
        for node in imports
        for alias in node.names
    } == {name: getattr(assignors, name) for name in assignors.__all__}
    assert {*assignors.__all__} <= {*dir(assignors)}


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'assignors' has no attribute 'Grup'"):
        assignors.Grup  # type: ignore[attr-defined]  # noqa: B018 - the name is asked for
    with pytest.raises(ImportError, match="cannot import name 'Grup'"):
        from assignors import Grup  # type: ignore[attr-defined]  # noqa: F401, PLC0415 - as above


def test_help_of_the_command_needs_no_numpy() -> None:
    modules = help_loads("")
    assert folders(modules) == ALWAYS | {"names"}
    assert {"click", "numpy"} & modules == {"click"}
    assert not {module for module in modules if ".cli.commands." in module}


@pytest.mark.parametrize("given", [None, *sorted(THREAD_COUNTS)])
def test_the_command_asks_for_one_thread_where_nobody_has_asked(given: str | None) -> None:
    """OpenBLAS starts one for each processor, and nothing here is worth them."""
    environment = {name: value for name, value in os.environ.items() if name not in THREAD_COUNTS}
    if given is not None:
        environment[given] = "3"
    names = sorted(THREAD_COUNTS)
    program = (
        "import os, sys\nfrom assignors.cli import main\n"
        "sys.argv[1:] = ['--version']\nmain()\n"
        f"print(*[os.environ.get(name) for name in {names}])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        check=True,
        cwd=ROOT,
        env=environment,
        text=True,
    ).stdout
    expected = {BLAS_THREADS: "1"} if given is None else {given: "3"}
    assert shown.splitlines()[-1].split() == [str(expected.get(name)) for name in names]


@pytest.mark.parametrize("name", list(LOADED))
def test_help_loads_what_it_needs(name: str) -> None:
    modules = help_loads(name)
    assert folders(modules) - CORE == LOADED[name]
    tops = {module.partition(".")[0].removeprefix("_") for module in modules}
    assert not tops & SLOW
    installed = tops - set(sys.stdlib_module_names) - {"assignors", "wire", "main", "mp_main"}
    assert "click" in installed
    assert ("numpy" in installed) == (name not in WITHOUT_NUMPY)
    assert not installed & {"hypothesis", "jinja2", "pandas", "pyarrow", "pyspark"}
    assert {module for module in modules if module.startswith("rich")} <= {"rich"}
    assert [module for module in modules if ".cli.commands." in module]


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
