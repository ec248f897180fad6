"""The eager sticky assignors of the documentation: of its page, and of its notebook."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from runpy import run_path
from typing import Any

from assignors import Assignor

ROOT = Path(__file__).parents[2]
HERE = "tests.own_assignors.sticky_ones:"
NOTEBOOK = ROOT / "notebooks" / "example_own_assignor.ipynb"
KEPT = {"SLACK", "LAG_AWARE", "STICKY"}
"""What the notebook assigns that its assignors need; the rest draws and prints."""


def _of_notebook() -> dict[str, Any]:
    """Return the names that the notebook defines, without running what it shows."""
    names: dict[str, Any] = {}
    for cell in json.loads(NOTEBOOK.read_text("utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            tree = ast.parse("".join(cell["source"]))
            tree.body = [each for each in tree.body if _defines(each)]
            exec(compile(tree, str(NOTEBOOK), "exec"), names)  # noqa: S102 - our own notebook
    return names


def _defines(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)} <= KEPT
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").startswith("assignors")
    return isinstance(node, ast.FunctionDef)


_notebook = _of_notebook()
OWN_STICKY: Assignor = run_path(str(ROOT / "docs/own/own_sticky.py"))["OWN_STICKY"]
LAG_AWARE: Assignor = _notebook["LAG_AWARE"]
LAG_AWARE_STICKY: Assignor = _notebook["STICKY"]
STICKY_ONES = ("OWN_STICKY", "LAG_AWARE_STICKY")
