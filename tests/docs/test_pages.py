"""What pages say about the code, where no example can show it."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.docs.source import DOCS

ROOT = DOCS.parent
CLIENTS = ROOT / "assignors" / "clients"


def private_names(client: str) -> set[str]:
    """Names with an underscore that a plug-in uses on objects that are not its own."""
    ours: set[str] = set()
    used: set[str] = set()
    for path in CLIENTS.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        is_shared = path.parent.name in {"common", client}
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                ours.add(node.name)
            if isinstance(node, ast.Attribute):
                is_own = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
                (ours if is_own else used if is_shared else set()).add(node.attr)
            if is_shared and isinstance(node, ast.Call) and ast.unparse(node.func) == "getattr":
                used |= {one.value for one in node.args if isinstance(one, ast.Constant)}  # type: ignore[misc]
    names = {name for name in used if isinstance(name, str) and re.match(r"_[a-z]", name)}
    return names - (ours - {"_coordinator"})


@pytest.mark.parametrize("client", ["kafka_python", "aiokafka"])
def test_every_private_name_that_a_plug_in_uses_is_named_in_the_page(client: str) -> None:
    page = (DOCS / "plug-ins.md").read_text(encoding="utf-8")
    found = private_names(client)
    assert len(found) > 5
    assert not [name for name in sorted(found) if name not in page]


def test_the_file_of_the_own_assignor_is_what_its_page_shows() -> None:
    page = (DOCS / "own-assignors.md").read_text(encoding="utf-8")
    shown = re.search(r"^```python\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    assert shown
    saved = (DOCS / "own" / "weighted.py").read_text(encoding="utf-8")
    assert saved.partition('"""\n\n')[2] == shown[1]


def test_the_reference_of_scenarios_has_each_field_of_the_schema_and_no_other() -> None:
    page = (DOCS / "simulator-reference.md").read_text(encoding="utf-8")
    before, _, _ = page.partition("### Values of")
    listed = [
        f"{path}.{field}".lstrip(".")
        for path, rows in re.findall(
            r"^### (?:`(.*?)`|A scenario)\n(.*?)(?=^##)", f"{before}##", PARTS
        )
        for field in re.findall(r"^\| `(.*?)` \|", rows, re.MULTILINE)
    ]
    schema = json.loads((DOCS / "schemas" / "scenario.schema.json").read_text(encoding="utf-8"))
    assert set(listed) == set(fields_of(schema, ""))


def fields_of(schema: dict[str, Any], path: str) -> Iterator[str]:
    """Yield the path of each field; a member that arrives has those of any member."""
    for name, one in schema.get("properties", {}).items():
        here = f"{path}.{name}".lstrip(".")
        yield here
        if here != "arrivals[].member":
            yield from fields_of(one, here)
    for each in schema.get("anyOf", ()):
        yield from fields_of(each, path)
    if "items" in schema:
        yield from fields_of(schema["items"], f"{path}[]")


PARTS = re.MULTILINE | re.DOTALL


def test_every_public_package_stands_on_a_page_of_the_python_reference() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in DOCS.glob("python/*.md"))
    shown = set(re.findall(r"automodule:: (\S+)", pages))
    for path in sorted([*ROOT.glob("wire/**/__init__.py"), *ROOT.glob("assignors/**/__init__.py")]):
        name = ".".join(path.parent.relative_to(ROOT).parts)
        if "__all__" in path.read_text(encoding="utf-8") and name not in INSIDE:
            assert name in shown, f"{name}: public, and on no page of docs/python"


INSIDE = {
    "assignors.claims",
    "assignors.clients.common",
    "assignors.documents.described",
    "assignors.group_bytes.entries",
    "assignors.problem",
    "assignors.replay.report",
    "assignors.simulation.page",
    "assignors.replay.sources",
    "assignors.replay.sources.arrow",
    "assignors.simulation.rounds",  # assignors.simulation has its names
    "assignors.simulation.timed.scenario",  # docs/simulator-reference.md has its fields
}
"""Packages whose names are for other packages of ours, or stand on another page."""
