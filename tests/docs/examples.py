"""The fenced blocks of documents, and what of their Python does not do what it shows."""

from __future__ import annotations

import doctest
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
FENCE = re.compile(r"^```(\w+(?: \w+)?)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One fenced block: its document, its language, its text, the line it starts on."""

    document: str
    language: str
    text: str
    line: int


def blocks(document: str, language: str) -> list[Block]:
    """A document's blocks in one language, in order; `python spark` need a Spark session."""
    text = (ROOT / document).read_text(encoding="utf-8")
    return [
        Block(
            document=document,
            language=match[1],
            text=match[2],
            line=text.count("\n", 0, match.start()) + 2,
        )
        for match in FENCE.finditer(text)
        if match[1] == language
    ]


def failures(document: str, language: str, namespace: dict[str, Any]) -> str:
    """Run the blocks in order, in one namespace; what differs from the document, as text.

    Blocks with prompts run as doctests, others as they stand.
    """
    runner = doctest.DocTestRunner(
        verbose=False, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
    said: list[str] = []
    for block in blocks(document, language):
        if ">>>" not in block.text:
            exec(compile(block.text, f"{document}:{block.line}", "exec"), namespace)  # noqa: S102 - our own documents
            continue
        example = doctest.DocTestParser().get_doctest(
            block.text, namespace, document, document, block.line
        )
        runner.run(example, out=said.append, clear_globs=False)
        namespace.update(example.globs)
    return "".join(said)
