"""What the writers of pages share: texts that stand in the code, and Markdown made of them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from assignors.documents.keys import meanings_of as texts_of

__all__ = ["DOCS", "first_line", "one_line", "plain", "table", "texts_of"]

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"

SPECIAL = re.compile(r"([\\*<])")
"""What has a meaning in Markdown, in texts that mean it literally; backticks mean code in both."""


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
