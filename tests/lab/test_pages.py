"""The laboratory's pages are those of the kept figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.lab.pages import PAGES


@pytest.mark.parametrize("path", PAGES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_page_is_what_its_program_writes(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == PAGES[path](), "python -m tests.lab.pages"
