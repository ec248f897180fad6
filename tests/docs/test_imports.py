"""Every import line of the documents works, in blocks that run nowhere too."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.docs.examples import ROOT
from tests.test_readme import DOCUMENTS

CODE = re.compile(r"^```python.*?^```$|^(?: {4}.*\n)+", flags=re.MULTILINE | re.DOTALL)
IMPORT = re.compile(
    r"""
    ^\ *(?:>>>\ |\.\.\.\ )?
    (from\ [\w.]+\ import\ (?:\([^)]*\)|[^(\n#]+)|import\ [\w.]+(?:\ as\ \w+)?)
    (?=\s|$)
    """,
    flags=re.MULTILINE | re.VERBOSE,
)


def import_lines(document: str) -> list[str]:
    """The import statements in a document's code, without prompts."""
    text = (ROOT / document).read_text(encoding="utf-8")
    found = [line for block in CODE.findall(text) for line in IMPORT.findall(block)]
    return [re.sub(r"\s+(?:\.\.\. )?", " ", line) for line in found]


IMPORTS = sorted({(line, name) for name in DOCUMENTS for line in import_lines(name)})


def test_documents_import_from_every_client() -> None:
    lines = {line for line, _ in IMPORTS}
    for client in ("kafka_python", "aiokafka"):
        assert f"from assignors.clients.{client} import cooperative_sticky" in lines
    assert len(lines) > 60


@pytest.mark.parametrize(("line", "document"), IMPORTS)
def test_an_import_line_of_a_document_works(
    line: str, document: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Pages have files beside them, as own assignors do."""
    folder = ROOT / Path(document).with_suffix("").parent
    own = ROOT / "docs" / "own"
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", [*sys.path, str(folder), str(own)])
    exec(line, {})  # noqa: S102 - our own documents
    for name in set(sys.modules) - before:
        if str(own) in str(getattr(sys.modules[name], "__file__", "")):
            monkeypatch.delitem(sys.modules, name)
