"""What the writers of pages share: texts that stand in the code, and Markdown made of them."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"

SPECIAL = re.compile(r"([\\*<])")
"""What has a meaning in Markdown, in texts that mean it literally; backticks mean code in both."""


def texts_of(kind: type[Any]) -> dict[str, str]:
    """Return name -> the string that stands below it, of a class; one line each."""
    tree = ast.parse(inspect.getsource(kind)).body[0]
    assert isinstance(tree, ast.ClassDef)
    found = {}
    for before, after in zip(tree.body, tree.body[1:], strict=False):
        target = before.target if isinstance(before, ast.AnnAssign) else None
        if isinstance(before, ast.Assign):
            target = before.targets[0]  # type: ignore[assignment]
        if isinstance(target, ast.Name) and isinstance(after, ast.Expr):
            found[target.id] = one_line(ast.literal_eval(after.value))
    return found


def first_line(documented: Any) -> str:
    """Return the first line of a docstring."""
    return (inspect.getdoc(documented) or "").splitlines()[0]


def one_line(text: str) -> str:
    """Return a text without its line breaks."""
    return " ".join(text.split())


def plain(text: str) -> str:
    """Return text as Markdown that shows it as it is."""
    return SPECIAL.sub(r"\\\1", text)


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yield the lines of a table of Markdown cells, and an empty one."""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        cells = " | ".join(cell.replace("|", "\\|") for cell in row)
        yield f"| {cells} |"
    yield ""
