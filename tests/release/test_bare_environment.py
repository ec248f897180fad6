"""The wheel as a user gets it: in a new environment, outside of this tree, with few packages."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from assignors import __version__
from tests.conftest import lacking
from tests.release.building import ROOT, Environment, built, plain_environment
from tests.test_readme import console_runs, readme_questions

GROUPS = (ROOT / "notebooks" / "examples" / "groups.jsonl").read_text(encoding="utf-8")

FIRST_LINES = """
import assignors, wire
from assignors import Cluster, Group, Member, assignor_named
from assignors.simulation import Parameters, simulate_rounds
a = Member(member_id="a", topics=("t",), owned={"t": (0,)}, generation=1)
b = Member(member_id="b", topics=("t",))
group = Group(cluster=Cluster.of({"t": 2}), members=(a, b))
for name in ("range", "cooperative-sticky"):
    assert assignor_named(name).assign(group).assignment == {"a": {"t": (0,)}, "b": {"t": (1,)}}
assert len(simulate_rounds(Parameters(members=2, events=1), scenarios=2, assignors="sticky")) == 4
print(assignors.__version__, assignors.__file__)
"""


FURTHER_PACKAGES = """
import importlib, sys
from assignors.simulation import simulate_rounds
def said(call):
    try:
        call()
    except ModuleNotFoundError as missing:
        return str(missing)
table = simulate_rounds(scenarios=1, assignors="sticky")
calls = [table.to_arrow, table.to_pandas, table.to_polars, table._repr_html_]
calls += [lambda name=name: importlib.import_module(name) for name in sys.argv[1:]]
print(*filter(None, map(said, calls)), sep="\\n")
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (path,) = built(ROOT, tmp_path_factory.mktemp("dist"), "wheel")
    return path


def with_wheel(folder: Path, wheel: Path, python: str | None = None) -> Environment:
    """Return an environment with the wheel and what it needs."""
    made = Environment(folder) if python is None else Environment(folder, python)
    done = made.install(str(wheel))
    if done.returncode and "ConnectionError" in done.stderr:
        lacking("a package index")
    assert done.returncode == 0, done.stderr
    return made


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Environment:
    """The library alone."""
    return with_wheel(tmp_path_factory.mktemp("bare"), wheel)


@pytest.fixture(scope="module")
def with_command(bare: Environment, wheel: Path) -> Environment:
    """The same environment with the extra `cli`: the tests that use `bare` stand above."""
    done = bare.install(f"{wheel}[cli]")
    assert done.returncode == 0, done.stderr
    return bare


def test_the_library_works_with_numpy_alone(bare: Environment) -> None:
    listed = {path.name.partition("-")[0] for path in bare.folder.rglob("*.dist-info")}
    assert listed == {"kafka_assignors", "numpy"}
    done = bare.run("python", "-c", FIRST_LINES, options=("-W", "error", "-I"))
    assert done.returncode == 0, done.stderr
    version, path = done.stdout.split()
    assert version == __version__
    assert path.startswith(str(bare.folder))


def test_each_documented_module_and_table_says_how_to_get_the_package_that_it_lacks(
    bare: Environment,
) -> None:
    pages = "".join(page.read_text("utf-8") for page in (ROOT / "docs" / "python").glob("*.md"))
    modules = sorted(set(re.findall(r"automodule:: (\S+)", pages)))
    done = bare.run("python", "-c", FURTHER_PACKAGES, *modules, options=("-I",))
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert len(said) > 10
    assert [line for line in said if " is missing: pip install " not in line] == []


def test_the_command_without_its_extra_names_the_extra(bare: Environment) -> None:
    done = bare.run("kafka-assignors", "replay", "--sample")
    assert done.returncode == 2
    assert "pip install 'kafka-assignors[cli]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_first_command_of_the_readme_answers(with_command: Environment) -> None:
    done = with_command.run("kafka-assignors", "replay", "--sample", "-o", "jsonl")
    assert done.returncode == 1, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {"groups", "findings"} <= {row["table"] for row in rows}


def test_a_group_is_assigned(with_command: Environment) -> None:
    first = GROUPS.splitlines()[0]
    done = with_command.run(
        "kafka-assignors", "assign", "--assignor", "sticky", "-o", "jsonl", given=first
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["assignment"]["a"] == {"orders": [0, 1]}


@pytest.mark.parametrize("name", ["kafka-4.4.0", "records-4.4.0", "peers"])
def test_another_client_is_tried_on_the_vectors_of_the_wheel(
    with_command: Environment, name: str
) -> None:
    program = f"{with_command.program('python')} -m assignors.conformance"
    category = {"kafka-4.4.0": "range-00", "records-4.4.0": "rec", "peers": "peer-franz"}[name]
    command = (
        "conform",
        "--vectors",
        name,
        "--only",
        category,
        "--command",
        program,
        "-o",
        "jsonl",
    )
    done = with_command.run("kafka-assignors", *command)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert sum(each["passed"] for each in found) > 0


def test_what_needs_another_extra_names_it(with_command: Environment, tmp_path: Path) -> None:
    dump = tmp_path / "dump.parquet"
    dump.write_bytes(b"PAR1")
    done = with_command.run("kafka-assignors", "replay", str(dump))
    assert done.returncode == 2
    assert "pip install 'kafka-assignors[replay]'" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture(scope="module")
def with_replay(with_command: Environment, wheel: Path) -> Environment:
    """The same environment with all that the README installs: the tests above do without."""
    done = with_command.install(f"{wheel}[cli,replay]")
    assert done.returncode == 0, done.stderr
    return with_command


def test_the_commands_of_readme_and_tutorial_need_nothing_but_the_wheel(
    with_replay: Environment, tmp_path: Path
) -> None:
    asked = [command for _, command in readme_questions()]
    asked += [run.command for run in console_runs() if run.place.startswith("tutorial-")]
    assert len(asked) > 10
    path = f"{with_replay.folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
    for command in asked:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],  # noqa: S607 - the bash that is on the PATH
            cwd=tmp_path,
            env={**plain_environment(), "PATH": path},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode in {0, 1}, f"{command}: {done.stderr}"
        assert done.stdout.count("\n") > 2, command


def interpreter(version: str) -> str | None:
    """Return a Python of this version that runs: on the PATH, or one of pyenv's."""
    asked = ("-c", "import sys; print('%d.%d' % sys.version_info[:2])")
    installed = Path.home().glob(f".pyenv/versions/{version}.*/bin/python")
    for place in (f"python{version}", *map(str, installed)):
        name = shutil.which(place)
        if name is not None:
            done = subprocess.run([name, *asked], capture_output=True, text=True, check=False)
            if done.stdout.strip() == version:
                return name
    return None


@pytest.mark.deep
@pytest.mark.parametrize("version", ["3.12", "3.13"])
def test_the_wheel_works_on_every_python_that_it_names(
    version: str, wheel: Path, tmp_path: Path
) -> None:
    python = interpreter(version)
    if python is None:
        pytest.skip(f"needs Python {version}")
    made = with_wheel(tmp_path, wheel, python)
    done = made.run("python", "-c", FIRST_LINES, options=("-W", "error", "-I"))
    assert done.returncode == 0, done.stderr
    assert made.install(f"{wheel}[cli]").returncode == 0
    shown = made.run("kafka-assignors", "replay", "--sample")
    assert shown.returncode == 1, shown.stderr
    assert "GROUP" in shown.stdout
