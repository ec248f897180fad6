"""What may import what, what must be explained, what is shipped.

Nothing here knows an algorithm. Each test guards a promise that is easy to break by accident:
the core runs with numpy alone and from a zipped wheel, every public name is explained, and
whatever the README shows is what happens.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import assignors
from tests.tracked import tracked_files

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("wire", "assignors")
OPTIONAL = (
    *("pyspark", "pandas", "pyarrow", "grpc", "google", "click", "rich", "kafka", "aiokafka"),
    *("confluent_kafka", "hypothesis", "ortools", "networkx", "kio", "crc32c", "jinja2"),
    *("markupsafe", "polars", "prometheus_client"),
)

ALLOWED = {
    # the first prefix that fits a module decides; standard library and our own are always allowed
    "wire": set(),
    "assignors.cli": {"click", "rich", "numpy"},
    "assignors.testing": {"hypothesis"},
    "assignors.clients.kafka_python": {"kafka"},
    "assignors.clients.aiokafka": {"aiokafka"},
    "assignors.clients.librdkafka": {"confluent_kafka"},
    "assignors.arrow": {"numpy", "pyarrow"},
    "assignors.arrow.row_table": {"pyarrow", "pandas", "polars"},
    "assignors.spark": {"pyarrow", "pyspark"},
    "assignors.simulation.arrow": {"pyarrow"},
    "assignors.simulation.result_tables": {"pyarrow"},
    "assignors.simulation.spark": {"pyarrow", "pyspark"},
    "assignors.simulation.demo": {"pyspark"},
    "assignors.replay.sources": {"pyarrow", "crc32c"},
    "assignors.replay.sources.topic_by_consumer": {"confluent_kafka"},
    "assignors.replay.sources.topic_by_spark": {"pyspark"},
    "assignors.replay.decode": {"numpy", "pyarrow"},
    "assignors.replay.decode.logged_records": set(),
    "assignors.replay.report": {"jinja2", "markupsafe"},
    "assignors.simulation.page": {"jinja2"},
    "assignors.replay.result": {"pyarrow"},  # a type
    "assignors.replay.tables.arrow": {"pyarrow"},
    "assignors.replay.engines": set(),
    "assignors.replay.engines.spark": {"numpy", "pyarrow", "pyspark"},
    "assignors.watch.metrics": {"prometheus_client"},
    "assignors.watch.spark": {"pyspark"},
    "assignors.watch.tail": {"confluent_kafka"},
    "assignors": {"numpy"},
}
"""What each part may import from outside, the narrowest prefix first."""

# Users' directories and the addresses of package indexes: neither belongs into a published tree.
# Written apart so that this file does not find itself.
PRIVATE = re.compile(
    "|".join([r"/ho" + r"me/\w", r"/ro" + r"ot/", r"/Us" + r"ers/\w", r"--index-u" + r"rl"])
)


def modules() -> list[str]:
    """Every module of both packages, found without importing any."""
    found = []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found


def allowed(module: str) -> set[str]:
    """What `module` may import from outside."""
    fitting = [name for name in ALLOWED if module == name or module.startswith(f"{name}.")]
    return ALLOWED[max(fitting, key=len)]


def path_of(module: str) -> Path:
    """The file of a module."""
    stem = ROOT / module.replace(".", "/")
    package = stem / "__init__.py"
    return package if package.exists() else stem.with_suffix(".py")


def imported_names(tree: ast.AST) -> Iterator[str]:
    """The first part of every imported module's name, wherever in the file it is imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def python(code: str, *arguments: str, path: str = str(ROOT)) -> str:
    """Run code in an interpreter of its own that finds our packages at `path`; what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd="/",
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("module", ["wire", "assignors", "assignors.registry"])
def test_an_import_of_the_core_brings_no_optional_package(module: str) -> None:
    code = "import importlib, sys; importlib.import_module(sys.argv[1]); print(*sys.modules)"
    loaded = {name.partition(".")[0] for name in python(code, module).split()}
    assert module.partition(".")[0] in loaded
    assert loaded.isdisjoint(OPTIONAL)


def test_wire_is_standard_library_alone() -> None:
    loaded = python("import sys, wire; print(*sys.modules)").split()
    assert "wire.protocol.subscription" in loaded
    assert not [name for name in loaded if name.partition(".")[0] in {"numpy", "assignors"}]


@pytest.fixture(scope="module")
def trees() -> dict[str, ast.Module]:
    """Every module, parsed once."""
    return {name: ast.parse(path_of(name).read_text(encoding="utf-8")) for name in modules()}


def test_a_module_imports_only_what_its_layer_may(trees: dict[str, ast.Module]) -> None:
    known = {*sys.stdlib_module_names, *PACKAGES}
    foreign = {
        module: names
        for module, tree in trees.items()
        if (names := {*imported_names(tree)} - known - allowed(module))
    }
    assert not foreign


def test_a_module_opens_with_its_idea(trees: dict[str, ast.Module]) -> None:
    assert len(trees) > 100
    assert not [module for module, tree in trees.items() if not ast.get_docstring(tree)]


def test_every_module_without_optional_imports_loads_without_them() -> None:
    plain = [name for name in modules() if allowed(name) <= {"numpy"} and "__main__" not in name]
    code = """
import importlib, importlib.abc, sys
blocked = set(sys.argv[1].split())
class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Absent())
for name in sys.argv[2:]:
    importlib.import_module(name)
print(len(sys.argv) - 2)
"""
    assert int(python(code, " ".join(OPTIONAL), *plain)) == len(plain) > 20


def source_files() -> list[Path]:
    """Every Python file of the tree that is ours."""
    folders = [ROOT / name for name in (*PACKAGES, "tests")]
    return sorted(path for folder in folders for path in folder.rglob("*.py"))


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_explained(package: str) -> None:
    public = importlib.import_module(package)
    assert list(public.__all__) == sorted(public.__all__)
    for name in public.__all__:
        value = getattr(public, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            # A dataclass without a docstring gets its signature as one.
            assert value.__doc__, name
            assert not value.__doc__.startswith(f"{name}("), name


def test_every_module_is_part_of_the_package_that_is_shipped() -> None:
    for package in PACKAGES:
        folder = ROOT / package
        assert (folder / "py.typed").exists()
        shipped = {info.name for info in pkgutil.walk_packages([str(folder)], f"{package}.")}
        assert shipped | {package} >= {name for name in modules() if name.startswith(package)}


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=120,
    )
    (built,) = folder.glob("*.whl")
    return built


def test_a_group_is_assigned_from_a_zipped_wheel(wheel: Path) -> None:
    code = """
import assignors, wire
from assignors.registry import assignor_named
assert ".whl" in assignors.__file__ and ".whl" in wire.__file__, assignors.__file__
cluster = assignors.Cluster.of({"t": 3})
blob = wire.encode_subscription(wire.Subscription(topics=("t",)))
for name in assignors.ASSIGNORS:
    led = assignors.lead(assignor_named(name), cluster, {"a": blob, "b": blob})
    given = [wire.decode_assignment(sent).require().partitions for sent in led.assignments.values()]
    assert sorted(n for topics in given for n in topics["t"]) == [0, 1, 2]
    print(name)
"""
    assert python(code, path=str(wheel)).split() == list(assignors.ASSIGNORS)


def test_the_version_stands_in_one_place_and_in_the_changelog(wheel: Path) -> None:
    version = assignors.__version__
    assert wheel.name.startswith(f"kafka_assignors-{version}-")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    newest = re.search(r"^## (\S+)", changelog, flags=re.MULTILINE)
    assert newest
    assert newest[1] == version


def test_constraints_are_names_and_versions_only() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = [line for line in lines if not line.startswith("#")]
    assert len(pinned) > 50
    for line in pinned:
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9._]+", line), line


def published_files() -> list[Path]:
    """Every file under version control, or every file of ours where git is missing."""
    tracked = tracked_files()
    return source_files() if tracked is None else [ROOT / name for name in tracked]


def test_no_file_names_somebodys_machine() -> None:
    found = []
    for path in published_files():
        text = path.read_bytes()
        if b"\0" in text[:1024] or path.suffix == ".gz":
            continue
        found += [f"{path.name}: {hit[0]}" for hit in PRIVATE.finditer(text.decode("utf-8"))]
    assert not found
